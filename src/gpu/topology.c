#include "gpu/topology.h"
#include <stdlib.h>
#include <string.h>

static void place_stacks(struct nuna_topology *topology)
{
    uint32_t count = topology->stack_count, columns = topology->noc->columns;
    uint32_t above = count % 2 == 0 ? count / 2 : count;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t along = s % above;
        uint32_t first = along * columns / above, next = (along + 1) * columns / above;
        topology->stack[s].first_x = (uint16_t)first;
        topology->stack[s].last_x = (uint16_t)(next > first ? next - 1 : first);
        topology->stack[s].y = (uint16_t)(s < above ? 0 : topology->noc->rows - 1);
    }
}

static void place_ports(struct nuna_topology *topology)
{
    uint32_t count = topology->port_count, left = count > 1 ? count / 2 : 1;
    for (uint32_t p = 0; p < count; p++) {
        uint32_t x = p < left ? 0 : topology->noc->columns - 1;
        uint32_t y = p % left * topology->noc->rows / left;
        topology->port_router[p] = nuna_noc_router(topology->noc, x, y);
    }
}

static void place_cus(struct nuna_topology *topology)
{
    uint32_t cu = 0;
    for (uint32_t y = 0; y < topology->noc->rows; y++)
        for (uint32_t x = 0; x < topology->noc->columns; x++)
            for (uint32_t i = 0; i < topology->cus_per_router; i++)
                topology->cu_router[cu++] = nuna_noc_router(topology->noc, x, y);
    /* The copy engine is beside the first port. */
    topology->engine_router = topology->port_router[0];
}

bool nuna_topology_init(struct nuna_topology *topology, const struct nuna_noc_shape *noc,
                        const struct nuna_params *params)
{
    memset(topology, 0, sizeof *topology);
    topology->noc = noc;
    topology->dies = (uint32_t)params->noc.dies;
    topology->cus_per_router = (uint32_t)params->gpu.cus_per_router;
    topology->cu_count = noc->columns * noc->rows * topology->cus_per_router;
    topology->stack_count = (uint32_t)params->hbm.stacks;
    topology->channels_per_stack = (uint32_t)params->hbm.channels_per_stack;
    topology->port_count = (uint32_t)params->scaleup.ports;
    topology->stack = calloc(topology->stack_count, sizeof *topology->stack);
    topology->port_router = calloc(topology->port_count, sizeof *topology->port_router);
    topology->cu_router = calloc(topology->cu_count, sizeof *topology->cu_router);
    if (!topology->stack || !topology->port_router || !topology->cu_router)
        return false;
    place_stacks(topology);
    place_ports(topology);
    place_cus(topology);
    return true;
}

void nuna_topology_finish(struct nuna_topology *topology)
{
    free(topology->stack);
    free(topology->port_router);
    free(topology->cu_router);
    memset(topology, 0, sizeof *topology);
}
