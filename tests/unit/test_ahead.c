/* Translation ahead of the stores: what pre-translation and prefetching send, when, in whose issue
 * slots, and how much of each store's translation is left. On a machine of pure latencies. */
#include "gpu/translate/counts.h"
#include "part_scene.h"

#define SLOT UINT64_C(1000)

enum {
    PAGE = 4096,
    LINES_OF_PAGE = PAGE / LINE,
    PAGES = 5,
    LINES = PAGES * LINES_OF_PAGE,
    L1 = 50000,
    L2 = 100000,
    WALK = L1 + L2 + 50000 + 170000, /* of a table of one level, until it is in both */
};

static struct nuna_params machine(void)
{
    struct nuna_params p = pure_latency();
    p.gpu.issue_interval = SLOT;
    p.hbm.page_size = PAGE;
    p.translation.mode = NUNA_TRANSLATION_FULL;
    p.translation.levels = 1;
    p.translation.walk_step = 170000;
    p.translation.l2_interval = 1;
    p.translation.l1_mshrs = 65536; /* no port blocks */
    p.translation.trace = 2 * 10000;
    return p;
}

/* GPU 0 puts `blocks` chunks, a threadblock each. */
static struct nuna_plan *stream(uint32_t blocks)
{
    struct script s;
    script_open(&s, 2, blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        script_block(&s);
        script_op(&s, NUNA_OP_PUT);
        script_from(&s, 0, NUNA_BUF_INPUT, b, 1);
        script_to(&s, 1, NUNA_BUF_OUTPUT, b, 1);
    }
    return script_close(&s);
}

/* What is left of each line's translation, in the order of the lines, when line l is loaded at
 * loaded[l] and its page's request is sent at asked[page]. */
static void check_left(const struct nuna_sim *sim, const nuna_time *loaded, const nuna_time *asked,
                       nuna_time hit, const char *what)
{
    const struct nuna_request_trace *trace = &sim->gpus[1].translation_counts->trace;
    const nuna_time load = there_and_back(sim->pod.spec.params);
    nuna_time due[LINES];
    cr_assert_eq(trace->count, LINES, "%s: %u rows", what, trace->count);
    for (uint32_t l = 0; l < LINES; l++) {
        nuna_time ready = asked[l / LINES_OF_PAGE] + WALK, at = loaded[l] + load;
        due[l] = ready > at + hit ? ready - at : hit;
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct nuna_trace_row *row = &trace->rows[i];
        uint32_t l = 0;
        while (l < LINES && loaded[l] + load != row->issued)
            l++;
        cr_assert_lt(l, LINES, "%s: a store issued at %" PRIu64, what, row->issued);
        cr_assert_eq(row->latency, due[l], "%s, line %u: %" PRIu64 " ps, by hand %" PRIu64, what, l,
                     row->latency, due[l]);
    }
}

/* A page is asked for when the line being loaded is within the distance of its first byte; each
 * request takes a slot from the lines that follow. */
