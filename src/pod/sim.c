/* The wiring: GPUs, their networks on chip, the switch planes between them, and the plan that runs
 * on them. */
#include "pod/sim.h"
#include "placement/workload.h"
#include "pod/move.h"
#include "pod/sim_private.h"
#include "pod/translation.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pod_constants(struct nuna_pod *pod, const struct nuna_params *params,
                          const struct nuna_plan *plan, uint64_t size)
{
    pod->params = params;
    pod->plan = plan;
    nuna_shape_init(&pod->shape, plan, size, params);
    pod->move_ends = nuna_move_most_ends(plan);
    pod->gpu_count = plan->gpu_count;
    pod->flit_bytes = (uint32_t)params->noc.flit_size;
    pod->control_bytes = (uint32_t)params->noc.control_size;
    pod->max_outstanding = (uint32_t)params->gpu.max_outstanding;
    pod->issue_interval = (nuna_time)params->gpu.issue_interval;
    pod->reduce_rate = (uint64_t)params->gpu.reduce_rate;
    nuna_clos_init(&pod->clos, params);
    nuna_address_map_init(&pod->map, params);
}

/* In flight while a stack answers a CU beside it: channel rates times memory and NoC latency. */
static uint64_t stack_budget(const struct nuna_params *params)
{
    uint64_t delay = (uint64_t)(params->hbm.access_latency + 2 * params->noc.injection_latency +
                                2 * params->noc.ejection_latency);
    uint64_t rate = (uint64_t)(params->hbm.channel_rate * params->hbm.channels_per_stack);
    return (uint64_t)((unsigned __int128)rate * delay / NUNA_PS_PER_S) + 1;
}

/* Knowing the domains, lays small chunks out by them, and places again: where threadblocks go does
 * not depend on it. */
static bool pack(struct nuna_pod *pod, const struct nuna_placement_spec *spec,
                 struct nuna_workload *workload)
{
    uint32_t *domain = nuna_workload_domains(workload, spec->policy, &pod->placement);
    if (!domain)
        return false;
    nuna_layout_pack(&pod->layout, pod->plan, pod->map.page_size, domain, spec->domains);
    free(domain);
    nuna_workload_finish(workload);
    nuna_placement_finish(&pod->placement);
    return nuna_workload_init(workload, pod->plan, &pod->layout, pod->map.page_size,
                              spec->domains) &&
           nuna_placement_make(spec, workload, &pod->placement);
}

static bool place(struct nuna_sim *sim)
{
    struct nuna_pod *pod = &sim->pod;
    enum nuna_policy policy = (enum nuna_policy)pod->params->placement.policy;
    pod->domains = nuna_policy_uses_domains(policy) ? sim->options.domains : 1;
    const struct nuna_placement_spec spec = {
        .topology = &pod->topology,
        .map = &pod->map,
        .policy = policy,
        .domains = pod->domains,
        .cu_budget = (uint64_t)pod->params->placement.cu_budget,
        .stack_budget = stack_budget(pod->params),
        .line_bytes = pod->flit_bytes,
    };
    struct nuna_workload workload;
    bool ok =
        nuna_workload_init(&workload, pod->plan, &pod->layout, pod->map.page_size, spec.domains) &&
        nuna_placement_make(&spec, &workload, &pod->placement) &&
        (!pod->placement.pages || pack(pod, &spec, &workload)) &&
        nuna_place_flags(&pod->layout, pod->plan, &spec, &pod->placement);
    nuna_workload_finish(&workload);
    return ok;
}

/* The background kernel is placed as UA would, whatever the collective's policy: behind the
 * collective's threadblocks. */
