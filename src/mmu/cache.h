/* A set-associative cache of keys (page numbers, or their upper bits): TLBs and page-walk caches.
 * One set is a fully associative cache. It holds no data: what a key translates to is the address
 * map's business. Source: reverse translation (arXiv 2604.02473) section 2.4 and Table 1. */
#ifndef NUNA_MMU_CACHE_H
#define NUNA_MMU_CACHE_H

#include "core/types.h"
#include "core/variant_table.h"

#define NUNA_REPLACEMENT(id, ...) NUNA_REPLACE_##id,
enum nuna_replacement { NUNA_REPLACEMENTS(NUNA_REPLACEMENT) NUNA_REPLACE_COUNT };
#undef NUNA_REPLACEMENT

#define NUNA_CACHE_NONE UINT32_MAX /* not a key */

struct nuna_cache {
    uint32_t *key;  /* [set * ways + way] */
    uint64_t *used; /* likewise: when it was last used or filled */
    uint32_t sets, ways;
    uint32_t last; /* slot of the last hit or fill: streams come back to it */
    uint8_t policy;
    bool renews; /* a hit counts as a use */
    uint64_t clock, random;
    uint64_t lookups, hits, fills, evictions;
};

/* `entries` is a multiple of `ways`; ways 0 stands for all of them. False on lack of memory; finish
 * either way. */
bool nuna_cache_init(struct nuna_cache *cache, uint32_t entries, uint32_t ways,
                     enum nuna_replacement policy);
void nuna_cache_finish(struct nuna_cache *cache);

/* The slot of a key, or NUNA_CACHE_NONE; changes nothing. */
uint32_t nuna_cache_find(const struct nuna_cache *cache, uint32_t key);

/* Puts a key in, over an empty slot of its set or over the policy's victim. A key that is there
 * already counts as hit. */
void nuna_cache_fill(struct nuna_cache *cache, uint32_t key);

/* Whether the key is there; a hit counts as a use. */
static inline bool nuna_cache_lookup(struct nuna_cache *cache, uint32_t key)
{
    cache->lookups++;
    uint32_t slot = cache->last;
    if (cache->key[slot] != key) {
        slot = nuna_cache_find(cache, key);
        if (slot == NUNA_CACHE_NONE)
            return false;
        cache->last = slot;
    }
    cache->hits++;
    if (cache->renews)
        cache->used[slot] = ++cache->clock;
    return true;
}

#endif
