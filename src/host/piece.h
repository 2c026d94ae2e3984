/* A piece of a copy on its way: the grain in which copies share servers. Private to src/host.
 * Records are recycled; each logical process has its own pool, and a piece that crosses to another
 * process becomes a record there. */
#ifndef NUNA_HOST_PIECE_H
#define NUNA_HOST_PIECE_H

#include "core/arena.h"
#include "core/event.h"

/* What a copy does, seen from the GPU whose copy engine carries it out. */
enum nuna_copy_op {
    NUNA_COPY_READ,  /* host memory to own memory */
    NUNA_COPY_WRITE, /* own memory to host memory */
    NUNA_COPY_PUSH,  /* own memory to a peer's */
    NUNA_COPY_PULL,  /* a peer's memory to own */
};

/* Where a piece is, which with its operation says what comes next. */
enum nuna_piece_phase {
    NUNA_PIECE_REQUEST, /* READ: to the host; PULL: to the peer */
    NUNA_PIECE_OUT,     /* read from memory, about to leave */
    NUNA_PIECE_DATA,    /* on the way to the memory it is written to */
    NUNA_PIECE_ACK,     /* written; back to the engine */
};

struct nuna_host_piece {
    uint64_t offset; /* in the host buffer */
    uint32_t bytes;
    uint32_t engine; /* of the GPU that carries the copy out */
    uint16_t gpu;    /* that GPU */
    uint8_t op, phase;
    uint8_t port; /* and switch plane, between GPUs */
    uint8_t home; /* socket of the host memory */
    uint8_t step; /* on its way through the host */
};

#define NUNA_PIECE_CHUNK_BITS 11u
_Static_assert((sizeof(struct nuna_host_piece) << NUNA_PIECE_CHUNK_BITS) % NUNA_ARENA_GRAIN == 0,
               "a chunk is some grains of the arena");

static inline bool nuna_piece_pool_init(struct nuna_slab_pool *pool, struct nuna_arena *arena)
{
    return nuna_slab_pool_init(pool, arena, sizeof(struct nuna_host_piece), NUNA_PIECE_CHUNK_BITS);
}

static inline struct nuna_host_piece *nuna_piece(const struct nuna_slab_pool *pool, uint32_t handle)
{
    return nuna_slab_record(pool, handle, sizeof(struct nuna_host_piece), NUNA_PIECE_CHUNK_BITS);
}

/* Never fails, and the contents are not cleared: core/arena.h. */
static inline uint32_t nuna_piece_get(struct nuna_slab_pool *pool)
{
    return nuna_slab_get(pool, sizeof(struct nuna_host_piece), NUNA_PIECE_CHUNK_BITS);
}

static inline void nuna_piece_put(struct nuna_slab_pool *pool, uint32_t handle)
{
    nuna_slab_put(pool, handle, sizeof(struct nuna_host_piece), NUNA_PIECE_CHUNK_BITS);
}

/* Into a message and out again. */
void nuna_piece_pack(const struct nuna_host_piece *piece, struct nuna_message *message);
void nuna_piece_unpack(struct nuna_host_piece *piece, const struct nuna_message *message);

#endif
