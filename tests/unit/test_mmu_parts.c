/* Caches, miss registers, walk caches and walkers, each against a naive model over random traces.
 */
#include "mmu/mshr.h"
#include "mmu/walk.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* ---- caches ---- */

/* One set as a list of keys, the next victim first. */
struct naive_set {
    uint32_t key[64], count;
};

static void naive_remove(struct naive_set *set, uint32_t at)
{
    memmove(&set->key[at], &set->key[at + 1], (set->count - at - 1) * sizeof set->key[0]);
    set->count--;
}

static bool naive_use(struct naive_set *set, uint32_t key, bool renew)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->key[i] == key) {
            if (renew) {
                naive_remove(set, i);
                set->key[set->count++] = key;
            }
            return true;
        }
    return false;
}

static void naive_fill(struct naive_set *set, uint32_t ways, uint32_t key, bool renew)
{
    if (naive_use(set, key, renew))
        return;
    if (set->count == ways)
        naive_remove(set, 0);
    set->key[set->count++] = key;
}

static void check_cache(uint32_t entries, uint32_t ways, enum nuna_replacement policy,
                        uint32_t keys)
{
    struct nuna_cache cache;
    struct naive_set sets[64] = {0};
    uint32_t real_ways = ways ? ways : entries, set_count = entries / real_ways;
    uint64_t random = entries + keys, hits = 0, lookups = 0;
    bool renew = policy == NUNA_REPLACE_LRU;
    cr_assert(nuna_cache_init(&cache, entries, ways, policy));
    for (uint32_t i = 0; i < 50000; i++) {
        /* Runs of one key, as streams make them, and strangers in between. */
        uint32_t key = (uint32_t)draw(&random) % keys;
        struct naive_set *set = &sets[key % set_count];
        for (uint64_t n = draw(&random) % 4; n-- > 0; lookups++) {
            bool hit = naive_use(set, key, renew);
            cr_assert_eq(nuna_cache_lookup(&cache, key), hit, "%u/%u step %u", entries, ways, i);
            hits += hit;
        }
        if (draw(&random) % 2) {
            nuna_cache_fill(&cache, key);
            naive_fill(set, real_ways, key, renew);
        }
    }
    cr_assert_eq(cache.lookups, lookups);
    cr_assert_eq(cache.hits, hits);
    cr_assert_gt(hits, 0u);
    uint64_t held = 0;
    for (uint32_t s = 0; s < set_count; s++)
        held += sets[s].count;
    cr_assert_eq(cache.fills - cache.evictions, held);
    cr_assert_gt(cache.evictions, 0u);
    nuna_cache_finish(&cache);
}

