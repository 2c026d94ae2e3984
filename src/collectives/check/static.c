/* What can be told of a plan without running it. */
#include "collectives/check/static.h"
#include "collectives/plan/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNKS_MOVED_MAX (UINT64_C(1) << 31)

/* Where the operation being checked stands. */
struct where {
    const struct nuna_plan *plan;
    struct nuna_error *err;
    uint32_t gpu, tb, op;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct where *at, const char *format,
                                                        ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return nuna_fail(at->err, NUNA_EXIT_BAD_INPUT, "%s: GPU %u threadblock %u op %u: %s",
                     at->plan->source, at->gpu, at->tb, at->op, what);
}

static bool check_chunks(const struct where *at, const struct nuna_range *range, uint32_t gpu)
{
    uint32_t chunks = at->plan->gpus[gpu].chunks[range->buffer];
    if (range->count == 0 || range->index >= chunks || range->count > chunks - range->index)
        return wrong(at, "%u chunk%s from chunk %u on, but the %s of GPU %u has %u", range->count,
                     range->count == 1 ? "" : "s", range->index, nuna_buffer_name(range->buffer),
                     gpu, chunks);
    return true;
}

/* Who may stand at this place of an operation. */
enum owner { OWNER_SELF, OWNER_OTHER, OWNER_ANY };

static bool check_range(const struct where *at, const struct nuna_range *range, enum owner owner)
{
    const struct nuna_plan *plan = at->plan;
    bool known = range->is_group ? range->gpu < plan->group_count : range->gpu < plan->gpu_count;
    if (!known || range->buffer >= NUNA_BUFFER_COUNT)
        return wrong(at, "a range on %s %u, buffer %u, which do not exist",
                     range->is_group ? "group" : "GPU", range->gpu, range->buffer);
    if (range->is_group) {
        const struct nuna_switch_group *group = &plan->groups[range->gpu];
        for (uint32_t i = 0; i < group->rank_count; i++)
            if (!check_chunks(at, range, plan->group_ranks[group->rank_at + i]))
                return false;
        return owner != OWNER_SELF || wrong(at, "a switch group where a local operand is needed");
    }
    if (!check_chunks(at, range, range->gpu))
        return false;
    if (owner == OWNER_OTHER && range->gpu == at->gpu)
        return wrong(at, "a put to its own GPU");
    if (owner == OWNER_SELF && range->gpu != at->gpu)
        return wrong(at, "a local operand on GPU %u", range->gpu);
    return true;
}

static bool check_lists(const struct where *at, const struct nuna_op *op)
{
    const struct nuna_plan *plan = at->plan;
    bool pairs = op->kind == NUNA_OP_PUT || op->kind == NUNA_OP_COPY || op->kind == NUNA_OP_GET;
    bool simple = op->kind == NUNA_OP_REDUCE || op->kind == NUNA_OP_FORWARD;
    if (op->src_count > plan->range_count || op->src_at > plan->range_count - op->src_count ||
        op->dst_count > plan->range_count || op->dst_at > plan->range_count - op->dst_count)
        return wrong(at, "its ranges are outside the plan's");
    if ((pairs || simple) &&
        (op->src_count == 0 || (pairs && op->dst_count != op->src_count) || op->dst_count == 0))
        return wrong(at, "%u sources and %u destinations, expected %s", op->src_count,
                     op->dst_count, pairs ? "as many of both" : "some of both");
    if (op->parts > 1 && op->part >= op->parts)
        return wrong(at, "part %u of %u", op->part, op->parts);
    return true;
}

/* A FIFO operation has one of what its flags ask for, or a local operand. */
static bool check_fifo(const struct where *at, const struct nuna_op *op)
{
    const struct nuna_plan_gpu *gpu = &at->plan->gpus[at->gpu];
    const struct nuna_threadblock *tb = &at->plan->threadblocks[gpu->tb_at + at->tb];
    bool receives = op->flags & NUNA_OP_RECEIVES, sends = op->flags & NUNA_OP_SENDS;
    if ((receives && tb->recv_channel >= gpu->channel_count) ||
        (sends && tb->send_channel >= gpu->channel_count))
        return wrong(at, "uses a connection that its threadblock does not have");
    if (op->src_count + op->dst_count == 0 || op->src_count > 1 || op->dst_count > 1 ||
        !(receives || op->src_count == 1) || !(sends || op->dst_count == 1))
        return wrong(at, "%u sources and %u destinations do not fit what it receives and sends",
                     op->src_count, op->dst_count);
    return true;
}