static bool place_background(struct nuna_sim *sim)
{
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++) {
        struct nuna_gpu_lp *gpu = &sim->gpus[lp];
        uint32_t count = gpu->plan_tb_count + gpu->tile_count;
        uint32_t *cu = calloc((size_t)count + 1, sizeof *cu);
        bool ok = cu && nuna_placement_ua(&sim->pod.topology, count, cu) &&
                  nuna_background_init(gpu, cu + gpu->plan_tb_count);
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
static bool can_go_straight_in(const struct nuna_pod *pod, bool plain)
{
    const struct nuna_topology *topology = &pod->topology;
    for (uint32_t a = 0; a < topology->port_count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (topology->port_router[a] == topology->port_router[b])
                return false;
    return !pod->noc.uniform && !plain && pod->translation == NUNA_TRANSLATION_OFF &&
           pod->params->background.gemm_size == 0;
}

static bool build_gpus(struct nuna_sim *sim)
{
    struct nuna_pod *pod = &sim->pod;
    uint32_t count = pod->fold.lp_count;
    bool host = sim->options.transfers != NULL;
    sim->kernel =
        nuna_kernel_create(count + host, sim->options.threads,
                           host ? nuna_transfers_lookahead(pod) : nuna_clos_lookahead(&pod->clos));
    sim->gpus = calloc(count, sizeof *sim->gpus);
    bool plain = sim->options.reference || !nuna_noc_can_sweep(&pod->noc);
    if (!sim->kernel || !sim->gpus || (plain && !nuna_kernel_use_reference(sim->kernel)))
        return false;
    pod->straight_in = can_go_straight_in(pod, plain);
    for (uint32_t lp = 0; lp < count; lp++) {
        struct nuna_gpu_lp *gpu = &sim->gpus[lp];
        if (!nuna_gpu_lp_init(gpu, pod, lp, nuna_kernel_lp(sim->kernel, lp),
                              nuna_kernel_arena(sim->kernel), sim->log, sim->trace))
            return false;
        uint32_t tb_at = pod->plan->gpus[gpu->gpu].tb_at;
        for (uint32_t tb = 0; tb < gpu->plan_tb_count; tb++)
            gpu->tbs[tb].cu = pod->placement.cu[tb_at + tb];
        if (!nuna_translation_create(gpu))
            return false;
    }
    if (host)
        sim->transfers = nuna_transfers_create(pod, sim->options.transfers, sim->kernel, sim->gpus);
    return (!host || sim->transfers) &&
           (pod->params->background.gemm_size == 0 || place_background(sim));
}

static bool build(struct nuna_sim *sim, const struct nuna_params *params,
                  const struct nuna_plan *plan, struct nuna_error *err)
{
    struct nuna_pod *pod = &sim->pod;
    pod_constants(pod, params, plan, sim->options.size);
    sim->bytes_requested = nuna_shape_remote_bytes(&pod->shape);
    sim->log = calloc(plan->op_count + 1, sizeof *sim->log);
    sim->trace = calloc(plan->op_count + 1, sizeof *sim->trace);
    if (!sim->log || !sim->trace || !nuna_noc_shape_init(&pod->noc, params) ||
        !nuna_topology_init(&pod->topology, &pod->noc, params) ||
        !nuna_layout_init(&pod->layout, &pod->shape, (uint64_t)params->hbm.page_size,
                          pod->flit_bytes) ||
        !place(sim))
        return nuna_fail_memory(err, "the pod");
    nuna_translation_shape(pod);
    bool traced = pod->translation != NUNA_TRANSLATION_OFF && params->translation.trace > 0;
    if (sim->options.fold != NUNA_FOLD_OFF)
        sim->unfolded = traced                   ? "a trace (translation.trace) is of one among all"
                        : sim->options.transfers ? "host transfers make them unlike"
                                                 : NULL;
    return nuna_fold_init(&pod->fold, pod, sim->unfolded ? NUNA_FOLD_OFF : sim->options.fold,
                          err) &&
           (build_gpus(sim) || nuna_fail_memory(err, "the pod"));
}

/* Page tables grow with the message; beyond this they would crowd out the simulation. */
#define PAGE_TABLE_BYTES_MAX (4ull << 30)

/* A GPU's image must fit its stacks. */
static bool check_capacity(const struct nuna_params *params, const struct nuna_plan *plan,
                           uint64_t size, struct nuna_error *err)
{
    struct nuna_layout layout = {0};
    struct nuna_shape shape;
    nuna_shape_init(&shape, plan, size, params);
    uint64_t capacity = (uint64_t)params->hbm.stack_capacity * (uint64_t)params->hbm.stacks;
    bool fits = true;
    if (!nuna_layout_init(&layout, &shape, (uint64_t)params->hbm.page_size,
                          (uint32_t)params->noc.flit_size)) {
        nuna_layout_finish(&layout);
        return nuna_fail_memory(err, "the memory layout");
    }
    for (uint32_t g = 0; fits && g < plan->gpu_count; g++) {
        char due[32], held[32];
        fits =
            layout.gpus[g].end <= capacity ||
            nuna_fail(
                err, NUNA_EXIT_BAD_INPUT,
                "collective.size: GPU %u would need %s of memory, but its %" PRId64
                " stacks hold %s; expected a smaller size, or larger stacks "
                "(hbm.stack_capacity)",
                g, nuna_units_format((int64_t)layout.gpus[g].end, NUNA_Q_SIZE, "", due, sizeof due),
                params->hbm.stacks,
                nuna_units_format((int64_t)capacity, NUNA_Q_SIZE, "", held, sizeof held));
    }
    nuna_layout_finish(&layout);
    return fits;
}

/* Page numbers to be translated have 32 bits. */
static bool check_page_numbers(const struct nuna_params *params, uint64_t size,
                               struct nuna_error *err)
{
    char page[32];
    uint64_t pages = size / (uint64_t)params->hbm.page_size;
    if (params->translation.mode == NUNA_TRANSLATION_OFF || pages < UINT32_MAX / 4)
        return true;
    nuna_units_format(params->hbm.page_size, NUNA_Q_SIZE, "", page, sizeof page);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "collective.size: too many pages of %s (hbm.page_size) to translate; expected "
                     "a smaller size, larger pages, or translation.mode off",
                     page);
}

bool nuna_sim_check(const struct nuna_params *params, const struct nuna_plan *plan, uint64_t size,
                    struct nuna_error *err)
{
    enum nuna_policy policy = (enum nuna_policy)params->placement.policy;
    if (!check_capacity(params, plan, size, err) || !check_page_numbers(params, size, err))
        return false;
    if (!nuna_policy_routes(policy) && !nuna_policy_places_memory(policy))
        return true;
    /* Input, output and scratch are at most `size` each, but for the rounding of chunks. */
    unsigned __int128 pages = (unsigned __int128)size / (uint64_t)params->hbm.page_size * 3;
    if (pages * plan->gpu_count * sizeof(struct nuna_frame) <= PAGE_TABLE_BYTES_MAX)
        return true;
    char page[32];
    nuna_units_format(params->hbm.page_size, NUNA_Q_SIZE, "", page, sizeof page);
    return nuna_fail(
        err, NUNA_EXIT_BAD_INPUT,
        "collective.size: at this size the page tables of %u GPUs with pages of %s would "
        "take more than 4 GiB; expected a smaller size, larger pages (hbm.page_size), "
        "or a policy without page tables (UA, NUMA, NAP*)",
        plan->gpu_count, page);
}

struct nuna_sim *nuna_sim_create(const struct nuna_params *params, const struct nuna_plan *plan,
                                 const struct nuna_sim_options *options, struct nuna_error *err)
{
    struct nuna_sim *sim = calloc(1, sizeof *sim);
    if (!sim) {
        nuna_fail_memory(err, "the pod");
        return NULL;
    }
    sim->options = *options;
    sim->origin = nuna_pretranslate_lead(params);
    if (options->transfers && !nuna_pretranslates(params))
        sim->origin = (nuna_time)params->collective.start;
    if (!build(sim, params, plan, err)) {
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
        nuna_gpu_lp_finish(&sim->gpus[lp]);
    nuna_transfers_destroy(sim->transfers);
    nuna_kernel_destroy(sim->kernel);
    nuna_fold_finish(&sim->pod.fold);
    nuna_placement_finish(&sim->pod.placement);
    nuna_layout_finish(&sim->pod.layout);
    nuna_topology_finish(&sim->pod.topology);
    nuna_noc_shape_finish(&sim->pod.noc);
    free(sim->gpus);
    free(sim->log);
    free(sim->trace);
    free(sim);
}

static void run_lp(void *model, uint32_t lp, nuna_time end)
{
    struct nuna_sim *sim = model;
    if (lp < sim->pod.fold.lp_count)
        nuna_gpu_lp_run(&sim->gpus[lp], end);
    else
        nuna_transfers_run(sim->transfers, end);
}

static uint32_t deliver(void *model, uint32_t lp, const struct nuna_message *message)
{
    struct nuna_sim *sim = model;
    return lp < sim->pod.fold.lp_count ? nuna_gpu_lp_deliver(&sim->gpus[lp], message)
                                       : nuna_host_deliver(&sim->transfers->host, message);
}

static void expect(void *model, uint32_t lp, const struct nuna_message *message)
{
    const struct nuna_sim *sim = model;
    if (lp < sim->pod.fold.lp_count)
        nuna_gpu_lp_expect(&sim->gpus[lp], message);
}

static uint64_t bytes_delivered(const struct nuna_sim *sim)
{
    uint64_t bytes = 0;
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++)
        bytes += sim->gpus[lp].bytes_delivered;
    return bytes * nuna_fold_factor(&sim->pod.fold);
}

static void report_progress(void *model, nuna_time now)
{
    struct nuna_sim *sim = model;
    struct nuna_progress progress = {
        .now = now,
        .bytes_delivered = bytes_delivered(sim),
        .bytes_requested = sim->bytes_requested,
        .events = nuna_kernel_events(sim->kernel) * nuna_fold_factor(&sim->pod.fold),
    };
    sim->options.progress(sim->options.progress_context, &progress);
}

/* Every threadblock has ended, and every store and flag has landed. */
static bool collective_done(void *model)
{
    const struct nuna_sim *sim = model;
    uint64_t out = 0, in = 0;
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++) {
        const struct nuna_gpu_lp *gpu = &sim->gpus[lp];
        if (gpu->exec.unfinished > 0 || !nuna_proxy_idle(gpu))
            return false;
        out += gpu->stores_out + gpu->flags_out;
        in += gpu->latency.count + gpu->flags_in;
    }
    return out == in && (!sim->transfers || sim->transfers->host.unfinished == 0);
}