Test(ahead, prefetch_distance_and_slots)
{
    static const int64_t distances[] = {
        0, 255, 256, PAGE - 256, PAGE - 255, PAGE, PAGE + 3 * 256, 3 * PAGE + 1, 100 * PAGE};
    struct nuna_plan *plan = stream(1);
    for (size_t d = 0; d < COUNT(distances); d++) {
        struct nuna_params p = machine();
        struct nuna_result result;
        nuna_time loaded[LINES], asked[PAGES], now = 0;
        uint32_t next = 0;
        p.translation.prefetch = NUNA_AHEAD_L1_L2;
        p.translation.prefetch_distance = distances[d];
        for (uint32_t l = 0; l < LINES; l++) {
            loaded[l] = now;
            now += SLOT;
            for (; next < PAGES && next * PAGE <= l * LINE + distances[d]; next++) {
                asked[next] = loaded[l];
                if (next > 0 && asked[next] <= asked[next - 1]) /* the L2 takes one at a time */
                    asked[next] = asked[next - 1] + 1;
                now += SLOT;
            }
        }
        cr_assert_lt(now, there_and_back(&p)); /* all loads are out before the first store */
        struct nuna_sim *sim = simulate(&p, plan, LINES * LINE, &result);
        check_end("put", sim->log[0].end, loaded[LINES - 1] + there_and_back(&p));
        cr_assert_eq(result.translation.ahead_requests, PAGES);
        cr_assert_eq(result.translation.walks, PAGES);
        check_left(sim, loaded, asked, L1, "prefetched");
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* Requests leave slot by slot from time 0; the collective starts after the lead. */
Test(ahead, pretranslation_leads)
{
    static const int64_t leads[] = {0, 1, 50000, 100000, 300000, 5000000};
    struct nuna_plan *plan = stream(1);
    for (size_t i = 0; i < COUNT(leads); i++) {
        struct nuna_params p = machine();
        struct nuna_result result;
        nuna_time loaded[LINES], asked[PAGES];
        p.translation.pretranslate = NUNA_AHEAD_L1_L2;
        p.translation.pretranslate_lead = leads[i];
        for (uint32_t l = 0; l < LINES; l++)
            loaded[l] = (nuna_time)leads[i] + l * SLOT;
        for (uint32_t page = 0; page < PAGES; page++)
            asked[page] = page * SLOT;
        struct nuna_sim *sim = simulate(&p, plan, LINES * LINE, &result);
        check_end("put", sim->log[0].end, loaded[LINES - 1] + there_and_back(&p));
        cr_assert_eq(result.translation.ahead_requests, PAGES);
        check_left(sim, loaded, asked, L1, "pre-translated");
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* A share of the pages, those that are used first: of each of two threadblocks the first, then of
 * each the second. The others walk for their first stores. */
Test(ahead, pages_in_the_order_of_their_use)
{
    struct nuna_plan *plan = stream(2);
    for (int64_t share = 0; share <= 100; share += 5) {
        struct nuna_params p = machine();
        struct nuna_result result;
        uint32_t kept = (2 * PAGES * (uint32_t)share + 99) / 100, late = 0;
        p.translation.pretranslate = NUNA_AHEAD_L1_L2;
        p.translation.pretranslate_lead = 10000000;
        p.translation.pretranslate_pages = share;
        struct nuna_sim *sim = simulate(&p, plan, UINT64_C(2) * LINES * LINE, &result);
        cr_assert_eq(result.translation.ahead_requests, kept);
        cr_assert_eq(result.translation.walks, 2 * PAGES);
        const struct nuna_request_trace *trace = &sim->gpus[1].translation_counts->trace;
        const struct nuna_chunk_place *chunks = sim->pod.layout.gpus[1].chunks[NUNA_BUF_OUTPUT];
        for (uint32_t i = 0; i < trace->count; i++) {
            uint32_t first = (uint32_t)(chunks[0].position / PAGE);
            uint32_t page = trace->rows[i].page - first, block = page / PAGES;
            bool asked = 2 * (page % PAGES) + block < kept;
            cr_assert_eq(trace->rows[i].latency == L1 || !asked, true, "share %" PRId64 ", page %u",
                         share, page);
            late += trace->rows[i].latency == WALK;
        }
        /* One store of each page waits for a whole walk. */
        cr_assert_eq(late, 2 * PAGES - kept, "share %" PRId64 ": %u pages", share, late);
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* Into the L2 only: what comes later pays for its lookup. */
Test(ahead, into_the_l2)
{
    struct nuna_plan *plan = stream(1);
    for (int prefetches = 0; prefetches < 2; prefetches++) {
        struct nuna_params p = machine();
        struct nuna_result result;
        if (prefetches) {
            p.translation.prefetch = NUNA_AHEAD_L2;
            p.translation.walk_step = 1;
        } else {
            p.translation.pretranslate = NUNA_AHEAD_L2;
            p.translation.pretranslate_lead = 10000000;
        }
        struct nuna_sim *sim = simulate(&p, plan, LINES * LINE, &result);
        const struct nuna_request_trace *trace = &sim->gpus[1].translation_counts->trace;
        uint32_t lookups = 0;
        for (uint32_t i = 0; i < trace->count; i++)
            lookups += trace->rows[i].latency == L1 + L2;
        cr_assert_eq(result.translation.latency_max, L1 + L2);
        cr_assert_geq(lookups, PAGES);
        cr_assert_eq(result.translation.ahead_requests, PAGES);
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* Nothing is asked within a node, of oneself, or where nothing is stored. */
Test(ahead, only_of_other_nodes)
{
    struct nuna_plan *plan = stream(1);
    struct nuna_result result;
    struct nuna_params p = machine();
    p.pod.gpus_per_node = 2;
    p.translation.prefetch = NUNA_AHEAD_L1_L2;
    p.translation.pretranslate = NUNA_AHEAD_L1_L2;
    nuna_sim_destroy(simulate(&p, plan, LINES * LINE, &result));
    cr_assert_eq(result.translation.ahead_requests, 0);
    cr_assert_eq(result.time, there_and_back(&p) + (LINES - 1) * SLOT + reach_peer(&p));
    p.pod.gpus_per_node = 1;
    nuna_sim_destroy(simulate(&p, plan, 0, &result));
    cr_assert_eq(result.translation.ahead_requests, 0);
    nuna_plan_destroy(plan);
}
