#include "core/wheel.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool pool_grow(struct nuna_block_pool *pool)
{
    struct nuna_block *slab = nuna_arena_slab(pool->arena);
    if (!slab)
        return false;
    for (unsigned i = NUNA_SLAB_BYTES / NUNA_BLOCK_BYTES; i-- > 0;) {
        slab[i].next = pool->free;
        pool->free = &slab[i];
    }
    return true;
}

static struct nuna_block *block_get(struct nuna_block_pool *pool)
{
    if (!pool->free && !pool_grow(pool)) {
        pool->out_of_memory = true;
        return NULL;
    }
    struct nuna_block *block = pool->free;
    pool->free = block->next;
    block->next = NULL;
    pool->in_use++;
    return block;
}

static void block_put(struct nuna_block_pool *pool, struct nuna_block *block)
{
    block->next = pool->free;
    pool->free = block;
    pool->in_use--;
}

void nuna_wheel_init(struct nuna_wheel *wheel)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->slot = UINT64_MAX;
    wheel->direct_end = 2ull << (NUNA_EPOCH0_BITS - NUNA_BUCKET_BITS);
}

void nuna_wheel_use_heap(struct nuna_wheel *wheel, struct nuna_heap *heap)
{
    wheel->heap = heap;
    wheel->direct_end = 0; /* every insertion takes the slow path, and slot stays "none" */
}

void nuna_wheel_finish(struct nuna_wheel *wheel)
{
    free(wheel->far);
    wheel->far = NULL;
}

/* Appends to a bucket given by its cursor and head. False when a block was due and there was none.
 */
static bool append(struct nuna_block_pool *pool, struct nuna_event **cursor,
                   struct nuna_block **head, struct nuna_event event)
{
    if (((uintptr_t)*cursor & (NUNA_BLOCK_BYTES - 1)) == 0) {
        struct nuna_block *block = block_get(pool);
        if (!block)
            return false;
        if (*cursor) /* one past the end of the last block */
            ((struct nuna_block *)(void *)((char *)*cursor - NUNA_BLOCK_BYTES))->next = block;
        else
            *head = block;
        *cursor = block->events;
    }
    *(*cursor)++ = event;
    return true;
}

/* The number of events in `block`, whose bucket ends at `cursor`. */
static size_t block_count(const struct nuna_block *block, const struct nuna_event *cursor)
{
    return block->next ? NUNA_BLOCK_EVENTS : (size_t)(cursor - block->events);
}

static bool far_append(struct nuna_wheel *wheel, nuna_time time, struct nuna_event event)
{
    if (wheel->far_count == wheel->far_capacity) {
        size_t capacity = wheel->far_capacity ? 2 * wheel->far_capacity : 64;
        struct nuna_far_event *far = realloc(wheel->far, capacity * sizeof *far);
        if (!far)
            return false;
        wheel->far = far;
        wheel->far_capacity = capacity;
    }
    wheel->far[wheel->far_count++] = (struct nuna_far_event){.time = time, .event = event};
    return true;
}

static uint64_t wheel_time(const struct nuna_wheel *wheel)
{
    return wheel->slot == UINT64_MAX ? 0 : wheel->slot << NUNA_BUCKET_BITS;
}

/* Puts an event on the level that its distance asks for. */
static void place(struct nuna_wheel *wheel, struct nuna_block_pool *pool, nuna_time time,
                  struct nuna_event event)
{
    uint64_t now = wheel_time(wheel);
    nuna_event_set_when(&event, time);
    bool level0 = time >> NUNA_EPOCH0_BITS <= (now >> NUNA_EPOCH0_BITS) + 1, kept;
    if (level0) {
        size_t i = (time >> NUNA_BUCKET_BITS) & (NUNA_L0_SLOTS - 1);
        kept = append(pool, &wheel->cursor[i], &wheel->head[i], event);
        wheel->occupied0[i / 64] |= 1ull << (i % 64);
    } else if (time >> NUNA_EPOCH1_BITS <= (now >> NUNA_EPOCH1_BITS) + 1) {
        size_t i = (time >> NUNA_EPOCH0_BITS) & (NUNA_L1_SLOTS - 1);
        kept = append(pool, &wheel->cursor1[i], &wheel->head1[i], event);
    } else if (time >> NUNA_EPOCH2_BITS <= (now >> NUNA_EPOCH2_BITS) + 1) {
        size_t i = (time >> NUNA_EPOCH1_BITS) & (NUNA_L2_SLOTS - 1);
        kept = append(pool, &wheel->cursor2[i], &wheel->head2[i], event);
    } else {
        kept = far_append(wheel, time, event);
    }
    if (!level0)
        wheel->above++;
    if (!kept)
        pool->out_of_memory = true;
}

void nuna_wheel_insert_slow(struct nuna_wheel *wheel, struct nuna_block_pool *pool, nuna_time time,
                            struct nuna_event event)
{
    if (wheel->heap) {
        nuna_event_set_when(&event, time);
        if (!nuna_heap_push(wheel->heap, time, NUNA_HEAP_PLAIN, event))
            pool->out_of_memory = true;
        return;
    }
    assert(wheel->slot == UINT64_MAX || time >> NUNA_BUCKET_BITS > wheel->slot);
    place(wheel, pool, time, event);
}

