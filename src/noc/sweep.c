#include "noc/sweep.h"
#include "noc/mesh.h"
#include <stdlib.h>
#include <string.h>

#define MOST_SOURCES 5u

/* Queues being merged. */
struct merge {
    struct nuna_hop *at[MOST_SOURCES];
    struct nuna_hop_queue *queue[MOST_SOURCES];
    uint32_t count;
};

bool nuna_sweep_init(struct nuna_sweep *sweep, uint32_t codes, struct nuna_arena *arena)
{
    sweep->codes = codes;
    sweep->arena = arena;
    sweep->routers = calloc(codes, sizeof *sweep->routers);
    bool ok = sweep->routers != NULL;
    for (int stage = 0; stage < NUNA_SWEEP_STAGES; stage++) {
        sweep->active[stage] = calloc((codes + 63) / 64, sizeof **sweep->active);
        ok = ok && sweep->active[stage];
    }
    return ok;
}

void nuna_sweep_finish(struct nuna_sweep *sweep)
{
    free(sweep->routers);
    for (int stage = 0; stage < NUNA_SWEEP_STAGES; stage++)
        free(sweep->active[stage]);
    memset(sweep, 0, sizeof *sweep);
}

static bool pool_grow(struct nuna_sweep *sweep)
{
    struct nuna_hop_block *slab = nuna_arena_slab(sweep->arena);
    if (!slab)
        return false;
    for (unsigned i = NUNA_SLAB_BYTES / NUNA_HOP_BLOCK_BYTES; i-- > 0;) {
        slab[i].next = sweep->free;
        sweep->free = &slab[i];
    }
    return true;
}

/* The block that a place in it, or the place behind its last one, belongs to. */
static struct nuna_hop_block *block_of(const struct nuna_hop *place)
{
    return (struct nuna_hop_block *)(void *)(((uintptr_t)place - 1) &
                                             ~(uintptr_t)(NUNA_HOP_BLOCK_BYTES - 1));
}

bool nuna_hop_queue_extend(struct nuna_sweep *sweep, struct nuna_hop_queue *queue)
{
    if (!sweep->free && !pool_grow(sweep)) {
        sweep->out_of_memory = true;
        return false;
    }
    struct nuna_hop_block *block = sweep->free;
    sweep->free = block->next;
    if (queue->tail)
        block_of(queue->tail)->next = block;
    else
        queue->head = block->hops;
    queue->tail = block->hops;
    return true;
}

static void block_put(struct nuna_sweep *sweep, struct nuna_hop_block *block)
{
    block->next = sweep->free;
    sweep->free = block;
}

static inline bool waits(const struct nuna_hop_queue *queue)
{
    return queue->head != queue->tail;
}

/* A second queue for one that is alone, and both where what was due is lost (out of memory). It is
 * never written to. */
static inline struct nuna_hop *no_queue(void)
{
    static const struct nuna_hop nothing = {.key = NUNA_HOP_END};
    return (struct nuna_hop *)(uintptr_t)&nothing;
}

static inline void merge_begin(struct merge *merge)
{
    merge->at[0] = merge->at[1] = no_queue();
    merge->count = 0;
}

static inline void merge_add(struct merge *merge, struct nuna_hop_queue *queue)
{
    if (!waits(queue))
        return;
    merge->at[merge->count] = queue->head;
    merge->queue[merge->count++] = queue;
}

/* Leaves the queues without what was taken; true when anything is left. */
static inline bool merge_end(struct nuna_sweep *sweep, const struct merge *merge)
{
    bool left = false;
    for (uint32_t i = 0; i < merge->count; i++) {
        struct nuna_hop_queue *queue = merge->queue[i];
        if (merge->at[i] == queue->tail) {
            block_put(sweep, block_of(queue->tail));
            queue->head = queue->tail = NULL;
        } else {
            queue->head = merge->at[i];
            left = true;
            sweep->first = queue->head->key < sweep->first ? queue->head->key : sweep->first;
        }
    }
    return left;
}

/* On to the next block. The hop that was its last has been copied. */
static inline struct nuna_hop *next_block(struct nuna_sweep *sweep, const struct nuna_hop *end)
{
    struct nuna_hop_block *block = block_of(end), *next = block->next;
    block_put(sweep, block);
    for (unsigned line = 0; line < NUNA_HOP_BLOCK_BYTES; line += 64)
        nuna_prefetch((const char *)next->next + line); /* anything, behind the last one */
    return next->hops;
}

