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
    uint32_t next;   /* free list */
    uint16_t gpu;    /* that GPU */
    uint8_t op, phase;
    uint8_t port; /* and switch plane, between GPUs */
    uint8_t home; /* socket of the host memory */
    uint8_t step; /* on its way through the host */
};

#define NUNA_PIECE_SLAB_BITS 11u /* 2,048 records of 32 bytes: one slab */
#define NUNA_NO_PIECE        0u  /* a handle that is never given out */
_Static_assert(sizeof(struct nuna_host_piece) << NUNA_PIECE_SLAB_BITS <= NUNA_SLAB_BYTES, "fits");

struct nuna_piece_pool {
    struct nuna_arena *arena; /* owns the records */
    struct nuna_host_piece **slabs;
    uint32_t slab_count, slab_capacity;
    uint32_t free;
    uint64_t in_use;
    bool out_of_memory;
};

bool nuna_piece_pool_init(struct nuna_piece_pool *pool, struct nuna_arena *arena);
void nuna_piece_pool_finish(struct nuna_piece_pool *pool);
void nuna_piece_pool_grow(struct nuna_piece_pool *pool);

static inline struct nuna_host_piece *nuna_piece(const struct nuna_piece_pool *pool,
                                                 uint32_t handle)
{
    return &pool->slabs[handle >> NUNA_PIECE_SLAB_BITS]
                       [handle & ((1u << NUNA_PIECE_SLAB_BITS) - 1)];
}

/* Out of memory it returns NUNA_NO_PIECE, a record that exists but means nothing; the run is then
 * given up at the end of the window. The contents are not cleared. */
static inline uint32_t nuna_piece_get(struct nuna_piece_pool *pool)
{
    if (__builtin_expect(pool->free == NUNA_NO_PIECE, 0))
        nuna_piece_pool_grow(pool);
    uint32_t handle = pool->free;
    if (handle == NUNA_NO_PIECE)
        return handle;
    pool->free = nuna_piece(pool, handle)->next;
    pool->in_use++;
    return handle;
}

static inline void nuna_piece_put(struct nuna_piece_pool *pool, uint32_t handle)
{
    if (handle == NUNA_NO_PIECE)
        return;
    nuna_piece(pool, handle)->next = pool->free;
    pool->free = handle;
    pool->in_use--;
}

/* Into a message and out again. */
void nuna_piece_pack(const struct nuna_host_piece *piece, struct nuna_message *message);
void nuna_piece_unpack(struct nuna_host_piece *piece, const struct nuna_message *message);

#endif
