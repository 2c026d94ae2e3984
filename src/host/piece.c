#include "host/piece.h"
#include <stdlib.h>
#include <string.h>

bool nuna_piece_pool_init(struct nuna_piece_pool *pool, struct nuna_arena *arena)
{
    memset(pool, 0, sizeof *pool);
    pool->arena = arena;
    nuna_piece_pool_grow(pool);
    return !pool->out_of_memory;
}

void nuna_piece_pool_finish(struct nuna_piece_pool *pool)
{
    free(pool->slabs);
    memset(pool, 0, sizeof *pool);
}

void nuna_piece_pool_grow(struct nuna_piece_pool *pool)
{
    const uint32_t size = 1u << NUNA_PIECE_SLAB_BITS;
    if (pool->slab_count == pool->slab_capacity) {
        uint32_t capacity = pool->slab_capacity ? 2 * pool->slab_capacity : 16;
        struct nuna_host_piece **slabs = realloc(pool->slabs, capacity * sizeof *slabs);
        if (!slabs) {
            pool->out_of_memory = true;
            return;
        }
        pool->slabs = slabs;
        pool->slab_capacity = capacity;
    }
    struct nuna_host_piece *slab =
        pool->slab_count < UINT32_MAX >> NUNA_PIECE_SLAB_BITS ? nuna_arena_slab(pool->arena) : NULL;
    if (!slab) {
        pool->out_of_memory = true;
        return;
    }
    uint32_t first = pool->slab_count << NUNA_PIECE_SLAB_BITS;
    pool->slabs[pool->slab_count++] = slab;
    memset(&slab[0], 0, sizeof slab[0]);
    for (uint32_t i = size; i-- > 0;) {
        if (first + i == NUNA_NO_PIECE)
            continue;
        slab[i].next = pool->free;
        pool->free = first + i;
    }
}

/* What a message carries. */
struct payload {
    uint32_t offset_low, offset_high, bytes, engine;
    uint16_t gpu;
    uint8_t op, phase, port, home;
};
_Static_assert(sizeof(struct payload) <= sizeof((struct nuna_message){0}.payload), "fits");

void nuna_piece_pack(const struct nuna_host_piece *piece, struct nuna_message *message)
{
    struct payload payload = {
        .offset_low = (uint32_t)piece->offset,
        .offset_high = (uint32_t)(piece->offset >> 32),
        .bytes = piece->bytes,
        .engine = piece->engine,
        .gpu = piece->gpu,
        .op = piece->op,
        .phase = piece->phase,
        .port = piece->port,
        .home = piece->home,
    };
    memcpy(message->payload, &payload, sizeof payload);
}

void nuna_piece_unpack(struct nuna_host_piece *piece, const struct nuna_message *message)
{
    struct payload payload;
    memcpy(&payload, message->payload, sizeof payload);
    *piece = (struct nuna_host_piece){
        .offset = (uint64_t)payload.offset_high << 32 | payload.offset_low,
        .bytes = payload.bytes,
        .engine = payload.engine,
        .gpu = payload.gpu,
        .op = payload.op,
        .phase = payload.phase,
        .port = payload.port,
        .home = payload.home,
    };
}
