/* Groups of threadblocks that share chunks: the first phase of Algorithm 1, NUNA section 4.2. */
#ifndef NUNA_PLACEMENT_LOGICAL_ALLOCATION_H
#define NUNA_PLACEMENT_LOGICAL_ALLOCATION_H

#include "placement/workload.h"

/* Algorithm 1, logical_allocation, over the threadblocks in turn: a threadblock none of whose
 * chunks is in a group makes a new one; another joins the group with which it shares most chunks,
 * the oldest at ties; its unassigned chunks go along. Groups are numbered by their first
 * threadblock in the plan's order. Writes the group of each threadblock and, to `ret_order`, the
 * groups by decreasing number of threadblocks, low numbers first at ties. Returns the number of
 * groups; UINT32_MAX on lack of memory. Both arrays have room for one entry per threadblock. */
uint32_t nuna_logical_allocation(const struct nuna_workload *workload, uint32_t *ret_group,
                                 uint32_t *ret_order);

#endif
