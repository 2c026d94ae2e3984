/* Where the time went: from the operation that ended last back to the start, through what each one
 * waited for; and on to what landed after it. */
#include "pod/report/critical_path.h"
#include "collectives/exec/exec.h"
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

static void spend_load(nuna_time *parts, const struct nuna_op_times *times, nuna_time *at,
                       nuna_time end)
{
    spend(parts, NUNA_PATH_ISSUE, at, times->load_issued, end);
    spend(parts, NUNA_PATH_LOAD_NOC, at, times->load_at_memory, end);
    spend(parts, NUNA_PATH_LOAD_HBM, at, times->load_read, end);
    spend(parts, NUNA_PATH_LOAD_NOC, at, times->load_back, end);
    spend(parts, NUNA_PATH_ISSUE, at, times->issued, end);
}

static void spend_store(nuna_time *parts, const struct nuna_op_times *times, bool remote,
                        nuna_time *at, nuna_time end)
{
    spend(parts, NUNA_PATH_ISSUE, at, times->issued, end);
    if (remote) {
        spend(parts, NUNA_PATH_STORE_NOC, at, times->at_port, end);
        spend(parts, NUNA_PATH_PORT, at, times->at_switch, end);
        spend(parts, NUNA_PATH_SWITCH, at, times->at_peer, end);
        spend(parts, NUNA_PATH_TRANSLATION, at, times->translated, end);
        spend(parts, NUNA_PATH_REMOTE_NOC, at, times->at_memory, end);
    } else {
        spend(parts, NUNA_PATH_STORE_NOC, at, times->at_memory, end);
    }
    spend(parts, NUNA_PATH_REMOTE_HBM, at, times->landed, end);
    if (times->acked)
        spend(parts, NUNA_PATH_ACK, at, times->acked, end);
}

/* Attributes the part of operation `op` from `start` to `end`. */
static void spend_op(const struct nuna_view *view, uint32_t op, nuna_time start, nuna_time end,
                     nuna_time *parts)
{
    const struct nuna_op_times times = nuna_view_op(view, op);
    uint8_t kind = view->plan->ops[op].kind;
    nuna_time at = start;
    if (times.has_load)
        spend_load(parts, &times, &at, end);
    if (times.has_store)
        spend_store(parts, &times, kind == NUNA_OP_SIGNAL || kind == NUNA_OP_WAIT, &at, end);
    bool data = kind == NUNA_OP_PUT || kind == NUNA_OP_COPY || kind == NUNA_OP_REDUCE;
    spend(parts, data ? NUNA_PATH_ISSUE : NUNA_PATH_SYNC, &at, end, end);
}

/* What landed after all threadblocks had ended: its way from there on. */
static void spend_straggler(const struct nuna_view *view, nuna_time end, nuna_time *parts)
{
    struct nuna_op_times last = {0}, times;
    nuna_time landed = end;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        nuna_time time = nuna_view_straggler(view, g, &times);
        if (time > landed) {
            last = times;
            landed = time;
        }
    }
    if (landed == end)
        return;
    spend(parts, NUNA_PATH_SYNC, &end, last.issued, landed);
    spend_store(parts, &last, true, &end, landed);
    spend(parts, NUNA_PATH_SYNC, &end, landed, landed);
}

bool nuna_critical_path(const struct nuna_view *view, nuna_time ret_parts[NUNA_PATH_PARTS],
                        uint32_t *ret_ops)
{
    const struct nuna_plan *plan = view->plan;
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
        if (op == NUNA_NONE || view->log[i].end > view->log[op].end)
            op = i;
    nuna_time end = op == NUNA_NONE ? 0 : view->log[op].end;
    spend_straggler(view, end, ret_parts);
    /* Each step goes to an operation that ended earlier, or stood before it in a threadblock: it
     * ends. */
    for (uint64_t steps = 0; op != NUNA_NONE && steps <= 2 * plan->op_count; steps++) {
        uint32_t cause = view->log[op].cause;
        nuna_time start = cause != NUNA_NONE ? view->log[cause].end
                          : first[op]        ? view->origin
                                             : view->log[op - 1].end;
        start = start < end ? start : end;
        spend_op(view, op, start, end, ret_parts);
        ++*ret_ops;
        end = start;
        op = cause != NUNA_NONE ? cause : first[op] ? NUNA_NONE : op - 1;
    }
    free(first);
    return true;
}