static bool check_move(const struct where *at, const struct nuna_op *op)
{
    const struct nuna_plan *plan = at->plan;
    if (!check_lists(at, op) || (op->kind == NUNA_OP_FIFO && !check_fifo(at, op)))
        return false;
    enum owner source = op->kind == NUNA_OP_GET      ? OWNER_OTHER
                        : op->kind == NUNA_OP_REDUCE ? OWNER_ANY
                                                     : OWNER_SELF;
    enum owner destination = op->kind == NUNA_OP_PUT ? OWNER_OTHER
                             : op->kind == NUNA_OP_REDUCE || op->kind == NUNA_OP_FORWARD
                                 ? OWNER_ANY
                                 : OWNER_SELF;
    const struct nuna_range *first = NULL, *range;
    uint32_t lanes = nuna_op_lanes(op);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t sources = lanes > 1 || (op->kind != NUNA_OP_REDUCE && op->kind != NUNA_OP_FIFO)
                               ? 1
                               : op->src_count;
        first = nuna_lane_range(plan, op, lane, 0);
        for (uint32_t n = 0; (range = nuna_lane_range(plan, op, lane, n)) != NULL; n++) {
            if (!check_range(at, range, n < sources ? source : destination))
                return false;
            if (range->count != first->count)
                return wrong(at, "%u chunks into %u", first->count, range->count);
        }
    }
    return true;
}

static bool check_ids(const struct where *at, const struct nuna_op *op, uint32_t limit,
                      const char *what)
{
    const struct nuna_plan *plan = at->plan;
    if (op->id_count > plan->id_count || op->id_at > plan->id_count - op->id_count)
        return wrong(at, "its list of %ss is outside the plan's", what);
    if (op->id_count == 0)
        return wrong(at, "names no %s", what);
    for (uint32_t i = 0; i < op->id_count; i++) {
        uint32_t id = plan->ids[op->id_at + i];
        if (id >= limit)
            return wrong(at, "%s %u, but GPU %u has %u", what, id, at->gpu, limit);
    }
    return true;
}

/* What the threadblocks of one GPU say about each of its barriers. */
struct barrier_use {
    uint32_t blocks; /* as the first operation says; 0: not seen */
    uint32_t users;  /* threadblocks so far */
    uint32_t last_user;
};

static bool check_barrier(const struct where *at, const struct nuna_op *op,
                          struct barrier_use *uses)
{
    uint32_t count = at->plan->gpus[at->gpu].barrier_count;
    if (op->barrier_id >= count)
        return wrong(at, "barrier %u, but GPU %u has %u", op->barrier_id, at->gpu, count);
    if (op->barrier_blocks == 0)
        return wrong(at, "barrier %u of no threadblocks", op->barrier_id);
    struct barrier_use *use = &uses[op->barrier_id];
    if (use->blocks != 0 && use->blocks != op->barrier_blocks)
        return wrong(at, "barrier %u of %u threadblocks, but an earlier operation says %u",
                     op->barrier_id, op->barrier_blocks, use->blocks);
    if (use->blocks == 0 || use->last_user != at->tb)
        use->users++;
    use->blocks = op->barrier_blocks;
    use->last_user = at->tb;
    return true;
}

static bool check_depend(const struct where *at, const struct nuna_op *op)
{
    uint32_t count = at->plan->gpus[at->gpu].tb_count;
    return op->dep_tb < count ||
           wrong(at, "depends on threadblock %u, but GPU %u has %u", op->dep_tb, at->gpu, count);
}

