/* Compute units and the threadblocks on them. A unit issues one memory instruction (a line's load
 * or store) per issue interval; stores whose data are there go before new loads; threadblocks with
 * lines to load take turns. Reductions occupy the unit. Source: NUNA section 5.1
 * (threadblock-level operations on CUs), 4.2.2 (bounded outstanding requests). */
#ifndef NUNA_GPU_CU_H
#define NUNA_GPU_CU_H

#include "gpu/gpu.h"
#include "gpu/tb.h"

/* A compute unit; or the copy engine of a proxy, which is like one. */
struct nuna_cu {
    nuna_time free_at;               /* next issue slot */
    uint32_t outstanding;            /* lines in flight */
    uint32_t store_head, store_tail; /* flights ready to be stored, through `next` */
    uint32_t tb_head, tb_tail;       /* threadblocks with lines to load, through `next` */
    uint16_t router;
    uint8_t event;    /* kind of its issue event, */
    uint32_t index;   /* and what that is about */
    bool scheduled;   /* one is pending */
    bool inside_line; /* the first threadblock has loaded part of a line's operands */
};

struct nuna_cus {
    struct nuna_cu *items; /* [CU] */
    struct nuna_tb *tbs;   /* the plan's threadblocks, then one per tile of the background kernel */
    uint32_t tb_count;
    struct nuna_tb proxy_tb; /* NUNA_TB_PROXY; without a unit where there is no proxy */
};

/* What a unit's issue slot is for. */
enum nuna_cu_turn {
    NUNA_TURN_IDLE,
    NUNA_TURN_STORE, /* a flight */
    NUNA_TURN_LOAD,  /* the next line of a threadblock, which is in no list now */
};

/* The units, and `tb_count` threadblocks that have none yet. False on lack of memory; destroy
 * either way. */
bool nuna_cus_create(struct nuna_gpu *gpu, uint32_t tb_count);
void nuna_cus_destroy(struct nuna_gpu *gpu);

void nuna_cu_init(struct nuna_cu *cu, uint16_t router, uint8_t event, uint32_t index);
/* Puts a threadblock of the plan, or a tile's, on a unit. */
void nuna_cu_assign(struct nuna_gpu *gpu, uint32_t tb, uint32_t cu);

static inline struct nuna_cu *nuna_cu_at(const struct nuna_gpu *gpu, uint32_t index)
{
    return &gpu->cus->items[index];
}

static inline struct nuna_tb *nuna_tb_of(const struct nuna_gpu *gpu, uint32_t tb)
{
    return __builtin_expect(tb == NUNA_TB_PROXY, 0) ? &gpu->cus->proxy_tb : &gpu->cus->tbs[tb];
}

/* One of the lines that it has in flight is back for good. */
static inline void nuna_cu_returned(struct nuna_cu *cu)
{
    assert(cu->outstanding > 0);
    cu->outstanding--;
}

/* Sees to it that an issue event comes, if there is something to issue. */
void nuna_cu_kick(struct nuna_gpu *gpu, struct nuna_cu *cu);
/* The threadblock has lines to load: behind the others of its unit. */
void nuna_cu_enqueue(struct nuna_gpu *gpu, uint32_t tb);
/* The same from within an issue slot, whose end sees to the next one; in the middle of a line:
 * before the others. */
void nuna_cu_requeue(struct nuna_gpu *gpu, uint32_t tb, bool inside_line);
/* A flight's data are there: it can be stored. */
void nuna_cu_push_store(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle);
/* The unit is busy for so long, after what it is busy with. */
void nuna_cu_occupy(struct nuna_gpu *gpu, struct nuna_cu *cu, nuna_time work);
/* An issue event has come. Afterwards nuna_cu_kick. */
enum nuna_cu_turn nuna_cu_take_turn(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t *ret);

/* Whether units and threadblocks are idle, as they are when a run has drained. */
bool nuna_cus_idle(const struct nuna_gpu *gpu);
bool nuna_cu_idle(const struct nuna_cu *cu);

#endif
