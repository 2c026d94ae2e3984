#include "gpu/process/signals.h"
#include "gpu/cu.h"
#include "gpu/probe.h"
#include <stdlib.h>

bool nuna_signals_create(struct nuna_gpu *gpu)
{
    uint32_t count = gpu->spec->plan->gpus[gpu->index].tb_count;
    gpu->signals = calloc(1, sizeof *gpu->signals);
    if (!gpu->signals)
        return false;
    gpu->signals->held = calloc((size_t)count + 1, sizeof *gpu->signals->held);
    return gpu->signals->held != NULL;
}

void nuna_signals_destroy(struct nuna_gpu *gpu)
{
    if (gpu->signals)
        free(gpu->signals->held);
    free(gpu->signals);
}

static void raise_one(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t op,
                      const struct nuna_channel *channel)
{
    const struct nuna_gpu_spec *spec = gpu->spec;
    struct nuna_location flag = nuna_spec_locate(
        spec, channel->peer, nuna_layout_flag(spec->layout, channel->peer, channel->peer_channel));
    uint32_t handle = nuna_flight_get(&gpu->flights, NUNA_FLIGHT_FLAG, NUNA_LEG_STORE);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_out *out = nuna_out(flight);
    nuna_flight_begin(flight, gpu->lp->now);
    flight->port = (uint8_t)flag.port;
    flight->npa = nuna_spec_npa(spec, gpu->index, channel->peer) & 1u;
    flight->bytes = (uint16_t)spec->control_bytes;
    out->op = op;
    out->peer = (uint16_t)channel->peer;
    out->peer_channel = channel->peer_channel;
    out->target = flag.channel;
    out->page = flag.page;
    nuna_cu_push_store(gpu, cu, handle);
}

void nuna_signals_raise(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                        uint32_t count)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    struct nuna_cu *cu = nuna_tb_of(gpu, tb)->cu;
    nuna_probe_flags_out(gpu, op, count);
    for (uint32_t i = 0; i < count; i++)
        raise_one(gpu, cu, op, &plan->channels[plan->gpus[gpu->index].channel_at + channels[i]]);
    nuna_cu_kick(gpu, cu);
}

bool nuna_signals_signal(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t op,
                         const uint32_t *channels, uint32_t count, bool ordered)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    tb->op = op;
    if (ordered && tb->unacked > 0) {
        tb->held = true;
        gpu->signals->held[tb_index] = (struct nuna_held_signal){channels, count};
        return false;
    }
    nuna_signals_raise(gpu, tb_index, op, channels, count);
    return true;
}

bool nuna_signals_fence(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t op)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    tb->op = op;
    tb->held = tb->unacked > 0;
    gpu->signals->held[tb_index].count = 0;
    return !tb->held;
}

bool nuna_signals_acked(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    assert(tb->unacked > 0);
    if (--tb->unacked > 0 || !tb->held)
        return false;
    tb->held = false;
    return true;
}

void nuna_signals_release(struct nuna_gpu *gpu, uint32_t tb)
{
    uint32_t op = nuna_tb_of(gpu, tb)->op;
    struct nuna_held_signal held = gpu->signals->held[tb];
    nuna_signals_raise(gpu, tb, op, held.channels, held.count);
    nuna_exec_op_done(&gpu->exec, tb, gpu->lp->now);
}

void nuna_signals_landed(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint32_t channel = nuna_visit(flight)->channel, cause = nuna_visit(flight)->op;
    nuna_probe_flag_landed(gpu, flight);
    nuna_flight_put(&gpu->flights, handle);
    nuna_exec_signal_landed(&gpu->exec, channel, cause, gpu->lp->now);
}
