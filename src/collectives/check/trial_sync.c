/* Signals, waits, semaphores, barriers and dependencies of the symbolic run. */
#include "collectives/check/trial_sync.h"

static void wait_at(struct nuna_trial *m, struct counter *counter, uint32_t tb)
{
    m->blocks[tb].next = NUNA_NONE;
    if (counter->first_waiter == NUNA_NONE)
        counter->first_waiter = tb;
    else
        m->blocks[counter->last_waiter].next = tb;
    counter->last_waiter = tb;
}

/* One more unit, which one waiter may take. */
static void raise(struct nuna_trial *m, struct counter *counter)
{
    counter->count++;
    uint32_t tb = counter->first_waiter;
    if (tb == NUNA_NONE)
        return;
    counter->first_waiter = m->blocks[tb].next;
    nuna_trial_ready(m, tb);
}

/* ---- synchronisation ---- */

static uint32_t new_token(struct nuna_trial *m, uint32_t stream, uint64_t covers)
{
    uint32_t i = m->tokens.free;
    if (i != NUNA_NONE)
        m->tokens.free = token_at(m, i)->next;
    else if ((i = nuna_pool_add(m, &m->tokens, sizeof(struct token))) == NUNA_NONE)
        return NUNA_NONE;
    *token_at(m, i) = (struct token){covers, stream, NUNA_NONE, NUNA_NONE};
    return i;
}

static void free_token(struct nuna_trial *m, uint32_t i)
{
    token_at(m, i)->next = m->tokens.free;
    m->tokens.free = i;
}

static struct known *known_at(const struct nuna_trial *m, uint32_t i)
{
    return (struct known *)m->knowns.items + i;
}

/* A signal of `tb` towards `peer`: its own stores, and those that it knows of. */
static void add_token(struct nuna_trial *m, struct counter *end, uint32_t tb, uint32_t peer)
{
    uint32_t stream = nuna_trial_stream(m, tb, peer, false);
    uint32_t i = new_token(m, stream, stream == NUNA_NONE ? 0 : stream_at(m, stream)->stored);
    const struct block *block = &m->blocks[tb];
    for (uint32_t k = block->known_at; i != NUNA_NONE && k < block->known_at + block->known_count;
         k++) {
        struct known known = *known_at(m, k);
        const struct stream *other = stream_at(m, known.stream);
        if (other->peer != peer || other->landed >= known.stored)
            continue;
        uint32_t more = new_token(m, known.stream, known.stored);
        if (more == NUNA_NONE)
            return;
        token_at(m, more)->next = token_at(m, i)->more;
        token_at(m, i)->more = more;
    }
    if (i == NUNA_NONE)
        return;
    if (end->first_token == NUNA_NONE)
        end->first_token = i;
    else
        token_at(m, end->last_token)->next = i;
    end->last_token = i;
}

/* A token that covers nothing: of a relaxed signal. */
static void add_empty_token(struct nuna_trial *m, struct counter *end)
{
    uint32_t i = new_token(m, NUNA_NONE, 0);
    if (i == NUNA_NONE)
        return;
    if (end->first_token == NUNA_NONE)
        end->first_token = i;
    else
        token_at(m, end->last_token)->next = i;
    end->last_token = i;
}

void nuna_trial_signal(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    const struct nuna_plan *plan = m->slots->plan;
    for (uint32_t i = 0; i < op->id_count; i++) {
        struct nuna_channel end =
            plan->channels[plan->gpus[gpu].channel_at + plan->ids[op->id_at + i]];
        struct counter *other = &m->channels[plan->gpus[end.peer].channel_at + end.peer_channel];
        if (m->schedule.lazy && op->relaxed)
            add_empty_token(m, other);
        else if (m->schedule.lazy)
            add_token(m, other, tb, end.peer);
        raise(m, other);
    }
}

static void land_token(struct nuna_trial *m, uint32_t i, bool relaxed)
{
    const struct token *token = token_at(m, i);
    if (token->stream != NUNA_NONE && !relaxed)
        nuna_trial_land(m, token->stream, token->covers);
}

/* A relaxed wait takes the signal, but what it announces stays unseen. */
static void consume(struct nuna_trial *m, struct counter *end, bool relaxed)
{
    end->count--;
    if (!m->schedule.lazy)
        return;
    uint32_t i = end->first_token, more = token_at(m, i)->more;
    land_token(m, i, relaxed);
    end->first_token = token_at(m, i)->next;
    free_token(m, i);
    while (more != NUNA_NONE) {
        uint32_t next = token_at(m, more)->next;
        land_token(m, more, relaxed);
        free_token(m, more);
        more = next;
    }
}

