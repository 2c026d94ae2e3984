/* What no machine could simulate. */
#ifndef NUNA_POD_FEASIBLE_H
#define NUNA_POD_FEASIBLE_H

#include "collectives/plan/plan.h"
#include "core/error.h"
#include "core/params.h"

/* Refuses images beyond a GPU's memory, more pages than numbers for them, and page tables beyond
 * all memory. `size` as in nuna_sim_options. */
bool nuna_feasible(const struct nuna_params *params, const struct nuna_plan *plan, uint64_t size,
                   struct nuna_error *err);

#endif
