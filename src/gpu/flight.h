/* The records of lines (and flags) in flight, one for each packet that is at a GPU: a record goes
 * with the packet when that leaves, and another is made where it arrives. What a record means says
 * its kind. */
#ifndef NUNA_GPU_FLIGHT_H
#define NUNA_GPU_FLIGHT_H

#include "core/arena.h"

enum nuna_flight_kind {
    NUNA_FLIGHT_NONE,
    /* Of the GPU's own: struct nuna_out. */
    NUNA_FLIGHT_PUT,      /* local load, remote store */
    NUNA_FLIGHT_COPY,     /* local load, local store */
    NUNA_FLIGHT_REDUCE,   /* as COPY, once all operands are there; itself the first operand */
    NUNA_FLIGHT_OPERAND,  /* a further operand of a REDUCE */
    NUNA_FLIGHT_SOURCE,   /* local load for a LINE */
    NUNA_FLIGHT_FETCH,    /* remote load for a LINE; waits here for its answer */
    NUNA_FLIGHT_STORE,    /* of a LINE: remote store; waits here for its answer */
    NUNA_FLIGHT_KEEP,     /* of a LINE: local store */
    NUNA_FLIGHT_READ,     /* background: local load */
    NUNA_FLIGHT_WRITE,    /* background: local store */
    NUNA_FLIGHT_FLAG,     /* a signal: remote store of a flag */
    NUNA_FLIGHT_AHEAD_L2, /* asks another GPU to translate a page, into its L2 TLB */
    NUNA_FLIGHT_AHEAD_L1, /* likewise, into the L1 TLB of the port, too */
    /* To all GPUs of a switch group: struct nuna_out, with a CAST. */
    NUNA_FLIGHT_CAST_FETCH,
    NUNA_FLIGHT_CAST_STORE,
    /* Another GPU's: struct nuna_visit. */
    NUNA_FLIGHT_STORE_IN,   /* data, which is acknowledged */
    NUNA_FLIGHT_ARRIVAL_IN, /* the same, and they count as arrived */
    NUNA_FLIGHT_FETCH_IN,   /* a request for data, and then these */
    NUNA_FLIGHT_FLAG_IN,
    NUNA_FLIGHT_AHEAD_L2_IN,
    NUNA_FLIGHT_AHEAD_L1_IN,
    /* What another GPU answers, an acknowledgement or data: struct nuna_answer. */
    NUNA_FLIGHT_ANSWER,
    /* No packets. */
    NUNA_FLIGHT_LINE, /* of a move, waits for its sources: struct nuna_line */
    NUNA_FLIGHT_CAST, /* what a packet to a switch group accesses there: struct nuna_cast */
    NUNA_FLIGHT_KINDS,
};

/* Sets of kinds. */
#define NUNA_FLIGHT_SET(kind) (1u << NUNA_FLIGHT_##kind)
#define NUNA_FLIGHTS_CAST     (NUNA_FLIGHT_SET(CAST_FETCH) | NUNA_FLIGHT_SET(CAST_STORE))
#define NUNA_FLIGHTS_OUT                                                                           \
    (NUNA_FLIGHT_SET(PUT) | NUNA_FLIGHT_SET(COPY) | NUNA_FLIGHT_SET(REDUCE) |                      \
     NUNA_FLIGHT_SET(OPERAND) | NUNA_FLIGHT_SET(SOURCE) | NUNA_FLIGHT_SET(FETCH) |                 \
     NUNA_FLIGHT_SET(STORE) | NUNA_FLIGHT_SET(KEEP) | NUNA_FLIGHT_SET(READ) |                      \
     NUNA_FLIGHT_SET(WRITE) | NUNA_FLIGHT_SET(FLAG) | NUNA_FLIGHT_SET(AHEAD_L2) |                  \
     NUNA_FLIGHT_SET(AHEAD_L1) | NUNA_FLIGHTS_CAST)
#define NUNA_FLIGHTS_IN                                                                            \
    (NUNA_FLIGHT_SET(STORE_IN) | NUNA_FLIGHT_SET(ARRIVAL_IN) | NUNA_FLIGHT_SET(FETCH_IN) |         \
     NUNA_FLIGHT_SET(FLAG_IN) | NUNA_FLIGHT_SET(AHEAD_L2_IN) | NUNA_FLIGHT_SET(AHEAD_L1_IN))
