#include "gpu/probe.h"
#include <stdlib.h>
#include <string.h>

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

/* Keeps where a flight's time went. */
static void take(struct nuna_op_trace *trace, const struct nuna_flight *flight, bool has_load,
                 bool has_store)
{
    trace->start = flight->start;
    memcpy(trace->stamp, flight->stamp, sizeof trace->stamp);
    trace->has_load = has_load;
    trace->has_store = has_store;
    trace->translation = 0;
}

static void note_straggler(struct nuna_gpu *gpu, const struct nuna_flight *flight)
{
    struct nuna_straggler *straggler = &gpu->probe->straggler;
    straggler->landed = gpu->lp->now;
    take(&straggler->trace, flight, false, true);
    straggler->trace.translation = flight->stamp[NUNA_STAMP_LENT_TRANSLATION];
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

void nuna_probe_store_landed(struct nuna_gpu *gpu, const struct nuna_flight *flight)
{
    nuna_latency_add(&gpu->probe->latency, gpu->lp->now - flight->start);
    gpu->probe->bytes_delivered += flight->bytes;
    if (__builtin_expect(gpu->exec.unfinished == 0, 0))
        note_straggler(gpu, flight);
}

void nuna_probe_flag_landed(struct nuna_gpu *gpu, const struct nuna_flight *flight)
{
    struct nuna_op_trace *trace = &gpu->probe->channels[flight->link];
    if (nuna_spec_flag_counts(gpu->spec, flight->tb)) {
        gpu->probe->flags_in++;
        if (gpu->exec.unfinished == 0)
            note_straggler(gpu, flight);
    }
    take(trace, flight, false, true);
    trace->translation = flight->stamp[NUNA_STAMP_LENT_TRANSLATION];
}

void nuna_probe_fetched(struct nuna_gpu *gpu, uint32_t bytes)
{
    gpu->probe->bytes_delivered += bytes;
}

void nuna_probe_op_over(struct nuna_gpu *gpu, uint32_t op, const struct nuna_flight *flight,
                        bool stored)
{
    struct nuna_op_trace *trace = &gpu->probe->ops[op];
    take(trace, flight, true, stored);
    if (stored)
        trace->acked = nuna_flight_since(flight, gpu->lp->now);
}

void nuna_probe_op_acked(struct nuna_gpu *gpu, uint32_t op, const struct nuna_flight *flight)
{
    struct nuna_op_trace *trace = &gpu->probe->ops[op];
    take(trace, flight, true, true);
    trace->translation = flight->link;
    trace->acked = nuna_flight_since(flight, gpu->lp->now);
}

void nuna_probe_waited(struct nuna_gpu *gpu, uint32_t op, uint32_t channel)
{
    gpu->probe->ops[op] = gpu->probe->channels[channel];
}
