/* The link MMU alone: latencies worked out by hand, to the picosecond. */
#include "mmu/link_mmu.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { REQUEST = 9, MMU_KIND = 20, MOST = 64 };

/* Lookups of the L1 have ended when a request is handed to the MMU: times count from there. */
enum { L2 = 100000, CACHES = 50000, STEP = 270000, INTERVAL = 455, LINK = 2560 };

struct request {
    nuna_time at;
    uint32_t port, page;
    enum { DEMAND, PREFETCH, PREFETCH_L2, PLAIN } kind;
};

struct bench {
    struct nuna_mmu_shape shape;
    struct nuna_mmu mmu;
    struct nuna_lp *lp;
    const struct request *requests;
    nuna_time latency[MOST];
    uint32_t class[MOST], order[MOST], answered, resent;
};

static void resent(void *context, uint32_t port, uint32_t count)
{
    struct bench *bench = context;
    cr_assert_eq(port, 0);
    bench->resent += count;
}

static void ready(void *context, uint32_t token, uint32_t page, uint32_t class, nuna_time since)
{
    struct bench *bench = context;
    if (class != NUNA_CLASS_NONE)
        cr_assert_eq(bench->requests[token].page, page);
    cr_assert_eq(bench->requests[token].at, since);
    bench->latency[token] = bench->lp->now - since;
    bench->class[token] = class;
    bench->order[bench->answered++] = token;
}

static void handle(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    struct bench *bench = model;
    uint32_t kind = nuna_event_kind(event), token = nuna_event_handle(event);
    if (kind == MMU_KIND) {
        nuna_mmu_event(&bench->mmu, lp, event);
        return;
    }
    const struct request *r = &bench->requests[token];
    if (r->kind == PLAIN) {
        if (!nuna_mmu_hold(&bench->mmu, r->port, token, lp->now))
            ready(bench, token, 0, NUNA_CLASS_NONE, lp->now);
    } else if (r->kind != DEMAND)
        nuna_mmu_prefetch(&bench->mmu, lp, r->port, r->page, r->kind == PREFETCH_L2);
    else if (nuna_mmu_translate(&bench->mmu, lp, r->port, r->page, token, lp->now))
        ready(bench, token, r->page, NUNA_CLASS_L1_HIT, lp->now);
}

static void no_prefetch(void *model, struct nuna_event event)
{
    (void)model;
    (void)event;
}

static void run_lp(void *model, uint32_t lp, nuna_time end)
{
    struct bench *bench = model;
    (void)lp;
    nuna_lp_run(bench->lp, end, model, handle, no_prefetch);
}

static struct nuna_params table_1(void)
{
    struct nuna_params p;
    nuna_params_defaults(&p);
    p.scaleup.ports = 16;
    p.scaleup.port_rate = 100000000000;
    p.translation.walk_step = STEP;
    return p;
}

/* Runs the requests; the MMU is left for inspection. */
static void run(struct bench *bench, const struct nuna_params *params,
                const struct request *requests, uint32_t count)
{
    memset(bench, 0, sizeof *bench);
    nuna_mmu_shape_init(&bench->shape, params, 1);
    bench->shape.event_kind = MMU_KIND;
    bench->shape.ready = ready;
    bench->shape.resent = resent;
    cr_assert(nuna_mmu_init(&bench->mmu, &bench->shape, bench));
    struct nuna_kernel *kernel = nuna_kernel_create(1, 1, NUNA_MIN_LOOKAHEAD);
    cr_assert_not_null(kernel);
    bench->lp = nuna_kernel_lp(kernel, 0);
    bench->requests = requests;
    uint32_t demands = 0;
    for (uint32_t i = 0; i < count; i++) {
        nuna_lp_schedule(bench->lp, requests[i].at, nuna_event_make(REQUEST, i));
        demands += requests[i].kind == DEMAND || requests[i].kind == PLAIN;
    }
    const struct nuna_kernel_ops ops = {.run = run_lp};
    cr_assert_eq(nuna_kernel_run(kernel, &ops, bench, NULL), NUNA_KERNEL_DRAINED);
    cr_assert_eq(bench->answered, demands);
    cr_assert_eq(bench->mmu.waiters.in_use, 0);
    cr_assert_eq(bench->mmu.l2_mshrs.in_use, 0);
    cr_assert_eq(bench->mmu.walkers.busy, 0);
    for (uint32_t p = 0; p < bench->shape.ports; p++)
        cr_assert(bench->mmu.ports[p].mshrs.in_use == 0 && bench->mmu.ports[p].waiting == 0);
    nuna_kernel_destroy(kernel);
}

