/* Folding: which GPUs may stand for which, every kind of difference that forbids it, and that a
 * folded run is the unfolded one. */
#include "sim_scene.h"

enum { GPUS = 12, NODE = 4, ODD = GPUS - 1 /* the GPU that is changed */ };

static struct nuna_plan *alike(enum nuna_collective collective, uint32_t gpus, uint32_t node)
{
    struct nuna_error err;
    const struct nuna_plan_spec spec = {collective, NUNA_ALLPAIRS, gpus, 2};
    const struct nuna_plan_variant variant = {node, false};
    struct nuna_plan *plan = nuna_plan_generate_variant(&spec, &variant, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

static struct nuna_params machine(int64_t node, enum nuna_policy policy)
{
    struct nuna_params p = params_of(6, 2, 2, 4, 4);
    p.pod.gpus_per_node = node;
    p.placement.policy = policy;
    return p;
}

/* ---- who stands for whom ---- */

struct pod {
    struct nuna_params params;
    struct nuna_plan *plan;
    struct nuna_sim *sim; /* not folded, and never run */
};

static void pod_open(struct pod *pod, uint32_t gpus, uint32_t node, enum nuna_policy policy)
{
    struct nuna_error err;
    struct nuna_sim_options options = {.size = gpus * 2 * 5000, .threads = 1, .domains = 2};
    pod->params = machine(node, policy);
    pod->plan = alike(NUNA_ALLREDUCE, gpus, node);
    pod->sim = nuna_sim_create(&pod->params, pod->plan, &options, &err);
    cr_assert_not_null(pod->sim, "%s", err.message);
}

static void pod_close(struct pod *pod)
{
    nuna_sim_destroy(pod->sim);
    nuna_plan_destroy(pod->plan);
}

/* How many GPUs are left to simulate, the pod being as it is now. */
static uint32_t folded(const struct pod *pod, struct nuna_fold *fold)
{
    struct nuna_error err;
    cr_assert(
        nuna_fold_init(fold, &pod->sim->pod.spec, &pod->sim->pod.placement, NUNA_FOLD_AUTO, &err),
        "%s", err.message);
    return fold->lp_count;
}

static uint32_t count_folded(const struct pod *pod)
{
    struct nuna_fold fold;
    uint32_t count = folded(pod, &fold);
    nuna_fold_finish(&fold);
    return count;
}

/* A representative's traffic to any GPU comes from whoever makes the relabelling that moves that
 * GPU onto its representative. */
static void check_relabelling(const struct pod *pod, const struct nuna_fold *fold)
{
    const struct nuna_group *group = &pod->sim->pod.spec.group;
    cr_assert_eq(nuna_fold_factor(fold) * fold->lp_count, group->count);
    for (uint32_t l = 0; l < fold->lp_count; l++)
        cr_assert_eq(fold->lp[fold->gpu[l]], l);
    for (uint32_t g = 0; g < group->count; g++) {
        cr_assert_lt(fold->lp[g], fold->lp_count);
        uint32_t rep = fold->gpu[fold->lp[g]];
        for (uint32_t l = 0; l < fold->lp_count && fold->lp_count < group->count; l++) {
            uint32_t sender = fold->gpu[l], seen = fold->seen[l * group->count + g];
            cr_assert_eq(nuna_group_difference(group, rep, seen),
                         nuna_group_difference(group, g, sender),
                         "GPU %u to %u comes to %u as from %u", sender, g, rep, seen);
            cr_assert_eq(fold->lp[seen], l, "who is seen is not one of the sender's kind");
        }
    }
}

static void relax(struct nuna_plan *plan, uint32_t gpu)
{
    for (uint32_t t = 0; t < plan->gpus[gpu].tb_count; t++) {
        const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[gpu].tb_at + t];
        for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++)
            if (plan->ops[o].kind == NUNA_OP_SIGNAL)
                plan->ops[o].relaxed = 1;
    }
}

