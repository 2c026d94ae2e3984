/* Executes a plan over values instead of bytes, under a chosen schedule. */
#include "collectives/plan_check_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pool_reset(struct pool *pool)
{
    pool->count = 0;
    pool->free = NUNA_NONE;
}

struct nuna_machine *nuna_machine_new(const struct nuna_slots *slots, struct nuna_error *err)
{
    const struct nuna_plan *plan = slots->plan;
    struct nuna_machine *m = calloc(1, sizeof *m);
    if (m != NULL) {
        m->slots = slots;
        m->blocks = malloc((plan->threadblock_count + 1) * sizeof *m->blocks);
        m->channels = malloc((plan->channel_count + 1) * sizeof *m->channels);
        m->semaphores = malloc((plan->sem_count + 1) * sizeof *m->semaphores);
        m->barrier_at = malloc(plan->gpu_count * sizeof *m->barrier_at);
        m->memory = malloc(((size_t)slots->count + 1) * sizeof *m->memory);
        m->arrived = malloc((size_t)slots->count + 1);
        m->packet_waiters = malloc(plan->gpu_count * sizeof *m->packet_waiters);
        m->fifos = malloc((plan->channel_count + 1) * sizeof *m->fifos);
        for (uint32_t gpu = 0; m->barrier_at != NULL && gpu < plan->gpu_count; gpu++) {
            m->barrier_at[gpu] = (uint32_t)m->barrier_count;
            m->barrier_count += plan->gpus[gpu].barrier_count;
        }
        m->barriers = malloc((m->barrier_count + 1) * sizeof *m->barriers);
    }
    if (m == NULL || m->blocks == NULL || m->channels == NULL || m->semaphores == NULL ||
        m->barrier_at == NULL || m->memory == NULL || m->barriers == NULL ||
        m->arrived == NULL || m->packet_waiters == NULL || m->fifos == NULL) {
        nuna_machine_free(m);
        nuna_fail_memory(err, "the check of a plan");
        return NULL;
    }
    return m;
}

void nuna_machine_free(struct nuna_machine *m)
{
    if (m == NULL)
        return;
    free(m->blocks);
    free(m->channels);
    free(m->semaphores);
    free(m->barriers);
    free(m->barrier_at);
    free(m->memory);
    free(m->arrived);
    free(m->packet_waiters);
    free(m->fifos);
    free(m->streams.items);
    free(m->stores.items);
    free(m->tokens.items);
    free(m->sums.items);
    free(m->terms.items);
    free(m);
}

static void reset(struct nuna_machine *m, const struct nuna_schedule *schedule)
{
    static const struct counter nothing = {0, NUNA_NONE, NUNA_NONE, NUNA_NONE, NUNA_NONE};
    const struct nuna_plan *plan = m->slots->plan;
    m->schedule = *schedule;
    for (size_t i = 0; i < plan->threadblock_count; i++)
        m->blocks[i] = (struct block){.loop = NUNA_NONE,
                                      .first_waiter = NUNA_NONE,
                                      .waits_for = NUNA_NONE,
                                      .streams = NUNA_NONE,
                                      .next = NUNA_NONE};
    for (size_t i = 0; i < plan->channel_count; i++)
        m->channels[i] = nothing;
    for (size_t i = 0; i < plan->sem_count; i++) {
        m->semaphores[i] = nothing;
        m->semaphores[i].count = plan->sem_init[i];
    }
    for (size_t i = 0; i < m->barrier_count; i++)
        m->barriers[i] = (struct barrier){0, NUNA_NONE};
    for (uint32_t i = 0; i < m->slots->count; i++)
        m->memory[i] = i;
    memset(m->arrived, 0, m->slots->count);
    for (uint32_t i = 0; i < plan->gpu_count; i++)
        m->packet_waiters[i] = NUNA_NONE;
    for (size_t i = 0; i < plan->channel_count; i++)
        m->fifos[i] = (struct fifo){0, 0, NUNA_NONE, NUNA_NONE, NUNA_NONE, NUNA_NONE};
    pool_reset(&m->streams);
    pool_reset(&m->stores);
    pool_reset(&m->tokens);
    pool_reset(&m->sums);
    pool_reset(&m->terms);
    m->ready_first = m->ready_last = NUNA_NONE;
    m->started = 0;
    m->starved_ready = schedule->starved != NUNA_NONE;
    m->no_memory = false;
    m->steps = 0;
}

/* ---- who runs ---- */

void nuna_machine_ready(struct nuna_machine *m, uint32_t tb)
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

static uint32_t next_start(struct nuna_machine *m)
{
    uint32_t count = (uint32_t)m->slots->plan->threadblock_count;
    while (m->started < count) {
        uint32_t tb = m->schedule.descending ? count - 1 - m->started : m->started;
        m->started++;
        if (tb != m->schedule.starved)
            return tb;
    }
    return NUNA_NONE;
}

