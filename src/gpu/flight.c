#include "gpu/flight.h"
#include <stdlib.h>
#include <string.h>

bool nuna_flight_pool_init(struct nuna_flight_pool *pool, struct nuna_arena *arena)
{
    memset(pool, 0, sizeof *pool);
    pool->arena = arena;
    nuna_flight_pool_grow(pool);
    return !pool->out_of_memory;
}

void nuna_flight_pool_finish(struct nuna_flight_pool *pool)
{
    free(pool->chunks);
    memset(pool, 0, sizeof *pool);
}

void nuna_flight_pool_grow(struct nuna_flight_pool *pool)
{
    const uint32_t size = 1u << NUNA_FLIGHT_CHUNK_BITS;
    if (pool->chunk_count == pool->chunk_capacity) {
        uint32_t capacity = pool->chunk_capacity ? 2 * pool->chunk_capacity : 16;
        struct nuna_flight **chunks = realloc(pool->chunks, capacity * sizeof *chunks);
        if (!chunks) {
            pool->out_of_memory = true;
            return;
        }
        pool->chunks = chunks;
        pool->chunk_capacity = capacity;
    }
    struct nuna_flight *chunk = pool->chunk_count < UINT32_MAX >> NUNA_FLIGHT_CHUNK_BITS
                                    ? nuna_arena_slab(pool->arena)
                                    : NULL;
    if (!chunk) {
        pool->out_of_memory = true;
        return;
    }
    uint32_t first = pool->chunk_count << NUNA_FLIGHT_CHUNK_BITS;
    pool->chunks[pool->chunk_count++] = chunk;
    memset(&chunk[0], 0, sizeof chunk[0]);
    for (uint32_t i = size; i-- > 0;) {
        if (first + i == NUNA_NO_FLIGHT)
            continue;
        chunk[i].link = pool->free;
        pool->free = first + i;
    }
}