/* The first hop of two queues, unless it is not before `limit`. Which of the queues it is in is a
 * coin toss: arithmetic takes the place of branches. */
static inline __attribute__((always_inline)) bool take_of_two(struct nuna_sweep *sweep,
                                                              struct nuna_hop **a,
                                                              struct nuna_hop **b, uint64_t limit,
                                                              struct nuna_hop *ret)
{
    const uintptr_t at_a = (uintptr_t)*a, at_b = (uintptr_t)*b;
    const uintptr_t second = -(uintptr_t)((*b)->key < (*a)->key); /* all ones or none */
    const struct nuna_hop *first = (const void *)(at_a + ((at_b - at_a) & second));
    if (first->key >= limit)
        return false;
    *ret = *first;
    *a = (void *)(at_a + (sizeof *first & ~second));
    *b = (void *)(at_b + (sizeof *first & second));
    if (__builtin_expect(nuna_hop_block_full(first + 1), 0)) {
        if (second)
            *b = next_block(sweep, *b);
        else
            *a = next_block(sweep, *a);
    }
    return true;
}

static inline bool take_of_many(struct nuna_sweep *sweep, struct merge *merge, uint64_t limit,
                                struct nuna_hop *ret)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < merge->count; i++)
        first = merge->at[i]->key < merge->at[first]->key ? i : first;
    if (merge->at[first]->key >= limit)
        return false;
    *ret = *merge->at[first]++;
    if (nuna_hop_block_full(merge->at[first]))
        merge->at[first] = next_block(sweep, merge->at[first]);
    return true;
}

#define FOR_EACH_HOP(sweep, merge, limit, hop, body)                                               \
    do {                                                                                           \
        if ((merge)->count <= 2) {                                                                 \
            while (take_of_two(sweep, &(merge)->at[0], &(merge)->at[1], limit, &(hop)))            \
                body;                                                                              \
        } else {                                                                                   \
            while (take_of_many(sweep, merge, limit, &(hop)))                                      \
                body;                                                                              \
        }                                                                                          \
    } while (0)

static inline void unmark(struct nuna_sweep *sweep, uint32_t stage, uint32_t code)
{
    sweep->active[stage][code / 64] &= ~(1ull << (code % 64));
}

/* A queue being filled: its end is in a register, and marked as such only when all is in. */
static inline struct nuna_hop *fill_begin(struct nuna_sweep *sweep, struct nuna_hop_queue *queue)
{
    if (!queue->tail)
        nuna_hop_queue_extend(sweep, queue);
    return queue->tail;
}

static struct nuna_hop *fill_more(struct nuna_sweep *sweep, struct nuna_hop_queue *queue,
                                  struct nuna_hop *tail)
{
    queue->tail = tail;
    return nuna_hop_queue_extend(sweep, queue) ? queue->tail : tail - 1;
}

static inline bool fill_end(struct nuna_sweep *sweep, struct nuna_hop_queue *queue,
                            struct nuna_hop *tail)
{
    if (!tail)
        return false;
    queue->tail = tail;
    tail->key = NUNA_HOP_END;
    if (waits(queue))
        return true;
    block_put(sweep, block_of(tail));
    queue->head = queue->tail = NULL;
    return false;
}

/* One link's service: packets go on to the next router, or, at the end of their way in this
 * direction, turn or leave there. The loop of loops: all it needs is in registers, or should be. */
