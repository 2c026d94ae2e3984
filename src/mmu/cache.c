#include "mmu/cache.h"
#include <stdlib.h>
#include <string.h>

/* Used or, where a hit does not renew, filled longest ago. */
static uint32_t oldest(struct nuna_cache *cache, uint32_t first)
{
    uint32_t found = first;
    for (uint32_t slot = first; slot < first + cache->ways; slot++)
        if (cache->used[slot] < cache->used[found])
            found = slot;
    return found;
}

/* By xorshift64: every cache starts the sequence alike, so that equal histories evict alike. */
static uint32_t any(struct nuna_cache *cache, uint32_t first)
{
    cache->random ^= cache->random << 13;
    cache->random ^= cache->random >> 7;
    cache->random ^= cache->random << 17;
    return first + (uint32_t)((cache->random >> 32) % cache->ways);
}

static const struct {
    bool renews;
    uint32_t (*victim)(struct nuna_cache *cache, uint32_t first); /* of a full set */
} replacements[] = {
#define ROW(id, word, renews, victim) [NUNA_REPLACE_##id] = {renews, victim},
    NUNA_REPLACEMENTS(ROW)};
#undef ROW

bool nuna_cache_init(struct nuna_cache *cache, uint32_t entries, uint32_t ways,
                     enum nuna_replacement policy)
{
    memset(cache, 0, sizeof *cache);
    cache->ways = ways == 0 ? entries : ways;
    cache->sets = entries / cache->ways;
    cache->policy = (uint8_t)policy;
    cache->renews = replacements[policy].renews;
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

/* An empty slot of the key's set, or the victim's. */
static uint32_t slot_for(struct nuna_cache *cache, uint32_t key)
{
    uint32_t first = first_slot(cache, key);
    for (uint32_t slot = first; slot < first + cache->ways; slot++)
        if (cache->key[slot] == NUNA_CACHE_NONE)
            return slot;
    cache->evictions++;
    return replacements[cache->policy].victim(cache, first);
}

void nuna_cache_fill(struct nuna_cache *cache, uint32_t key)
{
    uint32_t slot = nuna_cache_find(cache, key);
    if (slot == NUNA_CACHE_NONE) {
        slot = slot_for(cache, key);
        cache->fills++;
        cache->key[slot] = key;
        cache->used[slot] = ++cache->clock;
    } else if (cache->renews) {
        cache->used[slot] = ++cache->clock;
    }
    cache->last = slot;
}
