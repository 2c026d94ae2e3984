#include "collectives/check/promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nuna_collective_rule *rule_of(const struct nuna_slots *slots)
{
    return nuna_collective_rule(slots->plan->collective);
}

static uint32_t terms_wanted(const struct nuna_slots *slots)
{
    return rule_of(slots)->reduces ? slots->plan->gpu_count : 1;
}

/* The leaf of term `term` of what slot `index` of the GPU's output should hold. */
static uint32_t wanted(const struct nuna_slots *slots, uint32_t gpu, uint32_t index, uint32_t term)
{
    struct nuna_contribution from =
        rule_of(slots)->promise(gpu, index, term, slots->block * slots->parts);
    return slots->base[from.gpu * NUNA_BUFFER_COUNT + NUNA_BUF_INPUT] * slots->parts + from.chunk;
}

/* "GPU 2's input chunk 5" */
static void name_leaf(const struct nuna_slots *slots, uint32_t slot, char *text, size_t size)
{
    uint32_t leaf = slot / slots->parts;
    for (uint32_t gpu = 0; gpu < slots->plan->gpu_count; gpu++) {
        for (int buffer = 0; buffer < NUNA_BUFFER_COUNT; buffer++) {
            uint32_t base = slots->base[gpu * NUNA_BUFFER_COUNT + (uint32_t)buffer];
            /* In place, the chunks may be counted in the other buffer only. */
            uint32_t chunks = slots->plan->gpus[gpu].chunks[buffer];
            if (leaf < base || leaf - base >= chunks)
                continue;
            snprintf(text, size, "%sGPU %u's %s chunk %u",
                     buffer == NUNA_BUF_INPUT ? "" : "the initial content of ", gpu,
                     nuna_buffer_name((uint32_t)buffer), leaf - base);
            return;
        }
    }
    snprintf(text, size, "an unknown value");
}

/* Adds to counts[leaf] how often each leaf is in the value. Sums only have older values as terms,
 * so one sweep from the newest on meets every sum after all that contain it. */
static bool count_leaves(const struct nuna_slots *slots, const struct nuna_trial *trial,
                         uint32_t value, int64_t **ret_counts, struct nuna_error *err)
{
    const int64_t most = INT64_C(1) << 40; /* doubling must not overflow */
    uint32_t sum_count;
    const uint32_t *terms;
    const struct nuna_sum *sums = nuna_trial_sums(trial, &sum_count, &terms);
    int64_t *counts = calloc((size_t)slots->count + sum_count + 1, sizeof *counts);
    if (counts == NULL)
        return nuna_fail_memory(err, "the check of a plan");
    counts[value] = 1;
    for (uint32_t i = sum_count; i-- > 0;) {
        int64_t times = counts[slots->count + i];
        for (uint32_t t = 0; times != 0 && t < sums[i].term_count; t++) {
            int64_t *count = &counts[terms[sums[i].term_at + t]];
            *count = *count + times > most ? most : *count + times;
        }
    }
    *ret_counts = counts;
    return true;
}

struct list {
    char text[320];
    size_t used, entries;
};

static void list_add(struct list *list, const char *item, int64_t times)
{
    if (++list->entries > 3 || list->used >= sizeof list->text) {
        return;
    }
    char more[32] = "";
    if (times > 1)
        snprintf(more, sizeof more, " %" PRId64 " times", times);
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                   "%s%s%s", list->entries == 1 ? "" : ", ", item, more);
}

static void list_end(struct list *list)
{
    if (list->entries > 3 && list->used < sizeof list->text)
        snprintf(list->text + list->used, sizeof list->text - list->used, " and %zu more",
                 list->entries - 3);
}