static inline __attribute__((always_inline)) void
serve_link(struct nuna_noc *noc, struct nuna_lp *lp, uint32_t code, uint32_t direction,
           struct merge *merge, uint64_t limit, bool many)
{
    const struct nuna_noc_shape *shape = noc->shape;
    struct nuna_sweep *sweep = &noc->sweep;
    const uint32_t link = code * NUNA_DIRECTIONS + direction;
    const uint32_t next = nuna_noc_next(shape, code, direction);
    const bool along_x = direction < NUNA_SOUTH;
    const uint32_t mask = along_x ? (1u << shape->x_bits) - 1 : UINT16_MAX, goal = next & mask;
    struct nuna_router_queues *router = &sweep->routers[next];
    struct nuna_hop_queue *onward = &router->onward[direction];
    struct nuna_hop_queue *done =
        along_x ? &router->turn[direction] : &router->out[direction - NUNA_SOUTH];
    struct nuna_hop *onward_tail = fill_begin(sweep, onward), *done_tail = fill_begin(sweep, done);
    if (!onward_tail || !done_tail)
        return;
    /* Here time is a key's: shifted, so that the rest of a key rides along. */
    const uint64_t latency = (uint64_t)shape->link_latency[link] << NUNA_HOP_TIME_SHIFT |
                             direction << NUNA_HOP_INPUT_BITS;
    struct nuna_server server = noc->link[link];
    const struct nuna_rate rate = shape->link_rate;
    uint64_t served = 0;
    struct nuna_hop hop, *a = merge->at[0], *b = merge->at[1];
    while (many ? take_of_many(sweep, merge, limit, &hop)
                : take_of_two(sweep, &a, &b, limit, &hop)) {
        nuna_time start =
            nuna_server_take(&server, &rate, hop.key >> NUNA_HOP_TIME_SHIFT, nuna_hop_bytes(hop));
        hop.key = (start << NUNA_HOP_TIME_SHIFT) + latency + nuna_hop_target(hop);
        bool last = (nuna_hop_there(hop) & mask) == goal;
        struct nuna_hop *tail = last ? done_tail : onward_tail;
        *tail++ = hop;
        if (__builtin_expect(nuna_hop_block_full(tail), 0))
            tail = fill_more(sweep, last ? done : onward, tail);
        done_tail = last ? tail : done_tail;
        onward_tail = last ? onward_tail : tail;
        served++;
    }
    if (!many) {
        merge->at[0] = a;
        merge->at[1] = b;
    }
    noc->link[link] = server;
    lp->events += served;
    if (fill_end(sweep, onward, onward_tail))
        nuna_sweep_mark(sweep, direction, next);
    if (fill_end(sweep, done, done_tail))
        nuna_sweep_mark(sweep, along_x ? NUNA_SWEEP_TURN : NUNA_SWEEP_OUT, next);
}

static void sweep_link(struct nuna_noc *noc, struct nuna_lp *lp, uint32_t code, uint32_t direction,
                       struct merge *merge, uint64_t limit)
{
    if (merge->count > 2)
        serve_link(noc, lp, code, direction, merge, limit, true);
    else
        serve_link(noc, lp, code, direction, merge, limit, false);
    if (!merge_end(&noc->sweep, merge))
        unmark(&noc->sweep, direction, code);
}

static void sweep_x(struct nuna_noc *noc, struct nuna_lp *lp, uint32_t code, uint32_t direction,
                    uint64_t limit)
{
    struct nuna_router_queues *router = &noc->sweep.routers[code];
    struct merge merge;
    merge_begin(&merge);
    merge_add(&merge, &router->onward[direction]);
    for (int attachment = 0; attachment < NUNA_ATTACHMENTS; attachment++)
        merge_add(&merge, &router->inject[attachment][direction]);
    sweep_link(noc, lp, code, direction, &merge, limit);
}

static void sweep_y(struct nuna_noc *noc, struct nuna_lp *lp, uint32_t code, uint32_t direction,
                    uint64_t limit)
{
    struct nuna_router_queues *router = &noc->sweep.routers[code];
    struct merge merge;
    merge_begin(&merge);
    merge_add(&merge, &router->onward[direction]);
    merge_add(&merge, &router->column[direction - NUNA_SOUTH]);
    sweep_link(noc, lp, code, direction, &merge, limit);
}

/* Deals out what is done with X: south, north, or out here. */
static void sweep_turn(struct nuna_noc *noc, uint32_t code, uint64_t limit)
{
    static const uint32_t stages[] = {NUNA_SOUTH, NUNA_NORTH, NUNA_SWEEP_OUT};
    struct nuna_sweep *sweep = &noc->sweep;
    struct nuna_router_queues *router = &sweep->routers[code];
    struct merge merge;
    merge_begin(&merge);
    merge_add(&merge, &router->turn[0]);
    merge_add(&merge, &router->turn[1]);
    for (int attachment = 0; attachment < NUNA_ATTACHMENTS; attachment++)
        merge_add(&merge, &router->inject[attachment][2]);
    struct nuna_hop hop;
    FOR_EACH_HOP(sweep, &merge, limit, hop, {
        uint32_t way =
            (uint32_t)(nuna_hop_there(hop) < code) + 2 * (uint32_t)(nuna_hop_there(hop) == code);
        nuna_hop_push(sweep, &router->column[way], hop);
    });
    for (int way = 0; way < 3; way++)
        if (waits(&router->column[way]))
            nuna_sweep_mark(sweep, stages[way], code);
    if (!merge_end(sweep, &merge))
        unmark(sweep, NUNA_SWEEP_TURN, code);
}

