#include "collectives/exec/exec.h"
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

bool nuna_exec_init(struct nuna_exec *exec, const struct nuna_shape *shape, uint32_t gpu,
                    const struct nuna_machine *machine, void *machine_context,
                    struct nuna_op_log *log)
{
    const struct nuna_plan *plan = shape->plan;
    memset(exec, 0, sizeof *exec);
    exec->shape = shape;
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
    for (uint32_t i = 0; i < g->tb_count; i++)
        exec->tbs[i].loop = exec->tbs[i].dep_head = exec->tbs[i].post_op = NUNA_NONE;
    for (uint32_t i = 0; i < g->channel_count; i++) {
        bool sends = plan->channels[g->channel_at + i].kind == NUNA_CHANNEL_SENDS;
        exec->channels[i] =
            (struct nuna_counter){sends ? shape->slots : 0, NUNA_NONE, NUNA_NONE, NUNA_NONE};
    }
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

/* Takes one; false when the threadblock has to wait for it. */
static bool take(struct nuna_exec *exec, uint32_t tb, struct nuna_counter *counters, uint32_t id)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    struct nuna_counter *counter = &counters[id];
    if (counter->value == 0) {
        t->state = NUNA_TB_BLOCKED;
        t->blocked = true;
        t->blocker = id;
        list_append(exec, &counter->head, &counter->tail, tb);
        return false;
    }
    counter->value--;
    return true;
}

/* Consumes the operation's counters from where it stands; false when it must wait. `*ret_cause` is
 * the operation that raised the counter it had to wait for last: a wait that found its signals
 * there depends on nothing. */
static bool consume(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op,
                    struct nuna_counter *counters, uint32_t *ret_cause)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    for (; t->ids < op->id_count; t->ids++)
        if (!take(exec, tb, counters, exec->plan->ids[op->id_at + t->ids]))
            return false;
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
    struct nuna_exec_tb *t = &exec->tbs[tb];
    uint32_t own = op_index(exec, tb);
    /* Whoever signals after the barrier speaks for the stores of all that met there. */
    if (t->stage == 0 && exec->machine->fence) {
        t->stage = 1;
        t->state = NUNA_TB_BUSY;
        if (!exec->machine->fence(exec->machine_context, tb, own))
            return;
        t->state = NUNA_TB_READY;
    }
    t->stage = 0;
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

static const struct nuna_op *loop_of(const struct nuna_exec *exec, uint32_t tb)
{
    const struct nuna_exec_tb *t = &exec->tbs[tb];
    uint32_t first = exec->plan->threadblocks[gpu_of(exec)->tb_at + tb].op_at;
    return t->loop == NUNA_NONE ? NULL : &exec->plan->ops[first + t->loop];
}

static bool ask_machine(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    uint32_t own = op_index(exec, tb);
    if (op->kind == NUNA_OP_SIGNAL)
        return exec->machine->signal(exec->machine_context, tb, own, &exec->plan->ids[op->id_at],
                                     op->id_count, !op->relaxed);
    if (op->kind == NUNA_OP_FLUSH)
        return exec->machine->flush(exec->machine_context, tb, own);
    struct nuna_move move = {.recv_slot = 0, .send_slot = 0};
    const struct nuna_op *loop = loop_of(exec, tb);
    nuna_shape_piece(exec->shape, op, loop, exec->tbs[tb].turn, &move.piece);
    move.whole = loop == NULL && op->parts <= 1 && exec->shape->windows == 1;
    if (exec->shape->windows > 1) { /* local operations of a plan with FIFOs */
        move.piece.offset = exec->tbs[tb].window * exec->shape->window;
        move.piece.length = exec->shape->window;
    }
    return exec->machine->transfer(exec->machine_context, tb, own, &move);
}

static void start_on_machine(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    exec->tbs[tb].state = NUNA_TB_BUSY;
    if (ask_machine(exec, tb, op)) {
        exec->tbs[tb].state = NUNA_TB_READY;
        op_ends(exec, tb, NUNA_NONE);
    }
}

/* ---- two-sided operations ---- */

static bool signal_one(struct nuna_exec *exec, uint32_t tb, const uint32_t *channel, bool ordered)
{
    exec->tbs[tb].state = NUNA_TB_BUSY;
    bool done =
        exec->machine->signal(exec->machine_context, tb, op_index(exec, tb), channel, 1, ordered);
    if (done)
        exec->tbs[tb].state = NUNA_TB_READY;
    return done;
}

static bool move_message(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    struct nuna_move move = {.recv_slot = t->received % exec->shape->slots,
                             .send_slot = t->sent % exec->shape->slots};
    nuna_shape_message(exec->shape, op, t->window, t->message, &move.piece);
    t->state = NUNA_TB_BUSY;
    bool done = exec->machine->transfer(exec->machine_context, tb, op_index(exec, tb), &move);
    if (done)
        t->state = NUNA_TB_READY;
    return done;
}

/* One stage of a message; false when the threadblock waits or is busy: once it is READY again, the
 * stage that comes next is already set, but for the waits, which are tried again. */
