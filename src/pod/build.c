/* The wiring: GPUs, their networks on chip, the switch planes between them, and the plan that runs
 * on them. */
#include "pod/build.h"
#include "gpu/cu.h"
#include "gpu/process/move.h"
#include "gpu/process/process.h"
#include "gpu/translate/translation.h"
#include "placement/placement.h"
#include "placement/policy.h"
#include "placement/ua.h"
#include <stdlib.h>

static void set_constants(struct nuna_gpu_spec *spec, const struct nuna_params *params,
                          const struct nuna_plan *plan, uint64_t size)
{
    spec->params = params;
    spec->plan = plan;
    nuna_shape_init(&spec->shape, plan, size, params);
    spec->move_ends = nuna_move_most_ends(plan);
    spec->gpu_count = plan->gpu_count;
    spec->flit_bytes = (uint32_t)params->noc.flit_size;
    spec->control_bytes = (uint32_t)params->noc.control_size;
    spec->max_outstanding = (uint32_t)params->gpu.max_outstanding;
    spec->issue_interval = (nuna_time)params->gpu.issue_interval;
    spec->reduce_rate = (uint64_t)params->gpu.reduce_rate;
    nuna_clos_init(&spec->clos, params);
    nuna_address_map_init(&spec->map, params);
}

/* In flight while a stack answers a CU beside it: channel rates times memory and NoC latency. */
static uint64_t stack_budget(const struct nuna_params *params)
{
    uint64_t delay = (uint64_t)(params->hbm.access_latency + 2 * params->noc.injection_latency +
                                2 * params->noc.ejection_latency);
    uint64_t rate = (uint64_t)(params->hbm.channel_rate * params->hbm.channels_per_stack);
    return (uint64_t)((unsigned __int128)rate * delay / NUNA_PS_PER_S) + 1;
}

static bool place(struct nuna_sim *sim)
{
    struct nuna_pod *pod = &sim->pod;
    enum nuna_policy policy = (enum nuna_policy)pod->spec.params->placement.policy;
    pod->spec.domains = nuna_policy_uses_domains(policy) ? sim->options.domains : 1;
    const struct nuna_placement_spec spec = {
        .topology = &pod->spec.topology,
        .map = &pod->spec.map,
        .policy = policy,
        .domains = pod->spec.domains,
        .numa_near = (enum nuna_numa_near)pod->spec.params->placement.numa_near,
        .cu_budget = (uint64_t)pod->spec.params->placement.cu_budget,
        .stack_budget = stack_budget(pod->spec.params),
        .line_bytes = pod->spec.flit_bytes,
    };
    return nuna_placement_of_plan(&spec, pod->spec.plan, &pod->layout, &pod->placement);
}

/* The background kernel is placed as UA would, whatever the collective's policy: behind the
 * collective's threadblocks. */
static bool place_background(struct nuna_sim *sim)
{
    uint32_t tiles = (uint32_t)sim->pod.spec.params->background.gemm_tiles;
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++) {
        struct nuna_gpu *gpu = &sim->gpus[lp];
        uint32_t blocks = sim->pod.spec.plan->gpus[gpu->index].tb_count;
        uint32_t *cu = calloc((size_t)blocks + tiles + 1, sizeof *cu);
        bool ok = cu && nuna_placement_ua(&sim->pod.spec.topology, blocks + tiles, cu);
        for (uint32_t t = blocks; ok && t < blocks + tiles; t++)
            nuna_cu_assign(gpu, t, cu[t]);
        free(cu);
        if (!ok)
            return false;
    }
    return true;
}

/* Whether a packet that is on the link to a port may be put into the mesh before it is in: packets
 * of a port come in one after the other, so that a router with one port takes them in that order
 * anyway. Not when a page has to be translated in between, nor when a run may be ended at any
 * moment, with the packet still on the link. */