/* They are in two places while they are out: here as well, until they are answered. */
#define NUNA_FLIGHTS_WAITING (NUNA_FLIGHT_SET(FETCH) | NUNA_FLIGHT_SET(STORE) | NUNA_FLIGHTS_CAST)
/* Their way out is a request; their data come with the answer. */
#define NUNA_FLIGHTS_FETCH                                                                         \
    (NUNA_FLIGHT_SET(FETCH) | NUNA_FLIGHT_SET(CAST_FETCH) | NUNA_FLIGHT_SET(FETCH_IN))

/* Which way the packet goes. */
enum nuna_leg {
    NUNA_LEG_LOAD,  /* a local load, there and back */
    NUNA_LEG_STORE, /* a store or a request */
    NUNA_LEG_BACK,  /* the answer to one */
};

/* Where a line's time went: the moments at which it passed from one part to the next. They saturate
 * at 4.29 ms: they serve the breakdown only. */
struct nuna_load_stamps { /* since the issue of the load */
    uint32_t at_memory;   /* request at the local stack */
    uint32_t read;        /* data read */
    uint32_t back;        /* data at the CU */
    uint32_t stored;      /* issue of the store */
};
struct nuna_store_stamps { /* since the issue of the store */
    uint32_t at_port;      /* of the source GPU */
    uint32_t at_switch;    /* output queue of the switch plane */
    uint32_t at_peer;      /* in at the destination's port */
    uint32_t at_memory;    /* at the destination's stack */
    uint32_t landed;
};

/* At its own GPU: until it has left through the port, or, when it waits there or is local, to its
 * end. */
struct nuna_out {
    union {
        uint32_t tb; /* threadblock */
        uint32_t op; /* FLAG: the SIGNAL operation */
    };
    union {
        uint32_t next;   /* in its CU's queue of stores, before that in its LINE's list */
        uint32_t leader; /* OPERAND: the REDUCE */
        uint32_t line;   /* SOURCE, FETCH, CAST_FETCH: the LINE */
        uint32_t landed; /* of a local store: stamp */
    };
    union {
        uint16_t peer;    /* the other GPU */
        uint16_t group;   /* CAST_*: the switch group */
        uint16_t missing; /* REDUCE: operands that are not back */
    };
    uint16_t target; /* memory channel of the store */
    struct nuna_load_stamps load;
    union {
        uint32_t page;      /* of the access there, by which it is translated */
        uint32_t cast;      /* CAST_*: the CAST */
        uint32_t at_memory; /* of a local store: stamp */
    };
    union {
        uint32_t place; /* STORE, KEEP, CAST_STORE: where it counts as arrived, or NUNA_NONE */
        uint32_t peer_channel; /* FLAG: the channel there */
    };
};

/* At another GPU. */
struct nuna_visit {
    union {
        uint32_t owner;   /* of the answer, as in struct nuna_answer */
        uint32_t channel; /* FLAG_IN */
    };
    union {
        uint32_t place; /* ARRIVAL_IN */
        uint32_t op;    /* FLAG_IN: the SIGNAL operation */
    };
    union {
        uint32_t page;        /* until it is translated; */
        uint32_t translation; /* from then on: what that took. 0: needs none */
    };
    struct nuna_store_stamps store;
    uint16_t source; /* GPU */
    uint16_t waited; /* the owner is a flight */
};

/* Back at its own GPU. */
struct nuna_answer {
    uint32_t owner; /* the threadblock, or, when it is `waited` for, the flight */
    uint32_t translation;
    struct nuna_store_stamps store;
    uint32_t waited;
};

struct nuna_line {
    uint32_t tb;
    uint32_t stores;  /* first of its stores */
    uint32_t missing; /* sources that are not back */
};

/* A position in a chunk that each member of a switch group has. */
struct nuna_cast {
    uint32_t offset_low, offset_high;
    uint32_t chunk, buffer;
    uint32_t missing; /* answers */
};

struct nuna_flight {
    uint64_t start : 48; /* issue of the load, then of the store; nothing is under way for 281 s */
    uint64_t bytes : 16;
    uint8_t kind : 5; /* enum nuna_flight_kind */
    uint8_t leg : 2;  /* enum nuna_leg */
    uint8_t npa : 1;  /* of a store: to another node, its address is to be translated there */
    uint8_t port;
    uint16_t channel; /* of memory: of the access that comes next */
    union {
        struct nuna_out out;
        struct nuna_visit visit;
        struct nuna_answer answer;
        struct nuna_line line;
        struct nuna_cast cast;
    };
};
_Static_assert(sizeof(struct nuna_flight) == 48, "most of the memory of a run: keep it small");