static void list_waiters(const struct nuna_sim *sim, char *text, size_t size)
{
    size_t at = 0;
    uint64_t waiting = 0;
    for (uint32_t g = 0; g < sim->pod.gpu_count; g++) {
        struct nuna_exec exec = nuna_sim_gpu(sim, g)->exec;
        exec.gpu = g; /* the same state under its own name */
        for (uint32_t tb = 0; tb < sim->pod.plan->gpus[g].tb_count; tb++) {
            char line[160];
            if (!nuna_exec_describe_wait(&exec, tb, line, sizeof line))
                continue;
            if (++waiting <= 6)
                at += (size_t)snprintf(text + at, size - at, "\n  %s", line);
        }
    }
    if (waiting > 6)
        snprintf(text + at, size - at, "\n  and %llu more", (unsigned long long)(waiting - 6));
}

static bool visit_busiest(void *context, const struct nuna_resource *resource)
{
    struct nuna_resource *busiest = context;
    if (resource->busy > busiest->busy)
        *busiest = *resource;
    return true;
}

/* Gives every GPU its representative's record of operations. */
static void expand_log(struct nuna_sim *sim)
{
    const struct nuna_fold *fold = &sim->pod.fold;
    for (uint32_t g = 0; g < fold->gpu_count; g++) {
        uint32_t rep = fold->gpu[fold->lp[g]];
        uint32_t element = nuna_group_difference(&sim->pod.group, g, rep);
        if (g == rep)
            continue;
        for (uint32_t op = fold->op_first[g]; op < fold->op_first[g + 1]; op++) {
            uint32_t from = nuna_fold_op(fold, op, g, rep);
            sim->log[op] = sim->log[from];
            sim->trace[op] = sim->trace[from];
            uint32_t cause = sim->log[from].cause;
            if (cause == NUNA_NONE)
                continue;
            uint32_t whose = nuna_fold_op_gpu(fold, cause);
            sim->log[op].cause =
                nuna_fold_op(fold, cause, whose, nuna_group_add(&sim->pod.group, whose, element));
        }
    }
}

