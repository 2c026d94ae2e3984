#include "gpu/probe.h"
#include <stdlib.h>

bool nuna_probe_create(struct nuna_gpu *gpu, struct nuna_op_trace *ops)
{
    uint32_t channels = gpu->spec->plan->gpus[gpu->index].channel_count;
    struct nuna_probe *probe = gpu->probe = calloc(1, sizeof *probe);
    if (!probe)
        return false;
    probe->ops = ops;
    probe->channels = calloc((size_t)channels + 1, sizeof *probe->channels);
    return probe->channels != NULL;
}

void nuna_probe_destroy(struct nuna_gpu *gpu)
{
    if (gpu->probe)
        free(gpu->probe->channels);
    free(gpu->probe);
}

/* Where the time of another GPU's store went so far. */
static struct nuna_op_trace trace_of(const struct nuna_gpu *gpu, struct nuna_flight *visitor)
{
    const struct nuna_visit *visit = nuna_visit(visitor);
    return (struct nuna_op_trace){
        .start = gpu->lp->now - nuna_flight_age(visitor, gpu->lp->now),
        .store = visit->store,
        .translation = visit->translation,
        .has_store = true,
    };
}

static void note_straggler(struct nuna_gpu *gpu, struct nuna_flight *visitor)
{
    gpu->probe->straggler = (struct nuna_straggler){gpu->lp->now, trace_of(gpu, visitor)};
}

void nuna_probe_stores_out(struct nuna_gpu *gpu, uint32_t count)
{
    gpu->probe->stores_out += count;
}

void nuna_probe_flags_out(struct nuna_gpu *gpu, uint32_t op, uint32_t count)
{
    if (nuna_spec_flag_counts(gpu->spec, op))
        gpu->probe->flags_out += count;
}

void nuna_probe_store_landed(struct nuna_gpu *gpu, struct nuna_flight *visitor)
{
    nuna_latency_add(&gpu->probe->latency, nuna_flight_age(visitor, gpu->lp->now));
    gpu->probe->bytes_delivered += visitor->bytes;
    if (__builtin_expect(gpu->exec.unfinished == 0, 0))
        note_straggler(gpu, visitor);
}

void nuna_probe_flag_landed(struct nuna_gpu *gpu, struct nuna_flight *visitor)
{
    const struct nuna_visit *visit = nuna_visit(visitor);
    if (nuna_spec_flag_counts(gpu->spec, visit->op)) {
        gpu->probe->flags_in++;
        if (gpu->exec.unfinished == 0)
            note_straggler(gpu, visitor);
    }
    gpu->probe->channels[visit->channel] = trace_of(gpu, visitor);
}

void nuna_probe_fetched(struct nuna_gpu *gpu, uint32_t bytes)
{
    gpu->probe->bytes_delivered += bytes;
}

void nuna_probe_op_over(struct nuna_gpu *gpu, uint32_t op, struct nuna_flight *flight, bool stored)
{
    const struct nuna_out *out = nuna_out(flight);
    struct nuna_op_trace *trace = &gpu->probe->ops[op];
    *trace = (struct nuna_op_trace){
        .start = gpu->lp->now - nuna_flight_age(flight, gpu->lp->now),
        .load = out->load,
        .has_load = true,
        .has_store = stored,
    };
    if (!stored)
        return;
    trace->store.at_memory = out->at_memory;
    trace->store.landed = out->landed;
    trace->acked = nuna_flight_since(flight, gpu->lp->now);
}

void nuna_probe_op_acked(struct nuna_gpu *gpu, uint32_t op, struct nuna_flight *flight,
                         struct nuna_flight *waiting)
{
    const struct nuna_answer *answer = nuna_answer(flight);
    struct nuna_op_trace *trace = &gpu->probe->ops[op];
    *trace = (struct nuna_op_trace){
        .start = gpu->lp->now - nuna_flight_age(flight, gpu->lp->now),
        .store = answer->store,
        .acked = nuna_flight_since(flight, gpu->lp->now),
        .translation = answer->translation,
        .has_load = waiting != NULL,
        .has_store = true,
    };
    if (waiting)
        trace->load = nuna_out(waiting)->load;
}

void nuna_probe_waited(struct nuna_gpu *gpu, uint32_t op, uint32_t channel)
{
    gpu->probe->ops[op] = gpu->probe->channels[channel];
}