#define NUNA_FLIGHT_CHUNK_BITS 10u
#define NUNA_NO_FLIGHT         NUNA_NO_RECORD
_Static_assert((sizeof(struct nuna_flight) << NUNA_FLIGHT_CHUNK_BITS) % NUNA_ARENA_GRAIN == 0,
               "a chunk is some grains of the arena");

/* A kind's name, for people and debuggers. */
const char *nuna_flight_kind_name(enum nuna_flight_kind kind);

static inline bool nuna_flight_pool_init(struct nuna_slab_pool *pool, struct nuna_arena *arena)
{
    return nuna_slab_pool_init(pool, arena, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
}

static inline struct nuna_flight *nuna_flight(const struct nuna_slab_pool *pool, uint32_t handle)
{
    return nuna_slab_record(pool, handle, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
}

/* Fetches the lines of memory that the record lies in. */
static inline void nuna_flight_prefetch(const struct nuna_slab_pool *pool, uint32_t handle)
{
    const char *record = (const char *)nuna_flight(pool, handle);
    nuna_prefetch(record);
    nuna_prefetch(record + sizeof(struct nuna_flight) - 1);
}

/* Of this kind, not translated; the rest is the caller's to fill in. Never fails: core/arena.h. */
static inline uint32_t nuna_flight_get(struct nuna_slab_pool *pool, enum nuna_flight_kind kind,
                                       enum nuna_leg leg)
{
    uint32_t handle = nuna_slab_get(pool, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
    struct nuna_flight *flight = nuna_flight(pool, handle);
    flight->kind = kind & 31u;
    flight->leg = leg & 3u;
    flight->npa = 0;
    return handle;
}

static inline void nuna_flight_put(struct nuna_slab_pool *pool, uint32_t handle)
{
#ifndef NDEBUG
    nuna_flight(pool, handle)->kind = NUNA_FLIGHT_NONE; /* whoever still looks at it, is told */
#endif
    nuna_slab_put(pool, handle, sizeof(struct nuna_flight), NUNA_FLIGHT_CHUNK_BITS);
}

static inline bool nuna_flight_is(const struct nuna_flight *flight, uint32_t set)
{
    return (set >> flight->kind & 1) != 0;
}

/* What a record holds, by its kind. */
static inline struct nuna_out *nuna_out(struct nuna_flight *flight)
{
    assert(nuna_flight_is(flight, NUNA_FLIGHTS_OUT));
    return &flight->out;
}

static inline struct nuna_visit *nuna_visit(struct nuna_flight *flight)
{
    assert(nuna_flight_is(flight, NUNA_FLIGHTS_IN));
    return &flight->visit;
}

static inline struct nuna_answer *nuna_answer(struct nuna_flight *flight)
{
    assert(flight->kind == NUNA_FLIGHT_ANSWER);
    return &flight->answer;
}

static inline struct nuna_line *nuna_line(struct nuna_flight *flight)
{
    assert(flight->kind == NUNA_FLIGHT_LINE);
    return &flight->line;
}

static inline struct nuna_cast *nuna_cast(struct nuna_flight *flight)
{
    assert(flight->kind == NUNA_FLIGHT_CAST);
    return &flight->cast;
}

/* What the packet is on the wire, where control packets have `control` bytes: a fetch asks first
 * and gets its data with the answer, a store the other way round. */
static inline uint32_t nuna_flight_wire_bytes(const struct nuna_flight *flight, uint32_t control)
{
    bool fetch = nuna_flight_is(flight, NUNA_FLIGHTS_FETCH);
    bool full = (flight->leg == NUNA_LEG_STORE) != fetch || flight->kind == NUNA_FLIGHT_ANSWER;
    return full ? flight->bytes : control;
}

#define NUNA_FLIGHT_TIME_MASK ((1ull << 48) - 1)

static inline void nuna_flight_begin(struct nuna_flight *flight, nuna_time now)
{
    flight->start = now & NUNA_FLIGHT_TIME_MASK;
}

/* Time since the flight's start. */
static inline nuna_time nuna_flight_age(const struct nuna_flight *flight, nuna_time now)
{
    return (now - flight->start) & NUNA_FLIGHT_TIME_MASK;
}

/* The same as a stamp. */
static inline uint32_t nuna_flight_since(const struct nuna_flight *flight, nuna_time now)
{
    nuna_time since = nuna_flight_age(flight, now);
    return since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
}

#endif