static uint32_t next_ready(struct nuna_machine *m)
{
    if (!m->schedule.lazy || m->ready_first == NUNA_NONE) {
        uint32_t fresh = next_start(m);
        if (fresh != NUNA_NONE)
            return fresh;
    }
    uint32_t tb = m->ready_first;
    if (tb != NUNA_NONE) {
        m->ready_first = m->blocks[tb].next;
        return tb;
    }
    if (!m->starved_ready)
        return NUNA_NONE;
    m->starved_ready = false;
    return m->schedule.starved;
}

static void wait_at(struct nuna_machine *m, struct counter *counter, uint32_t tb)
{
    m->blocks[tb].next = NUNA_NONE;
    if (counter->first_waiter == NUNA_NONE)
        counter->first_waiter = tb;
    else
        m->blocks[counter->last_waiter].next = tb;
    counter->last_waiter = tb;
}

/* One more unit, which one waiter may take. */
static void raise(struct nuna_machine *m, struct counter *counter)
{
    counter->count++;
    uint32_t tb = counter->first_waiter;
    if (tb == NUNA_NONE)
        return;
    counter->first_waiter = m->blocks[tb].next;
    nuna_machine_ready(m, tb);
}

/* ---- synchronisation ---- */

static void add_token(struct nuna_machine *m, struct counter *end, uint32_t stream, uint64_t covers)
{
    uint32_t i = m->tokens.free;
    if (i != NUNA_NONE)
        m->tokens.free = token_at(m, i)->next;
    else if ((i = nuna_pool_add(m, &m->tokens, sizeof(struct token))) == NUNA_NONE)
        return;
    *token_at(m, i) = (struct token){covers, stream, NUNA_NONE};
    if (end->first_token == NUNA_NONE)
        end->first_token = i;
    else
        token_at(m, end->last_token)->next = i;
    end->last_token = i;
}

static void run_signal(struct nuna_machine *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    const struct nuna_plan *plan = m->slots->plan;
    for (uint32_t i = 0; i < op->id_count; i++) {
        struct nuna_channel end =
            plan->channels[plan->gpus[gpu].channel_at + plan->ids[op->id_at + i]];
        struct counter *other = &m->channels[plan->gpus[end.peer].channel_at + end.peer_channel];
        if (m->schedule.lazy) {
            uint32_t stream = op->relaxed ? NUNA_NONE : nuna_machine_stream(m, tb, end.peer, false);
            add_token(m, other, stream, stream == NUNA_NONE ? 0 : stream_at(m, stream)->stored);
        }
        raise(m, other);
    }
}

/* A relaxed wait takes the signal, but what it announces stays unseen. */
static void consume(struct nuna_machine *m, struct counter *end, bool relaxed)
{
    end->count--;
    if (!m->schedule.lazy)
        return;
    uint32_t i = end->first_token;
    struct token *token = token_at(m, i);
    if (token->stream != NUNA_NONE && !relaxed)
        nuna_machine_land(m, token->stream, token->covers);
    end->first_token = token->next;
    token->next = m->tokens.free;
    m->tokens.free = i;
}