static bool check_op(const struct where *at, const struct nuna_op *op, struct barrier_use *uses)
{
    const struct nuna_plan_gpu *gpu = &at->plan->gpus[at->gpu];
    const struct nuna_threadblock *tb = &at->plan->threadblocks[gpu->tb_at + at->tb];
    switch (op->kind) {
    case NUNA_OP_NOP:
    case NUNA_OP_POST:
    case NUNA_OP_FLUSH:
        return true;
    case NUNA_OP_DEPEND:
        return check_depend(at, op);
    case NUNA_OP_LOOP:
        return (op->loop_unit > 0 && op->loop_ops < tb->op_count - at->op) ||
               wrong(at, "a loop of %u operations over %u bytes", op->loop_ops, op->loop_unit);
    case NUNA_OP_PUT:
    case NUNA_OP_COPY:
    case NUNA_OP_REDUCE:
    case NUNA_OP_GET:
    case NUNA_OP_FORWARD:
    case NUNA_OP_FIFO:
        return check_move(at, op) &&
               (!(op->flags & NUNA_OP_PORT) || check_ids(at, op, gpu->channel_count, "channel"));
    case NUNA_OP_SIGNAL:
    case NUNA_OP_WAIT:
        return check_ids(at, op, gpu->channel_count, "channel");
    case NUNA_OP_SEM_ACQUIRE:
    case NUNA_OP_SEM_RELEASE:
        return check_ids(at, op, gpu->sem_count, "semaphore");
    case NUNA_OP_BARRIER:
        return check_barrier(at, op, uses);
    default:
        return wrong(at, "unknown kind of operation %u", op->kind);
    }
}

static bool check_channels(const struct nuna_plan *plan, uint32_t gpu, struct nuna_error *err)
{
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    for (uint32_t i = 0; i < g->channel_count; i++) {
        const struct nuna_channel *end = &plan->channels[g->channel_at + i];
        bool good = end->peer < plan->gpu_count && end->peer != gpu &&
                    end->peer_channel < plan->gpus[end->peer].channel_count;
        if (good) {
            const struct nuna_channel *other =
                &plan->channels[plan->gpus[end->peer].channel_at + end->peer_channel];
            good = other->peer == gpu && other->peer_channel == i;
        }
        if (!good)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: GPU %u channel %u: leads to GPU %u channel %u, which does not "
                             "lead back",
                             plan->source, gpu, i, end->peer, end->peer_channel);
    }
    return true;
}

static bool check_gpu(const struct nuna_plan *plan, uint32_t gpu, struct nuna_error *err)
{
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    struct where at = {plan, err, gpu, 0, 0};
    if (!check_channels(plan, gpu, err))
        return false;
    struct barrier_use *uses = calloc((size_t)g->barrier_count + 1, sizeof *uses);
    if (uses == NULL)
        return nuna_fail_memory(err, "the barriers of a plan");
    bool good = true;
    for (at.tb = 0; good && at.tb < g->tb_count; at.tb++) {
        const struct nuna_threadblock *tb = &plan->threadblocks[g->tb_at + at.tb];
        for (at.op = 0; good && at.op < tb->op_count; at.op++)
            good = check_op(&at, &plan->ops[tb->op_at + at.op], uses);
    }
    for (uint32_t i = 0; good && i < g->barrier_count; i++) {
        if (uses[i].users != uses[i].blocks)
            good = nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: GPU %u barrier %u: is for %u threadblocks, but %u use it",
                             plan->source, gpu, i, uses[i].blocks, uses[i].users);
    }
    free(uses);
    return good;
}

/* How often each channel end is signalled and waited at; loops count as one turn. */
static void count_signals(const struct nuna_plan *plan, uint32_t gpu, uint64_t *signals,
                          uint64_t *waits)
{
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    for (uint32_t t = 0; t < g->tb_count; t++) {
        const struct nuna_threadblock *tb = &plan->threadblocks[g->tb_at + t];
        for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++) {
            const struct nuna_op *op = &plan->ops[o];
            bool raises = op->kind == NUNA_OP_SIGNAL || (op->flags & NUNA_OP_SIGNALS) != 0;
            bool takes = op->kind == NUNA_OP_WAIT;
            for (uint32_t i = 0; (raises || takes) && i < op->id_count; i++) {
                uint32_t own = g->channel_at + plan->ids[op->id_at + i];
                const struct nuna_channel *end = &plan->channels[own];
                if (takes)
                    waits[own]++;
                else
                    signals[plan->gpus[end->peer].channel_at + end->peer_channel]++;
            }
        }
    }
}