const struct nuna_transfers *nuna_sim_transfers(const struct nuna_sim *sim)
{
    return sim->transfers;
}

static bool collect_translation(const struct nuna_sim *sim, struct nuna_translation_result *result)
{
    for (uint32_t g = 0; g < sim->pod.gpu_count; g++) {
        const struct nuna_translation *t = nuna_sim_gpu(sim, g)->translation;
        uint64_t live = 0;
        if (t && !nuna_translation_live(t, &live))
            return false;
        result->live_pages = live > result->live_pages ? live : result->live_pages;
        for (uint32_t c = 0; t && c < NUNA_CLASS_COUNT; c++) {
            const struct nuna_class_count *count = &t->classes[c];
            result->requests += count->requests;
            result->latency_sum += count->latency_sum;
            if (count->latency_max > result->latency_max)
                result->latency_max = count->latency_max;
            if (c == NUNA_CLASS_L1_HIT)
                result->l1_hits += count->requests;
            if (c >= NUNA_CLASS_L1_MERGED)
                result->l1_merged += count->requests;
        }
        result->walks += t ? t->mmu.counts.walks : 0;
        result->ahead_requests += t ? t->ahead_sent : 0;
    }
    return true;
}

static nuna_time later(nuna_time a, nuna_time b)
{
    return a > b ? a : b;
}

