/* Where the time went: from the operation that ended last back to the start, through what each one
 * waited for; and on to what landed after it. */
#include "pod/sim_private.h"
#include <stdlib.h>
#include <string.h>

static const char *const part_names[NUNA_PATH_PARTS] = {
    [NUNA_PATH_ISSUE] = "issue",
    [NUNA_PATH_LOAD_NOC] = "local load, NoC",
    [NUNA_PATH_LOAD_HBM] = "local load, memory",
    [NUNA_PATH_STORE_NOC] = "NoC to port",
    [NUNA_PATH_PORT] = "port, link, switch",
    [NUNA_PATH_SWITCH] = "switch output, link",
    [NUNA_PATH_TRANSLATION] = "translation",
    [NUNA_PATH_REMOTE_NOC] = "NoC at destination",
    [NUNA_PATH_REMOTE_HBM] = "memory at destination",
    [NUNA_PATH_ACK] = "acknowledgement",
    [NUNA_PATH_SYNC] = "synchronisation",
};

const char *nuna_path_part_name(enum nuna_path_part part)
{
    return part_names[part];
}

/* Attributes [*at, until] to `part`, not beyond `end`, and moves on. */
static void spend(nuna_time *parts, enum nuna_path_part part, nuna_time *at, nuna_time until,
                  nuna_time end)
{
    until = until < end ? until : end;
    if (until <= *at)
        return;
    parts[part] += until - *at;
    *at = until;
}

static void spend_load(nuna_time *parts, const struct nuna_op_trace *trace, nuna_time *at,
                       nuna_time end)
{
    const uint32_t *stamp = trace->stamp;
    nuna_time load = trace->start - stamp[NUNA_STAMP_STORE_ISSUED];
    spend(parts, NUNA_PATH_ISSUE, at, load, end);
    spend(parts, NUNA_PATH_LOAD_NOC, at, load + stamp[NUNA_STAMP_LOAD_AT_MEMORY], end);
    spend(parts, NUNA_PATH_LOAD_HBM, at, load + stamp[NUNA_STAMP_LOAD_READ], end);
    spend(parts, NUNA_PATH_LOAD_NOC, at, load + stamp[NUNA_STAMP_LOAD_BACK], end);
    spend(parts, NUNA_PATH_ISSUE, at, trace->start, end);
}

static void spend_store(nuna_time *parts, const struct nuna_op_trace *trace, bool remote,
                        nuna_time *at, nuna_time end)
{
    const uint32_t *stamp = trace->stamp;
    nuna_time store = trace->start;
    spend(parts, NUNA_PATH_ISSUE, at, store, end);
    if (remote) {
        spend(parts, NUNA_PATH_STORE_NOC, at, store + stamp[NUNA_STAMP_AT_PORT], end);
        spend(parts, NUNA_PATH_PORT, at, store + stamp[NUNA_STAMP_AT_SWITCH], end);
        spend(parts, NUNA_PATH_SWITCH, at, store + stamp[NUNA_STAMP_AT_PEER], end);
        spend(parts, NUNA_PATH_TRANSLATION, at,
              store + stamp[NUNA_STAMP_AT_PEER] + trace->translation, end);
        spend(parts, NUNA_PATH_REMOTE_NOC, at, store + stamp[NUNA_STAMP_AT_MEMORY], end);
    } else {
        spend(parts, NUNA_PATH_STORE_NOC, at, store + stamp[NUNA_STAMP_AT_MEMORY], end);
    }
    spend(parts, NUNA_PATH_REMOTE_HBM, at, store + stamp[NUNA_STAMP_LANDED], end);
    if (trace->acked)
        spend(parts, NUNA_PATH_ACK, at, store + trace->acked, end);
}

/* Attributes the part of operation `op` from `start` to `end`. */
static void spend_op(const struct nuna_sim *sim, uint32_t op, nuna_time start, nuna_time end,
                     nuna_time *parts)
{
    const struct nuna_op_trace *trace = &sim->trace[op];
    uint8_t kind = sim->pod.plan->ops[op].kind;
    nuna_time at = start;
    if (trace->has_load)
        spend_load(parts, trace, &at, end);
    if (trace->has_store)
        spend_store(parts, trace, kind == NUNA_OP_SIGNAL || kind == NUNA_OP_WAIT, &at, end);
    bool data = kind == NUNA_OP_PUT || kind == NUNA_OP_COPY || kind == NUNA_OP_REDUCE;
    spend(parts, data ? NUNA_PATH_ISSUE : NUNA_PATH_SYNC, &at, end, end);
}

/* What landed after all threadblocks had ended: its way from there on. */
static void spend_straggler(const struct nuna_sim *sim, nuna_time end, nuna_time *parts)
{
    const struct nuna_straggler *last = NULL;
    nuna_time landed = end;
    for (uint32_t g = 0; g < sim->pod.gpu_count; g++) {
        const struct nuna_straggler *straggler = &nuna_sim_gpu(sim, g)->straggler;
        if (straggler->landed > landed) {
            last = straggler;
            landed = straggler->landed;
        }
    }
    if (!last)
        return;
    spend(parts, NUNA_PATH_SYNC, &end, last->trace.start, landed);
    spend_store(parts, &last->trace, true, &end, landed);
    spend(parts, NUNA_PATH_SYNC, &end, landed, landed);
}

bool nuna_critical_path(const struct nuna_sim *sim, nuna_time ret_parts[NUNA_PATH_PARTS],
                        uint32_t *ret_ops)
{
    const struct nuna_plan *plan = sim->pod.plan;
    memset(ret_parts, 0, NUNA_PATH_PARTS * sizeof *ret_parts);
    *ret_ops = 0;
    bool *first = calloc(plan->op_count + 1, sizeof *first);
    if (!first)
        return false;
    for (size_t tb = 0; tb < plan->threadblock_count; tb++)
        if (plan->threadblocks[tb].op_count > 0)
            first[plan->threadblocks[tb].op_at] = true;
    uint32_t op = NUNA_NONE;
    for (uint32_t i = 0; i < plan->op_count; i++)
        if (op == NUNA_NONE || sim->log[i].end > sim->log[op].end)
            op = i;
    nuna_time end = op == NUNA_NONE ? 0 : sim->log[op].end;
    spend_straggler(sim, end, ret_parts);
    /* Each step goes to an operation that ended earlier, or stood before it in a threadblock: it
     * ends. */
    for (uint64_t steps = 0; op != NUNA_NONE && steps <= 2 * plan->op_count; steps++) {
        uint32_t cause = sim->log[op].cause;
        nuna_time start = cause != NUNA_NONE ? sim->log[cause].end
                          : first[op]        ? sim->origin
                                             : sim->log[op - 1].end;
        start = start < end ? start : end;
        spend_op(sim, op, start, end, ret_parts);
        ++*ret_ops;
        end = start;
        op = cause != NUNA_NONE ? cause : first[op] ? NUNA_NONE : op - 1;
    }
    free(first);
    return true;
}
