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