Test(cache, evicts_as_a_naive_model)
{
    static const uint32_t shapes[][2] = {{1, 1},  {4, 0},  {32, 0}, {64, 2},
                                         {16, 4}, {33, 3}, {24, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (uint32_t keys = 2; keys <= 300; keys *= 5) {
            uint32_t more = shapes[i][0] + keys;
            check_cache(shapes[i][0], shapes[i][1], NUNA_REPLACE_LRU, more);
            check_cache(shapes[i][0], shapes[i][1], NUNA_REPLACE_FIFO, more);
        }
}

Test(cache, policies_differ)
{
    struct nuna_cache lru, fifo;
    cr_assert(nuna_cache_init(&lru, 2, 0, NUNA_REPLACE_LRU));
    cr_assert(nuna_cache_init(&fifo, 2, 0, NUNA_REPLACE_FIFO));
    struct nuna_cache *caches[] = {&lru, &fifo};
    for (size_t i = 0; i < 2; i++) {
        nuna_cache_fill(caches[i], 7);
        nuna_cache_fill(caches[i], 8);
        cr_assert(nuna_cache_lookup(caches[i], 7));
        nuna_cache_fill(caches[i], 9);
    }
    cr_assert_neq(nuna_cache_find(&lru, 7), NUNA_CACHE_NONE);
    cr_assert_eq(nuna_cache_find(&lru, 8), NUNA_CACHE_NONE);
    cr_assert_eq(nuna_cache_find(&fifo, 7), NUNA_CACHE_NONE);
    cr_assert_neq(nuna_cache_find(&fifo, 8), NUNA_CACHE_NONE);
    nuna_cache_finish(&lru);
    nuna_cache_finish(&fifo);
}

/* Of every replacement: a fill changes one way of the key's set at most, and what is evicted was
 * there; two caches with the same history hold the same; every way gets its turn. */
static void check_replacement(enum nuna_replacement policy)
{
    struct nuna_cache a, b;
    cr_assert(nuna_cache_init(&a, 16, 4, policy));
    cr_assert(nuna_cache_init(&b, 16, 4, policy));
    uint64_t random = 5, evictions = 0, by_way[4] = {0};
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t key = (uint32_t)draw(&random) % 200, before[4];
        bool there = nuna_cache_find(&a, key) != NUNA_CACHE_NONE;
        cr_assert_eq(nuna_cache_lookup(&a, key), there);
        cr_assert_eq(nuna_cache_lookup(&b, key), there);
        memcpy(before, &a.key[key % 4 * 4], sizeof before);
        nuna_cache_fill(&a, key);
        nuna_cache_fill(&b, key);
        cr_assert_neq(nuna_cache_find(&a, key), NUNA_CACHE_NONE);
        uint32_t changed = 0;
        for (uint32_t w = 0; w < 4; w++)
            if (before[w] != a.key[key % 4 * 4 + w]) {
                changed++;
                if (before[w] != NUNA_CACHE_NONE) {
                    evictions++;
                    by_way[w]++;
                }
            }
        cr_assert_eq(changed, there ? 0 : 1);
        cr_assert_arr_eq(a.key, b.key, 16 * sizeof a.key[0]);
    }
    cr_assert_eq(a.evictions, evictions);
    for (uint32_t w = 0; w < 4; w++)
        cr_assert_gt(by_way[w], evictions / 5, "replacement %d, way %u: %lu", (int)policy, w,
                     (unsigned long)by_way[w]);
    nuna_cache_finish(&a);
    nuna_cache_finish(&b);
}

Test(cache, every_replacement)
{
    for (int policy = 0; policy < NUNA_REPLACE_COUNT; policy++)
        check_replacement((enum nuna_replacement)policy);
}

/* ---- miss registers ---- */

Test(mshr, against_a_naive_model)
{
    enum { CAPACITY = 24, PAGES = 60 };
    struct nuna_mshr_file file;
    struct nuna_waiter_pool pool;
    uint32_t waiting[PAGES][400], count[PAGES] = {0}, in_use = 0, serial = 0;
    bool taken[PAGES] = {false};
    uint64_t random = 11, refused = 0;
    cr_assert(nuna_mshr_init(&file, CAPACITY));
    nuna_waiter_pool_init(&pool);
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t page = (uint32_t)draw(&random) % PAGES;
        struct nuna_mshr *mshr = nuna_mshr_find(&file, page * 4096);
        cr_assert_eq(mshr != NULL, taken[page], "step %u", i);
        if (!mshr) {
            mshr = nuna_mshr_take(&file, page * 4096, page % 2);
            cr_assert_eq(mshr != NULL, in_use < CAPACITY);
            refused += !mshr;
            in_use += mshr != NULL;
            taken[page] = mshr != NULL;
        } else if (draw(&random) % 3 == 0 || count[page] == 400) {
            struct nuna_mshr held = nuna_mshr_release(&file, page * 4096);
            struct nuna_waiter waiter;
            cr_assert_eq(held.demand, page % 2);
            cr_assert_eq(held.waiters.count, count[page]);
            for (uint32_t w = 0; w < count[page]; w++) {
                cr_assert(nuna_waiter_pop(&pool, &held.waiters, &waiter));
                cr_assert_eq(waiter.token, waiting[page][w]);
            }
            cr_assert_not(nuna_waiter_pop(&pool, &held.waiters, &waiter));
            count[page] = 0;
            taken[page] = false;
            in_use--;
            continue;
        }
        if (mshr) {
            nuna_waiter_push(&pool, &mshr->waiters, (struct nuna_waiter){.token = serial});
            waiting[page][count[page]++] = serial++;
        }
        cr_assert_eq(file.in_use, in_use);
    }
    cr_assert_eq(file.peak, CAPACITY);
    cr_assert_gt(refused, 0u);
    nuna_mshr_finish(&file);
    nuna_waiter_pool_finish(&pool);
}

