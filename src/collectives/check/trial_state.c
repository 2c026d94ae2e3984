#include "collectives/check/trial_state.h"

#include <stdlib.h>

uint32_t nuna_pool_add(struct nuna_trial *m, struct pool *pool, size_t size)
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

uint32_t nuna_trial_stream(struct nuna_trial *m, uint32_t tb, uint32_t peer, bool make)
{
    for (uint32_t i = m->blocks[tb].streams; i != NUNA_NONE; i = stream_at(m, i)->next_of_tb) {
        if (stream_at(m, i)->peer == peer)
            return i;
    }
    uint32_t made = make ? nuna_pool_add(m, &m->streams, sizeof(struct stream)) : NUNA_NONE;
    if (made != NUNA_NONE) {
        *stream_at(m, made) =
            (struct stream){tb, peer, m->blocks[tb].streams, NUNA_NONE, NUNA_NONE, 0, 0, NUNA_NONE};
        m->blocks[tb].streams = made;
    }
    return made;
}

void nuna_trial_land(struct nuna_trial *m, uint32_t stream, uint64_t covers)
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

void nuna_trial_flush(struct nuna_trial *m, uint32_t tb)
{
    for (uint32_t i = m->blocks[tb].streams; i != NUNA_NONE; i = stream_at(m, i)->next_of_tb)
        nuna_trial_land(m, i, stream_at(m, i)->stored);
}

struct fifo *nuna_trial_fifo(const struct nuna_trial *m, uint32_t tb, bool receiving)
{
    const struct nuna_plan *plan = m->slots->plan;
    const struct nuna_threadblock *block = &plan->threadblocks[tb];
    uint32_t at = plan->gpus[m->slots->tb_gpu[tb]].channel_at +
                  (receiving ? block->recv_channel : block->send_channel);
    if (!receiving) {
        const struct nuna_channel *end = &plan->channels[at];
        at = plan->gpus[end->peer].channel_at + end->peer_channel;
    }
    return &m->fifos[at];
}

void nuna_trial_ready(struct nuna_trial *m, uint32_t tb)
{
    if (tb == m->schedule.starved) {
        m->starved_ready = true;
        return;
    }
    if (m->ready_first == NUNA_NONE) {
        m->blocks[tb].next = NUNA_NONE;
        m->ready_first = m->ready_last = tb;
    } else if (m->schedule.lazy) {
        m->blocks[tb].next = m->ready_first; /* whoever has just got its data goes on at once */
        m->ready_first = tb;
    } else {
        m->blocks[tb].next = NUNA_NONE; /* senders first */
        m->blocks[m->ready_last].next = tb;
        m->ready_last = tb;
    }
}
