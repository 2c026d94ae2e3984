/* A timing wheel for one logical process: events come out in the order of (time, insertion).
 *
 * Level 0 has buckets of 4.096 ns, level 1 of 4.19 us, level 2 of 1.07 ms; what lies further ahead
 * waits in a plain list. Each level covers the current and the next epoch (the span of one bucket
 * of the level above), and a bucket of the level above is dealt out when its epoch becomes the next
 * one, before anything can be inserted there directly: so insertion order survives. Buckets are
 * lists of 1 KiB blocks from a pool.
 */
#ifndef NUNA_CORE_WHEEL_H
#define NUNA_CORE_WHEEL_H

#include "core/arena.h"
#include "core/event.h"
#include "core/heap.h"

#define NUNA_BUCKET_BITS 12u /* 4.096 ns */
#define NUNA_BUCKET_PS   (1u << NUNA_BUCKET_BITS)
#define NUNA_EPOCH0_BITS 22u /* 1,024 buckets of level 0 */
#define NUNA_EPOCH1_BITS 30u /* 256 of level 1 */
#define NUNA_EPOCH2_BITS 38u /* 256 of level 2 */
#define NUNA_L0_SLOTS    2048u
#define NUNA_L1_SLOTS    512u
#define NUNA_L2_SLOTS    512u

#define NUNA_BLOCK_BYTES  1024u
#define NUNA_BLOCK_EVENTS (NUNA_BLOCK_BYTES / sizeof(struct nuna_event) - 1)

/* 1 KiB, aligned to its size, so that a cursor at a multiple of it means "full" (or, NULL, "none").
 */
struct nuna_block {
    struct nuna_block *next;
    uint64_t unused;
    struct nuna_event events[NUNA_BLOCK_EVENTS];
};

struct nuna_block_pool {
    struct nuna_arena *arena; /* where slabs come from */
    struct nuna_block *free;
    uint64_t in_use;
    bool out_of_memory;
};

struct nuna_far_event {
    nuna_time time;
    struct nuna_event event;
};

struct nuna_wheel {
    uint64_t slot;       /* level-0 bucket being run: its events are out of the wheel */
    uint64_t direct_end; /* first level-0 bucket that may not be inserted into directly */
    uint64_t above;      /* events that wait above level 0 */
    struct nuna_event *cursor[NUNA_L0_SLOTS];
    struct nuna_block *head[NUNA_L0_SLOTS];
    uint64_t occupied0[NUNA_L0_SLOTS / 64];
    struct nuna_event *cursor1[NUNA_L1_SLOTS];
    struct nuna_block *head1[NUNA_L1_SLOTS];
    struct nuna_event *cursor2[NUNA_L2_SLOTS];
    struct nuna_block *head2[NUNA_L2_SLOTS];
    struct nuna_far_event *far;
    size_t far_count, far_capacity;
    struct nuna_heap *heap; /* reference mode: holds all events, and the wheel none; else NULL */
};

/* The wheel starts at time 0 with bucket 0 not yet run (slot is UINT64_MAX, "before the first"). */
void nuna_wheel_init(struct nuna_wheel *wheel);
void nuna_wheel_finish(struct nuna_wheel *wheel); /* blocks belong to the pool */

/* Makes the empty wheel keep its events in `heap`, at one time in the
 * order of insertion. Only nuna_wheel_insert and nuna_wheel_next may then be called. */
void nuna_wheel_use_heap(struct nuna_wheel *wheel, struct nuna_heap *heap);

/* Start of the first occupied bucket, NUNA_TIME_MAX when empty. */
nuna_time nuna_wheel_next(const struct nuna_wheel *wheel);

/* Moves on to the bucket that starts at `time` (nothing earlier may be pending). */
void nuna_wheel_advance(struct nuna_wheel *wheel, struct nuna_block_pool *pool, nuna_time time);

/* The number of events in the current bucket. */
size_t nuna_wheel_bucket_size(const struct nuna_wheel *wheel);

/* Takes the current bucket's events out, sorted by time and, at one time, in the order of
 * insertion. `ret` and `spare` have room for nuna_wheel_bucket_size events. */
void nuna_wheel_take(struct nuna_wheel *wheel, struct nuna_block_pool *pool, size_t count,
                     struct nuna_event *ret, struct nuna_event *spare);

/* Inserts at a time whose bucket is later than the current one. */
void nuna_wheel_insert_slow(struct nuna_wheel *wheel, struct nuna_block_pool *pool, nuna_time time,
                            struct nuna_event event);

static inline void nuna_wheel_insert(struct nuna_wheel *wheel, struct nuna_block_pool *pool,
                                     nuna_time time, struct nuna_event event)
{
    uint64_t slot = time >> NUNA_BUCKET_BITS;
    struct nuna_event **cursor = &wheel->cursor[slot & (NUNA_L0_SLOTS - 1)];
    if (slot < wheel->direct_end && ((uintptr_t)*cursor & (NUNA_BLOCK_BYTES - 1)) != 0) {
        nuna_event_set_when(&event, time);
        *(*cursor)++ = event;
        return;
    }
    nuna_wheel_insert_slow(wheel, pool, time, event);
}

#endif
