/* The place of the flags. */
#ifndef NUNA_PLACEMENT_FLAGS_H
#define NUNA_PLACEMENT_FLAGS_H

#include "collectives/plan/plan.h"
#include "placement/layout.h"
#include "placement/rule.h"

/* Gives each flag a line near the threadblock that signals on it: flags of one domain share pages
 * of that domain. Only for placements with page tables: without one, flags lie side by side in the
 * order of their channels. False on lack of memory. */
bool nuna_place_flags(struct nuna_layout *layout, const struct nuna_plan *plan,
                      const struct nuna_placement_spec *spec, struct nuna_placement *placement);

#endif