/* Every `nodes`-th node's every `locals`-th GPU is unlike the others. */
static void check_subgroup(uint32_t gpus, uint32_t node, uint32_t nodes, uint32_t locals,
                           uint32_t due)
{
    struct pod pod;
    struct nuna_fold fold;
    uint32_t width = node > 1 ? node : 1;
    pod_open(&pod, gpus, node, NUNA_POLICY_UA);
    for (uint32_t g = 0; g < gpus && nodes * locals > 1; g++)
        if (g / width % nodes == 0 && g % width % locals == 0)
            relax(pod.plan, g);
    uint32_t count = folded(&pod, &fold);
    cr_assert_eq(count, due, "%u GPUs in nodes of %u, every %u/%u: %u", gpus, node, nodes, locals,
                 count);
    cr_assert_eq(fold.lp_count == gpus, fold.seen == NULL);
    check_relabelling(&pod, &fold);
    nuna_fold_finish(&fold);
    pod_close(&pod);
}

Test(fold, rotations_and_their_subgroups)
{
    for (uint32_t gpus = 2; gpus <= GPUS; gpus += 5)
        check_subgroup(gpus, 1, 1, 1, 1);
    for (uint32_t step = 1; step <= GPUS; step++)
        if (GPUS % step == 0)
            check_subgroup(GPUS, 1, step, 1, step);
    check_subgroup(7, 1, 7, 1, 7); /* a prime: all or nothing */
    check_subgroup(8, 1, 3, 1, 8); /* not a rotation's step */
}

Test(fold, rotations_of_nodes_and_within_them)
{
    check_subgroup(GPUS, NODE, 1, 1, 1);
    check_subgroup(GPUS, NODE, 1, 2, 2); /* every second GPU of all nodes */
    check_subgroup(GPUS, NODE, 1, 4, 4); /* one in each node: nodes are alike */
    check_subgroup(GPUS, NODE, 3, 1, 3); /* all of one node: its GPUs are alike */
    check_subgroup(GPUS, NODE, 3, 2, 6); /* both */
    check_subgroup(GPUS, NODE, 3, 4, 12);
    check_subgroup(16, NODE, 2, 2, 4);
}

/* ---- what makes GPUs unlike ---- */

struct part {
    struct nuna_plan *plan;
    struct nuna_plan_gpu *gpu;
    struct nuna_threadblock *tbs;
    struct nuna_op *put, *signal, *reduce, *barrier;
    struct nuna_channel *channels;
    struct nuna_layout_gpu *layout;
    struct nuna_placement *placement;
};

static struct nuna_range *source(const struct part *p)
{
    return &p->plan->ranges[p->put->src_at];
}

static struct nuna_range *destination(const struct part *p)
{
    return &p->plan->ranges[p->put->dst_at];
}

static void swap_ids(uint32_t *a, uint32_t *b)
{
    uint32_t was = *a;
    *a = *b;
    *b = was;
}

/* One per line that compares something. */
#define CHANGES(X)                                                                                 \
    X(op_kind, p->put->kind = NUNA_OP_COPY)                                                        \
    X(op_relaxed, p->signal->relaxed ^= 1)                                                         \
    X(op_sources, p->reduce->src_count--)                                                          \
    X(op_destinations, p->put->dst_count--)                                                        \
    X(op_ids, p->signal->id_count--)                                                               \
    X(op_barrier, p->put->barrier_id++)                                                            \
    X(op_barrier_blocks, p->put->barrier_blocks++)                                                 \
    X(op_channel, p->plan->ids[p->signal->id_at] ^= 1)                                             \
    X(source_gpu, source(p)->gpu = 0)                                                              \
    X(source_chunk, source(p)->index ^= 1)                                                         \
    X(destination_gpu, destination(p)->gpu = (destination(p)->gpu + 1) % GPUS)                     \
    X(destination_buffer, destination(p)->buffer ^= NUNA_BUF_SCRATCH)                              \
    X(destination_chunk, destination(p)->index ^= 1)                                               \
    X(destination_chunks, destination(p)->count++)                                                 \
    X(threadblock_operations, p->tbs[p->gpu->tb_count - 1].op_count--)                             \
    X(threadblocks, p->gpu->tb_count--)                                                            \
    X(channels, p->gpu->channel_count--)                                                           \
    X(channel_end, swap_ids(&p->channels[0].peer_channel, &p->channels[1].peer_channel))           \
    X(channel_peer, swap_ids(&p->channels[0].peer, &p->channels[2].peer))                          \
    X(semaphores, p->gpu->sem_count--)                                                             \
    X(semaphore, p->plan->sem_init[p->gpu->sem_at]++)                                              \
    X(barriers, p->gpu->barrier_count++)                                                           \
    X(cu, p->placement->cu[p->gpu->tb_at] ^= 1)                                                    \
    X(routing_domain, p->placement->domain[p->gpu->tb_at] ^= 1)                                    \
    X(frame_stack, p->placement->pages[ODD][2].stack ^= 1)                                         \
    X(frame_domain, p->placement->pages[ODD][2].domain ^= 1)                                       \
    X(frame_domains, p->placement->pages[ODD][2].domains ^= 3)                                     \
    X(chunk_position, p->layout->chunks[NUNA_BUF_INPUT][0].position += 4096)                       \
    X(chunk_bytes, p->layout->chunks[NUNA_BUF_INPUT][0].bytes -= 16)                               \
    X(image_end, p->layout->end += 4096)                                                           \
    X(flag_page, p->layout->flag_position[3] += 4096)

