/* A compute unit's issue logic: one memory instruction (a line's load or store) per issue interval;
 * stores whose data are there go before new loads; threadblocks with lines to load take turns.
 * Reductions occupy the unit. Source: NUNA section 5.1 (threadblock-level operations on CUs), 4.2.2
 * (bounded outstanding requests). */
#ifndef NUNA_GPU_CU_H
#define NUNA_GPU_CU_H

#include "gpu/flight.h"

#define NUNA_NO_TB UINT32_MAX

struct nuna_cu {
    nuna_time free_at;               /* next issue slot */
    uint32_t outstanding;            /* lines in flight */
    uint32_t store_head, store_tail; /* flights ready to be stored, through `link` */
    uint32_t tb_head, tb_tail;       /* threadblocks with lines to load, through `next` */
    bool scheduled;                  /* an issue event is pending */
    bool inside_line; /* the first threadblock has loaded part of a line's operands */
};

static inline void nuna_cu_init(struct nuna_cu *cu)
{
    *cu = (struct nuna_cu){.tb_head = NUNA_NO_TB, .tb_tail = NUNA_NO_TB};
}

static inline void nuna_cu_push_store(struct nuna_cu *cu, struct nuna_flight_pool *pool,
                                      uint32_t handle)
{
    nuna_flight(pool, handle)->link = NUNA_NO_FLIGHT;
    if (cu->store_head == NUNA_NO_FLIGHT)
        cu->store_head = handle;
    else
        nuna_flight(pool, cu->store_tail)->link = handle;
    cu->store_tail = handle;
}

static inline uint32_t nuna_cu_pop_store(struct nuna_cu *cu, struct nuna_flight_pool *pool)
{
    uint32_t handle = cu->store_head;
    cu->store_head = nuna_flight(pool, handle)->link;
    return handle;
}

/* A line once begun is finished, even beyond the limit. */
static inline bool nuna_cu_can_load(const struct nuna_cu *cu, uint32_t max_outstanding)
{
    return cu->tb_head != NUNA_NO_TB && (cu->outstanding < max_outstanding || cu->inside_line);
}

static inline bool nuna_cu_can_issue(const struct nuna_cu *cu, uint32_t max_outstanding)
{
    return cu->store_head != NUNA_NO_FLIGHT || nuna_cu_can_load(cu, max_outstanding);
}

#endif
