#include "placement/ua.h"
#include "placement/rule.h"
#include <stdlib.h>

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* A stride that visits all of `count` places, each far from the last ones: near the golden section,
 * coprime. */
static uint32_t scatter_stride(uint32_t count)
{
    uint32_t stride = (uint32_t)((uint64_t)count * 618034 / 1000000);
    while (stride > 1 && gcd(stride, count) != 1)
        stride--;
    return stride ? stride : 1;
}

/* Linear router indices (row-major over the mesh) of each die, die by die. */
static void routers_by_die(const struct nuna_topology *topology, uint32_t *routers,
                           uint32_t *die_at)
{
    uint32_t columns = topology->noc->columns, rows = topology->noc->rows, at = 0;
    for (uint32_t die = 0; die < topology->dies; die++) {
        die_at[die] = at;
        for (uint32_t r = 0; r < columns * rows; r++)
            if (nuna_topology_die(topology, topology->cu_router[r * topology->cus_per_router]) ==
                die)
                routers[at++] = r;
    }
    die_at[topology->dies] = at;
}

bool nuna_placement_ua(const struct nuna_topology *topology, uint32_t count, uint32_t *ret_cu)
{
    uint32_t routers_total = topology->noc->columns * topology->noc->rows;
    uint32_t *routers = malloc(routers_total * sizeof *routers);
    uint32_t *die_at = malloc((topology->dies + 1) * sizeof *die_at);
    if (!routers || !die_at) {
        free(routers);
        free(die_at);
        return false;
    }
    routers_by_die(topology, routers, die_at);
    for (uint32_t tb = 0; tb < count; tb++) {
        uint32_t die = tb % topology->dies, nth = tb / topology->dies;
        uint32_t size = die_at[die + 1] - die_at[die];
        uint64_t place = (uint64_t)nth * scatter_stride(size) % size;
        uint32_t slot = nth / size % topology->cus_per_router;
        ret_cu[tb] = routers[die_at[die] + place] * topology->cus_per_router + slot;
    }
    free(routers);
    free(die_at);
    return true;
}

static bool place(const struct nuna_placing *placing)
{
    const struct nuna_workload *workload = placing->workload;
    for (uint32_t first = 0; first < workload->work_count;) {
        uint32_t next = first;
        while (next < workload->work_count &&
               workload->works[next].gpu == workload->works[first].gpu)
            next++;
        if (!nuna_placement_ua(placing->spec->topology, next - first, &placing->result->cu[first]))
            return false;
        first = next;
    }
    return true;
}

const struct nuna_threadblock_rule nuna_threadblocks_ua = {.place = place};
