/* The link MMU of one GPU: translates the network physical addresses of requests from other nodes
 * into its own.
 *
 * Every port has an L1 TLB with miss registers; the ports share an L2 TLB with registers of its
 * own, page-walk caches and walkers. A request that misses waits in a register of its port; the
 * first one to its page asks the L2, which answers, joins a walk under way, or asks the walk caches
 * and then a walker. A walk fills the walk caches entry by entry, and at its end the L2 and the L1
 * of every port that waits; evictions stay where they happen (mostly inclusive). Lookups are
 * pipelined: the L1s take what their links bring, the L2 one lookup per interval. A port whose
 * registers are all taken blocks at the next miss, and with it the link: what comes behind is held
 * back, and follows at the link's pace once there is room; the time that it would have taken is
 * lost to the link. The L2 likewise holds back lookups.
 * Source: reverse translation (arXiv 2604.02473) sections 2.3, 2.4 and Table 1. */
#ifndef NUNA_MMU_LINK_MMU_H
#define NUNA_MMU_LINK_MMU_H

#include "core/kernel.h"
#include "core/params.h"
#include "mmu/mshr.h"
#include "mmu/walk.h"

/* How the register that a request waited in was answered. */
enum nuna_mmu_via {
    NUNA_VIA_L2_HIT,
    NUNA_VIA_L2_UNDER_MISS, /* joined a walk under way */
    NUNA_VIA_WALK_0,        /* + accesses of its own walk, from 1 on */
    NUNA_VIA_COUNT = NUNA_VIA_WALK_0 + NUNA_WALK_LEVELS_MAX + 1,
};

/* Classes of requests: an L1 hit; else who took the register, or joined it, by its answer. */
enum {
    NUNA_CLASS_L1_HIT,
    NUNA_CLASS_L1_MISS,                                         /* + enum nuna_mmu_via */
    NUNA_CLASS_L1_MERGED = NUNA_CLASS_L1_MISS + NUNA_VIA_COUNT, /* likewise */
    NUNA_CLASS_COUNT = NUNA_CLASS_L1_MERGED + NUNA_VIA_COUNT,
};

#define NUNA_CLASS_NONE NUNA_CLASS_COUNT /* no translation: held back by others' */

/* What an event of this layer is about. All have one kind, shape->event_kind, and say it in the low
 * byte of `there`, so that an event loop need not keep more of them than the body. */
enum nuna_mmu_op {
    NUNA_MMU_L2_DONE, /* an L2 lookup: page, port (NUNA_MMU_NO_PORT: for a prefetch into the L2) */
    NUNA_MMU_WALK_FROM, /* the walk caches have answered: page */
    NUNA_MMU_RESUME,    /* a blocked port's next request: port */
    NUNA_MMU_STEP,      /* a walk's access is done: page; high byte of `there`: accesses left */
    NUNA_MMU_OPS,       /* from here on free for the owner of the kind */
};

/* Constant, shared by all GPUs. */
struct nuna_mmu_shape {
    uint32_t ports;
    enum nuna_mshr_holds l1_mshr_holds;
    nuna_time link_interval; /* between two data packets of a link */
    uint32_t l1_entries, l1_ways, l1_mshrs, l2_entries, l2_ways, l2_mshrs;
    enum nuna_replacement l1_policy, l2_policy;
    uint32_t levels, level_bits, walk_entries[NUNA_WALK_LEVELS_MAX], walk_ways, walkers;
    nuna_time l1_latency, l2_latency, l2_interval, walk_cache_latency;
    nuna_time walk_step; /* one access of a walk: memory and the way to it */
    uint32_t event_kind; /* of this layer's events */
    /* A port goes on; `count` data packets that came behind its blocked one have yet to cross the
     * link: as long it stood still. */
    void (*resent)(void *context, uint32_t port, uint32_t count);
    void (*ready)(void *context, uint32_t token, uint32_t page, uint32_t class, nuna_time since);
};

struct nuna_mmu_port {
    struct nuna_cache tlb;
    struct nuna_mshr_file mshrs;
    uint32_t waiting; /* requests and prefetches in the registers */
    uint32_t waiting_peak;
    struct nuna_waiter_list stalled; /* a miss that found no register, and what is behind it */
    bool resuming;                   /* the first of them has its time */
    uint32_t behind;                 /* of them, those that came while the port stood still */
    uint64_t stalls;
};

/* Beside what the caches count. */
struct nuna_mmu_counts {
    uint64_t walks, steps;       /* steps: accesses to the page table */
    uint64_t prefetches;         /* that came */
    uint64_t prefetches_dropped; /* no register was free */
    uint64_t l2_stalls;          /* L2 misses that found no register */
};

struct nuna_mmu {
    const struct nuna_mmu_shape *shape;
    void *context; /* of shape->ready */
    struct nuna_mmu_port *ports;
    struct nuna_cache l2;
    struct nuna_mshr_file l2_mshrs;
    struct nuna_waiter_list l2_stalled;
    nuna_time l2_free_at;
    struct nuna_walk_caches walk_caches;
    struct nuna_walkers walkers;
    struct nuna_waiter_pool waiters;
    struct nuna_mmu_counts counts;
};

#define NUNA_MMU_NO_PORT 0xffffu

/* `walk_step` for params->translation.walk_step 0. `event_kind`, `resent` and `ready` are left to
 * the caller.
 */
void nuna_mmu_shape_init(struct nuna_mmu_shape *shape, const struct nuna_params *params,
                         nuna_time walk_step);

/* False on lack of memory; finish either way. */
bool nuna_mmu_init(struct nuna_mmu *mmu, const struct nuna_mmu_shape *shape, void *context);
void nuna_mmu_finish(struct nuna_mmu *mmu);

/* A request that came to `port` at `since`, at the end of its L1 lookup (lp->now). True: it hit.
 * Else shape->ready is called with its token when it is translated. `page` is below
 * NUNA_CACHE_NONE. */
bool nuna_mmu_translate(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page,
                        uint32_t token, nuna_time since);

/* A request without need of translation has come to `port`: held back, too, while the port is
 * blocked. True: it is; shape->ready is called with class NUNA_CLASS_NONE when it goes on. */
static inline bool nuna_mmu_hold(struct nuna_mmu *mmu, uint32_t port, uint32_t token,
                                 nuna_time since)
{
    struct nuna_waiter_list *stalled = &mmu->ports[port].stalled;
    if (__builtin_expect(stalled->count == 0, 1))
        return false;
    mmu->ports[port].behind += !mmu->ports[port].resuming;
    nuna_waiter_push(&mmu->waiters, stalled,
                     (struct nuna_waiter){.since = since, .token = token, .page = NUNA_CACHE_NONE});
    return true;
}

/* A prefetch of a page, likewise at the end of the L1 lookup: into the L1 of `port` and the L2, or
 * into the L2 only. Nobody waits for it; it is dropped when it would have to. */
void nuna_mmu_prefetch(struct nuna_mmu *mmu, struct nuna_lp *lp, uint32_t port, uint32_t page,
                       bool l2_only);

/* Handles this layer's events, by their body. */
void nuna_mmu_event(struct nuna_mmu *mmu, struct nuna_lp *lp, struct nuna_event event);

#endif
