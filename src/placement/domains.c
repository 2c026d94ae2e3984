#include "placement/domains.h"
#include <stdlib.h>
#include <string.h>

uint32_t nuna_domains_distance(const struct nuna_domains *domains, uint16_t router, uint32_t domain)
{
    const struct nuna_topology *topology = domains->topology;
    uint32_t ports = topology->port_count / domains->count, sum = 0;
    for (uint32_t p = domain * ports; p < (domain + 1) * ports; p++)
        sum += nuna_noc_hops(topology->noc, router, topology->port_router[p]);
    return sum;
}

/* Stable insertion of `count` indices by key: equal keys stay in order of index. */
static void order_by(const uint32_t *key, uint32_t *order, uint32_t count, uint32_t key_bound,
                     uint32_t *scratch)
{
    memset(scratch, 0, (key_bound + 2) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++)
        scratch[key[i] + 1]++;
    for (uint32_t k = 0; k <= key_bound; k++)
        scratch[k + 1] += scratch[k];
    for (uint32_t i = 0; i < count; i++)
        order[scratch[key[i]]++] = i;
}

static void order_stacks(struct nuna_domains *domains, uint32_t *key, uint32_t bound,
                         uint32_t *scratch)
{
    const struct nuna_topology *topology = domains->topology;
    for (uint32_t y = 0; y < topology->noc->rows; y++)
        for (uint32_t x = 0; x < topology->noc->columns; x++) {
            uint16_t router = nuna_noc_router(topology->noc, x, y);
            for (uint32_t s = 0; s < topology->stack_count; s++)
                key[s] = nuna_noc_hops(topology->noc, router,
                                       nuna_topology_stack_router(topology, router, s));
            order_by(key, &domains->stack_order[router * topology->stack_count],
                     topology->stack_count, bound, scratch);
        }
}

static void find_nearest(struct nuna_domains *domains)
{
    const struct nuna_topology *topology = domains->topology;
    for (uint32_t y = 0; y < topology->noc->rows; y++)
        for (uint32_t x = 0; x < topology->noc->columns; x++) {
            uint16_t router = nuna_noc_router(topology->noc, x, y);
            uint32_t best = 0, least = UINT32_MAX;
            for (uint32_t d = 0; d < domains->count; d++) {
                uint32_t distance = nuna_domains_distance(domains, router, d);
                best = distance < least ? d : best;
                least = distance < least ? distance : least;
            }
            domains->nearest[router] = best;
        }
}

bool nuna_domains_init(struct nuna_domains *domains, const struct nuna_topology *topology,
                       uint32_t count)
{
    memset(domains, 0, sizeof *domains);
    domains->topology = topology;
    domains->count = count;
    const struct nuna_noc_shape *noc = topology->noc;
    uint32_t bound = (noc->columns + noc->rows) * topology->port_count;
    uint32_t widest =
        topology->cu_count > topology->stack_count ? topology->cu_count : topology->stack_count;
    uint32_t *key = calloc(widest, sizeof *key);
    uint32_t *scratch = calloc(bound + 2, sizeof *scratch);
    domains->cu_order = calloc((size_t)count * topology->cu_count, sizeof *domains->cu_order);
    domains->stack_order =
        calloc((size_t)noc->codes * topology->stack_count, sizeof *domains->stack_order);
    domains->nearest = calloc(noc->codes, sizeof *domains->nearest);
    bool ok = key && scratch && domains->cu_order && domains->stack_order && domains->nearest;
    for (uint32_t d = 0; ok && d < count; d++) {
        for (uint32_t cu = 0; cu < topology->cu_count; cu++)
            key[cu] = nuna_domains_distance(domains, topology->cu_router[cu], d);
        order_by(key, &domains->cu_order[(size_t)d * topology->cu_count], topology->cu_count, bound,
                 scratch);
    }
    if (ok) {
        order_stacks(domains, key, bound, scratch);
        find_nearest(domains);
    }
    free(key);
    free(scratch);
    return ok;
}

void nuna_domains_finish(struct nuna_domains *domains)
{
    free(domains->cu_order);
    free(domains->stack_order);
    free(domains->nearest);
    memset(domains, 0, sizeof *domains);
}

uint32_t nuna_domains_granularities(uint32_t ports, uint32_t stacks, uint32_t *ret)
{
    uint32_t count = 0;
    for (uint32_t g = 2; g <= ports && g <= stacks; g++)
        if (ports % g == 0)
            ret[count++] = g;
    if (count == 0)
        ret[count++] = 1;
    return count;
}
