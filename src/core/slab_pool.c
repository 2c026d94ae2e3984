#include "core/slab_pool.h"
#include <stdlib.h>

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
