/* NAR domains of one GPU: contiguous groups of I/O ports, and what is near them. Source: NUNA
 * section 4.1.2. */
#ifndef NUNA_PLACEMENT_DOMAINS_H
#define NUNA_PLACEMENT_DOMAINS_H

#include "gpu/topology.h"

struct nuna_domains {
    const struct nuna_topology *topology;
    uint32_t count;     /* divides the ports */
    uint32_t *cu_order; /* [domain][cu]: CUs by distance to the domain's ports, near ones first */
    uint32_t *stack_order; /* [router code][stack]: stacks by distance to a router */
    uint32_t *nearest;     /* [router code]: domain nearest to a router */
};

/* False on lack of memory; finish either way. */
bool nuna_domains_init(struct nuna_domains *domains, const struct nuna_topology *topology,
                       uint32_t count);
void nuna_domains_finish(struct nuna_domains *domains);

/* Sum of the hops from a router to each port of a domain. */
uint32_t nuna_domains_distance(const struct nuna_domains *domains, uint16_t router,
                               uint32_t domain);

/* Number of granularities worth trying on `ports` ports and `stacks` stacks: the divisors of the
 * ports above 1 that leave each domain a stack, in increasing order, written to `ret`, which has
 * room for `ports`. Where there is none, just 1. */
uint32_t nuna_domains_granularities(uint32_t ports, uint32_t stacks, uint32_t *ret);

#endif
