#include "core/arena.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void nuna_arena_init(struct nuna_arena *arena)
{
    memset(arena, 0, sizeof *arena);
    pthread_mutex_init(&arena->mutex, NULL);
}

void nuna_arena_finish(struct nuna_arena *arena)
{
    for (size_t i = 0; i < arena->region_count; i++)
        free(arena->regions[i]);
    free(arena->regions);
    pthread_mutex_destroy(&arena->mutex);
}

static bool add_region(struct nuna_arena *arena)
{
    if (arena->region_count == arena->region_capacity) {
        size_t capacity = arena->region_capacity ? 2 * arena->region_capacity : 16;
        void **regions = realloc(arena->regions, capacity * sizeof *regions);
        if (!regions)
            return false;
        arena->regions = regions;
        arena->region_capacity = capacity;
    }
    void *region = aligned_alloc(NUNA_REGION_BYTES, NUNA_REGION_BYTES);
    if (!region)
        return false;
    /* Advice only: without huge pages everything works, more slowly. */
    madvise(region, NUNA_REGION_BYTES, MADV_HUGEPAGE);
    arena->regions[arena->region_count++] = region;
    arena->used = 0;
    return true;
}

void *nuna_arena_take(struct nuna_arena *arena, size_t bytes)
{
    void *taken = NULL;
    pthread_mutex_lock(&arena->mutex);
    bool full = arena->region_count == 0 || arena->used + bytes > NUNA_REGION_BYTES;
    if (!full || add_region(arena)) {
        taken = (char *)arena->regions[arena->region_count - 1] + arena->used;
        arena->used += bytes;
    }
    pthread_mutex_unlock(&arena->mutex);
    return taken;
}

void *nuna_arena_slab(struct nuna_arena *arena)
{
    return nuna_arena_take(arena, NUNA_SLAB_BYTES);
}

/* ---- pools of records ---- */

bool nuna_slab_pool_init(struct nuna_slab_pool *pool, struct nuna_arena *arena, size_t size,
                         uint32_t bits)
{
    memset(pool, 0, sizeof *pool);
    pool->arena = arena;
    nuna_slab_pool_grow(pool, size, bits);
    return !pool->out_of_memory;
}

void nuna_slab_pool_finish(struct nuna_slab_pool *pool)
{
    free(pool->chunks);
    memset(pool, 0, sizeof *pool);
}

static bool add_chunk(struct nuna_slab_pool *pool, size_t bytes, uint32_t limit)
{
    if (pool->chunk_count == limit)
        return false;
    if (pool->chunk_count == pool->chunk_capacity) {
        uint32_t capacity = pool->chunk_capacity ? 2 * pool->chunk_capacity : 16;
        char **chunks = realloc(pool->chunks, capacity * sizeof *chunks);
        if (!chunks)
            return false;
        pool->chunks = chunks;
        pool->chunk_capacity = capacity;
    }
    char *chunk = nuna_arena_take(pool->arena, bytes);
    if (!chunk)
        return false;
    pool->chunks[pool->chunk_count++] = chunk;
    return true;
}

void nuna_slab_pool_grow(struct nuna_slab_pool *pool, size_t size, uint32_t bits)
{
    uint32_t count = 1u << bits, first = pool->chunk_count << bits;
    if (!add_chunk(pool, size << bits, UINT32_MAX >> bits)) {
        pool->out_of_memory = true;
        return;
    }
    memset(nuna_slab_record(pool, first, size, bits), 0, size);
    for (uint32_t handle = first + count; handle-- > first;) {
        if (handle == NUNA_NO_RECORD)
            continue;
        memcpy(nuna_slab_record(pool, handle, size, bits), &pool->free, sizeof pool->free);
        pool->free = handle;
    }
}
