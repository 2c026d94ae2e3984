#include "gpu/process/memory.h"
#include "gpu/die.h"
#include "gpu/events.h"
#include "gpu/probe.h"
#include "gpu/process/signals.h"
#include "gpu/process/work.h"

void nuna_memory_reach(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    assert(flight->channel < gpu->hbm.channel_count);
    uint32_t since = nuna_flight_since(flight, gpu->lp->now);
    if (nuna_flight_is(flight, NUNA_FLIGHTS_IN))
        nuna_visit(flight)->store.at_memory = since;
    else if (flight->leg == NUNA_LEG_LOAD)
        nuna_out(flight)->load.at_memory = since;
    else
        nuna_out(flight)->at_memory = since;
    nuna_time done = nuna_hbm_access(&gpu->hbm, flight->channel, gpu->lp->now, flight->bytes);
    nuna_lp_schedule(gpu->lp, done, nuna_event_make(NUNA_EV_MEMORY_DONE, handle));
}

/* The answer to another GPU: an acknowledgement, or what it asked for. */
static void answer(struct nuna_gpu *gpu, uint32_t handle, uint32_t bytes)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    flight->leg = NUNA_LEG_BACK;
    nuna_die_memory_to_port(gpu, flight->channel, flight->port, bytes, handle);
}

/* Another GPU's access. */
static void visitor_done(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_visit *visit = nuna_visit(flight);
    uint32_t place = visit->place, bytes = flight->bytes;
    bool counted = flight->kind == NUNA_FLIGHT_ARRIVAL_IN;
    visit->store.landed = nuna_flight_since(flight, gpu->lp->now);
    switch (flight->kind) {
    case NUNA_FLIGHT_FLAG_IN:
        nuna_signals_landed(gpu, handle);
        break;
    case NUNA_FLIGHT_FETCH_IN:
        answer(gpu, handle, bytes);
        break;
    default:
        nuna_probe_store_landed(gpu, flight);
        answer(gpu, handle, gpu->spec->control_bytes);
        if (counted)
            nuna_work_arrived(gpu, place, bytes);
        break;
    }
}

/* An own one: data, or an acknowledgement, to the CU of the threadblock. */
static void own_done(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_out *out = nuna_out(flight);
    bool load = flight->leg == NUNA_LEG_LOAD;
    uint32_t since = nuna_flight_since(flight, gpu->lp->now);
    if (load) {
        out->load.read = since;
    } else {
        out->landed = since;
        flight->leg = NUNA_LEG_BACK;
    }
    nuna_die_memory_to_cu(gpu, nuna_tb_of(gpu, out->tb)->cu->router, flight->channel,
                          load ? flight->bytes : gpu->spec->control_bytes, handle);
}

void nuna_memory_done(struct nuna_gpu *gpu, uint32_t handle)
{
    if (nuna_flight_is(nuna_flight(&gpu->flights, handle), NUNA_FLIGHTS_IN))
        visitor_done(gpu, handle);
    else
        own_done(gpu, handle);
}