/* WAIT and SEM_ACQUIRE; false when the threadblock has to wait. */
static bool run_wait(struct nuna_machine *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
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

static void run_release(struct nuna_machine *m, uint32_t gpu, const struct nuna_op *op)
{
    const struct nuna_plan *plan = m->slots->plan;
    for (uint32_t i = 0; i < op->id_count; i++)
        raise(m, &m->semaphores[plan->gpus[gpu].sem_at + plan->ids[op->id_at + i]]);
}

/* The last to arrive moves the others past the operation. */
static bool run_barrier(struct nuna_machine *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    struct barrier *barrier = &m->barriers[m->barrier_at[gpu] + op->barrier_id];
    if (++barrier->arrived < op->barrier_blocks) {
        m->blocks[tb].next = barrier->first_waiter;
        barrier->first_waiter = tb;
        return false;
    }
    uint32_t waiter = barrier->first_waiter;
    *barrier = (struct barrier){0, NUNA_NONE};
    while (waiter != NUNA_NONE) {
        uint32_t next = m->blocks[waiter].next;
        m->blocks[waiter].pc++;
        m->steps++;
        nuna_machine_ready(m, waiter);
        waiter = next;
    }
    return true;
}

static bool run_depend(struct nuna_machine *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    struct block *other = &m->blocks[m->slots->plan->gpus[gpu].tb_at + op->dep_tb];
    if (other->posted >= op->dep_step + 1u)
        return true;
    m->blocks[tb].next = other->first_waiter;
    other->first_waiter = tb;
    return false;
}

static void run_post(struct nuna_machine *m, uint32_t tb, const struct nuna_op *op)
{
    struct block *block = &m->blocks[tb];
    uint32_t waiter = block->first_waiter;
    block->posted = op->dep_step + 1u;
    block->first_waiter = NUNA_NONE;
    while (waiter != NUNA_NONE) {
        uint32_t next = m->blocks[waiter].next;
        nuna_machine_ready(m, waiter);
        waiter = next;
    }
}

/* With data through the proxy go a signal and a wait for its end. */
static bool run_move(struct nuna_machine *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    if (!nuna_machine_move(m, tb, op))
        return false;
    if (op->flags & NUNA_OP_SIGNALS)
        run_signal(m, tb, gpu, op);
    if (op->flags & NUNA_OP_FLUSHES)
        nuna_machine_flush(m, tb);
    return true;
}

static bool run_op(struct nuna_machine *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    switch ((enum nuna_op_kind)op->kind) {
    case NUNA_OP_NOP:
        return true;
    case NUNA_OP_PUT:
    case NUNA_OP_COPY:
    case NUNA_OP_REDUCE:
    case NUNA_OP_GET:
    case NUNA_OP_FORWARD:
        return run_move(m, tb, gpu, op);
    case NUNA_OP_FIFO:
        return nuna_machine_exchange(m, tb, op);
    case NUNA_OP_SIGNAL:
        run_signal(m, tb, gpu, op);
        return true;
    case NUNA_OP_SEM_RELEASE:
        run_release(m, gpu, op);
        return true;
    case NUNA_OP_WAIT:
    case NUNA_OP_SEM_ACQUIRE:
        return run_wait(m, tb, gpu, op);
    case NUNA_OP_BARRIER:
        return run_barrier(m, tb, gpu, op);
    case NUNA_OP_DEPEND:
        return run_depend(m, tb, gpu, op);
    case NUNA_OP_POST:
        run_post(m, tb, op);
        return true;
    case NUNA_OP_FLUSH:
        nuna_machine_flush(m, tb);
        return true;
    case NUNA_OP_LOOP:
        m->blocks[tb].loop = m->blocks[tb].pc;
        m->blocks[tb].turn = 0;
        return true;
    }
    return true;
}

/* Past the last operation of a loop: another turn? */
static void turn_around(struct nuna_machine *m, uint32_t tb)
{
    struct block *block = &m->blocks[tb];
    const struct nuna_threadblock *of = &m->slots->plan->threadblocks[tb];
    if (block->loop == NUNA_NONE ||
        block->pc <= block->loop + m->slots->plan->ops[of->op_at + block->loop].loop_ops)
        return;
    if (++block->turn < m->schedule.turns)
        block->pc = block->loop + 1;
    else
        block->loop = NUNA_NONE;
}

/* Runs a threadblock until it waits; the starved one only a step, then the others are asked again.
 */
static void run_block(struct nuna_machine *m, uint32_t tb)
{
    const struct nuna_plan *plan = m->slots->plan;
    const struct nuna_threadblock *block = &plan->threadblocks[tb];
    uint32_t gpu = m->slots->tb_gpu[tb];
    turn_around(m, tb); /* a barrier may have moved it on */
    while (m->blocks[tb].pc < block->op_count && !m->no_memory) {
        if (!run_op(m, tb, gpu, &plan->ops[block->op_at + m->blocks[tb].pc]))
            return;
        m->blocks[tb].pc++;
        m->steps++;
        turn_around(m, tb);
        if (tb == m->schedule.starved) {
            m->starved_ready = true;
            return;
        }
    }
}

/* ---- results ---- */

static const char *const buffer_names[NUNA_BUFFER_COUNT] = {"input", "output", "scratch"};

/* "packets in scratch chunk 3, which nobody has written" */
static void describe_packets(const struct nuna_machine *m, uint32_t gpu, uint32_t slot, char *text,
                             size_t size)
{
    uint32_t chunk = slot / m->slots->parts;
    for (int b = NUNA_BUFFER_COUNT - 1; b >= 0; b--) {
        uint32_t base = m->slots->base[gpu * NUNA_BUFFER_COUNT + (uint32_t)b];
        if (chunk >= base && chunk - base < m->slots->plan->gpus[gpu].chunks[b]) {
            snprintf(text, size, "waits for packets in %s chunk %u, which nobody writes",
                     buffer_names[b], chunk - base);
            return;
        }
    }
}

static void describe_fifo(const struct nuna_machine *m, uint32_t tb, uint32_t gpu,
                          const struct nuna_op *op, char *text, size_t size)
{
    const struct nuna_plan *plan = m->slots->plan;
    const struct nuna_threadblock *block = &plan->threadblocks[tb];
    const struct fifo *in =
        op->flags & NUNA_OP_RECEIVES ? nuna_machine_fifo(m, tb, true) : NULL;
    bool receiving = in != NULL && in->sent == in->received;
    const struct nuna_channel *end =
        &plan->channels[plan->gpus[gpu].channel_at +
                        (receiving ? block->recv_channel : block->send_channel)];
    if (receiving)
        snprintf(text, size, "(receive) waits for GPU %u to send on channel %u", end->peer,
                 end->number);
    else
        snprintf(text, size,
                 "(send) waits for GPU %u to receive on channel %u, whose %u slots are full",
                 end->peer, end->number, m->schedule.operations);
}

static uint32_t semaphore_releases(const struct nuna_plan *plan, uint32_t gpu, uint32_t id)
{
    uint32_t count = 0;
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    for (uint32_t t = 0; t < g->tb_count; t++) {
        const struct nuna_threadblock *tb = &plan->threadblocks[g->tb_at + t];
        for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++)
            for (uint32_t i = 0; plan->ops[o].kind == NUNA_OP_SEM_RELEASE && i < plan->ops[o].id_count;
                 i++)
                count += plan->ids[plan->ops[o].id_at + i] == id;
    }
    return count;
}

