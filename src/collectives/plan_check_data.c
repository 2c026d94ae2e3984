/* What the operations of a plan do to values. */
#include "collectives/plan_check_machine.h"

#include <stdlib.h>
#include <string.h>

uint32_t nuna_pool_add(struct nuna_machine *m, struct pool *pool, size_t size)
{
    if (pool->count == pool->cap) {
        size_t cap = pool->cap == 0 ? 256 : pool->cap * 2;
        void *grown = cap > UINT32_MAX - 1 ? NULL : realloc(pool->items, cap * size);
        if (grown == NULL) {
            m->no_memory = true;
            return NUNA_NONE;
        }
        pool->items = grown;
        pool->cap = cap;
    }
    return (uint32_t)pool->count++;
}

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct nuna_print nuna_leaf_print(uint32_t leaf)
{
    return (struct nuna_print){mix(leaf), mix(~(uint64_t)leaf)};
}

struct nuna_print nuna_machine_print(const struct nuna_machine *m, uint32_t value)
{
    return value < m->slots->count
               ? nuna_leaf_print(value)
               : ((const struct nuna_sum *)m->sums.items)[value - m->slots->count].print;
}

uint32_t nuna_machine_stream(struct nuna_machine *m, uint32_t tb, uint32_t peer, bool make)
{
    for (uint32_t i = m->blocks[tb].streams; i != NUNA_NONE; i = stream_at(m, i)->next_of_tb) {
        if (stream_at(m, i)->peer == peer)
            return i;
    }
    uint32_t made = make ? nuna_pool_add(m, &m->streams, sizeof(struct stream)) : NUNA_NONE;
    if (made != NUNA_NONE) {
        *stream_at(m, made) =
            (struct stream){tb, peer, m->blocks[tb].streams, NUNA_NONE, NUNA_NONE, 0, 0};
        m->blocks[tb].streams = made;
    }
    return made;
}

static void store_late(struct nuna_machine *m, uint32_t stream, uint32_t slot, uint32_t value)
{
    uint32_t i = m->stores.free;
    if (i != NUNA_NONE)
        m->stores.free = store_at(m, i)->next;
    else if ((i = nuna_pool_add(m, &m->stores, sizeof(struct store))) == NUNA_NONE)
        return;
    *store_at(m, i) = (struct store){slot, value, NUNA_NONE};
    struct stream *s = stream_at(m, stream);
    if (s->first == NUNA_NONE)
        s->first = i;
    else
        store_at(m, s->last)->next = i;
    s->last = i;
    s->stored++;
}

void nuna_machine_land(struct nuna_machine *m, uint32_t stream, uint64_t covers)
{
    struct stream *s = stream_at(m, stream);
    while (s->landed < covers) {
        uint32_t i = s->first;
        struct store *store = store_at(m, i);
        m->memory[store->slot] = store->value;
        s->first = store->next;
        s->landed++;
        store->next = m->stores.free;
        m->stores.free = i;
    }
}

void nuna_machine_put(struct nuna_machine *m, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_range *ranges = m->slots->plan->ranges;
    for (uint32_t pair = 0; pair < op->src_count; pair++) {
        const struct nuna_range *to = &ranges[op->dst_at + pair];
        uint32_t from_slot = nuna_slot(m->slots, &ranges[op->src_at + pair]);
        uint32_t to_slot = nuna_slot(m->slots, to);
        uint32_t stream = m->schedule.lazy ? nuna_machine_stream(m, tb, to->gpu, true) : NUNA_NONE;
        for (uint32_t i = 0; i < to->count && !m->no_memory; i++) {
            if (m->schedule.lazy)
                store_late(m, stream, to_slot + i, m->memory[from_slot + i]);
            else
                m->memory[to_slot + i] = m->memory[from_slot + i];
        }
    }
}

void nuna_machine_copy(struct nuna_machine *m, const struct nuna_op *op)
{
    const struct nuna_range *ranges = m->slots->plan->ranges;
    for (uint32_t pair = 0; pair < op->src_count; pair++) {
        const struct nuna_range *from = &ranges[op->src_at + pair];
        memmove(&m->memory[nuna_slot(m->slots, &ranges[op->dst_at + pair])],
                &m->memory[nuna_slot(m->slots, from)], from->count * sizeof *m->memory);
    }
}

void nuna_machine_reduce(struct nuna_machine *m, const struct nuna_op *op)
{
    const struct nuna_range *ranges = m->slots->plan->ranges;
    const struct nuna_range *into = &ranges[op->dst_at];
    uint32_t to_slot = nuna_slot(m->slots, into);
    for (uint32_t i = 0; i < into->count; i++) {
        struct nuna_sum sum = {.term_at = (uint32_t)m->terms.count, .term_count = op->src_count};
        for (uint32_t source = 0; source < op->src_count; source++) {
            uint32_t value = m->memory[nuna_slot(m->slots, &ranges[op->src_at + source]) + i];
            struct nuna_print print = nuna_machine_print(m, value);
            uint32_t term = nuna_pool_add(m, &m->terms, sizeof(uint32_t));
            if (m->no_memory)
                return;
            ((uint32_t *)m->terms.items)[term] = value;
            sum.print.low += print.low;
            sum.print.high += print.high;
        }
        uint32_t made = nuna_pool_add(m, &m->sums, sizeof sum);
        if (m->no_memory || made >= NUNA_NONE - m->slots->count) {
            m->no_memory = true;
            return;
        }
        ((struct nuna_sum *)m->sums.items)[made] = sum;
        m->memory[to_slot + i] = m->slots->count + made;
    }
}

uint32_t nuna_machine_undelivered(const struct nuna_machine *m, uint32_t slot)
{
    for (uint32_t i = 0; i < m->streams.count; i++) {
        for (uint32_t at = stream_at(m, i)->first; at != NUNA_NONE; at = store_at(m, at)->next) {
            if (store_at(m, at)->slot == slot)
                return stream_at(m, i)->tb;
        }
    }
    return NUNA_NONE;
}
