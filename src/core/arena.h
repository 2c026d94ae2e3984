/* Memory for pools: slabs cut from 2 MiB regions that the kernel is asked to back by huge pages,
 * since pools are read all over and small pages would miss the TLB. Shared by the logical processes
 * of one simulation; slabs live as long as the arena. */
#ifndef NUNA_CORE_ARENA_H
#define NUNA_CORE_ARENA_H

#include "core/types.h"
#include <pthread.h>

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

#endif