/* WAIT and SEM_ACQUIRE; false when the threadblock has to wait. */
bool nuna_trial_wait(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    const struct nuna_plan *plan = m->slots->plan;
    bool channels = op->kind == NUNA_OP_WAIT;
    struct counter *counters = channels ? &m->channels[plan->gpus[gpu].channel_at]
                                        : &m->semaphores[plan->gpus[gpu].sem_at];
    struct block *block = &m->blocks[tb];
    for (; block->done_ids < op->id_count; block->done_ids++) {
        struct counter *counter = &counters[plan->ids[op->id_at + block->done_ids]];
        if (counter->count == 0) {
            wait_at(m, counter, tb);
            return false;
        }
        if (channels)
            consume(m, counter, op->relaxed != 0);
        else
            counter->count--;
    }
    block->done_ids = 0;
    return true;
}

void nuna_trial_release(struct nuna_trial *m, uint32_t gpu, const struct nuna_op *op)
{
    const struct nuna_plan *plan = m->slots->plan;
    for (uint32_t i = 0; i < op->id_count; i++)
        raise(m, &m->semaphores[plan->gpus[gpu].sem_at + plan->ids[op->id_at + i]]);
}

/* One more entry of the list that began at `first`; the largest number counts. */
static void learn(struct nuna_trial *m, uint32_t stream, uint64_t stored)
{
    struct stream *s = stream_at(m, stream);
    if (s->landed >= stored)
        return;
    if (s->seen != NUNA_NONE) {
        struct known *known = known_at(m, s->seen);
        known->stored = known->stored > stored ? known->stored : stored;
        return;
    }
    uint32_t i = nuna_pool_add(m, &m->knowns, sizeof(struct known));
    if (i == NUNA_NONE)
        return;
    *known_at(m, i) = (struct known){stream, stored};
    s->seen = i;
}

static void learn_from(struct nuna_trial *m, uint32_t tb)
{
    const struct block *block = &m->blocks[tb];
    for (uint32_t i = block->streams; i != NUNA_NONE; i = stream_at(m, i)->next_of_tb)
        learn(m, i, stream_at(m, i)->stored);
    for (uint32_t k = block->known_at; k < block->known_at + block->known_count; k++)
        learn(m, known_at(m, k)->stream, known_at(m, k)->stored);
}

/* All that meet know of each other's stores afterwards. */
static void share_knowledge(struct nuna_trial *m, uint32_t last, uint32_t first_waiter)
{
    uint32_t at = (uint32_t)m->knowns.count;
    learn_from(m, last);
    for (uint32_t tb = first_waiter; tb != NUNA_NONE; tb = m->blocks[tb].next)
        learn_from(m, tb);
    uint32_t count = (uint32_t)m->knowns.count - at;
    for (uint32_t k = at; k < at + count; k++)
        stream_at(m, known_at(m, k)->stream)->seen = NUNA_NONE;
    m->blocks[last].known_at = at;
    m->blocks[last].known_count = count;
    for (uint32_t tb = first_waiter; tb != NUNA_NONE; tb = m->blocks[tb].next) {
        m->blocks[tb].known_at = at;
        m->blocks[tb].known_count = count;
    }
}

/* The last to arrive moves the others past the operation. */
bool nuna_trial_barrier(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    struct barrier *barrier = &m->barriers[m->barrier_at[gpu] + op->barrier_id];
    if (++barrier->arrived < op->barrier_blocks) {
        m->blocks[tb].next = barrier->first_waiter;
        barrier->first_waiter = tb;
        return false;
    }
    uint32_t waiter = barrier->first_waiter;
    if (m->schedule.lazy)
        share_knowledge(m, tb, waiter);
    *barrier = (struct barrier){0, NUNA_NONE};
    while (waiter != NUNA_NONE) {
        uint32_t next = m->blocks[waiter].next;
        m->blocks[waiter].pc++;
        m->steps++;
        nuna_trial_ready(m, waiter);
        waiter = next;
    }
    return true;
}

bool nuna_trial_depend(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    struct block *other = &m->blocks[m->slots->plan->gpus[gpu].tb_at + op->dep_tb];
    if (other->posted >= op->dep_step + 1u)
        return true;
    m->blocks[tb].next = other->first_waiter;
    other->first_waiter = tb;
    return false;
}

void nuna_trial_post(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op)
{
    struct block *block = &m->blocks[tb];
    uint32_t waiter = block->first_waiter;
    block->posted = op->dep_step + 1u;
    block->first_waiter = NUNA_NONE;
    while (waiter != NUNA_NONE) {
        uint32_t next = m->blocks[waiter].next;
        nuna_trial_ready(m, waiter);
        waiter = next;
    }
}
