#include "collectives/check/slots.h"

#include <stdlib.h>

#define SLOTS_MAX (UINT64_C(1) << 28)

/* In place, the input of an all-gather is a block of its output, and so on. Returns the slots used.
 */
static uint64_t place_buffers(struct nuna_slots *slots, uint32_t gpu, uint64_t next)
{
    const uint32_t *chunks = slots->plan->gpus[gpu].chunks;
    uint32_t *base = &slots->base[(size_t)gpu * NUNA_BUFFER_COUNT];
    uint64_t input = chunks[NUNA_BUF_INPUT], output = chunks[NUNA_BUF_OUTPUT];
    uint32_t first = (uint32_t)next;
    uint32_t own = gpu * slots->block;
    bool shared = slots->plan->inplace && slots->block != 0;
    base[NUNA_BUF_INPUT] = base[NUNA_BUF_OUTPUT] = first;
    if (!shared) {
        base[NUNA_BUF_OUTPUT] = (uint32_t)(next + input);
        next += input + output;
    } else {
        const struct nuna_collective_rule *rule = nuna_collective_rule(slots->plan->collective);
        if (rule->own_input)
            base[NUNA_BUF_INPUT] = first + own;
        else if (rule->own_output)
            base[NUNA_BUF_OUTPUT] = first + own;
        next += input > output ? input : output;
    }
    base[NUNA_BUF_SCRATCH] = (uint32_t)next;
    return next + chunks[NUNA_BUF_SCRATCH];
}

/* The least number that all shares of ranges divide; of strange plans some multiple of some. */
static uint32_t common_parts(const struct nuna_plan *plan)
{
    uint64_t parts = 1;
    for (size_t i = 0; i < plan->op_count; i++) {
        uint64_t a = parts, b = plan->ops[i].parts;
        if (b <= 1)
            continue;
        while (b != 0) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        uint64_t next = parts / a * plan->ops[i].parts;
        parts = next <= 5040 ? next : parts;
    }
    return (uint32_t)parts;
}

bool nuna_slots_init(struct nuna_slots *slots, const struct nuna_plan *plan, struct nuna_error *err)
{
    const uint32_t *chunks = plan->gpus[0].chunks;
    uint32_t most = chunks[NUNA_BUF_INPUT] > chunks[NUNA_BUF_OUTPUT] ? chunks[NUNA_BUF_INPUT]
                                                                     : chunks[NUNA_BUF_OUTPUT];
    *slots = (struct nuna_slots){.plan = plan, .parts = common_parts(plan)};
    /* An all-reduce has no blocks to speak of, but it must not look like OTHER. */
    if (plan->collective != NUNA_COLLECTIVE_OTHER)
        slots->block = most / plan->gpu_count == 0 ? 1 : most / plan->gpu_count;
    slots->base = malloc((size_t)plan->gpu_count * NUNA_BUFFER_COUNT * sizeof *slots->base);
    slots->tb_gpu = malloc((plan->threadblock_count + 1) * sizeof *slots->tb_gpu);
    if (slots->base == NULL || slots->tb_gpu == NULL) {
        nuna_slots_free(slots);
        return nuna_fail_memory(err, "the check of a plan");
    }
    uint64_t next = 0;
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        next = place_buffers(slots, gpu, next);
        if (next * slots->parts > SLOTS_MAX) {
            nuna_slots_free(slots);
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: more than 2^28 chunks in all buffers, too many to check",
                             plan->source);
        }
        for (uint32_t i = 0; i < plan->gpus[gpu].tb_count; i++)
            slots->tb_gpu[plan->gpus[gpu].tb_at + i] = gpu;
    }
    slots->count = (uint32_t)next * slots->parts;
    return true;
}

void nuna_slots_free(struct nuna_slots *slots)
{
    free(slots->base);
    free(slots->tb_gpu);
    slots->base = slots->tb_gpu = NULL;
}

uint32_t nuna_check_local_tb(const struct nuna_slots *slots, uint32_t tb)
{
    return tb - slots->plan->gpus[slots->tb_gpu[tb]].tb_at;
}
