/* Inside of the plan checker.
 *
 * Every chunk of every buffer is a slot, and every slot has a leaf: what it holds before the run. A
 * value is a leaf, or a sum that a reduction made from other values; slots hold numbers of values.
 * Where a plan works in place, the input and the output share slots, so that a leaf always names
 * one piece of data. Equal sums are recognised by 128-bit fingerprints, which add up like the
 * values do. Where threadblocks share ranges, a chunk is cut into as many slots as makes every
 * share a whole number of them. */
#ifndef NUNA_COLLECTIVES_CHECK_TRIAL_H
#define NUNA_COLLECTIVES_CHECK_TRIAL_H

#include "collectives/check/check.h"
#include "collectives/plan/shape.h"

#define NUNA_NONE UINT32_MAX

struct nuna_print {
    uint64_t low, high;
};

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

/* A sum of values; its number is slots.count + its place in the list. */
struct nuna_sum {
    struct nuna_print print;
    uint32_t term_at, term_count; /* terms[term_at ..], numbers of values */
};

/* How adversarial one run is. */
struct nuna_schedule {
    bool lazy;        /* stores land as late as signals and waits allow; otherwise at once */
    bool descending;  /* threadblocks start from the last */
    uint32_t starved; /* a threadblock that runs only when no other can, or NUNA_NONE */
    uint32_t chunks_per_message; /* of a FIFO operation; 0: all */
    uint32_t operations;         /* that a connection holds; 0: any number */
    uint32_t turns;              /* of every loop; values are followed only when it is 1 */
};

struct nuna_machine;

struct nuna_machine *nuna_machine_new(const struct nuna_slots *slots, struct nuna_error *err);
void nuna_machine_free(struct nuna_machine *machine);

/* Runs the plan. False: out of memory, or a deadlock, which is described. */
bool nuna_machine_run(struct nuna_machine *machine, const struct nuna_schedule *schedule,
                      struct nuna_error *err);

uint64_t nuna_machine_steps(const struct nuna_machine *machine);
uint32_t nuna_machine_value(const struct nuna_machine *machine, uint32_t slot);
struct nuna_print nuna_machine_print(const struct nuna_machine *machine, uint32_t value);
const struct nuna_sum *nuna_machine_sums(const struct nuna_machine *machine, uint32_t *ret_count,
                                         const uint32_t **ret_terms);

/* The threadblock whose store to the slot was never made known to the receiver, or NUNA_NONE. */
uint32_t nuna_machine_undelivered(const struct nuna_machine *machine, uint32_t slot);

struct nuna_print nuna_leaf_print(uint32_t leaf);

/* Compares the outputs with what the collective promises. */
bool nuna_check_result(const struct nuna_slots *slots, const struct nuna_machine *machine,
                       struct nuna_error *err);

/* A threadblock's number on its GPU. */
uint32_t nuna_check_local_tb(const struct nuna_slots *slots, uint32_t tb);

/* Lists, line by line, accesses of one GPU's threadblocks that nothing orders; `*ret_checked` is
 * false when the plan is too large to tell. */
bool nuna_check_races(const struct nuna_slots *slots, char *text, size_t room, bool *ret_checked,
                      struct nuna_error *err);

/* Whether the threadblocks finish at all, given what connections hold and how often loops turn:
 * all sizes, or, with `size`, that one. Fills in the verdict's limits. */
bool nuna_check_limits(const struct nuna_plan *plan, struct nuna_machine *machine,
                       const struct nuna_params *params, const uint64_t *size,
                       struct nuna_plan_verdict *verdict, struct nuna_error *err);

/* Ranges, ids and counts of every operation, and the shape the collective needs. */
bool nuna_check_static(const struct nuna_plan *plan, struct nuna_error *err);

#endif
