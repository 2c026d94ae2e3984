#include "host/host_sim.h"
#include <stdlib.h>

struct nuna_host_sim {
    struct nuna_clos clos;
    struct nuna_host_shape shape;
    struct nuna_kernel *kernel;
    struct nuna_scaleup *scaleups;
    struct nuna_host_gpu *gpus;
    struct nuna_host host;
    const struct nuna_host_progress *progress;
    bool background;
};

static bool build(struct nuna_host_sim *sim, const struct nuna_params *params,
                  const struct nuna_host_plan *plan, uint32_t threads)
{
    uint32_t gpus = (uint32_t)params->pod.gpus;
    nuna_clos_init(&sim->clos, params);
    /* Links move pieces here, not lines. */
    nuna_rate_init(&sim->clos.port_rate, (uint64_t)params->scaleup.port_rate,
                   (uint32_t)params->host.piece_size, (uint32_t)params->noc.control_size);
    nuna_host_shape_init(&sim->shape, params, &sim->clos, gpus);
    nuna_time lookahead = nuna_clos_lookahead(&sim->clos);
    if (sim->shape.pcie_latency < lookahead)
        lookahead = sim->shape.pcie_latency;
    sim->kernel = nuna_kernel_create(gpus + 1, threads, lookahead);
    sim->scaleups = calloc(gpus, sizeof *sim->scaleups);
    sim->gpus = calloc(gpus, sizeof *sim->gpus);
    if (!sim->kernel || !sim->scaleups || !sim->gpus)
        return false;
    struct nuna_arena *arena = nuna_kernel_arena(sim->kernel);
    if (!nuna_host_init(&sim->host, &sim->shape, plan, nuna_kernel_lp(sim->kernel, gpus), arena))
        return false;
    for (uint32_t g = 0; g < gpus; g++)
        if (!nuna_scaleup_init(&sim->scaleups[g], &sim->clos) ||
            !nuna_host_gpu_init(&sim->gpus[g], &sim->shape, g, nuna_host_slots_per_gpu(&sim->host),
                                nuna_kernel_lp(sim->kernel, g), &sim->scaleups[g], arena))
            return false;
    for (uint32_t i = 0; i < plan->request_count; i++)
        sim->background |= plan->requests[i].background;
    return true;
}

struct nuna_host_sim *nuna_host_sim_create(const struct nuna_params *params,
                                           const struct nuna_host_plan *plan, uint32_t threads,
                                           struct nuna_error *err)
{
    struct nuna_host_sim *sim = calloc(1, sizeof *sim);
    if (!sim || !build(sim, params, plan, threads)) {
        nuna_host_sim_destroy(sim);
        nuna_fail_memory(err, "the server");
        return NULL;
    }
    return sim;
}

void nuna_host_sim_destroy(struct nuna_host_sim *sim)
{
    if (!sim)
        return;
    for (uint32_t g = 0; sim->gpus && sim->scaleups && g < sim->shape.gpus; g++) {
        nuna_host_gpu_finish(&sim->gpus[g]);
        nuna_scaleup_finish(&sim->scaleups[g]);
    }
    nuna_host_finish(&sim->host);
    nuna_kernel_destroy(sim->kernel);
    free(sim->scaleups);
    free(sim->gpus);
    free(sim);
}

static void handle_gpu(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    (void)lp;
    nuna_host_gpu_handle(model, event);
}

static void handle_host(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    (void)lp;
    nuna_host_handle(model, event);
}

static void prefetch(void *model, struct nuna_event event)
{
    (void)model;
    (void)event;
}

static void run_lp(void *model, uint32_t lp, nuna_time end)
{
    struct nuna_host_sim *sim = model;
    if (lp < sim->shape.gpus)
        nuna_lp_run(sim->gpus[lp].lp, end, &sim->gpus[lp], handle_gpu, prefetch);
    else
        nuna_lp_run(sim->host.lp, end, &sim->host, handle_host, prefetch);
}

static uint32_t deliver(void *model, uint32_t lp, const struct nuna_message *message)
{
    struct nuna_host_sim *sim = model;
    return lp < sim->shape.gpus ? nuna_host_gpu_deliver(&sim->gpus[lp], message)
                                : nuna_host_deliver(&sim->host, message);
}

static bool transfers_done(void *model)
{
    return ((struct nuna_host_sim *)model)->host.unfinished == 0;
}

struct nuna_host_view nuna_host_sim_view(const struct nuna_host_sim *sim)
{
    return nuna_host_view_of(&sim->host, sim->gpus);
}

static void report_progress(void *model, nuna_time now)
{
    const struct nuna_host_sim *sim = model;
    const struct nuna_host_view view = nuna_host_sim_view(sim);
    uint64_t bytes = 0, requested = 0;
    for (uint32_t t = 0; t < view.transfers; t++) {
        const struct nuna_host_outcome outcome = nuna_host_outcome(view, t);
        if (!outcome.request.background) {
            bytes += outcome.bytes;
            requested += outcome.request.bytes;
        }
    }
    sim->progress->call(sim->progress->context, now, bytes, requested);
}

bool nuna_host_sim_run(struct nuna_host_sim *sim, const volatile sig_atomic_t *stop,
                       const struct nuna_host_progress *progress, enum nuna_host_status *ret_status,
                       struct nuna_error *err)
{
    const struct nuna_kernel_ops ops = {
        .run = run_lp,
        .deliver = deliver,
        .progress = progress ? report_progress : NULL,
        /* Only background traffic has no end of its own. */
        .done = sim->background ? transfers_done : NULL,
    };
    sim->progress = progress;
    nuna_host_begin(&sim->host);
    enum nuna_kernel_status status = nuna_kernel_run(sim->kernel, &ops, sim, stop);
    if (status == NUNA_KERNEL_NO_MEMORY)
        return nuna_fail_memory(err, "pieces in flight");
    if (status == NUNA_KERNEL_NO_THREADS)
        return nuna_fail(err, NUNA_EXIT_INTERNAL, "cannot start threads");
    *ret_status = status == NUNA_KERNEL_INTERRUPTED ? NUNA_HOST_INTERRUPTED
                  : sim->host.unfinished > 0        ? NUNA_HOST_STUCK
                                                    : NUNA_HOST_COMPLETE;
    return true;
}

nuna_time nuna_host_sim_now(const struct nuna_host_sim *sim)
{
    return nuna_kernel_now(sim->kernel);
}

uint64_t nuna_host_sim_events(const struct nuna_host_sim *sim)
{
    return nuna_kernel_events(sim->kernel);
}
