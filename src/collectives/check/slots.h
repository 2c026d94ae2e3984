/* What the plan checker follows: slots and what they hold.
 *
 * Every chunk of every buffer is a slot, and every slot has a leaf: what it holds before the run. A
 * value is a leaf, or a sum that a reduction made from other values; slots hold numbers of values.
 * Where a plan works in place, the input and the output share slots, so that a leaf always names
 * one piece of data. Equal sums are recognised by 128-bit fingerprints, which add up like the
 * values do. Where threadblocks share ranges, a chunk is cut into as many slots as makes every
 * share a whole number of them. */
#ifndef NUNA_COLLECTIVES_CHECK_SLOTS_H
#define NUNA_COLLECTIVES_CHECK_SLOTS_H

#include "collectives/plan/plan.h"

struct nuna_slots {
    const struct nuna_plan *plan;
    uint32_t *base;   /* gpu * NUNA_BUFFER_COUNT + buffer -> slot of the buffer's first chunk */
    uint32_t parts;   /* slots of a chunk; the bases above count chunks */
    uint32_t count;   /* of slots, and so of leaves */
    uint32_t block;   /* chunks per rank; 0 for collective OTHER */
    uint32_t *tb_gpu; /* threadblock -> GPU */
};

bool nuna_slots_init(struct nuna_slots *slots, const struct nuna_plan *plan,
                     struct nuna_error *err);
void nuna_slots_free(struct nuna_slots *slots);

/* The first slot of a range on a GPU (for groups: any of its GPUs). */
static inline uint32_t nuna_slot(const struct nuna_slots *slots, uint32_t gpu,
                                 const struct nuna_range *range)
{
    return (slots->base[gpu * NUNA_BUFFER_COUNT + range->buffer] + range->index) * slots->parts;
}

/* A threadblock's number on its GPU. */
uint32_t nuna_check_local_tb(const struct nuna_slots *slots, uint32_t tb);

#endif