static void check(const struct bench *bench, uint32_t token, nuna_time latency, uint32_t class)
{
    cr_assert_eq(bench->latency[token], latency, "request %u: %" PRIu64 " ps, by hand %" PRIu64,
                 token, bench->latency[token], latency);
    cr_assert_eq(bench->class[token], class, "request %u: class %u, by hand %u", token,
                 bench->class[token], class);
}

#define WALK(steps) (NUNA_VIA_WALK_0 + (steps))

Test(link_mmu, cold_merged_warm)
{
    const nuna_time cold = L2 + CACHES + 5 * STEP;
    const struct request requests[] = {
        {1000, 3, 77, DEMAND},                  /* a whole walk */
        {1500, 3, 77, DEMAND},                  /* joins it in the L1 */
        {200000, 4, 77, DEMAND},                /* another port: joins it in the L2 */
        {1000 + cold - 1, 3, 77, DEMAND},       /* a picosecond too early */
        {1000 + cold, 3, 77, DEMAND},           /* scheduled before the answer: still joins */
        {1000 + cold + 1, 3, 77, DEMAND},       /* warm */
        {9000000, 5, 77, DEMAND},               /* a port that never saw it: the L2 has it */
        {9000000 + L2 - 1, 5, 77, DEMAND},      /* joins that */
        {20000000, 5, 78, DEMAND},              /* next page: the last upper entry is known */
        {30000000, 5, 77 + 512, DEMAND},        /* next table: that of the level above */
        {40000000, 5, 77 + (1u << 18), DEMAND}, /* two levels up */
        {50000000, 5, 77 + (1u << 27), DEMAND}, /* three */
    };
    struct nuna_params p = table_1();
    struct bench bench;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 0, cold, NUNA_CLASS_L1_MISS + WALK(5));
    check(&bench, 1, cold - 500, NUNA_CLASS_L1_MERGED + WALK(5));
    check(&bench, 2, cold - 199000, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_UNDER_MISS);
    check(&bench, 3, 1, NUNA_CLASS_L1_MERGED + WALK(5));
    check(&bench, 4, 0, NUNA_CLASS_L1_MERGED + WALK(5));
    check(&bench, 5, 0, NUNA_CLASS_L1_HIT);
    check(&bench, 6, L2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    check(&bench, 7, 1, NUNA_CLASS_L1_MERGED + NUNA_VIA_L2_HIT);
    check(&bench, 8, L2 + CACHES + STEP, NUNA_CLASS_L1_MISS + WALK(1));
    check(&bench, 9, L2 + CACHES + 2 * STEP, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 10, L2 + CACHES + 3 * STEP, NUNA_CLASS_L1_MISS + WALK(3));
    check(&bench, 11, L2 + CACHES + 4 * STEP, NUNA_CLASS_L1_MISS + WALK(4));
    cr_assert_eq(bench.mmu.counts.walks, 5u);
    cr_assert_eq(bench.mmu.counts.steps, 5u + 1 + 2 + 3 + 4);
    nuna_mmu_finish(&bench.mmu);
}

