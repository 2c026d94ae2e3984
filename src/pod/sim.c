#include "pod/sim.h"
#include "gpu/process/process.h"
#include "gpu/process/proxy.h"
#include "gpu/translate/pretranslate.h"
#include "pod/build.h"
#include "pod/collect.h"
#include "pod/sim_private.h"
#include <stdlib.h>

struct nuna_sim *nuna_sim_create(const struct nuna_params *params, const struct nuna_plan *plan,
                                 const struct nuna_sim_options *options, struct nuna_error *err)
{
    struct nuna_sim *sim = calloc(1, sizeof *sim);
    if (!sim) {
        nuna_fail_memory(err, "the pod");
        return NULL;
    }
    sim->options = *options;
    sim->pod.spec.start = nuna_pretranslate_lead(params);
    if (options->transfers && !nuna_pretranslates(params))
        sim->pod.spec.start = (nuna_time)params->collective.start;
    if (!nuna_sim_build(sim, params, plan, err)) {
        nuna_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

void nuna_sim_destroy(struct nuna_sim *sim)
{
    if (!sim)
        return;
    for (uint32_t lp = 0; sim->gpus && lp < sim->pod.fold.lp_count; lp++)
        nuna_gpu_finish(&sim->gpus[lp]);
    nuna_transfers_destroy(sim->transfers);
    nuna_kernel_destroy(sim->kernel);
    nuna_fold_finish(&sim->pod.fold);
    nuna_placement_finish(&sim->pod.placement);
    nuna_layout_finish(&sim->pod.layout);
    nuna_topology_finish(&sim->pod.spec.topology);
    nuna_noc_shape_finish(&sim->pod.spec.noc);
    free(sim->gpus);
    free(sim->log);
    free(sim->trace);
    free(sim);
}

struct nuna_host_view nuna_sim_transfers(const struct nuna_sim *sim)
{
    return nuna_host_view_of(&sim->transfers->host, sim->transfers->gpus);
}

static void run_lp(void *model, uint32_t lp, nuna_time end)
{
    struct nuna_sim *sim = model;
    if (lp < sim->pod.fold.lp_count)
        nuna_gpu_run(&sim->gpus[lp], end);
    else
        nuna_transfers_run(sim->transfers, end);
}

static uint32_t deliver(void *model, uint32_t lp, const struct nuna_message *message)
{
    struct nuna_sim *sim = model;
    return lp < sim->pod.fold.lp_count ? nuna_gpu_deliver(&sim->gpus[lp], message)
                                       : nuna_host_deliver(&sim->transfers->host, message);
}

static void expect(void *model, uint32_t lp, const struct nuna_message *message)
{
    const struct nuna_sim *sim = model;
    if (lp < sim->pod.fold.lp_count)
        nuna_gpu_expect(&sim->gpus[lp], message);
}

static void report_progress(void *model, nuna_time now)
{
    struct nuna_sim *sim = model;
    struct nuna_progress progress = {
        .now = now,
        .bytes_delivered = nuna_sim_bytes_delivered(sim),
        .bytes_requested = sim->bytes_requested,
        .events = nuna_kernel_events(sim->kernel) * nuna_fold_factor(&sim->pod.fold),
    };
    sim->options.progress(sim->options.progress_context, &progress);
}

/* Every threadblock has ended, and every store and flag has landed. */
static bool collective_done(void *model)
{
    const struct nuna_sim *sim = model;
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++)
        if (sim->gpus[lp].exec.unfinished > 0 || !nuna_proxy_idle(&sim->gpus[lp]))
            return false;
    return nuna_sim_all_landed(sim) && (!sim->transfers || sim->transfers->host.unfinished == 0);
}

bool nuna_sim_run(struct nuna_sim *sim, struct nuna_result *ret_result, struct nuna_error *err)
{
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++)
        nuna_gpu_start(&sim->gpus[lp]);
    if (sim->transfers)
        nuna_host_begin(&sim->transfers->host);
    const struct nuna_kernel_ops ops = {
        .run = run_lp,
        .deliver = deliver,
        .expect = expect,
        .progress = sim->options.progress ? report_progress : NULL,
        /* What a background kernel still does then is nobody's question. */
        .done = sim->pod.spec.params->background.gemm_size > 0 ? collective_done : NULL,
    };
    enum nuna_kernel_status status = nuna_kernel_run(sim->kernel, &ops, sim, sim->options.stop);
    if (status == NUNA_KERNEL_NO_MEMORY)
        return nuna_fail_memory(err, "packets in flight");
    if (status == NUNA_KERNEL_NO_THREADS)
        return nuna_fail(err, NUNA_EXIT_INTERNAL, "cannot start %u threads", sim->options.threads);
    return nuna_sim_collect(sim, status, ret_result) || nuna_fail_memory(err, "the results");
}