static bool can_go_straight_in(const struct nuna_gpu_spec *spec, bool plain)
{
    const struct nuna_topology *topology = &spec->topology;
    for (uint32_t a = 0; a < topology->port_count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (topology->port_router[a] == topology->port_router[b])
                return false;
    return !spec->noc.uniform && !plain && spec->translation == NUNA_TRANSLATION_OFF &&
           spec->params->background.gemm_size == 0;
}

static bool build_gpus(struct nuna_sim *sim)
{
    struct nuna_pod *pod = &sim->pod;
    uint32_t count = pod->fold.lp_count;
    bool host = sim->options.transfers != NULL;
    sim->kernel = nuna_kernel_create(count + host, sim->options.threads,
                                     host ? nuna_transfers_lookahead(pod)
                                          : nuna_clos_lookahead(&pod->spec.clos));
    sim->gpus = calloc(count, sizeof *sim->gpus);
    bool plain = sim->options.reference || !nuna_noc_can_sweep(&pod->spec.noc);
    if (!sim->kernel || !sim->gpus || (plain && !nuna_kernel_use_reference(sim->kernel)))
        return false;
    pod->spec.straight_in = can_go_straight_in(&pod->spec, plain);
    pod->spec.process = pod->fold.lp;
    pod->spec.op_first = pod->fold.op_first;
    for (uint32_t lp = 0; lp < count; lp++) {
        uint32_t index = pod->fold.gpu[lp];
        const struct nuna_gpu_site site = {
            .index = index,
            .seen = pod->fold.seen ? &pod->fold.seen[(size_t)lp * pod->spec.gpu_count] : NULL,
            .lp = nuna_kernel_lp(sim->kernel, lp),
            .arena = nuna_kernel_arena(sim->kernel),
            .tb_cu = &pod->placement.cu[pod->spec.plan->gpus[index].tb_at],
            .log = sim->log,
            .trace = sim->trace,
        };
        if (!nuna_gpu_init(&sim->gpus[lp], &pod->spec, &site))
            return false;
    }
    if (host)
        sim->transfers = nuna_transfers_create(pod, sim->options.transfers, sim->kernel, sim->gpus);
    return (!host || sim->transfers) &&
           (pod->spec.params->background.gemm_size == 0 || place_background(sim));
}

bool nuna_sim_build(struct nuna_sim *sim, const struct nuna_params *params,
                    const struct nuna_plan *plan, struct nuna_error *err)
{
    struct nuna_pod *pod = &sim->pod;
    set_constants(&pod->spec, params, plan, sim->options.size);
    sim->bytes_requested = nuna_shape_remote_bytes(&pod->spec.shape);
    sim->log = calloc(plan->op_count + 1, sizeof *sim->log);
    sim->trace = calloc(plan->op_count + 1, sizeof *sim->trace);
    if (!sim->log || !sim->trace || !nuna_noc_shape_init(&pod->spec.noc, params) ||
        !nuna_topology_init(&pod->spec.topology, &pod->spec.noc, params) ||
        !nuna_layout_init(&pod->layout, &pod->spec.shape, (uint64_t)params->hbm.page_size,
                          pod->spec.flit_bytes) ||
        !place(sim))
        return nuna_fail_memory(err, "the pod");
    pod->spec.layout = &pod->layout;
    pod->spec.pages = pod->placement.pages;
    nuna_translation_shape(&pod->spec);
    bool traced = pod->spec.translation != NUNA_TRANSLATION_OFF && params->translation.trace > 0;
    if (sim->options.fold != NUNA_FOLD_OFF)
        sim->unfolded = traced                   ? "a trace (translation.trace) is of one among all"
                        : sim->options.transfers ? "host transfers make them unlike"
                                                 : NULL;
    return nuna_fold_init(&pod->fold, &pod->spec, &pod->placement,
                          sim->unfolded ? NUNA_FOLD_OFF : sim->options.fold, err) &&
           (build_gpus(sim) || nuna_fail_memory(err, "the pod"));
}