#define AS_FUNCTION(name, change)                                                                  \
    static void change_##name(struct part *p)                                                      \
    {                                                                                              \
        change;                                                                                    \
    }
CHANGES(AS_FUNCTION)

#define AS_ROW(name, change) {#name, change_##name},
static const struct {
    const char *name;
    void (*change)(struct part *part);
} changes[] = {CHANGES(AS_ROW)};

static struct nuna_op *first_of(const struct part *p, enum nuna_op_kind kind)
{
    for (uint32_t t = 0; t < p->gpu->tb_count; t++)
        for (uint32_t o = p->tbs[t].op_at; o < p->tbs[t].op_at + p->tbs[t].op_count; o++)
            if (p->plan->ops[o].kind == kind)
                return &p->plan->ops[o];
    return NULL;
}

static struct part part_of(struct pod *pod, uint32_t gpu)
{
    struct nuna_plan *plan = pod->plan;
    struct part part = {.plan = plan, .gpu = &plan->gpus[gpu]};
    part.tbs = &plan->threadblocks[part.gpu->tb_at];
    part.channels = &plan->channels[part.gpu->channel_at];
    part.layout = &pod->sim->pod.layout.gpus[gpu];
    part.placement = &pod->sim->pod.placement;
    part.put = first_of(&part, NUNA_OP_PUT);
    part.signal = first_of(&part, NUNA_OP_SIGNAL);
    part.reduce = first_of(&part, NUNA_OP_REDUCE);
    cr_assert(part.put && part.signal && part.reduce);
    return part;
}

/* Two semaphores to each GPU, which nobody uses. */
static void add_semaphores(struct nuna_plan *plan)
{
    free(plan->sem_init);
    plan->sem_init = calloc(2 * (size_t)plan->gpu_count, sizeof *plan->sem_init);
    cr_assert_not_null(plan->sem_init);
    plan->sem_count = 2 * (size_t)plan->gpu_count;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        plan->gpus[g].sem_at = 2 * g;
        plan->gpus[g].sem_count = 2;
    }
}

Test(fold, one_difference_forbids_it)
{
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct pod pod;
        pod_open(&pod, GPUS, 1, NUNA_POLICY_NAP_NAR);
        add_semaphores(pod.plan);
        cr_assert_eq(count_folded(&pod), 1);
        struct part part = part_of(&pod, ODD);
        cr_assert(part.placement->pages && part.layout->flag_position);
        changes[i].change(&part);
        cr_assert_eq(count_folded(&pod), GPUS, "%s is not looked at", changes[i].name);
        /* What the processes free must be as it was. */
        pod_close(&pod);
    }
}

/* The same change at every GPU is none. */
Test(fold, changes_at_all_gpus_keep_them_alike)
{
    struct pod pod;
    pod_open(&pod, GPUS, 1, NUNA_POLICY_NAP_NAR);
    for (uint32_t g = 0; g < GPUS; g++) {
        struct part part = part_of(&pod, g);
        part.signal->relaxed ^= 1;
        part.placement->cu[part.gpu->tb_at] ^= 1;
        part.placement->pages[g][2].stack ^= 1;
        part.layout->flag_position[3] += 4096;
    }
    cr_assert_eq(count_folded(&pod), 1);
    pod_close(&pod);
}

