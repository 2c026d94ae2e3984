/* NUMA: memory round-robin; each threadblock on the free CU nearest to the stack of the first page
 * that it loads. One threadblock to a CU until all have one: a page's threadblocks spread around
 * its stack. Source: NUNA section 5.3. */
#include "placement/rule.h"
#include <stdlib.h>

/* CUs of each stack, near ones first. */
static uint32_t *order_cus(const struct nuna_topology *topology)
{
    uint32_t cus = topology->cu_count, stacks = topology->stack_count;
    uint32_t bound = topology->noc->columns + topology->noc->rows;
    uint32_t *order = calloc((size_t)stacks * cus, sizeof *order);
    for (uint32_t s = 0; order && s < stacks; s++) {
        uint32_t at = 0;
        for (uint32_t hops = 0; hops <= bound; hops++)
            for (uint32_t cu = 0; cu < cus; cu++) {
                uint16_t router = topology->cu_router[cu];
                if (nuna_noc_hops(topology->noc, router,
                                  nuna_topology_stack_router(topology, router, s)) == hops)
                    order[s * cus + at++] = cu;
            }
    }
    return order;
}

static uint32_t stack_of_first_load(const struct nuna_placing *placing,
                                    const struct nuna_work *work)
{
    const struct nuna_address_map *map = placing->spec->map;
    for (uint32_t i = 0; i < work->access_count; i++) {
        const struct nuna_access *access = &placing->workload->accesses[work->access_at + i];
        if (access->kind != NUNA_ACCESS_LOAD)
            continue;
        uint64_t page = placing->workload->chunks[access->chunk].position / map->page_size;
        return nuna_address_default_frame(map, page).stack;
    }
    return 0;
}

static bool place(const struct nuna_placing *placing)
{
    const struct nuna_topology *topology = placing->spec->topology;
    uint32_t cus = topology->cu_count;
    uint32_t *order = order_cus(topology);
    uint32_t *taken = calloc(cus, sizeof *taken);
    bool ok = order && taken;
    uint32_t gpu = UINT32_MAX, left = 0, round = 0;
    for (uint32_t w = 0; ok && w < placing->workload->work_count; w++) {
        const struct nuna_work *work = &placing->workload->works[w];
        if (work->gpu != gpu || left == 0) {
            for (uint32_t cu = 0; work->gpu != gpu && cu < cus; cu++)
                taken[cu] = 0;
            round = work->gpu != gpu ? 1 : round + 1;
            gpu = work->gpu;
            left = cus;
        }
        const uint32_t *near = &order[stack_of_first_load(placing, work) * cus];
        uint32_t i = 0;
        while (taken[near[i]] >= round)
            i++;
        taken[near[i]] = round;
        left--;
        placing->result->cu[w] = near[i];
    }
    free(order);
    free(taken);
    return ok;
}

const struct nuna_threadblock_rule nuna_threadblocks_numa = {.place = place};
