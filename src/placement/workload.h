/* The plan as the placement sees it, and the place of the flags. */
#ifndef NUNA_PLACEMENT_WORKLOAD_H
#define NUNA_PLACEMENT_WORKLOAD_H

#include "collectives/plan/plan.h"
#include "placement/layout.h"
#include "placement/placement.h"

/* One entry per threadblock of the plan, in its order, each chunk once. Room for the flags is part
 * of each image. False on lack of memory; finish either way. */
bool nuna_workload_init(struct nuna_workload *workload, const struct nuna_plan *plan,
                        const struct nuna_layout *layout, uint64_t page_size, uint32_t domains);
void nuna_workload_finish(struct nuna_workload *workload);

/* The domain that each chunk goes to under this placement, UINT32_MAX for none: that of the first
 * threadblock that touches it, or, where only routes are placed, of the first that stores to it
 * from another GPU. NULL on lack of memory; free with free(). */
uint32_t *nuna_workload_domains(const struct nuna_workload *workload, enum nuna_policy policy,
                                const struct nuna_placement *placement);

/* Gives each flag a line near the threadblock that signals on it: flags of one domain share pages
 * of that domain. Only for placements with page tables; without one, flags lie side by side in the
 * order of their channels. */
bool nuna_place_flags(struct nuna_layout *layout, const struct nuna_plan *plan,
                      const struct nuna_placement_spec *spec, struct nuna_placement *placement);

#endif