static bool collect(struct nuna_sim *sim, enum nuna_kernel_status status,
                    struct nuna_result *result)
{
    uint64_t unfinished = 0;
    const struct nuna_fold *fold = &sim->pod.fold;
    for (uint32_t g = 0; g < sim->pod.gpu_count; g++) {
        const struct nuna_gpu_lp *gpu = nuna_sim_gpu(sim, g);
        unfinished += gpu->exec.unfinished;
        result->time = later(result->time, later(gpu->exec.finished, gpu->straggler.landed));
        nuna_latency_merge(&sim->latency, &gpu->latency);
        if (gpu->flights.peak > result->peak_flights)
            result->peak_flights = gpu->flights.peak;
    }
    if (sim->transfers)
        unfinished += sim->transfers->host.unfinished;
    result->time -= result->time > sim->origin ? sim->origin : result->time;
    result->drained = nuna_kernel_now(sim->kernel);
    result->status = status == NUNA_KERNEL_INTERRUPTED ? NUNA_SIM_INTERRUPTED
                     : unfinished > 0                  ? NUNA_SIM_DEADLOCK
                                                       : NUNA_SIM_COMPLETE;
    result->latency = &sim->latency;
    result->stores = sim->latency.count;
    result->bytes_requested = sim->bytes_requested;
    result->bytes_delivered = bytes_delivered(sim);
    result->events = nuna_kernel_events(sim->kernel) * nuna_fold_factor(fold);
    result->simulated_gpus = fold->lp_count;
    result->approximate = fold->approximate;
    result->unfolded = sim->unfolded;
    expand_log(sim);
    result->binding.kind = NUNA_RESOURCE_KINDS;
    nuna_sim_visit_resources(sim, visit_busiest, &result->binding);
    if (result->status == NUNA_SIM_COMPLETE)
        return collect_translation(sim, &result->translation) &&
               nuna_critical_path(sim, result->path, &result->path_ops);
    result->time = result->drained;
    if (result->status == NUNA_SIM_DEADLOCK)
        list_waiters(sim, result->waiters, sizeof result->waiters);
    return true;
}

bool nuna_sim_run(struct nuna_sim *sim, struct nuna_result *ret_result, struct nuna_error *err)
{
    memset(ret_result, 0, sizeof *ret_result);
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++) {
        if (nuna_pretranslates(sim->pod.params))
            nuna_pretranslate_start(&sim->gpus[lp]);
        else if (sim->origin > 0)
            nuna_lp_schedule(sim->gpus[lp].lp, sim->origin, nuna_event_make(NUNA_EV_START, 0));
        else
            nuna_exec_start(&sim->gpus[lp].exec, 0);
        nuna_background_start(&sim->gpus[lp]);
    }
    if (sim->transfers)
        nuna_host_begin(&sim->transfers->host);
    const struct nuna_kernel_ops ops = {
        .run = run_lp,
        .deliver = deliver,
        .expect = expect,
        .progress = sim->options.progress ? report_progress : NULL,
        /* What a background kernel still does then is nobody's question. */
        .done = sim->pod.params->background.gemm_size > 0 ? collective_done : NULL,
    };
    enum nuna_kernel_status status = nuna_kernel_run(sim->kernel, &ops, sim, sim->options.stop);
    if (status == NUNA_KERNEL_NO_MEMORY)
        return nuna_fail_memory(err, "packets in flight");
    if (status == NUNA_KERNEL_NO_THREADS)
        return nuna_fail(err, NUNA_EXIT_INTERNAL, "cannot start %u threads", sim->options.threads);
    if (!collect(sim, status, ret_result))
        return nuna_fail_memory(err, "the critical path");
    return true;
}