/* State that the comparison does not know, be it the same everywhere. */
#define STATES(X)                                                                                  \
    X(connection, plan->chunks_per_loop = 4)                                                       \
    X(wrapping_scratch, plan->reuse_scratch = true)                                                \
    X(switch_group, plan->group_count = 1)                                                         \
    X(proxy, plan->channels[7].kind = NUNA_CHANNEL_PORT)                                           \
    X(packets, plan->ranges[0].form = NUNA_FORM_LL)                                                \
    X(cast, plan->ranges[plan->range_count - 1].is_group = 1)                                      \
    X(remote_load, plan->ops[0].kind = NUNA_OP_GET)                                                \
    X(flags, plan->ops[plan->op_count - 1].flags = NUNA_OP_PORT)                                   \
    X(parts, plan->ops[0].parts = 2)                                                               \
    X(order, swap_ids(&plan->threadblocks[0].op_at, &plan->threadblocks[1].op_at))

#define AS_STATE(name, change)                                                                     \
    static void state_##name(struct nuna_plan *plan)                                               \
    {                                                                                              \
        change;                                                                                    \
    }
STATES(AS_STATE)

#define AS_STATE_ROW(name, change) {#name, state_##name},
static const struct {
    const char *name;
    void (*change)(struct nuna_plan *plan);
} states[] = {STATES(AS_STATE_ROW)};

Test(fold, what_is_not_compared_forbids_it)
{
    for (size_t i = 0; i < COUNT(states); i++) {
        struct pod pod;
        pod_open(&pod, GPUS, 1, NUNA_POLICY_UA);
        cr_assert_eq(count_folded(&pod), 1);
        states[i].change(pod.plan);
        cr_assert_eq(count_folded(&pod), GPUS, "%s is ignored", states[i].name);
        pod_close(&pod);
    }
}

Test(fold, approximate_wants_one_structure)
{
    struct pod pod;
    struct nuna_fold fold;
    struct nuna_error err;
    pod_open(&pod, GPUS, 1, NUNA_POLICY_UA);
    for (int unlike = 0; unlike < 2; unlike++) {
        cr_assert(nuna_fold_init(&fold, &pod.sim->pod.spec, &pod.sim->pod.placement,
                                 NUNA_FOLD_APPROX, &err),
                  "%s", err.message);
        cr_assert_eq(fold.lp_count, 1);
        cr_assert_eq(fold.approximate, unlike == 1);
        check_relabelling(&pod, &fold);
        nuna_fold_finish(&fold);
        pod.sim->pod.layout.gpus[ODD].chunks[NUNA_BUF_INPUT][0].bytes -= 16;
    }
    relax(pod.plan, ODD);
    cr_assert_not(
        nuna_fold_init(&fold, &pod.sim->pod.spec, &pod.sim->pod.placement, NUNA_FOLD_APPROX, &err));
    cr_assert_eq(err.code, NUNA_EXIT_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "--fold approx"));
    nuna_fold_finish(&fold);
    pod_close(&pod);
}

/* ---- folded and not ---- */

struct table {
    struct nuna_resource *rows;
    size_t count, capacity;
};

static bool add_row(void *context, const struct nuna_resource *row)
{
    struct table *table = context;
    if (table->count == table->capacity) {
        table->capacity = 2 * table->capacity + 64;
        table->rows = realloc(table->rows, table->capacity * sizeof *table->rows);
        cr_assert_not_null(table->rows);
    }
    table->rows[table->count++] = *row;
    return true;
}

static void same_resources(const struct nuna_view *a, const struct nuna_view *b)
{
    struct table x = {0}, y = {0};
    nuna_visit_resources(a, add_row, &x);
    nuna_visit_resources(b, add_row, &y);
    cr_assert_eq(x.count, y.count);
    for (size_t i = 0; i < x.count; i++)
        cr_assert(x.rows[i].kind == y.rows[i].kind && x.rows[i].gpu == y.rows[i].gpu &&
                      x.rows[i].bytes == y.rows[i].bytes && x.rows[i].busy == y.rows[i].busy &&
                      x.rows[i].max_wait == y.rows[i].max_wait &&
                      strcmp(x.rows[i].name, y.rows[i].name) == 0,
                  "%s of GPU %u", x.rows[i].name, x.rows[i].gpu);
    free(x.rows);
    free(y.rows);
}

