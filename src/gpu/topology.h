/* Where things are on one GPU: compute units at every router, memory stacks along the horizontal
 * edges, I/O ports on the vertical edges. Constant, shared by all GPUs. Source: NUNA figures 3
 * and 8. */
#ifndef NUNA_GPU_TOPOLOGY_H
#define NUNA_GPU_TOPOLOGY_H

#include "core/params.h"
#include "noc/mesh.h"

struct nuna_stack_place {
    uint16_t first_x, last_x; /* edge routers that reach all of the stack's channels */
    uint16_t y;
};

struct nuna_topology {
    const struct nuna_noc_shape *noc;
    uint32_t dies, cus_per_router, cu_count;
    uint32_t stack_count, channels_per_stack;
    uint32_t port_count;
    struct nuna_stack_place *stack;
    uint16_t *port_router;  /* router code of each port; the first half left, the rest right */
    uint16_t *cu_router;    /* router code of each CU; a router's CUs are consecutive */
    uint16_t engine_router; /* of the copy engine */
};

bool nuna_topology_init(struct nuna_topology *topology, const struct nuna_noc_shape *noc,
                        const struct nuna_params *params);
void nuna_topology_finish(struct nuna_topology *topology);

/* The router of `stack` nearest to router `from`. */
static inline uint16_t nuna_topology_stack_router(const struct nuna_topology *topology,
                                                  uint16_t from, uint32_t stack)
{
    const struct nuna_stack_place *place = &topology->stack[stack];
    uint32_t x = from & ((1u << topology->noc->x_bits) - 1);
    x = x < place->first_x ? place->first_x : x > place->last_x ? place->last_x : x;
    return nuna_noc_router(topology->noc, x, place->y);
}

static inline uint32_t nuna_topology_die(const struct nuna_topology *topology, uint16_t router)
{
    uint32_t x = router & ((1u << topology->noc->x_bits) - 1);
    return x * topology->dies / topology->noc->columns;
}

#endif
