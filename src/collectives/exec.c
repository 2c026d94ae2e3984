#include "collectives/exec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nuna_plan_gpu *gpu_of(const struct nuna_exec *exec)
{
    return &exec->plan->gpus[exec->gpu];
}

static uint32_t op_index(const struct nuna_exec *exec, uint32_t tb)
{
    const struct nuna_plan_gpu *gpu = gpu_of(exec);
    return exec->plan->threadblocks[gpu->tb_at + tb].op_at + exec->tbs[tb].pc;
}

bool nuna_exec_init(struct nuna_exec *exec, const struct nuna_plan *plan, uint32_t gpu,
                    const struct nuna_machine *machine, void *machine_context,
                    struct nuna_op_log *log)
{
    memset(exec, 0, sizeof *exec);
    exec->plan = plan;
    exec->gpu = gpu;
    exec->machine = machine;
    exec->machine_context = machine_context;
    exec->log = log;
    exec->ready_head = exec->ready_tail = NUNA_NONE;
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    exec->unfinished = g->tb_count;
    exec->tbs = calloc(g->tb_count + 1, sizeof *exec->tbs);
    exec->channels = calloc(g->channel_count + 1, sizeof *exec->channels);
    exec->semaphores = calloc(g->sem_count + 1, sizeof *exec->semaphores);
    exec->barriers = calloc(g->barrier_count + 1, sizeof *exec->barriers);
    if (!exec->tbs || !exec->channels || !exec->semaphores || !exec->barriers)
        return false;
    for (uint32_t i = 0; i < g->channel_count; i++)
        exec->channels[i] = (struct nuna_counter){0, NUNA_NONE, NUNA_NONE, NUNA_NONE};
    for (uint32_t i = 0; i < g->sem_count; i++)
        exec->semaphores[i] =
            (struct nuna_counter){plan->sem_init[g->sem_at + i], NUNA_NONE, NUNA_NONE, NUNA_NONE};
    for (uint32_t i = 0; i < g->barrier_count; i++)
        exec->barriers[i] = (struct nuna_exec_barrier){0, NUNA_NONE, NUNA_NONE};
    return true;
}

void nuna_exec_finish(struct nuna_exec *exec)
{
    free(exec->tbs);
    free(exec->channels);
    free(exec->semaphores);
    free(exec->barriers);
    memset(exec, 0, sizeof *exec);
}

static void list_append(struct nuna_exec *exec, uint32_t *head, uint32_t *tail, uint32_t tb)
{
    exec->tbs[tb].next = NUNA_NONE;
    if (*head == NUNA_NONE)
        *head = tb;
    else
        exec->tbs[*tail].next = tb;
    *tail = tb;
}

static uint32_t list_pop(struct nuna_exec *exec, uint32_t *head)
{
    uint32_t tb = *head;
    *head = exec->tbs[tb].next;
    return tb;
}

static void make_ready(struct nuna_exec *exec, uint32_t tb)
{
    exec->tbs[tb].state = NUNA_TB_READY;
    list_append(exec, &exec->ready_head, &exec->ready_tail, tb);
}

static void op_ends(struct nuna_exec *exec, uint32_t tb, uint32_t cause)
{
    struct nuna_op_log *log = &exec->log[op_index(exec, tb)];
    log->end = exec->now;
    log->cause = cause;
    exec->tbs[tb].pc++;
    exec->tbs[tb].ids = 0;
    exec->tbs[tb].blocked = false;
}

/* Consumes the operation's counters from where it stands; false when it must wait. `*ret_cause` is
 * the operation that raised the counter it had to wait for last: a wait that found its signals
 * there depends on nothing. */
static bool consume(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op,
                    struct nuna_counter *counters, uint32_t *ret_cause)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    for (; t->ids < op->id_count; t->ids++) {
        struct nuna_counter *counter = &counters[exec->plan->ids[op->id_at + t->ids]];
        if (counter->value == 0) {
            t->state = NUNA_TB_BLOCKED;
            t->blocked = true;
            t->blocker = exec->plan->ids[op->id_at + t->ids];
            list_append(exec, &counter->head, &counter->tail, tb);
            return false;
        }
        counter->value--;
    }
    *ret_cause = t->blocked ? counters[t->blocker].cause : NUNA_NONE;
    return true;
}

static void raise(struct nuna_exec *exec, struct nuna_counter *counter, uint32_t cause)
{
    counter->value++;
    counter->cause = cause;
    if (counter->head != NUNA_NONE)
        make_ready(exec, list_pop(exec, &counter->head));
}

static void wait_ends(struct nuna_exec *exec, uint32_t tb, uint32_t cause)
{
    if (cause != NUNA_NONE && exec->machine->waited)
        exec->machine->waited(exec->machine_context, op_index(exec, tb), exec->tbs[tb].blocker);
    op_ends(exec, tb, cause);
}

static void meet_at_barrier(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_barrier *barrier = &exec->barriers[op->barrier_id];
    uint32_t own = op_index(exec, tb);
    if (++barrier->arrived < op->barrier_blocks) {
        exec->tbs[tb].state = NUNA_TB_BLOCKED;
        list_append(exec, &barrier->head, &barrier->tail, tb);
        return;
    }
    barrier->arrived = 0;
    while (barrier->head != NUNA_NONE) {
        uint32_t other = list_pop(exec, &barrier->head);
        op_ends(exec, other, own);
        make_ready(exec, other);
    }
    op_ends(exec, tb, NUNA_NONE);
}

