/* The record of one line (or flag) in flight, from its load to its last acknowledgement. */
#ifndef NUNA_GPU_FLIGHT_H
#define NUNA_GPU_FLIGHT_H

#include "core/arena.h"

enum nuna_flight_kind {
    NUNA_FLIGHT_PUT,     /* local load, remote store, acknowledgement */
    NUNA_FLIGHT_COPY,    /* local load, local store */
    NUNA_FLIGHT_REDUCE,  /* as COPY, once all operands are there; itself the first operand */
    NUNA_FLIGHT_OPERAND, /* a further operand; `link` is the REDUCE flight */
    NUNA_FLIGHT_READ,    /* background: local load */
    NUNA_FLIGHT_WRITE,   /* background: local store */
    NUNA_FLIGHT_REMOTE,  /* at the destination: another GPU's store; `link` is its flight there */
    NUNA_FLIGHT_ARRIVAL, /* the same, and it counts as arrived: `tb` says where */
    NUNA_FLIGHT_LINE,    /* of a move with several ends: waits for its sources; not under way */
    NUNA_FLIGHT_SOURCE,  /* local load for a LINE, `link` */
    NUNA_FLIGHT_FETCH,   /* remote load for a LINE, `link`: request out, data back */
    NUNA_FLIGHT_REMOTE_FETCH, /* at the other GPU: `link` is the flight there */
    /* From here on nothing is acknowledged. */
    NUNA_FLIGHT_FLAG,     /* a signal: remote store of a flag */
    NUNA_FLIGHT_AHEAD_L2, /* asks another GPU to translate a page, into its L2 TLB */
    NUNA_FLIGHT_AHEAD_L1, /* likewise, into the L1 TLB of the port, too */
};

/* What else a flight is. */
enum nuna_flight_mark {
    NUNA_FLIGHT_COUNTED =
        1,                /* store that counts as arrived: place in stamp[LANDED] till it leaves */
    NUNA_FLIGHT_CAST = 2, /* to a switch group, `gpu`; `local` counts the answers to come; what
                             it accesses is in three stamps till it leaves: AT_PORT and so on */
};

enum nuna_flight_phase {
    NUNA_PHASE_LOAD,
    NUNA_PHASE_STORE,
    NUNA_PHASE_ACK,
};

/* Where a line's time went: the moments at which it passed from one part to the next. The first
 * four count from the issue of the load, the others from the issue of the store. */
enum nuna_stamp {
    NUNA_STAMP_LOAD_AT_MEMORY, /* request at the local stack */
    NUNA_STAMP_LOAD_READ,      /* data read */
    NUNA_STAMP_LOAD_BACK,      /* data at the CU */
    NUNA_STAMP_STORE_ISSUED,
    NUNA_STAMP_AT_PORT,   /* of the source GPU */
    NUNA_STAMP_AT_SWITCH, /* output queue of the switch plane */
    NUNA_STAMP_AT_PEER,   /* in at the destination's port */
    NUNA_STAMP_AT_MEMORY, /* at the destination's stack */
    NUNA_STAMP_LANDED,
    NUNA_STAMP_COUNT,
};

/* Stamps lent while nobody needs them: the page of a store until it is translated; at the
 * destination, what that took. */
#define NUNA_STAMP_LENT_PAGE        NUNA_STAMP_AT_MEMORY
#define NUNA_STAMP_LENT_TRANSLATION NUNA_STAMP_LOAD_AT_MEMORY

/* One cache line. Stamps saturate at 4.29 ms: they serve the breakdown only. */
struct nuna_flight {
    nuna_time start; /* issue of the load, then of the store */
    uint32_t stamp[NUNA_STAMP_COUNT];
    uint32_t tb; /* threadblock of this GPU; FLAG: the SIGNAL operation */
    /* Next in a queue; or as the kind says; FLAG: the peer's channel; an acknowledged PUT: what its
     * translation took. */
    uint32_t link;
    uint16_t local;  /* memory channel of the load, or of the access at the destination */
    uint16_t target; /* memory channel of the store */
    uint16_t gpu;    /* the other GPU; REDUCE: operands still missing */
    uint16_t bytes;
    uint8_t kind, phase;
    uint8_t port;
    uint8_t marks : 4; /* enum nuna_flight_mark; 0 for the simple kinds */
    uint8_t npa : 4;   /* of a store: to another node, its address is to be translated there */
};
_Static_assert(sizeof(struct nuna_flight) == 64, "a flight is one cache line");

#define NUNA_FLIGHT_CHUNK_BITS 10u
#define NUNA_NO_FLIGHT         NUNA_NO_RECORD

static inline bool nuna_flight_pool_init(struct nuna_slab_pool *pool, struct nuna_arena *arena)
{
    return nuna_slab_pool_init(pool, arena, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
}

static inline struct nuna_flight *nuna_flight(const struct nuna_slab_pool *pool, uint32_t handle)
{
    return nuna_slab_record(pool, handle, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
}

/* The caller fills in all but `marks` and `npa`, which are none. Never fails: core/arena.h. */
static inline uint32_t nuna_flight_get(struct nuna_slab_pool *pool)
{
    uint32_t handle = nuna_slab_get(pool, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
    nuna_flight(pool, handle)->marks = 0;
    nuna_flight(pool, handle)->npa = 0;
    return handle;
}

static inline void nuna_flight_put(struct nuna_slab_pool *pool, uint32_t handle)
{
    nuna_slab_put(pool, handle, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
}

/* What the packet is on the wire, where control packets have `control` bytes: a fetch asks first
 * and gets its data with the answer, a store the other way round. */
static inline uint32_t nuna_flight_wire_bytes(const struct nuna_flight *flight, uint32_t control)
{
    bool fetch = flight->kind == NUNA_FLIGHT_FETCH || flight->kind == NUNA_FLIGHT_REMOTE_FETCH;
    return (flight->phase == NUNA_PHASE_STORE) != fetch ? flight->bytes : control;
}

/* Time since the flight's start, saturated. */
static inline uint32_t nuna_flight_since(const struct nuna_flight *flight, nuna_time now)
{
    nuna_time since = now - flight->start;
    return since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
}

static inline void nuna_flight_stamp(struct nuna_flight *flight, enum nuna_stamp stamp,
                                     nuna_time now)
{
    flight->stamp[stamp] = nuna_flight_since(flight, now);
}

#endif
