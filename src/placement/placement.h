/* Which CU runs which threadblock, and which stack and routing domain hold which page. Pure
 * functions of topology, workload and policy. Source: NUNA sections 4.2 (Algorithm 1) and 5.3;
 * docs/placement.md.
 *
 * The workload is what a compiler knows of a plan: for each threadblock, in the plan's order, the
 * chunks that it touches. A chunk is a run of bytes in one GPU's memory.
 */
#ifndef NUNA_PLACEMENT_PLACEMENT_H
#define NUNA_PLACEMENT_PLACEMENT_H

#include "gpu/address_map.h"
#include "gpu/topology.h"
#include "placement/domains.h"

enum nuna_access_kind {
    NUNA_ACCESS_LOAD,         /* of the threadblock's own GPU's memory */
    NUNA_ACCESS_STORE,        /* likewise */
    NUNA_ACCESS_REMOTE_STORE, /* to another GPU's memory */
};

struct nuna_chunk {
    uint32_t gpu;
    uint64_t position, bytes; /* in that GPU's image */
};

struct nuna_access {
    uint32_t chunk; /* index into nuna_workload.chunks */
    uint8_t kind;   /* enum nuna_access_kind */
};

struct nuna_work {
    uint32_t gpu;
    uint32_t access_at, access_count; /* accesses[access_at ..] */
};

struct nuna_workload {
    uint32_t gpu_count;
    uint64_t *image_bytes;   /* [gpu] */
    struct nuna_work *works; /* one per threadblock, GPU by GPU */
    struct nuna_access *accesses;
    struct nuna_chunk *chunks;
    uint32_t work_count, access_count, chunk_count;
};

struct nuna_placement_spec {
    const struct nuna_topology *topology;
    const struct nuna_address_map *map;
    enum nuna_policy policy;
    uint32_t domains;      /* granularity; 1 for policies that know no domains */
    uint64_t cu_budget;    /* R_max of a CU, requests */
    uint64_t stack_budget; /* R_max of a stack, bytes: bandwidth-delay product */
    uint32_t line_bytes;
};

struct nuna_placement {
    uint32_t *cu;     /* [work] */
    uint32_t *domain; /* [work]: the domain its remote stores and flags go through */
    uint32_t
        *domain_stack; /* [domain]: stack nearest to its ports; NULL for policies without domains */
    struct nuna_frame **pages; /* [gpu][page], or NULL as a whole: default frames */
    uint32_t gpu_count;
};

bool nuna_policy_routes(enum nuna_policy policy);        /* NAR */
bool nuna_policy_places_memory(enum nuna_policy policy); /* NAP's memory placement */
bool nuna_policy_uses_domains(enum nuna_policy policy);  /* NAR, or placement by domains */

/* False on lack of memory; finish either way (a zeroed struct is fine). */
bool nuna_placement_make(const struct nuna_placement_spec *spec,
                         const struct nuna_workload *workload, struct nuna_placement *ret);
void nuna_placement_finish(struct nuna_placement *placement);

/* The parts, for tests.
 *
 * UA: threadblocks round-robin over the dies; within a die over its routers, in a scattered order
 * that covers the die evenly however few there are; then over a router's CUs. When all CUs have a
 * threadblock the next round begins. Writes the CU of each of `count` threadblocks of one GPU. */
bool nuna_placement_ua(const struct nuna_topology *topology, uint32_t count, uint32_t *ret_cu);

/* The threadblocks in turn: the first of every GPU, then the second of every GPU, and so on. In
 * this order what a threadblock finds does not depend on its GPU's rank when all GPUs are alike.
 * Writes workload->work_count indices; false on lack of memory. */
bool nuna_works_in_turn(const struct nuna_workload *workload, uint32_t *ret_order);

/* Algorithm 1, logical_allocation, over the threadblocks in turn: a threadblock none of whose
 * chunks is in a group makes a new one; another joins the group with which it shares most chunks,
 * the oldest at ties; its unassigned chunks go along. Groups are numbered by their first
 * threadblock in the plan's order. Writes the group of each threadblock and, to `ret_order`, the
 * groups by decreasing number of threadblocks, low numbers first at ties. Returns the number of
 * groups; UINT32_MAX on lack of memory. Both arrays have room for one entry per threadblock. */
uint32_t nuna_logical_allocation(const struct nuna_workload *workload, uint32_t *ret_group,
                                 uint32_t *ret_order);

#endif
