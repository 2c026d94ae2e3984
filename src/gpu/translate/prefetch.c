#include "gpu/translate/prefetch.h"
#include "gpu/cu.h"
#include "gpu/translate/ahead.h"

struct prefetcher {
    struct nuna_gpu *gpu;
    struct nuna_cu *cu;
};

/* Each request takes an issue slot. */
static void prefetch(void *context, const struct nuna_ahead *ahead)
{
    const struct prefetcher *prefetcher = context;
    struct nuna_gpu *gpu = prefetcher->gpu;
    struct nuna_ahead request = *ahead;
    request.from = prefetcher->cu->router;
    nuna_cu_occupy(gpu, prefetcher->cu, gpu->spec->issue_interval);
    nuna_ahead_send(gpu, &request);
}

void nuna_prefetch_stretch(struct nuna_gpu *gpu, uint32_t tb, uint32_t dest, uint64_t end,
                           uint64_t reached, uint64_t *ahead)
{
    const struct nuna_gpu_spec *spec = gpu->spec;
    struct prefetcher prefetcher = {gpu, nuna_tb_of(gpu, tb)->cu};
    while (*ahead < end && *ahead <= reached + spec->prefetch_distance) {
        uint64_t next = (*ahead / spec->map.page_size + 1) * spec->map.page_size;
        next = next < end ? next : end;
        nuna_ahead_each_port(spec, dest, *ahead, next - *ahead, spec->prefetch, prefetch,
                             &prefetcher);
        *ahead = next;
    }
}

void nuna_prefetch_pages(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    nuna_prefetch_stretch(gpu, tb_index, tb->dst_gpu, tb->dst_position + tb->bytes,
                          tb->dst_position + tb->line, &tb->ahead);
}

/* The flag that a signal on this GPU's channel raises. */
static void prefetch_flag(struct nuna_gpu *gpu, uint32_t tb, uint32_t channel_index)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    const struct nuna_channel *channel =
        &plan->channels[plan->gpus[gpu->index].channel_at + channel_index];
    uint64_t at = nuna_layout_flag(gpu->spec->layout, channel->peer, channel->peer_channel);
    if (nuna_spec_npa(gpu->spec, gpu->index, channel->peer))
        nuna_prefetch_stretch(gpu, tb, channel->peer, at + gpu->spec->control_bytes, at, &at);
}

static bool stores_away(const struct nuna_gpu *gpu, const struct nuna_op *op)
{
    const struct nuna_range *ranges = gpu->spec->plan->ranges;
    for (uint32_t i = 0; i < op->dst_count; i++)
        if (ranges[op->dst_at + i].is_group || ranges[op->dst_at + i].gpu != gpu->index)
            return true;
    return false;
}

void nuna_prefetch_flags(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t lane)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    uint32_t at = nuna_tb_of(gpu, tb_index)->op;
    const struct nuna_op *op = &plan->ops[at];
    if (op->flags & NUNA_OP_PORT) {
        if (op->flags & NUNA_OP_SIGNALS)
            prefetch_flag(gpu, tb_index, plan->ids[op->id_at + lane]);
        return;
    }
    const struct nuna_threadblock *block =
        &plan->threadblocks[plan->gpus[gpu->index].tb_at + tb_index];
    if (op->kind == NUNA_OP_FIFO) { /* once per connection */
        const struct nuna_exec_tb *t = &gpu->exec.tbs[tb_index];
        if ((op->flags & NUNA_OP_SENDS) && t->sent == 0 && plan->protocol == NUNA_FORM_DATA)
            prefetch_flag(gpu, tb_index, block->send_channel);
        if ((op->flags & NUNA_OP_RECEIVES) && t->received == 0)
            prefetch_flag(gpu, tb_index, block->recv_channel);
        return;
    }
    uint32_t end = block->op_at + block->op_count;
    if (!stores_away(gpu, op))
        return;
    /* Not beyond the next store: that asks for itself. */
    for (at++; at < end && plan->ops[at].kind != NUNA_OP_SIGNAL; at++)
        if (stores_away(gpu, &plan->ops[at]))
            return;
    for (uint32_t i = 0; at < end && i < plan->ops[at].id_count; i++)
        prefetch_flag(gpu, tb_index, plan->ids[plan->ops[at].id_at + i]);
}
