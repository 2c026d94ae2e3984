/* What a threadblock of the symbolic run waits for. */
#include "collectives/check/trial_text.h"

#include <stdio.h>

/* "packets in scratch chunk 3, which nobody has written" */
static void describe_packets(const struct nuna_trial *m, uint32_t gpu, uint32_t slot, char *text,
                             size_t size)
{
    uint32_t chunk = slot / m->slots->parts;
    for (int b = NUNA_BUFFER_COUNT - 1; b >= 0; b--) {
        uint32_t base = m->slots->base[gpu * NUNA_BUFFER_COUNT + (uint32_t)b];
        if (chunk >= base && chunk - base < m->slots->plan->gpus[gpu].chunks[b]) {
            snprintf(text, size, "waits for packets in %s chunk %u, which nobody writes",
                     nuna_buffer_name((uint32_t)b), chunk - base);
            return;
        }
    }
}

static void describe_fifo(const struct nuna_trial *m, uint32_t tb, uint32_t gpu,
                          const struct nuna_op *op, char *text, size_t size)
{
    const struct nuna_plan *plan = m->slots->plan;
    const struct nuna_threadblock *block = &plan->threadblocks[tb];
    const struct fifo *in = op->flags & NUNA_OP_RECEIVES ? nuna_trial_fifo(m, tb, true) : NULL;
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
            for (uint32_t i = 0;
                 plan->ops[o].kind == NUNA_OP_SEM_RELEASE && i < plan->ops[o].id_count; i++)
                count += plan->ids[plan->ops[o].id_at + i] == id;
    }
    return count;
}

void nuna_trial_describe(const struct nuna_trial *m, uint32_t tb, char *text, size_t size)
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