/* Requests leave their register in the order in which they came. */
Test(link_mmu, order_of_merged_requests)
{
    struct request requests[20];
    struct bench bench;
    struct nuna_params p = table_1();
    for (uint32_t i = 0; i < COUNT(requests); i++)
        requests[i] = (struct request){i * 1000, 0, 5, DEMAND};
    run(&bench, &p, requests, COUNT(requests));
    for (uint32_t i = 0; i < COUNT(requests); i++)
        cr_assert_eq(bench.order[i], i);
    nuna_mmu_finish(&bench.mmu);
}

Test(link_mmu, l2_answers_one_lookup_per_interval)
{
    struct request requests[8];
    struct bench bench;
    struct nuna_params p = table_1();
    for (uint32_t i = 0; i < COUNT(requests); i++)
        requests[i] = (struct request){0, i, 5, DEMAND};
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 0, L2 + CACHES + 5 * STEP, NUNA_CLASS_L1_MISS + WALK(5));
    for (uint32_t i = 1; i < COUNT(requests); i++)
        check(&bench, i, L2 + CACHES + 5 * STEP, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_UNDER_MISS);
    nuna_mmu_finish(&bench.mmu);
    for (uint32_t i = 0; i < COUNT(requests); i++)
        requests[i] = (struct request){0, i, i << 20, DEMAND};
    run(&bench, &p, requests, COUNT(requests));
    for (uint32_t i = 0; i < COUNT(requests); i++)
        cr_assert_eq(bench.latency[i], i * INTERVAL + L2 + CACHES + 5 * STEP);
    nuna_mmu_finish(&bench.mmu);
}

/* With two registers a third page blocks its port, and what comes behind it, hits included; another
 * port goes on. */
Test(link_mmu, full_registers_block_the_port)
{
    const struct request requests[] = {
        {0, 0, 1, DEMAND},    {1000, 0, 2 << 9, DEMAND}, {2000, 0, 3 << 9, DEMAND},
        {3000, 0, 1, DEMAND}, {4000, 1, 1, DEMAND},
    };
    const nuna_time cold = L2 + CACHES + 5 * STEP;
    struct nuna_params p = table_1();
    struct bench bench;
    p.translation.l1_mshr_holds = NUNA_MSHR_PAGE;
    p.translation.l1_mshrs = 2;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 0, cold, NUNA_CLASS_L1_MISS + WALK(5));
    check(&bench, 1, cold, NUNA_CLASS_L1_MISS + WALK(5));
    check(&bench, 2, cold - 2000 + L2 + CACHES + 2 * STEP, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 3, cold - 3000 + LINK, NUNA_CLASS_L1_HIT);
    check(&bench, 4, cold - 4000, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_UNDER_MISS);
    cr_assert_eq(bench.mmu.ports[0].stalls, 1u);
    cr_assert_eq(bench.mmu.ports[0].mshrs.peak, 2u);
    nuna_mmu_finish(&bench.mmu);

    /* The same with the L2's registers. */
    p.translation.l1_mshrs = 256;
    p.translation.l2_mshrs = 2;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 0, cold, NUNA_CLASS_L1_MISS + WALK(5));
    check(&bench, 2, cold - 2000 + CACHES + 2 * STEP, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 3, cold - 3000, NUNA_CLASS_L1_MERGED + WALK(5));
    /* Behind the blocked one; by then the L2 has its page. */
    check(&bench, 4, cold - 4000, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    cr_assert_eq(bench.mmu.counts.l2_stalls, 1u);
    nuna_mmu_finish(&bench.mmu);
}

/* Nothing overtakes in a blocked port, be its page known for long. */
Test(link_mmu, hits_wait_behind_a_blocked_miss)
{
    enum { WARM = 10000000 };
    const struct request requests[] = {
        {0, 0, 1, DEMAND},
        {WARM, 0, 2 << 9, DEMAND},
        {WARM + 1000, 0, 3 << 9, DEMAND},
        {WARM + 2000, 0, 1, DEMAND},
    };
    const nuna_time walk = L2 + CACHES + 2 * STEP;
    struct nuna_params p = table_1();
    struct bench bench;
    p.translation.l1_mshrs = 1;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 1, walk, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 2, 2 * walk - 1000, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 3, walk - 2000 + LINK, NUNA_CLASS_L1_HIT);
    nuna_mmu_finish(&bench.mmu);
}

