#include "collectives/check/trial.h"
#include "collectives/check/trial_data.h"
#include "collectives/check/trial_state.h"
#include "collectives/check/trial_sync.h"
#include "collectives/check/trial_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pool_reset(struct pool *pool)
{
    pool->count = 0;
    pool->free = NUNA_NONE;
}

struct nuna_trial *nuna_trial_new(const struct nuna_slots *slots, struct nuna_error *err)
{
    const struct nuna_plan *plan = slots->plan;
    struct nuna_trial *m = calloc(1, sizeof *m);
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
        m->barrier_at == NULL || m->memory == NULL || m->barriers == NULL || m->arrived == NULL ||
        m->packet_waiters == NULL || m->fifos == NULL) {
        nuna_trial_free(m);
        nuna_fail_memory(err, "the check of a plan");
        return NULL;
    }
    return m;
}

void nuna_trial_free(struct nuna_trial *m)
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
    free(m->knowns.items);
    free(m);
}

static void reset(struct nuna_trial *m, const struct nuna_schedule *schedule)
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
    pool_reset(&m->knowns);
    m->ready_first = m->ready_last = NUNA_NONE;
    m->started = 0;
    m->starved_ready = schedule->starved != NUNA_NONE;
    m->no_memory = false;
    m->steps = 0;
}

/* ---- who runs ---- */

static uint32_t next_start(struct nuna_trial *m)
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

static uint32_t next_ready(struct nuna_trial *m)
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

/* With data through the proxy go a signal and a wait for its end. */
static bool run_move(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
{
    if (!nuna_trial_move(m, tb, op))
        return false;
    if (op->flags & NUNA_OP_SIGNALS)
        nuna_trial_signal(m, tb, gpu, op);
    if (op->flags & NUNA_OP_FLUSHES)
        nuna_trial_flush(m, tb);
    return true;
}

static bool run_op(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op)
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
        return nuna_trial_exchange(m, tb, op);
    case NUNA_OP_SIGNAL:
        nuna_trial_signal(m, tb, gpu, op);
        return true;
    case NUNA_OP_SEM_RELEASE:
        nuna_trial_release(m, gpu, op);
        return true;
    case NUNA_OP_WAIT:
    case NUNA_OP_SEM_ACQUIRE:
        return nuna_trial_wait(m, tb, gpu, op);
    case NUNA_OP_BARRIER:
        return nuna_trial_barrier(m, tb, gpu, op);
    case NUNA_OP_DEPEND:
        return nuna_trial_depend(m, tb, gpu, op);
    case NUNA_OP_POST:
        nuna_trial_post(m, tb, op);
        return true;
    case NUNA_OP_FLUSH:
        nuna_trial_flush(m, tb);
        return true;
    case NUNA_OP_LOOP:
        m->blocks[tb].loop = m->blocks[tb].pc;
        m->blocks[tb].turn = 0;
        return true;
    }
    return true;
}

/* Past the last operation of a loop: another turn? */
static void turn_around(struct nuna_trial *m, uint32_t tb)
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
static void run_block(struct nuna_trial *m, uint32_t tb)
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

static bool report_deadlock(const struct nuna_trial *m, struct nuna_error *err)
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
        nuna_trial_describe(m, tb, one, sizeof one);
        used += (size_t)snprintf(list + used, sizeof list - used, "\n  %s", one);
    }
    if (waiting == 0)
        return true;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: deadlock, %zu threadblock%s for ever:%s%s",
                     plan->source, waiting, waiting == 1 ? " waits" : "s wait", list,
                     waiting > 8 ? "\n  ..." : "");
}

bool nuna_trial_run(struct nuna_trial *m, const struct nuna_schedule *schedule,
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

uint64_t nuna_trial_steps(const struct nuna_trial *m)
{
    return m->steps;
}

uint32_t nuna_trial_value(const struct nuna_trial *m, uint32_t slot)
{
    return m->memory[slot];
}

struct nuna_print nuna_trial_print(const struct nuna_trial *m, uint32_t value)
{
    return print_of(m, value);
}

const struct nuna_sum *nuna_trial_sums(const struct nuna_trial *m, uint32_t *ret_count,
                                       const uint32_t **ret_terms)
{
    *ret_count = (uint32_t)m->sums.count;
    *ret_terms = m->terms.items;
    return m->sums.items;
}

uint32_t nuna_trial_undelivered(const struct nuna_trial *m, uint32_t slot)
{
    for (uint32_t i = 0; i < m->streams.count; i++) {
        for (uint32_t at = stream_at(m, i)->first; at != NUNA_NONE; at = store_at(m, at)->next) {
            if (store_at(m, at)->slot == slot)
                return stream_at(m, i)->tb;
        }
    }
    return NUNA_NONE;
}
