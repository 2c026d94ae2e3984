#include "mmu/link_mmu.h"
#include "core/units.h"
#include <stdlib.h>
#include <string.h>

void nuna_mmu_shape_init(struct nuna_mmu_shape *shape, const struct nuna_params *params,
                         nuna_time walk_step)
{
    memset(shape, 0, sizeof *shape);
    shape->ports = (uint32_t)params->scaleup.ports;
    shape->link_interval = nuna_units_transfer_time((uint64_t)params->noc.flit_size,
                                                    (uint64_t)params->scaleup.port_rate, NULL);
    shape->l1_mshr_holds = (enum nuna_mshr_holds)params->translation.l1_mshr_holds;
    shape->l1_entries = (uint32_t)params->translation.l1_entries;
    shape->l1_ways = (uint32_t)params->translation.l1_ways;
    shape->l1_policy = (enum nuna_replacement)params->translation.l1_policy;
    shape->l1_mshrs = (uint32_t)params->translation.l1_mshrs;
    shape->l1_latency = (nuna_time)params->translation.l1_latency;
    shape->l2_entries = (uint32_t)params->translation.l2_entries;
    shape->l2_ways = (uint32_t)params->translation.l2_ways;
    shape->l2_policy = (enum nuna_replacement)params->translation.l2_policy;
    shape->l2_mshrs = (uint32_t)params->translation.l2_mshrs;
    shape->l2_latency = (nuna_time)params->translation.l2_latency;
    shape->l2_interval = (nuna_time)params->translation.l2_interval;
    shape->levels = (uint32_t)params->translation.levels;
    shape->level_bits = (uint32_t)params->translation.level_bits;
    shape->walk_entries[1] = (uint32_t)params->translation.walk_cache_1;
    shape->walk_entries[2] = (uint32_t)params->translation.walk_cache_2;
    shape->walk_entries[3] = (uint32_t)params->translation.walk_cache_3;
    shape->walk_entries[4] = (uint32_t)params->translation.walk_cache_4;
    shape->walk_ways = (uint32_t)params->translation.walk_cache_ways;
    shape->walk_cache_latency = (nuna_time)params->translation.walk_cache_latency;
    shape->walkers = (uint32_t)params->translation.walkers;
    shape->walk_step =
        params->translation.walk_step > 0 ? (nuna_time)params->translation.walk_step : walk_step;
}

bool nuna_mmu_init(struct nuna_mmu *mmu, const struct nuna_mmu_shape *shape, void *context)
{
    memset(mmu, 0, sizeof *mmu);
    mmu->shape = shape;
    mmu->context = context;
    mmu->l2_stalled = NUNA_WAITER_LIST_EMPTY;
    nuna_waiter_pool_init(&mmu->waiters);
    mmu->ports = calloc(shape->ports, sizeof *mmu->ports);
    if (!mmu->ports)
        return false;
    for (uint32_t p = 0; p < shape->ports; p++) {
        mmu->ports[p].stalled = NUNA_WAITER_LIST_EMPTY;
        if (!nuna_cache_init(&mmu->ports[p].tlb, shape->l1_entries, shape->l1_ways,
                             shape->l1_policy) ||
            !nuna_mshr_init(&mmu->ports[p].mshrs, shape->l1_mshrs))
            return false;
    }
    return nuna_cache_init(&mmu->l2, shape->l2_entries, shape->l2_ways, shape->l2_policy) &&
           nuna_mshr_init(&mmu->l2_mshrs, shape->l2_mshrs) &&
           nuna_walk_caches_init(&mmu->walk_caches, shape->levels, shape->level_bits,
                                 shape->walk_entries, shape->walk_ways) &&
           nuna_walkers_init(&mmu->walkers, shape->walkers, shape->l2_mshrs);
}

void nuna_mmu_finish(struct nuna_mmu *mmu)
{
    for (uint32_t p = 0; mmu->ports && p < mmu->shape->ports; p++) {
        nuna_cache_finish(&mmu->ports[p].tlb);
        nuna_mshr_finish(&mmu->ports[p].mshrs);
    }
    free(mmu->ports);
    nuna_cache_finish(&mmu->l2);
    nuna_mshr_finish(&mmu->l2_mshrs);
    nuna_walk_caches_finish(&mmu->walk_caches);
    nuna_walkers_finish(&mmu->walkers);
    nuna_waiter_pool_finish(&mmu->waiters);
    memset(mmu, 0, sizeof *mmu);
}

static void schedule(const struct nuna_mmu *mmu, struct nuna_lp *lp, nuna_time time,
                     enum nuna_mmu_op op, uint32_t steps, uint32_t port, uint32_t page)
{
    struct nuna_event event =
        nuna_event_packet(mmu->shape->event_kind, 0, 0, port, (uint32_t)op | steps << 8, page);
    nuna_lp_schedule(lp, time, event);
}