static bool fifo_stage(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    const struct nuna_threadblock *block = &exec->plan->threadblocks[gpu_of(exec)->tb_at + tb];
    bool simple = exec->plan->protocol == NUNA_FORM_DATA;
    bool receives = op->flags & NUNA_OP_RECEIVES, sends = op->flags & NUNA_OP_SENDS;
    switch (t->stage) {
    case NUNA_FIFO_OPEN:
        t->stage = NUNA_FIFO_RECEIVE;
        return true;
    case NUNA_FIFO_RECEIVE:
        if (receives && simple && !take(exec, tb, exec->channels, block->recv_channel))
            return false;
        t->stage = NUNA_FIFO_CREDIT;
        return true;
    case NUNA_FIFO_CREDIT:
        if (sends && !take(exec, tb, exec->channels, block->send_channel))
            return false;
        t->stage = NUNA_FIFO_MOVE;
        return true;
    case NUNA_FIFO_MOVE:
        t->stage = NUNA_FIFO_RETURN;
        return move_message(exec, tb, op);
    case NUNA_FIFO_RETURN:
        t->stage = NUNA_FIFO_ANNOUNCE;
        t->received += receives;
        return !receives || signal_one(exec, tb, &block->recv_channel, false);
    default:
        t->stage = NUNA_FIFO_OPEN;
        t->message++;
        t->sent += sends;
        return !sends || !simple || signal_one(exec, tb, &block->send_channel, true);
    }
}

static void run_fifo(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    struct nuna_piece piece;
    for (;;) {
        if (t->stage == NUNA_FIFO_OPEN &&
            !nuna_shape_message(exec->shape, op, t->window, t->message, &piece))
            break;
        if (!fifo_stage(exec, tb, op))
            return;
    }
    t->message = 0;
    uint32_t cause = t->blocked ? exec->channels[t->blocker].cause : NUNA_NONE;
    op_ends(exec, tb, cause);
}

/* ---- dependencies within the GPU ---- */

static bool run_depend(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_tb *t = &exec->tbs[tb], *other = &exec->tbs[op->dep_tb];
    if (other->posted >= (t->window << 32 | (op->dep_step + 1u)))
        return true;
    t->state = NUNA_TB_BLOCKED;
    t->blocked = true;
    t->blocker = op->dep_tb;
    list_append(exec, &other->dep_head, &other->dep_tail, tb);
    return false;
}

/* Those that wait look again; who must go on waiting queues up as before. */
static void post(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    t->posted = t->window << 32 | (op->dep_step + 1u);
    t->post_op = op_index(exec, tb);
    while (t->dep_head != NUNA_NONE)
        make_ready(exec, list_pop(exec, &t->dep_head));
    op_ends(exec, tb, NUNA_NONE);
}

/* ---- loops ---- */

static void enter_loop(struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    uint64_t turns = nuna_shape_turns(exec->shape, op);
    uint32_t place = t->pc;
    op_ends(exec, tb, NUNA_NONE);
    if (turns == 0 || op->loop_ops == 0) {
        t->pc += op->loop_ops;
        return;
    }
    t->loop = place;
    t->turn = 0;
    t->turns = turns;
}

/* Past the last operation of a loop or of the threadblock: another turn? */
static void turn_around(struct nuna_exec *exec, uint32_t tb)
{
    struct nuna_exec_tb *t = &exec->tbs[tb];
    const struct nuna_threadblock *block = &exec->plan->threadblocks[gpu_of(exec)->tb_at + tb];
    const struct nuna_op *loop = loop_of(exec, tb);
    if (loop != NULL && t->pc > t->loop + loop->loop_ops) {
        bool again = ++t->turn < t->turns;
        if (again)
            t->pc = t->loop + 1;
        else
            t->loop = NUNA_NONE;
    }
    if (t->pc == block->op_count && block->op_count > 0 && t->window + 1 < exec->shape->windows) {
        t->window++;
        t->pc = 0;
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
    case NUNA_OP_DEPEND:
        if (run_depend(exec, tb, op))
            op_ends(exec, tb, exec->tbs[tb].blocked ? exec->tbs[op->dep_tb].post_op : NUNA_NONE);
        break;
    case NUNA_OP_POST:
        post(exec, tb, op);
        break;
    case NUNA_OP_LOOP:
        enter_loop(exec, tb, op);
        break;
    case NUNA_OP_FIFO:
        run_fifo(exec, tb, op);
        break;
    case NUNA_OP_PUT:
    case NUNA_OP_COPY:
    case NUNA_OP_REDUCE:
    case NUNA_OP_GET:
    case NUNA_OP_FORWARD:
    case NUNA_OP_SIGNAL:
    case NUNA_OP_FLUSH:
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
        turn_around(exec, tb); /* an operation may have ended while the threadblock was busy */
        while (exec->tbs[tb].state == NUNA_TB_READY && exec->tbs[tb].pc < op_count) {
            run_op(exec, tb);
            turn_around(exec, tb);
        }
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
    for (uint32_t tb = 0; tb < gpu_of(exec)->tb_count; tb++) {
        if (exec->shape->windows == 0)
            exec->tbs[tb].pc = exec->plan->threadblocks[gpu_of(exec)->tb_at + tb].op_count;
        make_ready(exec, tb);
    }
    run_ready(exec);
}

void nuna_exec_op_done(struct nuna_exec *exec, uint32_t tb, nuna_time now)
{
    exec->now = now;
    uint8_t kind = exec->plan->ops[op_index(exec, tb)].kind;
    if (kind != NUNA_OP_FIFO && kind != NUNA_OP_BARRIER) /* which have more stages */
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
