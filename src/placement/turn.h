/* The threadblocks of all GPUs in one order. */
#ifndef NUNA_PLACEMENT_TURN_H
#define NUNA_PLACEMENT_TURN_H

#include "placement/workload.h"

/* One place of an order. Threadblocks of one round come side by side; what one of them decides must
 * not depend on who of them is first, lest a GPU's rank give it precedence. */
struct nuna_turn {
    uint32_t work, round;
};

/* The threadblocks in turn: the first of every GPU, then the second of every GPU, and so on. In
 * this order what a threadblock finds does not depend on its GPU's rank when all GPUs are alike.
 * Writes workload->work_count turns; false on lack of memory. */
bool nuna_works_in_turn(const struct nuna_workload *workload, struct nuna_turn *ret_turns);

#endif
