/* Which CU runs which threadblock. Pure functions of topology and policy. */
#ifndef NUNA_GPU_PLACEMENT_H
#define NUNA_GPU_PLACEMENT_H

#include "gpu/topology.h"

/* UA: threadblocks round-robin over the dies; within a die over its routers, in a scattered order
 * that covers the die evenly however few there are; then over a router's CUs. When all CUs have a
 * threadblock the next round begins. Writes the CU of each of `count` threadblocks to `ret_cu`.
 * False on lack of memory. Source: NUNA section 5.3, "round-robin over dies, free CUs first". */
bool nuna_placement_ua(const struct nuna_topology *topology, uint32_t count, uint32_t *ret_cu);

#endif
