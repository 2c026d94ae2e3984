#include "gpu/translate/translation.h"
#include "gpu/die.h"
#include "gpu/events.h"
#include "gpu/translate/counts.h"
#include <stdlib.h>

/* What an event of kind NUNA_EV_TRANSLATION is about, beside the MMU's own: the L1 lookup of a
 * flight is done. */
#define LOOKUP NUNA_MMU_OPS

/* Requests that nobody waits for. */
#define AHEAD (NUNA_FLIGHT_SET(AHEAD_L2_IN) | NUNA_FLIGHT_SET(AHEAD_L1_IN))

/* From a port to a stack on an idle fabric, on average, and the access. */
static nuna_time default_step(const struct nuna_gpu_spec *spec)
{
    const struct nuna_topology *t = &spec->topology;
    nuna_time sum = 0;
    for (uint32_t p = 0; p < t->port_count; p++)
        for (uint32_t s = 0; s < t->stack_count; s++) {
            uint16_t port = t->port_router[p];
            sum += nuna_noc_zero_load(&spec->noc, port, nuna_topology_stack_router(t, port, s),
                                      spec->control_bytes);
        }
    return sum / ((nuna_time)t->port_count * t->stack_count) +
           (nuna_time)spec->params->hbm.access_latency;
}

/* On to memory. */
static void admit(struct nuna_gpu *gpu, uint32_t handle)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_die_port_to_memory(gpu, gpu->lp->now, flight->port, flight->channel,
                            nuna_flight_wire_bytes(flight, gpu->spec->control_bytes), handle);
}

/* A request's address is known. */
static void translated(struct nuna_gpu *gpu, uint32_t handle, uint32_t page, uint32_t class,
                       nuna_time since)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_time latency = gpu->lp->now - since;
    nuna_visit(flight)->translation = latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;
    if (class != NUNA_CLASS_NONE)
        nuna_counts_translated(gpu, flight, page, class, since);
    admit(gpu, handle);
}

static void ready(void *context, uint32_t token, uint32_t page, uint32_t class, nuna_time since)
{
    translated(context, token, page, class, since);
}

static void resent(void *context, uint32_t port, uint32_t count)
{
    struct nuna_gpu *gpu = context;
    nuna_scaleup_repeat(&gpu->scaleup, port, gpu->lp->now, count);
}

void nuna_translation_shape(struct nuna_gpu_spec *spec)
{
    const struct nuna_params *params = spec->params;
    spec->group = nuna_group_make(spec->gpu_count, (uint32_t)params->pod.gpus_per_node);
    spec->gpus_per_node = (uint32_t)params->pod.gpus_per_node;
    spec->translation = (enum nuna_translation_mode)params->translation.mode;
    bool full = spec->translation == NUNA_TRANSLATION_FULL;
    spec->prefetch =
        full ? (enum nuna_translate_ahead)params->translation.prefetch : NUNA_AHEAD_OFF;
    spec->prefetch_distance = (uint64_t)params->translation.prefetch_distance +
                              (uint64_t)params->translation.prefetch_lines * spec->flit_bytes +
                              (uint64_t)params->translation.prefetch_pages * spec->map.page_size;
    nuna_mmu_shape_init(&spec->mmu, params, default_step(spec));
    spec->mmu.event_kind = NUNA_EV_TRANSLATION;
    spec->mmu.ready = ready;
    spec->mmu.resent = resent;
}

bool nuna_translation_create(struct nuna_gpu *gpu)
{
    if (gpu->spec->translation == NUNA_TRANSLATION_OFF)
        return true;
    gpu->translation = calloc(1, sizeof *gpu->translation);
    return gpu->translation && nuna_counts_create(gpu) &&
           (gpu->spec->translation != NUNA_TRANSLATION_FULL ||
            nuna_mmu_init(&gpu->translation->mmu, &gpu->spec->mmu, gpu));
}

void nuna_translation_destroy(struct nuna_gpu *gpu)
{
    nuna_counts_destroy(gpu);
    if (gpu->translation && gpu->translation->mmu.shape)
        nuna_mmu_finish(&gpu->translation->mmu);
    free(gpu->translation);
}

static nuna_time lookup_latency(const struct nuna_gpu_spec *spec)
{
    return spec->translation == NUNA_TRANSLATION_FULL ? spec->mmu.l1_latency : 0;
}

void nuna_translation_arrive(struct nuna_gpu *gpu, uint32_t handle, nuna_time in)
{
    struct nuna_event event = nuna_event_packet(NUNA_EV_TRANSLATION, 0, 0, 0, LOOKUP, handle);
    nuna_lp_schedule(gpu->lp, in + lookup_latency(gpu->spec), event);
}

static void lookup(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_mmu *mmu = &gpu->translation->mmu;
    uint32_t page = nuna_visit(flight)->page;
    nuna_time since = gpu->lp->now - lookup_latency(gpu->spec);
    if (nuna_flight_is(flight, AHEAD)) {
        nuna_mmu_prefetch(mmu, gpu->lp, flight->port, page,
                          flight->kind == NUNA_FLIGHT_AHEAD_L2_IN);
        nuna_flight_put(&gpu->flights, handle);
        return;
    }
    nuna_visit(flight)->store.at_peer = nuna_flight_since(flight, since);
    if (gpu->spec->translation == NUNA_TRANSLATION_IDEAL ||
        nuna_mmu_translate(mmu, gpu->lp, flight->port, page, handle, since))
        translated(gpu, handle, page, NUNA_CLASS_L1_HIT, since);
}

bool nuna_translation_holds(struct nuna_gpu *gpu, uint32_t handle, nuna_time in)
{
    if (gpu->spec->translation != NUNA_TRANSLATION_FULL)
        return false;
    uint32_t port = nuna_flight(&gpu->flights, handle)->port;
    return nuna_mmu_hold(&gpu->translation->mmu, port, handle, in);
}

void nuna_translation_event(struct nuna_gpu *gpu, uint64_t body)
{
    struct nuna_event event = {.body = body};
    if ((nuna_event_there(event) & 0xff) == LOOKUP)
        lookup(gpu, nuna_event_handle(event));
    else
        nuna_mmu_event(&gpu->translation->mmu, gpu->lp, event);
}
