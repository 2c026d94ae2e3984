#include "gpu/translate/ahead.h"
#include "gpu/die.h"
#include "gpu/translate/counts.h"

void nuna_ahead_each_port(const struct nuna_gpu_spec *spec, uint32_t dest, uint64_t position,
                          uint64_t bytes, enum nuna_translate_ahead into,
                          void (*visit)(void *context, const struct nuna_ahead *ahead),
                          void *context)
{
    uint32_t first = UINT32_MAX;
    for (uint64_t at = 0; at < bytes; at += spec->flit_bytes) {
        struct nuna_location location = nuna_spec_locate(spec, dest, position + at);
        /* Neighbouring lines go round the ports. */
        if (location.port == first)
            return;
        if (at == 0)
            first = location.port;
        const struct nuna_ahead ahead = {
            .page = location.page,
            .dest = (uint16_t)dest,
            .port = (uint8_t)location.port,
            .kind = into == NUNA_AHEAD_L2 ? NUNA_FLIGHT_AHEAD_L2 : NUNA_FLIGHT_AHEAD_L1,
        };
        visit(context, &ahead);
        if (into == NUNA_AHEAD_L2)
            return;
    }
}

void nuna_ahead_send(struct nuna_gpu *gpu, const struct nuna_ahead *ahead)
{
    uint32_t handle =
        nuna_flight_get(&gpu->flights, (enum nuna_flight_kind)ahead->kind, NUNA_LEG_STORE);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_flight_begin(flight, gpu->lp->now);
    flight->bytes = (uint16_t)gpu->spec->control_bytes;
    flight->port = ahead->port;
    flight->npa = 1;
    *nuna_out(flight) = (struct nuna_out){.peer = ahead->dest, .page = ahead->page};
    nuna_counts_ahead_sent(gpu);
    nuna_die_cu_to_port(gpu, ahead->from, ahead->port, gpu->spec->control_bytes, handle);
}