static void describe_waiter(const struct nuna_machine *m, uint32_t tb, char *text, size_t size)
{
    const struct nuna_plan *plan = m->slots->plan;
    const struct block *block = &m->blocks[tb];
    const struct nuna_op *op = &plan->ops[plan->threadblocks[tb].op_at + block->pc];
    uint32_t gpu = m->slots->tb_gpu[tb];
    bool xml = plan->format == NUNA_PLAN_XML;
    int used = snprintf(text, size, "GPU %u threadblock %u %s %u ", gpu, tb - plan->gpus[gpu].tb_at,
                        xml ? "step" : "op", xml ? op->step : block->pc);
    text += used;
    size -= (size_t)used;
    uint32_t id = op->id_count > block->done_ids ? plan->ids[op->id_at + block->done_ids] : 0;
    switch (op->kind) {
    case NUNA_OP_BARRIER:
        snprintf(text, size, "(barrier) waits at barrier %u, where %u of %u threadblocks are",
                 op->barrier_id, m->barriers[m->barrier_at[gpu] + op->barrier_id].arrived,
                 op->barrier_blocks);
        break;
    case NUNA_OP_SEM_ACQUIRE:
        snprintf(text, size, "(sem_acquire) waits for semaphore %u%s", id,
                 semaphore_releases(plan, gpu, id) == 0 ? ", which nobody releases" : "");
        break;
    case NUNA_OP_WAIT:
        snprintf(text, size, "(wait) waits for a signal from GPU %u on channel %u",
                 plan->channels[plan->gpus[gpu].channel_at + id].peer, id);
        break;
    case NUNA_OP_DEPEND:
        snprintf(text, size, "(dependency) waits for step %u of threadblock %u", op->dep_step,
                 op->dep_tb);
        break;
    case NUNA_OP_FIFO:
        describe_fifo(m, tb, gpu, op, text, size);
        break;
    default:
        if (block->waits_for != NUNA_NONE)
            describe_packets(m, gpu, block->waits_for, text, size);
        break;
    }
}

static bool report_deadlock(const struct nuna_machine *m, struct nuna_error *err)
{
    const struct nuna_plan *plan = m->slots->plan;
    char list[1100] = "";
    size_t waiting = 0, used = 0;
    for (uint32_t tb = 0; tb < plan->threadblock_count; tb++) {
        if (m->blocks[tb].pc == plan->threadblocks[tb].op_count)
            continue;
        if (++waiting > 8)
            continue;
        char one[160];
        describe_waiter(m, tb, one, sizeof one);
        used += (size_t)snprintf(list + used, sizeof list - used, "\n  %s", one);
    }
    if (waiting == 0)
        return true;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: deadlock, %zu threadblock%s for ever:%s%s",
                     plan->source, waiting, waiting == 1 ? " waits" : "s wait", list,
                     waiting > 8 ? "\n  ..." : "");
}

bool nuna_machine_run(struct nuna_machine *m, const struct nuna_schedule *schedule,
                      struct nuna_error *err)
{
    reset(m, schedule);
    uint32_t tb;
    while (!m->no_memory && (tb = next_ready(m)) != NUNA_NONE)
        run_block(m, tb);
    if (m->no_memory)
        return nuna_fail_memory(err, "the check of a plan");
    return report_deadlock(m, err);
}

uint64_t nuna_machine_steps(const struct nuna_machine *m)
{
    return m->steps;
}

uint32_t nuna_machine_value(const struct nuna_machine *m, uint32_t slot)
{
    return m->memory[slot];
}

const struct nuna_sum *nuna_machine_sums(const struct nuna_machine *m, uint32_t *ret_count,
                                         const uint32_t **ret_terms)
{
    *ret_count = (uint32_t)m->sums.count;
    *ret_terms = m->terms.items;
    return m->sums.items;
}