/* The earliest time in the first occupied bucket of an upper level; `from` and `end` number its
 * buckets, whose span is 2^bits. NUNA_TIME_MAX when all are empty. */
static nuna_time next_above(struct nuna_block *const *heads, struct nuna_event *const *cursors,
                            uint32_t slots, uint64_t from, uint64_t end, unsigned bits)
{
    uint64_t bucket = from;
    while (bucket < end && !heads[bucket & (slots - 1)])
        bucket++;
    if (bucket >= end)
        return NUNA_TIME_MAX;
    size_t i = bucket & (slots - 1);
    uint32_t least = UINT32_MAX;
    for (const struct nuna_block *b = heads[i]; b; b = b->next)
        for (size_t k = 0; k < block_count(b, cursors[i]); k++) {
            uint32_t offset = nuna_event_when(b->events[k]) & ((1u << bits) - 1);
            least = offset < least ? offset : least;
        }
    return (bucket << bits) + least;
}

static nuna_time next_in_level0(const struct nuna_wheel *wheel)
{
    uint64_t first = wheel->slot + 1; /* UINT64_MAX + 1 is 0 */
    for (uint64_t s = first; s < wheel->direct_end;) {
        size_t i = s & (NUNA_L0_SLOTS - 1);
        uint64_t word = wheel->occupied0[i / 64] >> (i % 64);
        if (word) {
            s += (unsigned)__builtin_ctzll(word);
            return s < wheel->direct_end ? s << NUNA_BUCKET_BITS : NUNA_TIME_MAX;
        }
        s += 64 - i % 64;
    }
    return NUNA_TIME_MAX;
}

nuna_time nuna_wheel_next(const struct nuna_wheel *wheel)
{
    if (wheel->heap)
        return wheel->heap->count == 0
                   ? NUNA_TIME_MAX
                   : wheel->heap->entries[0].time & ~(nuna_time)(NUNA_BUCKET_PS - 1);
    nuna_time found = next_in_level0(wheel);
    if (found != NUNA_TIME_MAX || wheel->above == 0)
        return found;
    nuna_time now = wheel_time(wheel);
    uint64_t end1 = ((now >> NUNA_EPOCH1_BITS) + 2) << (NUNA_EPOCH1_BITS - NUNA_EPOCH0_BITS);
    nuna_time least = next_above(wheel->head1, wheel->cursor1, NUNA_L1_SLOTS,
                                 (now >> NUNA_EPOCH0_BITS) + 2, end1, NUNA_EPOCH0_BITS);
    uint64_t end2 = ((now >> NUNA_EPOCH2_BITS) + 2) << (NUNA_EPOCH2_BITS - NUNA_EPOCH1_BITS);
    nuna_time least_far = NUNA_TIME_MAX;
    if (least == NUNA_TIME_MAX)
        least = next_above(wheel->head2, wheel->cursor2, NUNA_L2_SLOTS,
                           (now >> NUNA_EPOCH1_BITS) + 2, end2, NUNA_EPOCH1_BITS);
    for (size_t i = 0; least == NUNA_TIME_MAX && i < wheel->far_count; i++)
        least_far = wheel->far[i].time < least_far ? wheel->far[i].time : least_far;
    return (least < least_far ? least : least_far) & ~(nuna_time)(NUNA_BUCKET_PS - 1);
}

/* Deals a bucket of an upper level out to the level below; `base` restores the high bits of time.
 */
static void deal_out(struct nuna_wheel *wheel, struct nuna_block_pool *pool,
                     struct nuna_block **head, struct nuna_event **cursor, nuna_time base,
                     uint64_t span)
{
    struct nuna_block *block = *head;
    const struct nuna_event *end = *cursor;
    *head = NULL;
    *cursor = NULL;
    while (block) {
        struct nuna_block *next = block->next;
        size_t count = block_count(block, end);
        for (size_t i = 0; i < count; i++) {
            nuna_time time = base + (nuna_event_when(block->events[i]) & (uint32_t)(span - 1));
            wheel->above--;
            place(wheel, pool, time, block->events[i]);
        }
        block_put(pool, block);
        block = next;
    }
}

static void deal_out_far(struct nuna_wheel *wheel, struct nuna_block_pool *pool)
{
    size_t count = wheel->far_count;
    struct nuna_far_event *far = wheel->far;
    wheel->far_count = 0;
    for (size_t i = 0; i < count; i++) {
        /* What is still too far goes back to the list, at or before its old place. */
        struct nuna_far_event event = far[i];
        wheel->above--;
        place(wheel, pool, event.time, event.event);
    }
}

/* Enters an epoch of level 0, which makes the one after it open to direct insertion. However many
 * epochs lie between, nothing is pending in them: of each level above, only the buckets of this
 * epoch and the next are dealt out, unless they have been before. */
