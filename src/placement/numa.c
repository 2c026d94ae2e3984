/* NUMA: memory round-robin; each threadblock on the free CU nearest to the stack of the first page
 * that it loads, or, by placement.numa_near, with the least sum of hops to the stacks of all pages
 * that it loads. One threadblock to a CU until all have one: a page's threadblocks spread around
 * its stack. Source: NUNA section 5.3. */
#include "placement/rule.h"
#include <stdlib.h>
#include <string.h>

struct numa {
    const struct nuna_placing *placing;
    uint32_t *hops;   /* [stack][cu] */
    uint64_t *pages;  /* [stack]: of one threadblock */
    uint64_t *before; /* likewise: those that `cost` is of */
    uint64_t *cost;   /* [cu] */
    uint32_t *taken;  /* [cu]: threadblocks of one GPU */
};

static bool numa_init(struct numa *numa, const struct nuna_placing *placing)
{
    const struct nuna_topology *topology = placing->spec->topology;
    uint32_t cus = topology->cu_count, stacks = topology->stack_count;
    *numa = (struct numa){
        .placing = placing,
        .hops = calloc((size_t)stacks * cus, sizeof *numa->hops),
        .pages = calloc(stacks, sizeof *numa->pages),
        .before = calloc(stacks, sizeof *numa->before),
        .cost = calloc(cus, sizeof *numa->cost),
        .taken = calloc(cus, sizeof *numa->taken),
    };
    if (!numa->hops || !numa->pages || !numa->before || !numa->cost || !numa->taken)
        return false;
    for (uint32_t s = 0; s < stacks; s++)
        for (uint32_t cu = 0; cu < cus; cu++) {
            uint16_t router = topology->cu_router[cu];
            numa->hops[s * cus + cu] = nuna_noc_hops(
                topology->noc, router, nuna_topology_stack_router(topology, router, s));
        }
    return true;
}

static void numa_finish(struct numa *numa)
{
    free(numa->hops);
    free(numa->pages);
    free(numa->before);
    free(numa->cost);
    free(numa->taken);
}

/* Pages that the threadblock loads, by stack; or only the first one. A threadblock that loads
 * nothing is near stack 0. */
static void count_pages(struct numa *numa, const struct nuna_work *work)
{
    const struct nuna_address_map *map = numa->placing->spec->map;
    bool all = numa->placing->spec->numa_near == NUNA_NUMA_NEAR_ALL, none = true;
    memset(numa->pages, 0, map->stacks * sizeof *numa->pages);
    for (uint32_t i = 0; i < work->access_count && (all || none); i++) {
        const struct nuna_access *access = &numa->placing->workload->accesses[work->access_at + i];
        const struct nuna_chunk *chunk = &numa->placing->workload->chunks[access->chunk];
        if (access->kind != NUNA_ACCESS_LOAD)
            continue;
        uint64_t page = chunk->position / map->page_size, end = page + 1;
        if (all && chunk->bytes > 0)
            end = (chunk->position + chunk->bytes - 1) / map->page_size + 1;
        for (; page < end; page++)
            numa->pages[nuna_address_default_stack(map, page)]++;
        none = false;
    }
    if (none)
        numa->pages[0] = 1;
}

/* Many threadblocks load from the same stacks: the costs of the one before often hold. */
static void sum_hops(struct numa *numa)
{
    const struct nuna_topology *topology = numa->placing->spec->topology;
    uint32_t cus = topology->cu_count, stacks = topology->stack_count;
    if (memcmp(numa->pages, numa->before, stacks * sizeof *numa->pages) == 0)
        return;
    memcpy(numa->before, numa->pages, stacks * sizeof *numa->pages);
    memset(numa->cost, 0, cus * sizeof *numa->cost);
    for (uint32_t s = 0; s < stacks; s++)
        for (uint32_t cu = 0; numa->pages[s] > 0 && cu < cus; cu++)
            numa->cost[cu] += numa->pages[s] * numa->hops[s * cus + cu];
}

static bool place(const struct nuna_placing *placing)
{
    uint32_t cus = placing->spec->topology->cu_count;
    uint32_t gpu = UINT32_MAX, left = 0, round = 0;
    struct numa numa;
    bool ok = numa_init(&numa, placing);
    for (uint32_t w = 0; ok && w < placing->workload->work_count; w++) {
        const struct nuna_work *work = &placing->workload->works[w];
        if (work->gpu != gpu || left == 0) {
            if (work->gpu != gpu)
                memset(numa.taken, 0, cus * sizeof *numa.taken);
            round = work->gpu != gpu ? 1 : round + 1;
            gpu = work->gpu;
            left = cus;
        }
        count_pages(&numa, work);
        sum_hops(&numa);
        uint32_t best = UINT32_MAX;
        for (uint32_t cu = 0; cu < cus; cu++)
            if (numa.taken[cu] < round && (best == UINT32_MAX || numa.cost[cu] < numa.cost[best]))
                best = cu;
        numa.taken[best] = round;
        left--;
        placing->result->cu[w] = best;
    }
    numa_finish(&numa);
    return ok;
}

const struct nuna_threadblock_rule nuna_threadblocks_numa = {.place = place};