/* A signal that nobody takes would be taken by the next call. */
static bool check_signals(const struct nuna_plan *plan, struct nuna_error *err)
{
    uint64_t *counts = calloc(2 * plan->channel_count + 1, sizeof *counts);
    if (counts == NULL)
        return nuna_fail_memory(err, "the signals of a plan");
    uint64_t *signals = counts, *waits = counts + plan->channel_count;
    bool good = true;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        count_signals(plan, g, signals, waits);
    for (uint32_t g = 0; good && g < plan->gpu_count; g++)
        for (uint32_t c = 0; good && c < plan->gpus[g].channel_count; c++) {
            uint32_t at = plan->gpus[g].channel_at + c;
            const struct nuna_channel *end = &plan->channels[at];
            if (signals[at] > waits[at])
                good =
                    nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                              "%s: %u->%u %s channel %u: %llu signal%s, %llu wait%s", plan->source,
                              end->peer, g, end->kind == NUNA_CHANNEL_PORT ? "port" : "memory", c,
                              (unsigned long long)signals[at], signals[at] == 1 ? "" : "s",
                              (unsigned long long)waits[at], waits[at] == 1 ? "" : "s");
        }
    free(counts);
    return good;
}

/* In place (`shared`) one buffer is enough, and the other may have no chunks. */
static bool good_proportion(const struct nuna_collective_rule *rule, uint64_t input,
                            uint64_t output, uint64_t ranks, bool shared)
{
    uint64_t large = input > output ? input : output, small = input > output ? output : input;
    if (rule->own_input || rule->own_output) {
        large = rule->own_input ? output : input;
        small = rule->own_input ? input : output;
        return large > 0 && large % ranks == 0 &&
               (small * ranks == large || (shared && small == 0));
    }
    return large > 0 && (!rule->personal || large % ranks == 0) &&
           (small == large || (shared && small == 0));
}

/* Input and output chunks in the proportion that the collective has. */
static bool check_shape(const struct nuna_plan *plan, uint32_t gpu, struct nuna_error *err)
{
    const struct nuna_collective_rule *rule = nuna_collective_rule(plan->collective);
    const uint32_t *chunks = plan->gpus[gpu].chunks, *first = plan->gpus[0].chunks;
    uint64_t input = chunks[NUNA_BUF_INPUT], output = chunks[NUNA_BUF_OUTPUT];
    uint64_t ranks = plan->gpu_count;
    if (plan->collective == NUNA_COLLECTIVE_OTHER)
        return true;
    bool good = good_proportion(rule, input, output, ranks, plan->inplace);
    if (input + output == 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: GPU %u has neither input nor output chunks",
                         plan->source, gpu);
    if (!good)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: GPU %u has %llu input and %llu output chunks, an %s of %u GPU%s "
                         "needs %s",
                         plan->source, gpu, (unsigned long long)input, (unsigned long long)output,
                         rule->name, plan->gpu_count, plan->gpu_count == 1 ? "" : "s",
                         rule->chunks);
    if (chunks[NUNA_BUF_INPUT] != first[NUNA_BUF_INPUT] ||
        chunks[NUNA_BUF_OUTPUT] != first[NUNA_BUF_OUTPUT])
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: GPU %u has %llu input and %llu output chunks, but GPU 0 has %u and "
                         "%u",
                         plan->source, gpu, (unsigned long long)input, (unsigned long long)output,
                         first[NUNA_BUF_INPUT], first[NUNA_BUF_OUTPUT]);
    return true;
}

/* A few long ranges in many operations could keep the symbolic run busy for days. */
static bool check_effort(const struct nuna_plan *plan, struct nuna_error *err)
{
    uint64_t chunks = 0;
    for (size_t i = 0; i < plan->range_count; i++)
        chunks += plan->ranges[i].count;
    return chunks <= CHUNKS_MOVED_MAX ||
           nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "%s: its operations move more than 2^31 chunks, too many to check",
                     plan->source);
}

bool nuna_check_static(const struct nuna_plan *plan, struct nuna_error *err)
{
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        if (!check_gpu(plan, gpu, err))
            return false;
    }
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        if (!check_shape(plan, gpu, err))
            return false;
    }
    return check_signals(plan, err) && check_effort(plan, err);
}
