#include "gpu/flight.h"
#include <stdlib.h>
#include <string.h>

bool nuna_flight_pool_init(struct nuna_flight_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    nuna_flight_pool_grow(pool);
    return !pool->out_of_memory;
}

void nuna_flight_pool_finish(struct nuna_flight_pool *pool)
{
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        free(pool->chunks[i]);
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
    struct nuna_flight *chunk = aligned_alloc(sizeof *chunk, size * sizeof *chunk);
    if (!chunk || pool->chunk_count >= UINT32_MAX >> NUNA_FLIGHT_CHUNK_BITS) {
        free(chunk);
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
