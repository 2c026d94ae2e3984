/* The page table's upper levels, as caches of their entries, and the walkers that read what the
 * caches do not hold.
 *
 * The table is a radix tree over page numbers with `bits` of them per level. An entry of upper
 * level k (1 is next to the last) covers 2^(k bits) pages; a walk that knows it needs k more
 * accesses, a walk that knows none needs as many as there are levels. Source: reverse translation
 * (arXiv 2604.02473) section 2.4 and Table 1. */
#ifndef NUNA_MMU_WALK_H
#define NUNA_MMU_WALK_H

#include "mmu/cache.h"

#define NUNA_WALK_LEVELS_MAX 5u

struct nuna_walk_caches {
    struct nuna_cache upper[NUNA_WALK_LEVELS_MAX]; /* [k], from 1 on */
    uint32_t levels, bits;
};

/* `entries[k]` of upper level k, k from 1 to levels - 1. */
bool nuna_walk_caches_init(struct nuna_walk_caches *caches, uint32_t levels, uint32_t bits,
                           const uint32_t entries[NUNA_WALK_LEVELS_MAX], uint32_t ways);
void nuna_walk_caches_finish(struct nuna_walk_caches *caches);

/* Accesses that a walk for the page still needs, 1 to `levels`: the caches are asked from the last
 * level up, until one has it. */
uint32_t nuna_walk_caches_lookup(struct nuna_walk_caches *caches, uint32_t page);
/* A walk has read the entry of upper level k for the page. */
void nuna_walk_caches_fill(struct nuna_walk_caches *caches, uint32_t k, uint32_t page);

/* A walk that waits for a walker. */
struct nuna_walk {
    uint32_t page, steps;
};

/* Parallel walkers and the queue before them. */
struct nuna_walkers {
    struct nuna_walk *queue; /* a ring */
    uint32_t queue_size, head, waiting;
    uint32_t count, busy;
    uint32_t busy_peak, waiting_peak;
};

/* At most `queue_size` walks wait. */
bool nuna_walkers_init(struct nuna_walkers *walkers, uint32_t count, uint32_t queue_size);
void nuna_walkers_finish(struct nuna_walkers *walkers);
/* Takes a walker; false when all are busy: the walk then waits. */
bool nuna_walkers_start(struct nuna_walkers *walkers, struct nuna_walk walk);
/* A walk is over: the walker takes the first one that waits; false when there is none. */
bool nuna_walkers_next(struct nuna_walkers *walkers, struct nuna_walk *ret_walk);

#endif