static void ask_l2(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page)
{
    nuna_time start = mmu->l2_free_at > lp->now ? mmu->l2_free_at : lp->now;
    mmu->l2_free_at = start + mmu->shape->l2_interval;
    schedule(mmu, lp, start + mmu->shape->l2_latency, NUNA_MMU_L2_DONE, 0, port, page);
}

/* ---- L1 ---- */

/* A register that holds pages is refused by nuna_mshr_take. */
static bool has_room(const struct nuna_mmu *mmu, const struct nuna_mmu_port *at)
{
    return mmu->shape->l1_mshr_holds == NUNA_MSHR_PAGE || at->waiting < mmu->shape->l1_mshrs;
}

static void count_waiting(struct nuna_mmu_port *at)
{
    at->waiting++;
    if (at->waiting > at->waiting_peak)
        at->waiting_peak = at->waiting;
}

/* A missing request takes a register or joins its page's; false when there is no room. */
static bool wait_in_l1(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port,
                       const struct nuna_waiter *request)
{
    struct nuna_mshr_file *file = &mmu->ports[port].mshrs;
    if (!has_room(mmu, &mmu->ports[port]))
        return false;
    struct nuna_mshr *mshr = nuna_mshr_find(file, request->page);
    if (!mshr) {
        mshr = nuna_mshr_take(file, request->page, true);
        if (!mshr)
            return false;
        ask_l2(mmu, lp, port, request->page);
    }
    nuna_waiter_push(&mmu->waiters, &mshr->waiters, *request);
    count_waiting(&mmu->ports[port]);
    return true;
}

bool nuna_mmu_translate(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page,
                        uint32_t token, nuna_time since)
{
    struct nuna_mmu_port *at = &mmu->ports[port];
    const struct nuna_waiter request = {.since = since, .token = token, .page = page};
    if (__builtin_expect(at->stalled.count > 0, 0)) {
        at->behind += !at->resuming;
        nuna_waiter_push(&mmu->waiters, &at->stalled, request);
        return false;
    }
    if (nuna_cache_lookup(&at->tlb, page))
        return true;
    if (!wait_in_l1(mmu, lp, port, &request)) {
        at->stalls++;
        nuna_waiter_push(&mmu->waiters, &at->stalled, request);
    }
    return false;
}

/* The first of the requests that are held back; the next one follows as the link brings it. */
static void resume_port(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port)
{
    struct nuna_mmu_port *at = &mmu->ports[port];
    struct nuna_waiter request = mmu->waiters.items[at->stalled.head];
    bool plain = request.page == NUNA_CACHE_NONE;
    bool hit = plain || nuna_cache_lookup(&at->tlb, request.page);
    bool followed = at->resuming; /* another one, which has gone on */
    at->resuming = false;
    if (!hit && !wait_in_l1(mmu, lp, port, &request)) {
        at->stalls += followed;
        return;
    }
    nuna_waiter_pop(&mmu->waiters, &at->stalled, &request);
    if (at->stalled.count > 0) {
        at->resuming = true;
        schedule(mmu, lp, lp->now + mmu->shape->link_interval, NUNA_MMU_RESUME, 0, port, 0);
    }
    if (hit)
        mmu->shape->ready(mmu->context, request.token, request.page,
                          plain ? NUNA_CLASS_NONE : NUNA_CLASS_L1_HIT, request.since);
}

static void unblock_port(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port)
{
    struct nuna_mmu_port *at = &mmu->ports[port];
    if (at->behind > 0)
        mmu->shape->resent(mmu->context, port, at->behind);
    at->behind = 0;
    resume_port(mmu, lp, port);
}

/* The translation has come back to a port. */
static void answer_port(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page,
                        uint32_t via)
{
    struct nuna_mshr held = nuna_mshr_release(&mmu->ports[port].mshrs, page);
    struct nuna_waiter request;
    uint32_t class = (held.demand ? NUNA_CLASS_L1_MISS : NUNA_CLASS_L1_MERGED) + via;
    nuna_cache_fill(&mmu->ports[port].tlb, page);
    mmu->ports[port].waiting -= held.waiters.count + !held.demand;
    while (nuna_waiter_pop(&mmu->waiters, &held.waiters, &request)) {
        mmu->shape->ready(mmu->context, request.token, page, class, request.since);
        class = NUNA_CLASS_L1_MERGED + via;
    }
    if (mmu->ports[port].stalled.count > 0 && !mmu->ports[port].resuming)
        unblock_port(mmu, lp, port);
}

/* ---- L2 ---- */

/* An L2 miss joins the walk of its page or begins one; false when no register is free. */
static bool wait_in_l2(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page)
{
    struct nuna_mshr *mshr = nuna_mshr_find(&mmu->l2_mshrs, page);
    if (!mshr) {
        mshr = nuna_mshr_take(&mmu->l2_mshrs, page, port != NUNA_MMU_NO_PORT);
        if (!mshr)
            return false;
        schedule(mmu, lp, lp->now + mmu->shape->walk_cache_latency, NUNA_MMU_WALK_FROM, 0, 0, page);
    }
    if (port != NUNA_MMU_NO_PORT)
        nuna_waiter_push(&mmu->waiters, &mshr->waiters,
                         (struct nuna_waiter){.token = port, .page = page});
    return true;
}

