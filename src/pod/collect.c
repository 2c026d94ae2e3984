#include "pod/collect.h"
#include "gpu/process/process.h"
#include "gpu/translate/counts.h"
#include "gpu/translate/translation.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

uint64_t nuna_sim_bytes_delivered(const struct nuna_sim *sim)
{
    uint64_t bytes = 0;
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++)
        bytes += sim->gpus[lp].probe->bytes_delivered;
    return bytes * nuna_fold_factor(&sim->pod.fold);
}

bool nuna_sim_all_landed(const struct nuna_sim *sim)
{
    uint64_t out = 0, in = 0;
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++) {
        const struct nuna_probe *probe = sim->gpus[lp].probe;
        out += probe->stores_out + probe->flags_out;
        in += probe->latency.count + probe->flags_in;
    }
    return out == in;
}

/* What must hold of a run that came to its end, all of whose events have run. */
static void assert_drained(const struct nuna_sim *sim)
{
    assert(nuna_sim_all_landed(sim));
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++)
        assert(nuna_gpu_idle(&sim->gpus[lp]));
}

static void list_waiters(const struct nuna_sim *sim, char *text, size_t size)
{
    size_t at = 0;
    uint64_t waiting = 0;
    for (uint32_t g = 0; g < sim->pod.spec.gpu_count; g++) {
        struct nuna_exec exec = nuna_sim_gpu(sim, g)->exec;
        exec.gpu = g; /* the same state under its own name */
        for (uint32_t tb = 0; tb < sim->pod.spec.plan->gpus[g].tb_count; tb++) {
            char line[160];
            if (!nuna_exec_describe_wait(&exec, tb, line, sizeof line))
                continue;
            if (++waiting <= 6)
                at += (size_t)snprintf(text + at, size - at, "\n  %s", line);
        }
    }
    if (waiting > 6)
        snprintf(text + at, size - at, "\n  and %llu more", (unsigned long long)(waiting - 6));
}

/* Gives every GPU its representative's record of operations. */
static void expand_log(struct nuna_sim *sim)
{
    const struct nuna_fold *fold = &sim->pod.fold;
    for (uint32_t g = 0; g < fold->gpu_count; g++) {
        uint32_t rep = fold->gpu[fold->lp[g]];
        uint32_t element = nuna_group_difference(&sim->pod.spec.group, g, rep);
        if (g == rep)
            continue;
        for (uint32_t op = fold->op_first[g]; op < fold->op_first[g + 1]; op++) {
            uint32_t from = nuna_fold_op(fold, op, g, rep);
            sim->log[op] = sim->log[from];
            sim->trace[op] = sim->trace[from];
            uint32_t cause = sim->log[from].cause;
            if (cause == NUNA_NONE)
                continue;
            uint32_t whose = nuna_fold_op_gpu(fold, cause);
            sim->log[op].cause = nuna_fold_op(fold, cause, whose,
                                              nuna_group_add(&sim->pod.spec.group, whose, element));
        }
    }
}

static bool collect_translation(const struct nuna_sim *sim, struct nuna_translation_result *result)
{
    for (uint32_t g = 0; g < sim->pod.spec.gpu_count; g++) {
        const struct nuna_gpu *gpu = nuna_sim_gpu(sim, g);
        const struct nuna_translation_counts *t = gpu->translation_counts;
        uint64_t live = 0;
        if (t && !nuna_counts_live(t, &live))
            return false;
        result->live_pages = live > result->live_pages ? live : result->live_pages;
        for (uint32_t c = 0; t && c < NUNA_CLASS_COUNT; c++) {
            const struct nuna_class_count *count = &t->classes[c];
            result->requests += count->requests;
            result->latency_sum += count->latency_sum;
            if (count->latency_max > result->latency_max)
                result->latency_max = count->latency_max;
            if (c == NUNA_CLASS_L1_HIT)
                result->l1_hits += count->requests;
            if (c >= NUNA_CLASS_L1_MERGED)
                result->l1_merged += count->requests;
        }
        result->walks += gpu->translation ? gpu->translation->mmu.counts.walks : 0;
        result->ahead_requests += t ? t->ahead_sent : 0;
    }
    return true;
}

static nuna_time later(nuna_time a, nuna_time b)
{
    return a > b ? a : b;
}

bool nuna_sim_collect(struct nuna_sim *sim, enum nuna_kernel_status status,
                      struct nuna_result *result)
{
    memset(result, 0, sizeof *result);
    uint64_t unfinished = 0;
    const struct nuna_fold *fold = &sim->pod.fold;
    for (uint32_t g = 0; g < sim->pod.spec.gpu_count; g++) {
        const struct nuna_gpu *gpu = nuna_sim_gpu(sim, g);
        unfinished += gpu->exec.unfinished;
        result->time = later(result->time, later(gpu->exec.finished, gpu->probe->straggler.landed));
        nuna_latency_merge(&sim->latency, &gpu->probe->latency);
        if (gpu->flights.peak > result->peak_flights)
            result->peak_flights = gpu->flights.peak;
    }
    if (sim->transfers)
        unfinished += sim->transfers->host.unfinished;
    result->time -= result->time > sim->pod.spec.start ? sim->pod.spec.start : result->time;
    result->drained = nuna_kernel_now(sim->kernel);
    result->status = status == NUNA_KERNEL_INTERRUPTED ? NUNA_SIM_INTERRUPTED
                     : unfinished > 0                  ? NUNA_SIM_DEADLOCK
                                                       : NUNA_SIM_COMPLETE;
    result->latency = &sim->latency;
    result->stores = sim->latency.count;
    result->bytes_requested = sim->bytes_requested;
    result->bytes_delivered = nuna_sim_bytes_delivered(sim);
    result->events = nuna_kernel_events(sim->kernel) * nuna_fold_factor(fold);
    result->simulated_gpus = fold->lp_count;
    result->approximate = fold->approximate;
    result->unfolded = sim->unfolded;
    expand_log(sim);
    if (status == NUNA_KERNEL_DRAINED && result->status == NUNA_SIM_COMPLETE &&
        sim->pod.spec.params->background.gemm_size == 0)
        assert_drained(sim);
    if (result->status == NUNA_SIM_COMPLETE)
        return collect_translation(sim, &result->translation);
    result->time = result->drained;
    if (result->status == NUNA_SIM_DEADLOCK)
        list_waiters(sim, result->waiters, sizeof result->waiters);
    return true;
}