static void enter_epoch0(struct nuna_wheel *wheel, struct nuna_block_pool *pool, uint64_t epoch)
{
    const unsigned per1 = NUNA_EPOCH1_BITS - NUNA_EPOCH0_BITS;
    const unsigned per2 = NUNA_EPOCH2_BITS - NUNA_EPOCH1_BITS;
    uint64_t old0 = wheel_time(wheel) >> NUNA_EPOCH0_BITS;
    uint64_t old1 = old0 >> per1, epoch1 = epoch >> per1;
    wheel->slot = epoch << (NUNA_EPOCH0_BITS - NUNA_BUCKET_BITS);
    if (epoch1 >> per2 != old1 >> per2)
        deal_out_far(wheel, pool);
    for (uint64_t e = epoch1 > old1 + 1 ? epoch1 : old1 + 2; e <= epoch1 + 1; e++) {
        size_t i = e & (NUNA_L2_SLOTS - 1);
        deal_out(wheel, pool, &wheel->head2[i], &wheel->cursor2[i], e << NUNA_EPOCH1_BITS,
                 1ull << NUNA_EPOCH1_BITS);
    }
    wheel->direct_end = (epoch + 2) << (NUNA_EPOCH0_BITS - NUNA_BUCKET_BITS);
    for (uint64_t e = epoch > old0 + 1 ? epoch : old0 + 2; e <= epoch + 1; e++) {
        size_t i = e & (NUNA_L1_SLOTS - 1);
        deal_out(wheel, pool, &wheel->head1[i], &wheel->cursor1[i], e << NUNA_EPOCH0_BITS,
                 1ull << NUNA_EPOCH0_BITS);
    }
}

void nuna_wheel_advance(struct nuna_wheel *wheel, struct nuna_block_pool *pool, nuna_time time)
{
    if (time >> NUNA_EPOCH0_BITS != wheel_time(wheel) >> NUNA_EPOCH0_BITS)
        enter_epoch0(wheel, pool, time >> NUNA_EPOCH0_BITS);
    wheel->slot = time >> NUNA_BUCKET_BITS;
}

size_t nuna_wheel_bucket_size(const struct nuna_wheel *wheel)
{
    size_t i = wheel->slot & (NUNA_L0_SLOTS - 1), size = 0;
    for (const struct nuna_block *b = wheel->head[i]; b; b = b->next)
        size += block_count(b, wheel->cursor[i]);
    return size;
}

static void insertion_sort(struct nuna_event *events, size_t count)
{
    const uint32_t mask = NUNA_BUCKET_PS - 1;
    for (size_t i = 1; i < count; i++) {
        struct nuna_event event = events[i];
        size_t j = i;
        for (; j > 0 && (events[j - 1].head & mask) > (event.head & mask); j--)
            events[j] = events[j - 1];
        events[j] = event;
    }
}

static void counts_to_places(uint32_t *counts)
{
    uint32_t at = 0;
    for (unsigned digit = 0; digit < 64; digit++) {
        uint32_t n = counts[digit];
        counts[digit] = at;
        at += n;
    }
}

/* Two stable passes, over the low and the high six bits of the time in the bucket; the first reads
 * the blocks, which were written a while ago: the next one is fetched while one is counted. */
static void radix_sort(const struct nuna_block *head, const struct nuna_event *cursor,
                       struct nuna_event *ret, struct nuna_event *spare, size_t count)
{
    uint32_t low[64] = {0}, high[64] = {0};
    for (const struct nuna_block *b = head; b; b = b->next) {
        for (size_t line = 0; b->next && line < NUNA_BLOCK_BYTES; line += 64)
            nuna_prefetch((const char *)b->next + line);
        for (size_t i = 0, n = block_count(b, cursor); i < n; i++) {
            low[b->events[i].head & 63]++;
            high[b->events[i].head >> 6 & 63]++;
        }
    }
    counts_to_places(low);
    counts_to_places(high);
    for (const struct nuna_block *b = head; b; b = b->next)
        for (size_t i = 0, n = block_count(b, cursor); i < n; i++)
            spare[low[b->events[i].head & 63]++] = b->events[i];
    for (size_t i = 0; i < count; i++)
        ret[high[spare[i].head >> 6 & 63]++] = spare[i];
}

void nuna_wheel_take(struct nuna_wheel *wheel, struct nuna_block_pool *pool, size_t count,
                     struct nuna_event *ret, struct nuna_event *spare)
{
    size_t i = wheel->slot & (NUNA_L0_SLOTS - 1);
    struct nuna_block *block = wheel->head[i];
    if (count <= 32) {
        size_t at = 0;
        for (const struct nuna_block *b = block; b; b = b->next) {
            size_t n = block_count(b, wheel->cursor[i]);
            memcpy(ret + at, b->events, n * sizeof *ret);
            at += n;
        }
        insertion_sort(ret, count);
    } else {
        radix_sort(block, wheel->cursor[i], ret, spare, count);
    }
    while (block) {
        struct nuna_block *next = block->next;
        block_put(pool, block);
        block = next;
    }
    wheel->head[i] = NULL;
    wheel->cursor[i] = NULL;
    wheel->occupied0[i / 64] &= ~(1ull << (i % 64));
}
