/* Which CU runs which threadblock, and which stack and routing domain hold which page. Pure
 * functions of topology, workload and policy. Source: NUNA sections 4.2 (Algorithm 1) and 5.3;
 * docs/placement.md. */
#ifndef NUNA_PLACEMENT_PLACEMENT_H
#define NUNA_PLACEMENT_PLACEMENT_H

#include "placement/rule.h"

/* Places a workload. False on lack of memory; finish either way (a zeroed struct is fine). */
bool nuna_placement_make(const struct nuna_placement_spec *spec,
                         const struct nuna_workload *workload, struct nuna_placement *ret);

/* Places a plan. Under a policy with page tables it lays the chunks out again, by domain, and gives
 * the flags their places. The same about memory. */
bool nuna_placement_of_plan(const struct nuna_placement_spec *spec, const struct nuna_plan *plan,
                            struct nuna_layout *layout, struct nuna_placement *ret);
void nuna_placement_finish(struct nuna_placement *placement);

#endif
