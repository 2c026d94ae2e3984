/* What a threadblock waits for, for people. */
#include "collectives/exec/exec.h"
#include <stdio.h>

static const struct nuna_plan_gpu *gpu_of(const struct nuna_exec *exec)
{
    return &exec->plan->gpus[exec->gpu];
}

static void describe_fifo(const struct nuna_exec *exec, uint32_t tb, char *text, size_t size)
{
    const struct nuna_plan_gpu *gpu = gpu_of(exec);
    const struct nuna_threadblock *block = &exec->plan->threadblocks[gpu->tb_at + tb];
    const struct nuna_exec_tb *t = &exec->tbs[tb];
    bool sending = t->stage == NUNA_FIFO_CREDIT;
    uint32_t channel = sending ? block->send_channel : block->recv_channel;
    const struct nuna_channel *end = &exec->plan->channels[gpu->channel_at + channel];
    snprintf(text, size,
             sending ? "(send): a free slot towards GPU %u on channel %u"
                     : "(receive): a message from GPU %u on channel %u",
             end->peer, end->number);
}

static void describe_op(const struct nuna_exec *exec, uint32_t tb, const struct nuna_op *op,
                        char *text, size_t size)
{
    const struct nuna_exec_tb *t = &exec->tbs[tb];
    const struct nuna_plan *plan = exec->plan;
    switch (op->kind) {
    case NUNA_OP_BARRIER:
        snprintf(text, size, "(barrier): %u of %u threadblocks have come to barrier %u",
                 exec->barriers[op->barrier_id].arrived, op->barrier_blocks, op->barrier_id);
        break;
    case NUNA_OP_SEM_ACQUIRE:
        snprintf(text, size, "(sem_acquire): semaphore %u to be released",
                 plan->ids[op->id_at + t->ids]);
        break;
    case NUNA_OP_WAIT: {
        const struct nuna_channel *channel =
            &plan->channels[gpu_of(exec)->channel_at + plan->ids[op->id_at + t->ids]];
        snprintf(text, size, "(wait): a signal from GPU %u on channel %u", channel->peer,
                 plan->ids[op->id_at + t->ids]);
        break;
    }
    case NUNA_OP_DEPEND:
        snprintf(text, size, "(dependency): step %u of threadblock %u", op->dep_step, op->dep_tb);
        break;
    case NUNA_OP_FIFO:
        describe_fifo(exec, tb, text, size);
        break;
    default:
        snprintf(text, size, "(data): packets that have not come");
        break;
    }
}

/* Whether the machine may hold the operation up: for packets, lines of a message, or the proxy. */
static bool waits_in_machine(const struct nuna_plan *plan, const struct nuna_op *op)
{
    if (op->kind == NUNA_OP_FIFO || op->kind == NUNA_OP_FLUSH || (op->flags & NUNA_OP_PORT) != 0)
        return true;
    for (uint32_t i = 0; i < op->src_count; i++)
        if (plan->ranges[op->src_at + i].form != NUNA_FORM_DATA)
            return true;
    return false;
}

bool nuna_exec_describe_wait(const struct nuna_exec *exec, uint32_t tb, char *text, size_t size)
{
    const struct nuna_exec_tb *t = &exec->tbs[tb];
    const struct nuna_threadblock *block = &exec->plan->threadblocks[gpu_of(exec)->tb_at + tb];
    const struct nuna_op *op = &exec->plan->ops[block->op_at + t->pc];
    /* When nothing is left to happen, a busy one waits, too, if it is held up within the machine.
     */
    bool busy = t->state == NUNA_TB_BUSY && waits_in_machine(exec->plan, op);
    if (t->state != NUNA_TB_BLOCKED && !busy)
        return false;
    int at = snprintf(text, size, "GPU %u threadblock %u op %u ", exec->gpu, tb, t->pc);
    describe_op(exec, tb, op, text + at, size > (size_t)at ? size - (size_t)at : 0);
    return true;
}
