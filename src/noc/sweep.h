/* The mesh, swept: all hops of a span of time at once, link by link, instead of event by event.
 *
 * X-then-Y routing is feed-forward: what an eastward link serves comes from the links west of it
 * and from its own router, a southward link is fed by the X links of its row and the links north of
 * it, ejection by all of these. Taken in that order, a link finds all that reaches it before the
 * end of the span in a few queues that are sorted already, and merging them gives the same service,
 * in the same order, to the same picosecond, as running one event per hop.
 *
 * A span may be as long as injection and ejection take together: what leaves the mesh in it cannot
 * come back in within it. At one time a link takes packets by where they come from: first those
 * that travel east, west, south, north, then those injected by CUs, memory, ports. Each of these
 * brings packets in order, at one time only where a rate is so high that service takes none.
 */
#ifndef NUNA_NOC_SWEEP_H
#define NUNA_NOC_SWEEP_H

#include "core/kernel.h"
#include "core/server.h"

#define NUNA_HOP_INPUT_BITS 4u
#define NUNA_HOP_TIME_SHIFT 8u

/* A packet on its way to a router, in two words that stay in registers. */
struct nuna_hop {
    uint64_t key;  /* time 56 | where it comes from 4 | kind of the attachment it goes to 4 */
    uint64_t rest; /* handle 32 | bytes 16 | there 16 */
};

static inline uint32_t nuna_hop_there(struct nuna_hop hop)
{
    return hop.rest & 0xffff;
}

static inline uint32_t nuna_hop_bytes(struct nuna_hop hop)
{
    return hop.rest >> 16 & 0xffff;
}

static inline uint32_t nuna_hop_handle(struct nuna_hop hop)
{
    return (uint32_t)(hop.rest >> 32);
}

static inline uint32_t nuna_hop_target(struct nuna_hop hop)
{
    return hop.key & ((1u << NUNA_HOP_INPUT_BITS) - 1);
}

/* A piece of a queue, aligned to its size. */
#define NUNA_HOP_BLOCK_BYTES 256u
struct nuna_hop_block {
    struct nuna_hop_block *next;
    uint64_t unused;
    struct nuna_hop hops[NUNA_HOP_BLOCK_BYTES / sizeof(struct nuna_hop) - 1];
};
_Static_assert(sizeof(struct nuna_hop_block) == NUNA_HOP_BLOCK_BYTES, "no padding");

/* Sorted by key; taken at `head`, filled at `tail`, where a hop with the greatest key always marks
 * the end. NULL, NULL when empty. */
struct nuna_hop_queue {
    struct nuna_hop *head, *tail;
};

/* What waits at one router. Packets count as there from the moment they are sent towards it. */
struct nuna_router_queues {
    struct nuna_hop_queue onward[4];    /* by direction of travel, to keep it */
    struct nuna_hop_queue inject[3][3]; /* by attachment; to go east, west, or neither */
    struct nuna_hop_queue turn[2];      /* came east, west as far as they must */
    struct nuna_hop_queue out[2];       /* came south, north to their destination */
    struct nuna_hop_queue column[3];    /* within a sweep: go south, north, out */
};

/* Stages of a sweep, in their order. The first four are the directions. */
enum nuna_sweep_stage {
    NUNA_SWEEP_TURN = 4,
    NUNA_SWEEP_OUT,
    NUNA_SWEEP_STAGES,
};

struct nuna_sweep {
    struct nuna_router_queues *routers;  /* [code] */
    uint64_t *active[NUNA_SWEEP_STAGES]; /* bit per code: something waits for that stage */
    uint32_t codes;
    struct nuna_arena *arena;    /* where blocks come from */
    struct nuna_hop_block *free; /* last freed, still in the cache, first */
    uint64_t first;              /* least key of those left by the sweep, NUNA_HOP_END if none */
    bool out_of_memory;
};

bool nuna_sweep_init(struct nuna_sweep *sweep, uint32_t codes, struct nuna_arena *arena);
void nuna_sweep_finish(struct nuna_sweep *sweep);

/* A block for a queue that has none, or more behind its last one, which is full. False out of
 * memory, which it notes: the packet is lost, and the run with it. */
bool nuna_hop_queue_extend(struct nuna_sweep *sweep, struct nuna_hop_queue *queue);

#define NUNA_HOP_END UINT64_MAX

/* Whether a place is behind the last one of a block. */
static inline bool nuna_hop_block_full(const struct nuna_hop *place)
{
    return ((uintptr_t)place & (NUNA_HOP_BLOCK_BYTES - 1)) == 0;
}

static inline void nuna_hop_push(struct nuna_sweep *sweep, struct nuna_hop_queue *queue,
                                 struct nuna_hop hop)
{
    if (__builtin_expect(!queue->tail, 0) && !nuna_hop_queue_extend(sweep, queue))
        return;
    *queue->tail++ = hop;
    if (nuna_hop_block_full(queue->tail) && !nuna_hop_queue_extend(sweep, queue))
        queue->tail--;
    queue->tail->key = NUNA_HOP_END;
}

static inline void nuna_sweep_mark(struct nuna_sweep *sweep, uint32_t stage, uint32_t code)
{
    sweep->active[stage][code / 64] |= 1ull << (code % 64);
}

#endif
