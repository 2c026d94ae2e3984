#include "mmu/walk.h"
#include <stdlib.h>
#include <string.h>

bool nuna_walk_caches_init(struct nuna_walk_caches *caches, uint32_t levels, uint32_t bits,
                           const uint32_t entries[NUNA_WALK_LEVELS_MAX], uint32_t ways)
{
    memset(caches, 0, sizeof *caches);
    caches->levels = levels;
    caches->bits = bits;
    for (uint32_t k = 1; k < levels; k++)
        if (!nuna_cache_init(&caches->upper[k], entries[k], ways, NUNA_REPLACE_LRU))
            return false;
    return true;
}

void nuna_walk_caches_finish(struct nuna_walk_caches *caches)
{
    for (uint32_t k = 1; k < NUNA_WALK_LEVELS_MAX; k++)
        nuna_cache_finish(&caches->upper[k]);
}

static uint32_t upper_key(const struct nuna_walk_caches *caches, uint32_t k, uint32_t page)
{
    uint32_t shift = k * caches->bits;
    return shift < 32 ? page >> shift : 0;
}

uint32_t nuna_walk_caches_lookup(struct nuna_walk_caches *caches, uint32_t page)
{
    for (uint32_t k = 1; k < caches->levels; k++)
        if (nuna_cache_lookup(&caches->upper[k], upper_key(caches, k, page)))
            return k;
    return caches->levels;
}

void nuna_walk_caches_fill(struct nuna_walk_caches *caches, uint32_t k, uint32_t page)
{
    nuna_cache_fill(&caches->upper[k], upper_key(caches, k, page));
}

bool nuna_walkers_init(struct nuna_walkers *walkers, uint32_t count, uint32_t queue_size)
{
    memset(walkers, 0, sizeof *walkers);
    walkers->count = count;
    walkers->queue_size = queue_size;
    walkers->queue = calloc(queue_size, sizeof *walkers->queue);
    return walkers->queue != NULL;
}

void nuna_walkers_finish(struct nuna_walkers *walkers)
{
    free(walkers->queue);
    memset(walkers, 0, sizeof *walkers);
}

bool nuna_walkers_start(struct nuna_walkers *walkers, struct nuna_walk walk)
{
    if (walkers->busy < walkers->count) {
        walkers->busy++;
        if (walkers->busy > walkers->busy_peak)
            walkers->busy_peak = walkers->busy;
        return true;
    }
    walkers->queue[(walkers->head + walkers->waiting) % walkers->queue_size] = walk;
    walkers->waiting++;
    if (walkers->waiting > walkers->waiting_peak)
        walkers->waiting_peak = walkers->waiting;
    return false;
}

bool nuna_walkers_next(struct nuna_walkers *walkers, struct nuna_walk *ret_walk)
{
    if (walkers->waiting == 0) {
        walkers->busy--;
        return false;
    }
    *ret_walk = walkers->queue[walkers->head];
    walkers->head = (walkers->head + 1) % walkers->queue_size;
    walkers->waiting--;
    return true;
}