static inline void leave(struct nuna_noc *noc, struct nuna_lp *lp, uint32_t code,
                         struct nuna_hop hop)
{
    const struct nuna_noc_shape *shape = noc->shape;
    uint32_t target = nuna_hop_target(hop), bytes = nuna_hop_bytes(hop);
    nuna_time start =
        nuna_server_take(&noc->eject[code * NUNA_ATTACHMENTS + target], &shape->ejection_rate,
                         hop.key >> NUNA_HOP_TIME_SHIFT, bytes);
    nuna_lp_schedule_ranked(lp, start + shape->ejection_latency + nuna_noc_tail(shape, bytes),
                            nuna_noc_rank(target, code, bytes),
                            nuna_event_make(NUNA_NOC_ARRIVE + target, nuna_hop_handle(hop)));
    lp->events++;
}

static void sweep_out(struct nuna_noc *noc, struct nuna_lp *lp, uint32_t code, uint64_t limit)
{
    struct nuna_router_queues *router = &noc->sweep.routers[code];
    struct merge merge;
    merge_begin(&merge);
    merge_add(&merge, &router->out[0]);
    merge_add(&merge, &router->out[1]);
    merge_add(&merge, &router->column[2]);
    struct nuna_hop hop;
    FOR_EACH_HOP(&noc->sweep, &merge, limit, hop, leave(noc, lp, code, hop));
    if (!merge_end(&noc->sweep, &merge))
        unmark(&noc->sweep, NUNA_SWEEP_OUT, code);
}

/* The first marked code from `code` up, or `codes`. */
static uint32_t next_up(const uint64_t *marks, uint32_t code, uint32_t codes)
{
    while (code < codes) {
        uint64_t word = marks[code / 64] >> (code % 64);
        if (word)
            return code + (uint32_t)__builtin_ctzll(word);
        code = (code / 64 + 1) * 64;
    }
    return codes;
}

/* The number of the first marked code below `count` downwards, plus one; or 0. */
static uint32_t next_down(const uint64_t *marks, uint32_t count)
{
    while (count > 0) {
        uint32_t last = count - 1;
        uint64_t word = marks[last / 64] << (63 - last % 64);
        if (word)
            return count - (uint32_t)__builtin_clzll(word);
        count = last / 64 * 64;
    }
    return 0;
}

void nuna_noc_sweep(struct nuna_noc *noc, struct nuna_lp *lp, nuna_time end)
{
    struct nuna_sweep *sweep = &noc->sweep;
    const uint32_t codes = sweep->codes;
    uint64_t limit = end << NUNA_HOP_TIME_SHIFT, *const *active = sweep->active;
    if (lp->held >= end + noc->shape->ejection_latency)
        return;
    sweep->first = NUNA_HOP_END;
    for (uint32_t c = 0; (c = next_up(active[NUNA_EAST], c, codes)) < codes; c++)
        sweep_x(noc, lp, c, NUNA_EAST, limit);
    for (uint32_t c = codes; (c = next_down(active[NUNA_WEST], c)) > 0; c--)
        sweep_x(noc, lp, c - 1, NUNA_WEST, limit);
    for (uint32_t c = 0; (c = next_up(active[NUNA_SWEEP_TURN], c, codes)) < codes; c++)
        sweep_turn(noc, c, limit);
    for (uint32_t c = 0; (c = next_up(active[NUNA_SOUTH], c, codes)) < codes; c++)
        sweep_y(noc, lp, c, NUNA_SOUTH, limit);
    for (uint32_t c = codes; (c = next_down(active[NUNA_NORTH], c)) > 0; c--)
        sweep_y(noc, lp, c - 1, NUNA_NORTH, limit);
    for (uint32_t c = 0; (c = next_up(active[NUNA_SWEEP_OUT], c, codes)) < codes; c++)
        sweep_out(noc, lp, c, limit);
    /* Not before `end`, even if packets were lost on their way, out of memory. */
    nuna_time first = sweep->first >> NUNA_HOP_TIME_SHIFT;
    lp->held = sweep->first == NUNA_HOP_END
                   ? NUNA_TIME_MAX
                   : (first > end ? first : end) + noc->shape->ejection_latency;
}

bool nuna_noc_can_sweep(const struct nuna_noc_shape *shape)
{
    return shape->uniform ||
           shape->injection_latency + shape->ejection_latency >= 2 * NUNA_BUCKET_PS;
}
