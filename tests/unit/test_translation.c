/* Reverse translation in whole simulations: closed forms, conservation, symmetry of nodes. */
#include "collectives/check/check.h"
#include "core/group.h"
#include "gpu/translate/counts.h"
#include "gpu/translate/translation.h"
#include "sim_scene.h"

enum { L1 = 50000, L2 = 100000, CACHES = 50000, STEP = 270000 };

static struct nuna_params translating(int64_t gpus_per_node, enum nuna_translation_mode mode)
{
    struct nuna_params p = params_of(6, 2, 2, 4, 4);
    p.pod.gpus_per_node = gpus_per_node;
    p.translation.mode = mode;
    p.translation.walk_step = STEP;
    return p;
}

static struct nuna_plan *by_node(enum nuna_collective collective, uint32_t gpus,
                                 uint32_t gpus_per_node, bool own_apart)
{
    struct nuna_error err;
    const struct nuna_plan_spec spec = {collective, NUNA_ALLPAIRS, gpus, 2};
    const struct nuna_plan_variant variant = {gpus_per_node, own_apart};
    struct nuna_plan *plan = nuna_plan_generate_variant(&spec, &variant, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

/* ---- the group ---- */

Test(group, differences_and_sums)
{
    static const uint32_t shapes[][2] = {{1, 1}, {7, 1}, {8, 8}, {12, 4}, {16, 4}, {9, 3}, {6, 0}};
    for (size_t s = 0; s < COUNT(shapes); s++) {
        struct nuna_group group = nuna_group_make(shapes[s][0], shapes[s][1]);
        for (uint32_t a = 0; a < group.count; a++) {
            uint64_t seen = 0;
            for (uint32_t d = 0; d < group.count; d++) {
                uint32_t b = nuna_group_add(&group, a, d);
                cr_assert_lt(b, group.count);
                cr_assert_eq(nuna_group_difference(&group, b, a), d);
                cr_assert_eq(b / group.node == a / group.node,
                             group.node > 1 ? d < group.node : d == 0);
                seen |= 1ull << b;
                /* Moving both by the same amount changes no difference. */
                for (uint32_t by = 0; by < group.count; by++)
                    cr_assert_eq(nuna_group_difference(&group, nuna_group_add(&group, b, by),
                                                       nuna_group_add(&group, a, by)),
                                 d);
            }
            cr_assert_eq(seen, (1ull << group.count) - 1);
        }
    }
}

Test(group, plans_by_node_are_proved)
{
    struct nuna_params defaults;
    nuna_params_defaults(&defaults);
    for (int c = 0; c < NUNA_COLLECTIVE_OTHER; c++)
        for (uint32_t node = 1; node <= 12; node++) {
            if (12 % node != 0)
                continue;
            struct nuna_error err;
            struct nuna_plan_verdict verdict;
            struct nuna_plan *plan =
                by_node((enum nuna_collective)c, 12, node, c == NUNA_ALLTOALL && node % 2);
            cr_assert(nuna_plan_check(plan, &defaults, NULL, &verdict, &err), "%s: %s",
                      plan->source, err.message);
            cr_assert(verdict.proved);
            /* The first peers of GPU 5 are those of its node. */
            const struct nuna_channel *channels = &plan->channels[plan->gpus[5].channel_at];
            for (uint32_t i = 0; node > 1 && i + 1 < node; i++)
                cr_assert_eq(channels[2 * i].peer / node, 5 / node, "%s", plan->source);
            nuna_plan_destroy(plan);
        }
}

/* ---- closed forms ---- */

/* One store and its flag from GPU 0 to GPU 1. */
static void check_one(const struct nuna_params *p, nuna_time data, nuna_time flag, const char *what)
{
    struct nuna_params off = *p;
    off.translation.mode = NUNA_TRANSLATION_OFF;
    struct nuna_plan *plan = one_way(512, 3, 77, 1, 0);
    struct nuna_result result, plain;
    nuna_sim_destroy(simulate(&off, plan, 512 * LINE, &plain));
    struct nuna_sim *sim = simulate(p, plan, 512 * LINE, &result);
    cr_assert_eq(result.time, plain.time + data + flag, "%s: %" PRIu64 " ps more, by hand %" PRIu64,
                 what, result.time - plain.time, data + flag);
    cr_assert_eq(breakdown_of(sim, &result).path[NUNA_PATH_TRANSLATION], data + flag, "%s", what);
    const struct nuna_translation_counts *t = sim->gpus[0].translation_counts;
    if (t->trips > 0) { /* the parts of the store's round trip, against what its flag waited for */
        uint64_t sum = 0;
        for (uint32_t part = 0; part < NUNA_TRIP_PARTS; part++)
            sum += t->trip[part];
        cr_assert_eq(t->trips, 1u, "%s", what);
        cr_assert_eq(t->trip[NUNA_TRIP_TRANSLATION], data, "%s", what);
        cr_assert_eq(sum, sim->trace[1].acked, "%s", what);
    }
    cr_assert_eq(t->trips > 0, p->pod.gpus_per_node == 1, "%s", what);
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
}

Test(translation, one_store_and_its_flag)
{
    const nuna_time miss = L1 + L2 + CACHES;
    struct nuna_params p = translating(1, NUNA_TRANSLATION_FULL);
    check_one(&p, miss + 5 * STEP, miss + STEP, "cold");
    p.hbm.page_size = 2 << 20;
    check_one(&p, miss + 5 * STEP, miss + STEP, "cold, pages of 2 MiB");
    p.translation.levels = 1;
    check_one(&p, miss + STEP, miss + STEP, "a table of one level");
    p.translation.levels = 3;
    p.translation.level_bits = 1; /* the flag's page shares nothing with that of the line */
    p.hbm.page_size = 4096;
    check_one(&p, miss + 3 * STEP, miss + 3 * STEP, "narrow tables");
    p = translating(2, NUNA_TRANSLATION_FULL);
    check_one(&p, 0, 0, "within a node");
    p = translating(1, NUNA_TRANSLATION_IDEAL);
    check_one(&p, 0, 0, "ideal");
    p = translating(1, NUNA_TRANSLATION_FULL);
    p.translation.pretranslate = NUNA_AHEAD_L1_L2;
    p.translation.pretranslate_lead = 10000000;
    check_one(&p, L1, L1, "pre-translated into the L1");
    p.translation.pretranslate = NUNA_AHEAD_L2;
    check_one(&p, L1 + L2, L1 + L2, "pre-translated into the L2");
    p.translation.pretranslate_pages = 50; /* of two: the line's */
    check_one(&p, L1 + L2, miss + STEP, "half of the pages");
    p.translation.pretranslate_pages = 0;
    check_one(&p, miss + 5 * STEP, miss + STEP, "none");
}

/* On the uniform fabric an access of a walk takes the fabric's latency and the memory's. */
Test(translation, default_walk_step)
{
    struct nuna_params p = translating(1, NUNA_TRANSLATION_FULL);
    p.translation.walk_step = 0;
    p.noc.fabric = NUNA_FABRIC_UNIFORM;
    nuna_time step = (nuna_time)(p.noc.uniform_latency + p.hbm.access_latency);
    check_one(&p, L1 + L2 + CACHES + 5 * step, L1 + L2 + CACHES + step, "uniform");
    /* One router: the idle mesh has one latency. */
    p = params_of(1, 1, 1, 1, 1);
    p.translation.mode = NUNA_TRANSLATION_FULL;
    struct spot o = {0, 0};
    step = noc(&p, o, o, CONTROL) + (nuna_time)p.hbm.access_latency;
    check_one(&p, L1 + L2 + CACHES + 5 * step, L1 + L2 + CACHES + step, "mesh");
}

/* A blocked port costs its link's time for good: however much follows, nothing makes up for it. */
Test(translation, blocked_time_is_lost)
{
    struct nuna_params p = params_of(1, 1, 1, 1, 1), ideal;
    p.hbm.channel_rate = 512000000000;
    p.hbm.page_size = 2 << 20;
    p.scaleup.port_rate = 20000000000; /* a line takes 12.8 ns, a walk 117 lines */
    p.gpu.max_outstanding = 1000000;
    p.translation.mode = NUNA_TRANSLATION_FULL;
    p.translation.walk_step = STEP;
    p.translation.l1_mshrs = 10;
    ideal = p;
    ideal.translation.mode = NUNA_TRANSLATION_IDEAL;
    struct nuna_plan *plan = generate(NUNA_ALLTOALL, NUNA_ALLPAIRS, 2, 1);
    nuna_time lost = 0;
    for (uint64_t lines = 300; lines <= 4800; lines *= 4) {
        nuna_time cost =
            time_of(&p, plan, 2 * lines * LINE) - time_of(&ideal, plan, 2 * lines * LINE);
        if (lines == 300)
            lost = cost;
        /* The acknowledgements of what is under way move by some packets. */
        cr_assert(cost > lost - 4 * 12800 && cost < lost + 4 * 12800,
                  "%" PRIu64 " lines: %" PRIu64 " ps, few lines: %" PRIu64, lines, cost, lost);
    }
    cr_assert_gt(lost, 1000000u);
    nuna_plan_destroy(plan);
}

/* Stores within a node need no translation, but wait behind those that block their port. */
Test(translation, a_blocked_port_holds_its_own_node)
{
    struct nuna_params p = params_of(1, 1, 1, 1, 1);
    p.pod.gpus_per_node = 2;
    p.translation.mode = NUNA_TRANSLATION_FULL;
    p.translation.walk_step = 100000000;
    struct nuna_plan *plan = by_node(NUNA_ALLTOALL, 4, 2, false);
    for (int64_t registers = 1; registers <= 4096; registers *= 4096) {
        struct nuna_result result;
        uint32_t waits = 0;
        p.translation.l1_mshrs = registers;
        struct nuna_sim *sim = simulate(&p, plan, 4 * 64 * LINE, &result);
        for (uint32_t o = 0; o < plan->op_count; o++) {
            const struct nuna_op *op = &plan->ops[o];
            if (op->kind != NUNA_OP_WAIT)
                continue;
            uint32_t gpu = nuna_fold_op_gpu(&sim->pod.fold, o);
            uint32_t peer = plan->channels[plan->gpus[gpu].channel_at + plan->ids[op->id_at]].peer;
            if (peer / 2 != gpu / 2)
                continue;
            waits++;
            cr_assert_eq(sim->log[o].end > (nuna_time)p.translation.walk_step, registers == 1);
        }
        cr_assert_gt(waits, 3u);
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* ---- counts ---- */

static uint64_t lines_of(uint64_t bytes)
{
    return (bytes + LINE - 1) / LINE;
}

/* Lines and flags that the plan sends to other nodes. */
static uint64_t due(const struct nuna_sim *sim)
{
    const struct nuna_plan *plan = sim->pod.spec.plan;
    uint32_t node = sim->pod.spec.gpus_per_node;
    uint64_t requests = 0;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++) {
                const struct nuna_op *op = &plan->ops[o];
                for (uint32_t d = 0; op->kind == NUNA_OP_PUT && d < op->dst_count; d++) {
                    const struct nuna_range *to = &plan->ranges[op->dst_at + d];
                    if (to->gpu / node != g / node)
                        requests += lines_of(
                            sim->pod.layout.gpus[to->gpu].chunks[to->buffer][to->index].bytes);
                }
                for (uint32_t i = 0; op->kind == NUNA_OP_SIGNAL && i < op->id_count; i++)
                    requests +=
                        plan->channels[plan->gpus[g].channel_at + plan->ids[op->id_at + i]].peer /
                            node !=
                        g / node;
            }
        }
    return requests;
}

static const enum nuna_policy policies[] = {NUNA_POLICY_UA, NUNA_POLICY_UA_NAR, NUNA_POLICY_NUMA,
                                            NUNA_POLICY_NAP_NAR};

static struct nuna_sim *simulate_routed(const struct nuna_params *p, const struct nuna_plan *plan,
                                        uint64_t size, uint32_t threads, struct nuna_result *result)
{
    struct nuna_sim_options options = {.size = size, .threads = threads, .domains = 2};
    struct nuna_sim *sim = simulate_with(p, plan, &options, result);
    cr_assert_eq(result->status, NUNA_SIM_COMPLETE);
    return sim;
}

Test(translation, every_request_of_another_node_once)
{
    for (int mode = NUNA_TRANSLATION_IDEAL; mode <= NUNA_TRANSLATION_FULL; mode++)
        for (uint32_t node = 1; node <= 6; node++)
            for (int c = 0; c < NUNA_COLLECTIVE_OTHER && 6 % node == 0; c++) {
                struct nuna_params p = translating(node, (enum nuna_translation_mode)mode);
                p.placement.policy = policies[(node + (uint32_t)c) % COUNT(policies)];
                p.translation.l1_entries = 2; /* plenty of misses, */
                p.translation.l1_mshrs = 3;   /* and of blocked ports */
                p.translation.l2_mshrs = 2;
                p.translation.walkers = 1;
                p.translation.trace = 60;
                p.translation.prefetch = node % 2 ? NUNA_AHEAD_L1_L2 : NUNA_AHEAD_OFF;
                struct nuna_plan *plan = by_node((enum nuna_collective)c, 6, node, false);
                struct nuna_result result;
                struct nuna_sim *sim = simulate_routed(&p, plan, 60013, 1, &result);
                cr_assert_eq(result.translation.requests, due(sim), "%s", plan->source);
                cr_assert_eq(result.bytes_delivered, result.bytes_requested);
                uint64_t trips = 0, traced = 0;
                for (uint32_t g = 0; g < 6; g++) {
                    const struct nuna_translation_counts *t = sim->gpus[g].translation_counts;
                    trips += t->trips;
                    traced += t->trace.count;
                    cr_assert_leq(t->trace.count, 10);
                }
                cr_assert_leq(trips, result.translation.requests);
                cr_assert_eq(trips > 0, node < 6);
                cr_assert_eq(traced > 0, node < 6);
                nuna_sim_destroy(sim);
                nuna_plan_destroy(plan);
            }
}

/* ---- symmetry and order ---- */

/* With nodes of four, an all-pairs collective looks the same from every GPU, under every policy. */
Test(translation, every_gpu_sees_the_same)
{
    for (size_t i = 0; i < COUNT(policies); i++)
        for (int c = 0; c < NUNA_COLLECTIVE_OTHER; c++) {
            struct nuna_params p = translating(4, NUNA_TRANSLATION_FULL);
            p.placement.policy = policies[i];
            p.translation.l1_entries = 4;
            p.translation.l2_policy = NUNA_REPLACE_RANDOM;
            p.translation.l2_entries = 8;
            p.translation.prefetch = NUNA_AHEAD_L2;
            struct nuna_plan *plan = by_node((enum nuna_collective)c, 12, 4, c == NUNA_ALLTOALL);
            struct nuna_result result;
            struct nuna_sim *sim = simulate_routed(&p, plan, 12 * 16 * 321, 1, &result);
            const struct nuna_gpu *first = &sim->gpus[0];
            cr_assert_gt(first->translation->mmu.counts.walks, 3u);
            for (uint32_t g = 1; g < 12; g++) {
                const struct nuna_gpu *gpu = &sim->gpus[g];
                cr_assert_eq(gpu->exec.finished, first->exec.finished, "%s: GPU %u", plan->source,
                             g);
                cr_assert_eq(gpu->lp->events, first->lp->events, "%s: GPU %u", plan->source, g);
                cr_assert_arr_eq(gpu->translation_counts->classes,
                                 first->translation_counts->classes,
                                 sizeof first->translation_counts->classes);
                cr_assert_arr_eq(gpu->translation_counts->trip, first->translation_counts->trip,
                                 sizeof first->translation_counts->trip);
            }
            nuna_sim_destroy(sim);
            nuna_plan_destroy(plan);
        }
}

Test(translation, threads_change_nothing)
{
    struct nuna_params p = translating(2, NUNA_TRANSLATION_FULL);
    struct nuna_plan *plan = by_node(NUNA_ALLTOALL, 6, 2, true);
    struct nuna_result one, more;
    p.translation.pretranslate = NUNA_AHEAD_L1_L2;
    p.translation.pretranslate_lead = 1000000;
    struct nuna_sim *a = simulate_routed(&p, plan, 99991, 1, &one);
    for (uint32_t threads = 2; threads <= 4; threads++) {
        struct nuna_sim *b = simulate_routed(&p, plan, 99991, threads, &more);
        cr_assert_eq(one.time, more.time);
        cr_assert_eq(one.events, more.events);
        for (uint32_t g = 0; g < 6; g++)
            cr_assert_arr_eq(a->gpus[g].translation_counts->classes,
                             b->gpus[g].translation_counts->classes,
                             sizeof a->gpus[g].translation_counts->classes);
        nuna_sim_destroy(b);
    }
    nuna_sim_destroy(a);
    nuna_plan_destroy(plan);
}

/* ---- the mitigations ---- */

/* Each threadblock asks once per page (and port) of its chunk, and once for its flag. */
Test(translation, prefetches_sent)
{
    struct nuna_params p = translating(1, NUNA_TRANSLATION_FULL);
    struct nuna_plan *plan = one_way(1, 0, 0, 1, 0);
    const uint64_t size = 5 * 4096 + 2 * LINE; /* six pages; the last has two lines */
    const struct {
        enum nuna_translate_ahead into;
        uint64_t requests;
    } cases[] = {{NUNA_AHEAD_OFF, 0}, {NUNA_AHEAD_L2, 6 + 1}, {NUNA_AHEAD_L1_L2, 5 * 4 + 2 + 1}};
    nuna_time slowest = 0;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (uint64_t distance = 0; distance <= 1 << 20; distance += 1 << 19) {
            struct nuna_result result;
            p.translation.prefetch = cases[i].into;
            p.translation.prefetch_distance = (int64_t)distance;
            struct nuna_sim *sim = simulate(&p, plan, size, &result);
            cr_assert_eq(result.translation.ahead_requests, cases[i].requests);
            if (i == 0)
                slowest = result.time;
            else
                cr_assert_lt(result.time, slowest);
            cr_assert_eq(sim->gpus[1].translation->mmu.counts.prefetches, cases[i].requests);
            nuna_sim_destroy(sim);
            p.translation.pretranslate = cases[i].into;
            sim = simulate(&p, plan, size, &result);
            cr_assert_eq(result.translation.ahead_requests, 2 * cases[i].requests);
            p.translation.pretranslate = NUNA_AHEAD_OFF;
            nuna_sim_destroy(sim);
        }
    nuna_plan_destroy(plan);
}

/* A distance in lines or pages is that many bytes, alone and together. */
Test(translation, prefetch_distance_in_lines_and_pages)
{
    struct nuna_plan *plan = one_way(1, 0, 0, 1, 0);
    static const struct {
        int64_t bytes, lines, pages, same;
    } cases[] = {{0, 3, 0, 3 * LINE}, {0, 0, 2, 8192}, {LINE, 3, 1, 4096 + 4 * LINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nuna_params p = translating(1, NUNA_TRANSLATION_FULL);
        p.translation.prefetch = NUNA_AHEAD_L2;
        struct nuna_result none, in_bytes, in_units;
        nuna_sim_destroy(simulate(&p, plan, 6 * 4096, &none));
        p.translation.prefetch_distance = cases[i].same;
        nuna_sim_destroy(simulate(&p, plan, 6 * 4096, &in_bytes));
        p.translation.prefetch_distance = cases[i].bytes;
        p.translation.prefetch_lines = cases[i].lines;
        p.translation.prefetch_pages = cases[i].pages;
        nuna_sim_destroy(simulate(&p, plan, 6 * 4096, &in_units));
        cr_assert_eq(in_units.time, in_bytes.time, "case %zu", i);
        cr_assert_eq(in_units.translation.latency_sum, in_bytes.translation.latency_sum);
        cr_assert_lt(in_units.translation.latency_sum, none.translation.latency_sum);
    }
    nuna_plan_destroy(plan);
}

/* Pre-translation counts pages, however many threadblocks share one. */
Test(translation, shared_pages_are_asked_for_once)
{
    struct nuna_params p = translating(1, NUNA_TRANSLATION_FULL);
    /* A line per stream: eight lie in one page, their flags in another; both use all four ports. */
    struct nuna_plan *plan = one_way(16, 0, 3, 8, 0);
    const struct {
        enum nuna_translate_ahead into;
        int64_t share;
        uint64_t requests;
    } cases[] = {
        {NUNA_AHEAD_L2, 100, 2},    {NUNA_AHEAD_L2, 50, 1},    {NUNA_AHEAD_L2, 1, 1},
        {NUNA_AHEAD_L2, 0, 0},      {NUNA_AHEAD_L1_L2, 50, 4}, {NUNA_AHEAD_L1_L2, 51, 8},
        {NUNA_AHEAD_L1_L2, 100, 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nuna_result result;
        p.translation.pretranslate = cases[i].into;
        p.translation.pretranslate_pages = cases[i].share;
        nuna_sim_destroy(simulate(&p, plan, 16 * LINE, &result));
        cr_assert_eq(result.translation.ahead_requests, cases[i].requests,
                     "case %zu: %" PRIu64 " requests", i, result.translation.ahead_requests);
    }
    nuna_plan_destroy(plan);
}

enum access { STORES, LOADS, FORWARDS, PACKETS, MULTICASTS };

/* GPU 0 reaches GPU 1's memory in ways other than a plain store. */
static struct nuna_plan *reaching(enum access access)
{
    struct nuna_plan *plan = one_way(1, 0, 0, 1, 0);
    struct nuna_op *op = &plan->ops[0];
    struct nuna_range *from = &plan->ranges[op->src_at], *to = &plan->ranges[op->dst_at];
    if (access == LOADS) {
        op->kind = NUNA_OP_GET;
        from->gpu = 1;
        to->gpu = 0;
    } else if (access != STORES) {
        op->kind = NUNA_OP_FORWARD;
    }
    if (access == PACKETS) {
        to->form = NUNA_FORM_LL;
        to->buffer = NUNA_BUF_SCRATCH;
        plan->protocol = NUNA_FORM_LL;
        for (uint32_t g = 0; g < 2; g++)
            plan->gpus[g].chunks[NUNA_BUF_SCRATCH] = 1;
    }
    if (access == MULTICASTS) {
        free(plan->groups);
        free(plan->group_ranks);
        plan->groups = calloc(1, sizeof *plan->groups);
        plan->group_ranks = calloc(2, sizeof *plan->group_ranks);
        plan->groups[0] = (struct nuna_switch_group){0, 2};
        plan->group_ranks[1] = 1;
        plan->group_count = 1;
        plan->group_rank_count = 2;
        to->is_group = 1;
        to->gpu = 0;
    }
    return plan;
}

/* The mitigations know every way to another GPU's memory. A message of six pages; packets take
 * twice the bytes, and who only loads has stored nothing that its flag would announce. */
Test(translation, every_access_is_asked_for_ahead)
{
    const struct {
        enum access access;
        uint64_t pretranslated, prefetched;
    } cases[] = {
        {STORES, 6 + 1, 6 + 1},    {LOADS, 6 + 1, 6},          {FORWARDS, 6 + 1, 6 + 1},
        {PACKETS, 11 + 1, 11 + 1}, {MULTICASTS, 6 + 1, 6 + 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nuna_params p = translating(1, NUNA_TRANSLATION_FULL);
        struct nuna_plan *plan = reaching(cases[i].access);
        const uint64_t size = 5 * 4096 + 2 * LINE;
        struct nuna_result bare, result;
        nuna_sim_destroy(simulate(&p, plan, size, &bare));
        cr_assert_gt(bare.translation.walks, 0u);
        p.translation.pretranslate = NUNA_AHEAD_L2;
        nuna_sim_destroy(simulate(&p, plan, size, &result));
        cr_assert_eq(result.translation.ahead_requests, cases[i].pretranslated,
                     "case %zu: %" PRIu64 " pre-translated", i, result.translation.ahead_requests);
        /* Nothing is left to walk for. */
        cr_assert_lt(result.translation.latency_max, L1 + L2 + CACHES);
        cr_assert_lt(result.time, bare.time);
        p.translation.pretranslate = NUNA_AHEAD_OFF;
        p.translation.prefetch = NUNA_AHEAD_L2;
        p.translation.prefetch_distance = 4096;
        nuna_sim_destroy(simulate(&p, plan, size, &result));
        cr_assert_eq(result.translation.ahead_requests, cases[i].prefetched,
                     "case %zu: %" PRIu64 " prefetched", i, result.translation.ahead_requests);
        cr_assert_lt(result.time, bare.time, "case %zu", i);
        nuna_plan_destroy(plan);
    }
}

/* No more rows than asked for, and no fewer while there are requests enough. */
Test(translation, trace_keeps_to_its_limit)
{
    struct nuna_plan *plan = by_node(NUNA_ALLTOALL, 6, 2, false);
    for (int64_t rows = 1; rows <= 24; rows++) {
        struct nuna_params p = translating(2, NUNA_TRANSLATION_FULL);
        struct nuna_result result;
        p.translation.trace = rows;
        p.translation.trace_gpu = 5;
        struct nuna_sim *sim = simulate(&p, plan, 60000, &result);
        uint64_t traced = 0;
        for (uint32_t g = 0; g < 6; g++)
            traced += sim->gpus[g].translation_counts->trace.count;
        cr_assert_leq(traced, (uint64_t)rows);
        if (rows <= 4) /* one of each destination */
            cr_assert_eq(traced, (uint64_t)rows);
        cr_assert_gt(traced, 0u);
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* Pages live from their first to their last request. */
Test(translation, live_pages)
{
    struct nuna_page_life lives[] = {{10, 20}, {1, 0}, {20, 30}, {21, 22}, {40, 50}};
    struct nuna_translation_counts t = {.lives = lives, .page_count = COUNT(lives)};
    uint64_t pages;
    cr_assert(nuna_counts_live(&t, &pages));
    cr_assert_eq(pages, 2u);
    lives[1] = (struct nuna_page_life){20, 21};
    cr_assert(nuna_counts_live(&t, &pages));
    cr_assert_eq(pages, 3u);
}

/* A stream leaves its pages behind: of 64 no more than are under way live at a time. */
Test(translation, a_stream_has_few_live_pages)
{
    struct nuna_params p = translating(1, NUNA_TRANSLATION_IDEAL);
    struct nuna_plan *plan = one_way(1, 0, 0, 1, 0);
    struct nuna_result result;
    nuna_sim_destroy(simulate(&p, plan, UINT64_C(64) * 4096, &result));
    cr_assert(result.translation.live_pages >= 1 && result.translation.live_pages <= 8,
              "%" PRIu64 " pages", result.translation.live_pages);
    nuna_plan_destroy(plan);
}
