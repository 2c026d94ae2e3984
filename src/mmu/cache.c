#include "mmu/cache.h"
#include <stdlib.h>
#include <string.h>

bool nuna_cache_init(struct nuna_cache *cache, uint32_t entries, uint32_t ways,
                     enum nuna_replacement policy)
{
    memset(cache, 0, sizeof *cache);
    cache->ways = ways == 0 ? entries : ways;
    cache->sets = entries / cache->ways;
    cache->policy = (uint8_t)policy;
    cache->random = 0x2545f4914f6cdd1dull;
    cache->key = malloc(entries * sizeof *cache->key);
    cache->used = calloc(entries, sizeof *cache->used);
    if (!cache->key || !cache->used)
        return false;
    memset(cache->key, 0xff, entries * sizeof *cache->key);
    return true;
}

void nuna_cache_finish(struct nuna_cache *cache)
{
    free(cache->key);
    free(cache->used);
    memset(cache, 0, sizeof *cache);
}

static uint32_t first_slot(const struct nuna_cache *cache, uint32_t key)
{
    return cache->sets == 1 ? 0 : key % cache->sets * cache->ways;
}

uint32_t nuna_cache_find(const struct nuna_cache *cache, uint32_t key)
{
    uint32_t first = first_slot(cache, key), found = NUNA_CACHE_NONE;
    /* No early exit: the compiler compares several keys at a time. */
    for (uint32_t slot = first; slot < first + cache->ways; slot++)
        found = cache->key[slot] == key ? slot : found;
    return found;
}

/* xorshift64: a fixed sequence, so that equal histories evict alike. */
static uint64_t next_random(struct nuna_cache *cache)
{
    cache->random ^= cache->random << 13;
    cache->random ^= cache->random >> 7;
    cache->random ^= cache->random << 17;
    return cache->random;
}

static uint32_t victim(struct nuna_cache *cache, uint32_t key)
{
    uint32_t first = first_slot(cache, key), oldest = first;
    for (uint32_t slot = first; slot < first + cache->ways; slot++) {
        if (cache->key[slot] == NUNA_CACHE_NONE)
            return slot;
        if (cache->used[slot] < cache->used[oldest])
            oldest = slot;
    }
    cache->evictions++;
    if (cache->policy == NUNA_REPLACE_RANDOM)
        return first + (uint32_t)((next_random(cache) >> 32) % cache->ways);
    return oldest;
}

void nuna_cache_fill(struct nuna_cache *cache, uint32_t key)
{
    uint32_t slot = nuna_cache_find(cache, key);
    if (slot == NUNA_CACHE_NONE) {
        slot = victim(cache, key);
        cache->fills++;
        cache->key[slot] = key;
        cache->used[slot] = ++cache->clock;
    } else if (cache->policy == NUNA_REPLACE_LRU) {
        cache->used[slot] = ++cache->clock;
    }
    cache->last = slot;
}
