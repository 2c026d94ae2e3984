#include "gpu/process/process.h"
#include "gpu/arrivals.h"
#include "gpu/events.h"
#include "gpu/probe.h"
#include "gpu/process/background.h"
#include "gpu/process/gate.h"
#include "gpu/process/memory.h"
#include "gpu/process/move.h"
#include "gpu/process/proxy.h"
#include "gpu/process/signals.h"
#include "gpu/process/work.h"
#include "gpu/translate/pretranslate.h"
#include "gpu/translate/translation.h"
#include <assert.h>

/* ---- life ---- */

static bool init_parts(struct nuna_gpu *gpu, const struct nuna_gpu_site *site)
{
    const struct nuna_params *params = gpu->spec->params;
    uint32_t blocks = gpu->spec->plan->gpus[gpu->index].tb_count;
    uint32_t tiles = params->background.gemm_size > 0 ? (uint32_t)params->background.gemm_tiles : 0;
    if (!nuna_cus_create(gpu, blocks + tiles))
        return false;
    for (uint32_t tb = 0; tb < blocks; tb++)
        nuna_cu_assign(gpu, tb, site->tb_cu[tb]);
    return nuna_arrivals_create(gpu) && nuna_probe_create(gpu, site->trace) &&
           nuna_signals_create(gpu) && nuna_proxy_create(gpu) &&
           nuna_movers_create(gpu, gpu->proxy != NULL) &&
           nuna_background_create(gpu, blocks, tiles) && nuna_translation_create(gpu) &&
           nuna_pretranslate_create(gpu);
}

bool nuna_gpu_init(struct nuna_gpu *gpu, const struct nuna_gpu_spec *spec,
                   const struct nuna_gpu_site *site)
{
    *gpu =
        (struct nuna_gpu){.spec = spec, .index = site->index, .seen = site->seen, .lp = site->lp};
    return nuna_noc_init(&gpu->noc, &spec->noc, site->arena) &&
           nuna_hbm_init(&gpu->hbm, spec->params) &&
           nuna_scaleup_init(&gpu->scaleup, &spec->clos) &&
           nuna_flight_pool_init(&gpu->flights, site->arena) &&
           nuna_exec_init(&gpu->exec, &spec->shape, site->index, &nuna_work_machine, gpu,
                          site->log) &&
           init_parts(gpu, site);
}

void nuna_gpu_finish(struct nuna_gpu *gpu)
{
    nuna_pretranslate_destroy(gpu);
    nuna_translation_destroy(gpu);
    nuna_background_destroy(gpu);
    nuna_movers_destroy(gpu);
    nuna_proxy_destroy(gpu);
    nuna_signals_destroy(gpu);
    nuna_probe_destroy(gpu);
    nuna_arrivals_destroy(gpu);
    nuna_cus_destroy(gpu);
    nuna_exec_finish(&gpu->exec);
    nuna_slab_pool_finish(&gpu->flights);
    nuna_scaleup_finish(&gpu->scaleup);
    nuna_hbm_finish(&gpu->hbm);
    nuna_noc_finish(&gpu->noc);
}

void nuna_gpu_start(struct nuna_gpu *gpu)
{
    nuna_pretranslate_start(gpu);
    if (gpu->pretranslation || gpu->spec->start > 0)
        nuna_lp_schedule(gpu->lp, gpu->spec->start, nuna_event_make(NUNA_EV_START, 0));
    else
        nuna_exec_start(&gpu->exec, 0);
    nuna_background_start(gpu);
}

bool nuna_gpu_idle(struct nuna_gpu *gpu)
{
    return gpu->flights.in_use == 0 && gpu->exec.unfinished == 0 && nuna_cus_idle(gpu) &&
           nuna_arrivals_idle(gpu) && nuna_proxy_idle(gpu) &&
           (!gpu->proxy || nuna_cu_idle(nuna_proxy_engine(gpu)));
}

/* ---- events ---- */

static inline void handle_event(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    struct nuna_gpu *gpu = model;
    uint32_t kind = nuna_event_kind(event), handle = nuna_event_handle(event);
    switch (kind) {
    case NUNA_EV_AT_CU:
        nuna_work_back(gpu, handle);
        break;
    case NUNA_EV_AT_MEMORY:
        nuna_memory_reach(gpu, handle);
        break;
    case NUNA_EV_AT_PORT:
        nuna_gate_leave(gpu, handle);
        break;
    case NUNA_EV_MEMORY_DONE:
        nuna_memory_done(gpu, handle);
        break;
    case NUNA_EV_PORT_IN:
        nuna_gate_enter(gpu, handle);
        break;
    case NUNA_EV_SWITCH:
        nuna_gate_at_switch(gpu, handle);
        break;
    case NUNA_EV_CU_ISSUE:
        nuna_work_issue(gpu, nuna_cu_at(gpu, handle));
        break;
    case NUNA_EV_ENGINE_ISSUE:
        nuna_work_issue(gpu, nuna_proxy_engine(gpu));
        break;
    case NUNA_EV_PROXY:
        nuna_proxy_event(gpu);
        break;
    case NUNA_EV_TRANSLATION:
        nuna_translation_event(gpu, event.body);
        break;
    case NUNA_EV_PRETRANSLATE:
        nuna_pretranslate_next(gpu, handle);
        break;
    case NUNA_EV_START:
        nuna_exec_start(&gpu->exec, lp->now);
        break;
    case NUNA_NOC_HOP: /* reference mode */
        nuna_noc_hop(&gpu->noc, lp, event);
        break;
    default:
        assert(nuna_event_of_host(kind));
        nuna_host_gpu_handle(gpu->host, event);
        break;
    }
}

static inline void prefetch_event(void *model, struct nuna_event event)
{
    const struct nuna_gpu *gpu = model;
    if (nuna_event_of_flight(nuna_event_kind(event)))
        nuna_flight_prefetch(&gpu->flights, nuna_event_handle(event));
}

void nuna_gpu_run(struct nuna_gpu *gpu, nuna_time end)
{
    nuna_noc_run(&gpu->noc, gpu->lp, end, gpu, handle_event, prefetch_event);
    if (gpu->flights.out_of_memory)
        gpu->lp->out_of_memory = true;
}

void nuna_gpu_expect(const struct nuna_gpu *gpu, const struct nuna_message *message)
{
    if (!nuna_event_of_host(message->kind))
        nuna_gate_expect(gpu, message);
}

uint32_t nuna_gpu_deliver(struct nuna_gpu *gpu, const struct nuna_message *message)
{
    return nuna_event_of_host(message->kind) ? nuna_host_gpu_deliver(gpu->host, message)
                                             : nuna_gate_deliver(gpu, message);
}
