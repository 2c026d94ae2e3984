/* UA: threadblocks spread evenly, wherever their data are. Source: NUNA section 5.3. */
#ifndef NUNA_PLACEMENT_UA_H
#define NUNA_PLACEMENT_UA_H

#include "gpu/topology.h"

/* Threadblocks round-robin over the dies; within a die over its routers, in a scattered order that
 * covers the die evenly however few there are; then over a router's CUs. When all CUs have a
 * threadblock the next round begins. Writes the CU of each of `count` threadblocks of one GPU;
 * false on lack of memory. */
bool nuna_placement_ua(const struct nuna_topology *topology, uint32_t count, uint32_t *ret_cu);

#endif