/* Tells what is missing from an output chunk and what should not be there. */
static bool explain(const struct nuna_slots *slots, const struct nuna_trial *trial, uint32_t gpu,
                    uint32_t index, struct nuna_error *err)
{
    const struct nuna_plan *plan = slots->plan;
    uint32_t slot = slots->base[gpu * NUNA_BUFFER_COUNT + NUNA_BUF_OUTPUT] * slots->parts + index;
    int64_t *counts = NULL;
    if (!count_leaves(slots, trial, nuna_trial_value(trial, slot), &counts, err))
        return false;
    struct list missing = {.used = 0}, surplus = {.used = 0};
    char name[96];
    for (uint32_t term = 0; term < terms_wanted(slots); term++) {
        uint32_t leaf = wanted(slots, gpu, index, term);
        name_leaf(slots, leaf, name, sizeof name);
        if (counts[leaf] == 0)
            list_add(&missing, name, 1);
        else if (counts[leaf] > 1)
            list_add(&surplus, name, counts[leaf]);
        counts[leaf] = 0;
    }
    for (uint32_t leaf = 0; leaf < slots->count; leaf++) {
        if (counts[leaf] == 0)
            continue;
        name_leaf(slots, leaf, name, sizeof name);
        list_add(&surplus, name, counts[leaf]);
    }
    free(counts);
    list_end(&missing);
    list_end(&surplus);

    char hint[128] = "";
    uint32_t sender = nuna_trial_undelivered(trial, slot);
    if (sender != NUNA_NONE)
        snprintf(hint, sizeof hint,
                 "; GPU %u threadblock %u stores there, but no signal and wait after it say that "
                 "the data have arrived",
                 slots->tb_gpu[sender], nuna_check_local_tb(slots, sender));
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: wrong %s: GPU %u output chunk %u %s%s%s%s%s%s",
                     plan->source, nuna_collective_name(plan->collective), gpu,
                     index / slots->parts, missing.entries > 0 ? "lacks " : "", missing.text,
                     missing.entries > 0 && surplus.entries > 0 ? " and " : "",
                     surplus.entries > 0 ? "holds " : "", surplus.text, hint);
}

static struct nuna_print wanted_print(const struct nuna_slots *slots, uint32_t gpu, uint32_t index)
{
    struct nuna_print total = {0, 0};
    for (uint32_t term = 0; term < terms_wanted(slots); term++) {
        struct nuna_print print = nuna_leaf_print(wanted(slots, gpu, index, term));
        total.low += print.low;
        total.high += print.high;
    }
    return total;
}

static bool same_print(struct nuna_print a, struct nuna_print b)
{
    return a.low == b.low && a.high == b.high;
}

/* All GPUs must hold the same in a chunk, which is then worked out once. */
static bool check_all_reduce(const struct nuna_slots *slots, const struct nuna_trial *trial,
                             uint32_t chunks, struct nuna_error *err)
{
    for (uint32_t index = 0; index < chunks; index++) {
        struct nuna_print want = wanted_print(slots, 0, index);
        uint32_t proved = NUNA_NONE;
        for (uint32_t gpu = 0; gpu < slots->plan->gpu_count; gpu++) {
            uint32_t slot =
                slots->base[gpu * NUNA_BUFFER_COUNT + NUNA_BUF_OUTPUT] * slots->parts + index;
            uint32_t value = nuna_trial_value(trial, slot);
            if (value == proved)
                continue;
            if (!same_print(nuna_trial_print(trial, value), want))
                return explain(slots, trial, gpu, index, err);
            proved = value;
        }
    }
    return true;
}

static uint32_t output_chunks(const struct nuna_slots *slots)
{
    const struct nuna_plan *plan = slots->plan;
    const uint32_t *chunks = plan->gpus[0].chunks;
    uint32_t most = chunks[NUNA_BUF_INPUT] > chunks[NUNA_BUF_OUTPUT] ? chunks[NUNA_BUF_INPUT]
                                                                     : chunks[NUNA_BUF_OUTPUT];
    return rule_of(slots)->own_output ? slots->block : most;
}

bool nuna_check_promise(const struct nuna_slots *slots, const struct nuna_trial *trial,
                        struct nuna_error *err)
{
    const struct nuna_plan *plan = slots->plan;
    const struct nuna_collective_rule *rule = rule_of(slots);
    if (rule->promise == NULL)
        return true;
    uint32_t chunks = output_chunks(slots) * slots->parts; /* in slots, like the indices */
    if (rule->reduces && !rule->own_output)
        return check_all_reduce(slots, trial, chunks, err);
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        uint32_t base = slots->base[gpu * NUNA_BUFFER_COUNT + NUNA_BUF_OUTPUT] * slots->parts;
        for (uint32_t index = 0; index < chunks; index++) {
            uint32_t value = nuna_trial_value(trial, base + index);
            if (!rule->reduces && value == wanted(slots, gpu, index, 0))
                continue;
            if (!same_print(nuna_trial_print(trial, value), wanted_print(slots, gpu, index)))
                return explain(slots, trial, gpu, index, err);
        }
    }
    return true;
}