/* ---- walks ---- */

Test(walk, accesses_left)
{
    static const uint32_t entries[NUNA_WALK_LEVELS_MAX] = {0, 4, 2, 2, 2};
    struct nuna_walk_caches caches;
    cr_assert(nuna_walk_caches_init(&caches, 5, 2, entries, 0));
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 1000), 5);
    for (uint32_t k = 4; k >= 1; k--) {
        nuna_walk_caches_fill(&caches, k, 1000);
        cr_assert_eq(nuna_walk_caches_lookup(&caches, 1000), k);
    }
    /* The same last table; the next one; one that shares the first level only. */
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 1003), 1);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 1004), 2);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 1000 ^ 128), 4);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 1000 ^ 256), 5);
    /* Four more last tables push page 1000's out, but not the level above. */
    for (uint32_t page = 1004; page < 1004 + 16; page += 4)
        nuna_walk_caches_fill(&caches, 1, page);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 1000), 2);
    nuna_walk_caches_finish(&caches);

    /* What is looked up stays; the other entry makes room. */
    cr_assert(
        nuna_walk_caches_init(&caches, 2, 2, (const uint32_t[NUNA_WALK_LEVELS_MAX]){0, 2}, 2));
    nuna_walk_caches_fill(&caches, 1, 0);
    nuna_walk_caches_fill(&caches, 1, 4);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 0), 1);
    nuna_walk_caches_fill(&caches, 1, 8);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 0), 1);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 4), 2);
    nuna_walk_caches_finish(&caches);

    /* Beyond the width of a page number every page has the same entry. */
    cr_assert(nuna_walk_caches_init(&caches, 5, 16, entries, 0));
    nuna_walk_caches_fill(&caches, 2, 0);
    cr_assert_eq(nuna_walk_caches_lookup(&caches, 0xfffffffeu), 2);
    nuna_walk_caches_finish(&caches);
}

Test(walk, walkers_and_their_queue)
{
    enum { WALKERS = 3, QUEUE = 20 };
    struct nuna_walkers walkers;
    uint32_t busy = 0, first = 0, serial = 0, peak = 0;
    uint64_t random = 3;
    cr_assert(nuna_walkers_init(&walkers, WALKERS, QUEUE));
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t waiting = serial - first;
        if (draw(&random) % 2 && waiting < QUEUE) {
            struct nuna_walk walk = {serial, serial % 5 + 1};
            bool start = nuna_walkers_start(&walkers, walk);
            cr_assert_eq(start, busy < WALKERS);
            busy += start;
            serial += !start;
        } else if (busy > 0) {
            struct nuna_walk next = {0, 0};
            bool more = nuna_walkers_next(&walkers, &next);
            cr_assert_eq(more, waiting > 0);
            if (more) {
                cr_assert_eq(next.page, first);
                cr_assert_eq(next.steps, first % 5 + 1);
                first++;
            } else {
                busy--;
            }
        }
        peak = serial - first > peak ? serial - first : peak;
        cr_assert_eq(walkers.busy, busy);
        cr_assert_eq(walkers.waiting, serial - first);
    }
    cr_assert_eq(walkers.busy_peak, WALKERS);
    cr_assert_eq(walkers.waiting_peak, peak);
    nuna_walkers_finish(&walkers);
}
