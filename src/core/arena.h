/* Memory for pools: slabs cut from 2 MiB regions that the kernel is asked to back by huge pages,
 * since pools are read all over and small pages would miss the TLB. Shared by the logical processes
 * of one simulation; slabs live as long as the arena. */
#ifndef NUNA_CORE_ARENA_H
#define NUNA_CORE_ARENA_H

#include "core/types.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define NUNA_ARENA_GRAIN  (4u << 10)
#define NUNA_SLAB_BYTES   (64u << 10)
#define NUNA_REGION_BYTES (2u << 20)

struct nuna_arena {
    pthread_mutex_t mutex;
    void **regions;
    size_t region_count, region_capacity;
    size_t used; /* bytes of the last region */
};

void nuna_arena_init(struct nuna_arena *arena);
void nuna_arena_finish(struct nuna_arena *arena);

/* `bytes`, a multiple of NUNA_ARENA_GRAIN that fits a region, aligned to the grain; NULL when there
 * is no memory. Any thread may call. */
void *nuna_arena_take(struct nuna_arena *arena, size_t bytes);

/* NUNA_SLAB_BYTES, likewise. */
void *nuna_arena_slab(struct nuna_arena *arena);

/* ---- pools of records ---- */

/* Small records that are named by 32-bit handles and recycled, last in first out. Records stay
 * where they are; the memory is the arena's. A kind of record wraps these functions with its size
 * and the number of bits of a handle that count within a chunk, both constants. A free record keeps
 * the next free one in its first four bytes. */

#define NUNA_NO_RECORD 0u /* a handle that is never given out */

struct nuna_slab_pool {
    struct nuna_arena *arena; /* where chunks come from */
    char **chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t free; /* first free record */
    uint64_t in_use, peak;
    bool out_of_memory;
};

/* With a first chunk of 1 << bits records of `size` bytes, a multiple of the arena's grain. False
 * on lack of memory. Finish either way. */
bool nuna_slab_pool_init(struct nuna_slab_pool *pool, struct nuna_arena *arena, size_t size,
                         uint32_t bits);
void nuna_slab_pool_finish(struct nuna_slab_pool *pool);
/* Another chunk; or notes that there is no memory. */
void nuna_slab_pool_grow(struct nuna_slab_pool *pool, size_t size, uint32_t bits);

static inline void *nuna_slab_record(const struct nuna_slab_pool *pool, uint32_t handle,
                                     size_t size, uint32_t bits)
{
    return pool->chunks[handle >> bits] + (handle & ((1u << bits) - 1)) * size;
}

/* Out of memory it returns NUNA_NO_RECORD, a record that exists but means nothing; the run is then
 * given up at the end of the window. The contents are not cleared. */
static inline uint32_t nuna_slab_get(struct nuna_slab_pool *pool, size_t size, uint32_t bits)
{
    if (__builtin_expect(pool->free == NUNA_NO_RECORD, 0))
        nuna_slab_pool_grow(pool, size, bits);
    uint32_t handle = pool->free;
    if (handle == NUNA_NO_RECORD)
        return handle;
    memcpy(&pool->free, nuna_slab_record(pool, handle, size, bits), sizeof pool->free);
    nuna_prefetch(nuna_slab_record(pool, pool->free, size, bits)); /* it was put long ago */
    pool->in_use++;
    if (pool->in_use > pool->peak)
        pool->peak = pool->in_use;
    return handle;
}

static inline void nuna_slab_put(struct nuna_slab_pool *pool, uint32_t handle, size_t size,
                                 uint32_t bits)
{
    if (handle == NUNA_NO_RECORD)
        return;
    assert(pool->in_use > 0);
    memcpy(nuna_slab_record(pool, handle, size, bits), &pool->free, sizeof pool->free);
    pool->free = handle;
    pool->in_use--;
}

#endif