/* Registers that hold requests: the third one to a page blocks, too, and with it what needs no
 * translation; then all follow at the pace of the link. */
Test(link_mmu, a_register_per_request)
{
    const struct request requests[] = {
        {0, 0, 1, PLAIN},     {0, 0, 1, DEMAND},   {1000, 0, 1, DEMAND},
        {2000, 0, 1, DEMAND}, {3000, 0, 0, PLAIN}, {4000, 0, 2, DEMAND},
        {5000, 0, 1, DEMAND}, {6000, 1, 0, PLAIN}, {6000, 0, 1, PREFETCH},
    };
    const nuna_time cold = L2 + CACHES + 5 * STEP;
    struct nuna_params p = table_1();
    struct bench bench;
    p.translation.l1_mshrs = 2;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 0, 0, NUNA_CLASS_NONE);
    check(&bench, 1, cold, NUNA_CLASS_L1_MISS + WALK(5));
    check(&bench, 2, cold - 1000, NUNA_CLASS_L1_MERGED + WALK(5));
    check(&bench, 3, cold - 2000, NUNA_CLASS_L1_HIT);
    check(&bench, 4, cold - 3000 + LINK, NUNA_CLASS_NONE);
    check(&bench, 5, cold - 4000 + 2 * LINK + L2 + CACHES + STEP, NUNA_CLASS_L1_MISS + WALK(1));
    check(&bench, 6, cold - 5000 + 3 * LINK, NUNA_CLASS_L1_HIT);
    check(&bench, 7, 0, NUNA_CLASS_NONE);
    cr_assert_eq(bench.resent, 3); /* the head was there, the others take the link again */
    cr_assert_eq(bench.mmu.ports[0].stalls, 1u);
    cr_assert_eq(bench.mmu.ports[0].waiting_peak, 2u);
    cr_assert_eq(bench.mmu.ports[0].mshrs.peak, 1u);
    nuna_mmu_finish(&bench.mmu);
}

/* A port that goes on and blocks anew, at the next miss without a register, has blocked twice. */
Test(link_mmu, every_blocking_counts)
{
    const struct request requests[] = {
        {0, 0, 1, DEMAND},         {1000, 0, 1, DEMAND},      {2000, 0, 2 << 9, DEMAND},
        {3000, 0, 3 << 9, DEMAND}, {4000, 0, 4 << 9, DEMAND}, {5000, 0, 1, DEMAND},
    };
    const nuna_time cold = L2 + CACHES + 5 * STEP, next = L2 + CACHES + 2 * STEP;
    struct nuna_params p = table_1();
    struct bench bench;
    p.translation.l1_mshrs = 2;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 2, cold - 2000 + next, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 3, cold - 3000 + LINK + next, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 4, cold - 4000 + 2 * next, NUNA_CLASS_L1_MISS + WALK(2));
    check(&bench, 5, cold - 5000 + next + LINK, NUNA_CLASS_L1_HIT);
    cr_assert_eq(bench.mmu.ports[0].stalls, 2u);
    nuna_mmu_finish(&bench.mmu);
}

Test(link_mmu, walks_wait_for_walkers)
{
    const struct request requests[] = {
        {0, 0, 1, DEMAND},
        {0, 1, 1 << 9, DEMAND},
        {0, 2, 2 << 9, DEMAND},
    };
    struct nuna_params p = table_1();
    struct bench bench;
    p.translation.walkers = 1;
    run(&bench, &p, requests, COUNT(requests));
    for (uint32_t i = 0; i < COUNT(requests); i++)
        check(&bench, i, L2 + CACHES + (i + 1) * 5 * (nuna_time)STEP, NUNA_CLASS_L1_MISS + WALK(5));
    cr_assert_eq(bench.mmu.walkers.busy_peak, 1);
    cr_assert_eq(bench.mmu.walkers.waiting_peak, 2);
    nuna_mmu_finish(&bench.mmu);
}

