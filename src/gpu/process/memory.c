#include "gpu/process/memory.h"
#include "gpu/die.h"
#include "gpu/events.h"
#include "gpu/probe.h"
#include "gpu/process/signals.h"
#include "gpu/process/work.h"

void nuna_memory_reach(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    bool load = flight->phase == NUNA_PHASE_LOAD;
    nuna_flight_stamp(flight, load ? NUNA_STAMP_LOAD_AT_MEMORY : NUNA_STAMP_AT_MEMORY,
                      gpu->lp->now);
    bool fetch = flight->kind == NUNA_FLIGHT_REMOTE_FETCH;
    uint32_t bytes =
        load || fetch ? flight->bytes : nuna_flight_wire_bytes(flight, gpu->spec->control_bytes);
    nuna_time done = nuna_hbm_access(&gpu->hbm, flight->local, gpu->lp->now, bytes);
    nuna_lp_schedule(gpu->lp, done, nuna_event_make(NUNA_EV_MEMORY_DONE, handle));
}

/* The answer to another GPU: an acknowledgement, or what it asked for. */
static void answer(struct nuna_gpu *gpu, uint32_t handle, uint32_t bytes)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    flight->phase = NUNA_PHASE_ACK;
    nuna_die_memory_to_port(gpu, flight->local, flight->port, bytes, handle);
}

static void remote_store_done(struct nuna_gpu *gpu, uint32_t handle)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    bool counted = flight->kind == NUNA_FLIGHT_ARRIVAL;
    uint32_t place = flight->tb, bytes = flight->bytes;
    nuna_probe_store_landed(gpu, flight);
    answer(gpu, handle, gpu->spec->control_bytes);
    if (counted)
        nuna_work_arrived(gpu, place, bytes);
}

/* Back to the CU of the threadblock that asked. */
static void own_done(struct nuna_gpu *gpu, uint32_t handle, uint32_t bytes)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint16_t cu = nuna_tb_of(gpu, flight->tb)->cu->router;
    nuna_die_memory_to_cu(gpu, cu, flight->local, bytes, handle);
}

void nuna_memory_done(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (flight->phase == NUNA_PHASE_LOAD) {
        nuna_flight_stamp(flight, NUNA_STAMP_LOAD_READ, gpu->lp->now);
        own_done(gpu, handle, flight->bytes);
        return;
    }
    nuna_flight_stamp(flight, NUNA_STAMP_LANDED, gpu->lp->now);
    switch (flight->kind) {
    case NUNA_FLIGHT_FLAG:
        nuna_signals_landed(gpu, handle);
        break;
    case NUNA_FLIGHT_REMOTE:
    case NUNA_FLIGHT_ARRIVAL:
        remote_store_done(gpu, handle);
        break;
    case NUNA_FLIGHT_REMOTE_FETCH:
        answer(gpu, handle, flight->bytes);
        break;
    default:
        flight->phase = NUNA_PHASE_ACK;
        own_done(gpu, handle, gpu->spec->control_bytes);
        break;
    }
}