static void l2_done(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page)
{
    bool stalled = mmu->l2_stalled.count > 0;
    if (!stalled && nuna_cache_lookup(&mmu->l2, page)) {
        if (port != NUNA_MMU_NO_PORT)
            answer_port(mmu, lp, port, page, NUNA_VIA_L2_HIT);
        return;
    }
    if (!stalled && wait_in_l2(mmu, lp, port, page))
        return;
    if (port == NUNA_MMU_NO_PORT) {
        mmu->counts.prefetches_dropped++;
        return;
    }
    mmu->counts.l2_stalls += !stalled;
    nuna_waiter_push(&mmu->waiters, &mmu->l2_stalled,
                     (struct nuna_waiter){.token = port, .page = page});
}

static void resume_l2(struct nuna_mmu *mmu, struct nuna_lp *lp)
{
    struct nuna_waiter request;
    while (mmu->l2_stalled.count > 0) {
        request = mmu->waiters.items[mmu->l2_stalled.head];
        bool hit = nuna_cache_lookup(&mmu->l2, request.page);
        if (!hit && !wait_in_l2(mmu, lp, request.token, request.page))
            return;
        nuna_waiter_pop(&mmu->waiters, &mmu->l2_stalled, &request);
        if (hit)
            answer_port(mmu, lp, request.token, request.page, NUNA_VIA_L2_HIT);
    }
}

/* ---- walks ---- */

static void step(struct nuna_mmu *mmu, struct nuna_lp *lp, struct nuna_walk walk)
{
    mmu->counts.steps++;
    schedule(mmu, lp, lp->now + mmu->shape->walk_step, NUNA_MMU_STEP, walk.steps - 1, 0, walk.page);
}

static void walk_from(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t page)
{
    struct nuna_walk walk = {page, nuna_walk_caches_lookup(&mmu->walk_caches, page)};
    nuna_mshr_find(&mmu->l2_mshrs, page)->via = (uint8_t)(NUNA_VIA_WALK_0 + walk.steps);
    mmu->counts.walks++;
    if (nuna_walkers_start(&mmu->walkers, walk))
        step(mmu, lp, walk);
}

/* The walk is at its end: the L2, and every port that waits. */
static void walk_done(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t page)
{
    struct nuna_mshr held = nuna_mshr_release(&mmu->l2_mshrs, page);
    struct nuna_waiter port;
    struct nuna_walk next;
    nuna_cache_fill(&mmu->l2, page);
    uint32_t via = held.demand ? held.via : NUNA_VIA_L2_UNDER_MISS;
    while (nuna_waiter_pop(&mmu->waiters, &held.waiters, &port)) {
        answer_port(mmu, lp, port.token, page, via);
        via = NUNA_VIA_L2_UNDER_MISS;
    }
    if (nuna_walkers_next(&mmu->walkers, &next))
        step(mmu, lp, next);
    resume_l2(mmu, lp);
}

/* ---- both ---- */

void nuna_mmu_prefetch(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page,
                       bool l2_only)
{
    struct nuna_mmu_port *at = &mmu->ports[port];
    mmu->counts.prefetches++;
    if (l2_only) {
        ask_l2(mmu, lp, NUNA_MMU_NO_PORT, page);
        return;
    }
    if (nuna_cache_find(&at->tlb, page) != NUNA_CACHE_NONE || nuna_mshr_find(&at->mshrs, page))
        return;
    if (at->stalled.count > 0 || !has_room(mmu, at) || !nuna_mshr_take(&at->mshrs, page, false)) {
        mmu->counts.prefetches_dropped++;
        return;
    }
    count_waiting(at);
    ask_l2(mmu, lp, port, page);
}

void nuna_mmu_event(struct nuna_mmu *mmu, struct nuna_lp *lp, struct nuna_event event)
{
    uint32_t page = nuna_event_handle(event);
    switch (nuna_event_there(event) & 0xff) {
    case NUNA_MMU_L2_DONE:
        l2_done(mmu, lp, nuna_event_here(event), page);
        break;
    case NUNA_MMU_WALK_FROM:
        walk_from(mmu, lp, page);
        break;
    case NUNA_MMU_RESUME:
        resume_port(mmu, lp, nuna_event_here(event));
        break;
    default: {
        uint32_t left = nuna_event_there(event) >> 8;
        if (left == 0) {
            walk_done(mmu, lp, page);
            break;
        }
        nuna_walk_caches_fill(&mmu->walk_caches, left, page);
        step(mmu, lp, (struct nuna_walk){page, left});
    }
    }
    if (mmu->waiters.out_of_memory)
        lp->out_of_memory = true;
}