static void release(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    uint32_t own = op_index(exec, tb);
    for (uint32_t i = 0; i < op->id_count; i++)
        raise(exec, &exec->semaphores[exec->plan->ids[op->id_at + i]], own);
    op_ends(exec, tb, NUNA_NONE);
}

static void start_on_machine(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    uint32_t own = op_index(exec, tb);
    exec->tbs[tb].state = NUNA_TB_BUSY;
    bool done = op->kind == NUNA_OP_SIGNAL
                    ? exec->machine->signal(exec->machine_context, tb, own)
                    : exec->machine->transfer(exec->machine_context, tb, own);
    if (done) {
        exec->tbs[tb].state = NUNA_TB_READY;
        op_ends(exec, tb, NUNA_NONE);
    }
}

static void run_op(struct nuna_exec *exec, uint32_t tb)
{
    const struct nuna_op *op = &exec->plan->ops[op_index(exec, tb)];
    uint32_t cause = NUNA_NONE;
    switch ((enum nuna_op_kind)op->kind) {
    case NUNA_OP_NOP:
        op_ends(exec, tb, NUNA_NONE);
        break;
    case NUNA_OP_WAIT:
        if (consume(exec, tb, op, exec->channels, &cause))
            wait_ends(exec, tb, cause);
        break;
    case NUNA_OP_SEM_ACQUIRE:
        if (consume(exec, tb, op, exec->semaphores, &cause))
            op_ends(exec, tb, cause);
        break;
    case NUNA_OP_SEM_RELEASE:
        release(exec, tb, op);
        break;
    case NUNA_OP_BARRIER:
        meet_at_barrier(exec, tb, op);
        break;
    case NUNA_OP_PUT:
    case NUNA_OP_COPY:
    case NUNA_OP_REDUCE:
    case NUNA_OP_SIGNAL:
        start_on_machine(exec, tb, op);
        break;
    }
}

/* Runs ready threadblocks until all are blocked, busy or done. Calls from inside (through the
 * machine) only add to the ready list. */
static void run_ready(struct nuna_exec *exec)
{
    if (exec->running)
        return;
    exec->running = true;
    const struct nuna_plan_gpu *gpu = gpu_of(exec);
    while (exec->ready_head != NUNA_NONE) {
        uint32_t tb = list_pop(exec, &exec->ready_head);
        uint32_t op_count = exec->plan->threadblocks[gpu->tb_at + tb].op_count;
        while (exec->tbs[tb].state == NUNA_TB_READY && exec->tbs[tb].pc < op_count)
            run_op(exec, tb);
        if (exec->tbs[tb].state == NUNA_TB_READY) {
            exec->tbs[tb].state = NUNA_TB_DONE;
            exec->unfinished--;
            exec->finished = exec->now;
        }
    }
    exec->running = false;
}

void nuna_exec_start(struct nuna_exec *exec, nuna_time now)
{
    exec->now = now;
    for (uint32_t tb = 0; tb < gpu_of(exec)->tb_count; tb++)
        make_ready(exec, tb);
    run_ready(exec);
}

void nuna_exec_op_done(struct nuna_exec *exec, uint32_t tb, nuna_time now)
{
    exec->now = now;
    op_ends(exec, tb, NUNA_NONE);
    make_ready(exec, tb);
    run_ready(exec);
}

void nuna_exec_signal_landed(struct nuna_exec *exec, uint32_t channel, uint32_t cause,
                             nuna_time now)
{
    exec->now = now;
    raise(exec, &exec->channels[channel], cause);
    run_ready(exec);
}

bool nuna_exec_describe_wait(const struct nuna_exec *exec, uint32_t tb, char *text, size_t size)
{
    const struct nuna_exec_tb *t = &exec->tbs[tb];
    if (t->state != NUNA_TB_BLOCKED)
        return false;
    const struct nuna_plan *plan = exec->plan;
    const struct nuna_op *op = &plan->ops[op_index(exec, tb)];
    int at = snprintf(text, size, "GPU %u threadblock %u op %u ", exec->gpu, tb, t->pc);
    char *rest = text + at;
    size_t room = size > (size_t)at ? size - (size_t)at : 0;
    if (op->kind == NUNA_OP_BARRIER) {
        snprintf(rest, room, "(barrier): %u of %u threadblocks have come to barrier %u",
                 exec->barriers[op->barrier_id].arrived, op->barrier_blocks, op->barrier_id);
    } else if (op->kind == NUNA_OP_SEM_ACQUIRE) {
        snprintf(rest, room, "(sem_acquire): semaphore %u to be released",
                 plan->ids[op->id_at + t->ids]);
    } else {
        uint32_t channel = plan->ids[op->id_at + t->ids];
        snprintf(rest, room, "(wait): a signal from GPU %u on channel %u",
                 plan->channels[gpu_of(exec)->channel_at + channel].peer, channel);
    }
    return true;
}