/* An L1 entry outlives its eviction from the L2, and the L2 keeps what an L1 evicts. */
Test(link_mmu, mostly_inclusive)
{
    struct request requests[6] = {{0, 0, 0, DEMAND}};
    struct nuna_params p = table_1();
    struct bench bench;
    p.translation.l1_entries = 2;
    p.translation.l2_entries = 2;
    for (uint32_t i = 1; i < 3; i++) /* other ports push page 0 out of the L2 */
        requests[i] = (struct request){i * 10000000, i, i, DEMAND};
    requests[3] = (struct request){40000000, 0, 0, DEMAND};
    requests[4] = (struct request){50000000, 1, 2, DEMAND};
    requests[5] = (struct request){60000000, 3, 0, DEMAND};
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 3, 0, NUNA_CLASS_L1_HIT);
    check(&bench, 4, L2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    check(&bench, 5, L2 + CACHES + STEP, NUNA_CLASS_L1_MISS + WALK(1));
    nuna_mmu_finish(&bench.mmu);

    p.translation.l2_entries = 512;
    p.translation.l1_entries = 1;
    requests[3].port = 1;
    requests[4] = (struct request){50000000, 1, 1, DEMAND};
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 3, L2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    check(&bench, 4, L2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    nuna_mmu_finish(&bench.mmu);
}

Test(link_mmu, prefetches)
{
    const nuna_time cold = L2 + CACHES + 5 * STEP;
    const struct request requests[] = {
        {0, 0, 1, PREFETCH},
        {cold + 1, 0, 1, DEMAND},         /* was there in time */
        {cold + 1, 1, 1, DEMAND},         /* another port has the L2's half of it */
        {10000000, 0, 1 << 20, PREFETCH}, /* too late for the next: it waits for the rest */
        {10000000 + cold / 2, 0, 1 << 20, DEMAND},
        {20000000, 0, 1 << 21, PREFETCH_L2}, /* the L2 only */
        {30000000, 0, 1 << 21, DEMAND},
        {40000000, 0, 1 << 22, PREFETCH_L2},
        {40000000 + cold / 2, 7, 1 << 22, DEMAND},
        {50000000, 0, 1, PREFETCH}, /* there already */
    };
    struct nuna_params p = table_1();
    struct bench bench;
    run(&bench, &p, requests, COUNT(requests));
    check(&bench, 1, 0, NUNA_CLASS_L1_HIT);
    check(&bench, 2, L2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    /* Page 1 << 20 shares two levels with page 1. */
    nuna_time second = L2 + CACHES + 3 * STEP;
    check(&bench, 4, second - cold / 2, NUNA_CLASS_L1_MERGED + WALK(3));
    check(&bench, 6, L2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_HIT);
    check(&bench, 8, second - cold / 2, NUNA_CLASS_L1_MISS + NUNA_VIA_L2_UNDER_MISS);
    cr_assert_eq(bench.mmu.counts.prefetches, 5u);
    cr_assert_eq(bench.mmu.counts.prefetches_dropped, 0u);
    nuna_mmu_finish(&bench.mmu);

    /* No register: dropped, and the demand walks for itself. */
    const struct request crowded[] = {
        {0, 0, 1 << 20, DEMAND}, {10, 0, 2 << 20, PREFETCH}, {10000000, 0, 2 << 20, DEMAND}};
    p.translation.l1_mshrs = 1;
    run(&bench, &p, crowded, COUNT(crowded));
    check(&bench, 2, second, NUNA_CLASS_L1_MISS + WALK(3));
    cr_assert_eq(bench.mmu.counts.prefetches_dropped, 1u);
    nuna_mmu_finish(&bench.mmu);
}