/* Everything that a run tells, for every GPU. */
static void check_run(const struct nuna_params *p, const struct nuna_plan *plan, uint64_t size,
                      uint32_t due)
{
    struct nuna_result whole, part;
    struct nuna_sim_options options = {.size = size, .threads = 1, .domains = 2};
    struct nuna_sim *a = simulate_with(p, plan, &options, &whole);
    options.fold = NUNA_FOLD_AUTO;
    options.threads = 2;
    struct nuna_sim *b = simulate_with(p, plan, &options, &part);
    cr_assert_eq(whole.simulated_gpus, plan->gpu_count);
    cr_assert_eq(part.simulated_gpus, due, "%s: %u GPUs simulated", plan->source,
                 part.simulated_gpus);
    cr_assert(part.status == whole.status && !part.approximate && part.unfolded == NULL);
    cr_assert(part.time == whole.time && part.drained == whole.drained, "%s", plan->source);
    cr_assert(part.stores == whole.stores && part.bytes_delivered == whole.bytes_delivered &&
              part.events == whole.events && part.peak_flights == whole.peak_flights);
    const struct nuna_breakdown all = breakdown_of(a, &whole), few = breakdown_of(b, &part);
    cr_assert_arr_eq(few.path, all.path, sizeof few.path, "%s: critical path", plan->source);
    cr_assert_eq(few.path_ops, all.path_ops);
    cr_assert_arr_eq(&part.translation, &whole.translation, sizeof part.translation, "%s",
                     plan->source);
    cr_assert_arr_eq(part.latency, whole.latency, sizeof *part.latency, "%s", plan->source);
    for (size_t i = 0; i < plan->op_count; i++)
        cr_assert(a->log[i].end == b->log[i].end && a->log[i].cause == b->log[i].cause,
                  "%s: operation %zu", plan->source, i);
    const struct nuna_view view_a = nuna_view_of(a, &whole), view_b = nuna_view_of(b, &part);
    same_resources(&view_a, &view_b);
    nuna_sim_destroy(a);
    nuna_sim_destroy(b);
}

Test(fold, a_folded_run_is_the_whole_run)
{
    static const enum nuna_policy policies[] = {NUNA_POLICY_UA, NUNA_POLICY_NUMA_NAR,
                                                NUNA_POLICY_NAP, NUNA_POLICY_NAP_NAR};
    for (int c = 0; c < NUNA_COLLECTIVE_OTHER; c++)
        for (size_t i = 0; i < COUNT(policies); i++) {
            struct nuna_params p = machine(1, policies[i]);
            struct nuna_plan *plan = alike((enum nuna_collective)c, 6, 1);
            check_run(&p, plan, 6 * 2 * 3000, 1);
            nuna_plan_destroy(plan);
        }
}

Test(fold, so_is_one_of_several_representatives)
{
    static const struct {
        uint32_t gpus, node, nodes, locals, due;
    } cases[] = {
        {8, 1, 2, 1, 2}, {9, 1, 3, 1, 3}, {8, 4, 1, 2, 2}, {8, 4, 2, 1, 2}, {8, 4, 2, 2, 4}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nuna_params p = machine(cases[i].node, NUNA_POLICY_UA);
        struct nuna_plan *plan = alike(NUNA_ALLREDUCE, cases[i].gpus, cases[i].node);
        p.translation.mode = cases[i].node > 1 ? NUNA_TRANSLATION_FULL : NUNA_TRANSLATION_OFF;
        for (uint32_t g = 0; g < cases[i].gpus; g++)
            if (g / cases[i].node % cases[i].nodes == 0 && g % cases[i].node % cases[i].locals == 0)
                relax(plan, g);
        check_run(&p, plan, cases[i].gpus * UINT64_C(2) * 4112, cases[i].due);
        nuna_plan_destroy(plan);
    }
}
