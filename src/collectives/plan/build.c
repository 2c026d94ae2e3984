#include "collectives/plan/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element; NULL, and the sticky flag, when there is none. */
static void *room(struct nuna_builder *builder, void *array, size_t *cap, size_t count, size_t size)
{
    if (builder->no_memory || builder->too_large)
        return NULL;
    if (count < *cap)
        return array;
    if (count >= UINT32_MAX - 1) {
        builder->too_large = true;
        return NULL;
    }
    size_t larger = *cap < 16 ? 16 : *cap * 2;
    void *grown = larger > SIZE_MAX / size ? NULL : realloc(array, larger * size);
    if (grown == NULL) {
        builder->no_memory = true;
        return NULL;
    }
    *cap = larger;
    return grown;
}

/* Assigns only on success, so that the old array stays owned by the plan on failure. */
#define ROOM(builder, member, cap, count)                                                          \
    (grown = room(builder, (builder)->plan->member, &(builder)->cap, (builder)->plan->count,       \
                  sizeof *(builder)->plan->member)) != NULL

bool nuna_builder_init(struct nuna_builder *builder, uint32_t gpu_count, struct nuna_error *err)
{
    *builder = (struct nuna_builder){0};
    struct nuna_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return nuna_fail_memory(err, "a plan");
    builder->plan = plan;
    plan->gpu_count = gpu_count;
    plan->grain = 16;
    plan->max_size = UINT64_MAX;
    plan->gpus = calloc(gpu_count, sizeof *plan->gpus);
    /* Never NULL, even when empty. */
    plan->threadblocks = malloc(sizeof *plan->threadblocks);
    plan->ops = malloc(sizeof *plan->ops);
    plan->ranges = malloc(sizeof *plan->ranges);
    plan->ids = malloc(sizeof *plan->ids);
    plan->channels = malloc(sizeof *plan->channels);
    plan->sem_init = malloc(sizeof *plan->sem_init);
    plan->groups = malloc(sizeof *plan->groups);
    plan->group_ranks = malloc(sizeof *plan->group_ranks);
    if (plan->gpus == NULL || plan->threadblocks == NULL || plan->ops == NULL ||
        plan->ranges == NULL || plan->ids == NULL || plan->channels == NULL ||
        plan->sem_init == NULL || plan->groups == NULL || plan->group_ranks == NULL) {
        nuna_builder_discard(builder);
        return nuna_fail_memory(err, "a plan");
    }
    return true;
}

void nuna_builder_gpu(struct nuna_builder *builder, uint32_t gpu)
{
    struct nuna_plan *plan = builder->plan;
    plan->gpus[gpu].tb_at = (uint32_t)plan->threadblock_count;
    plan->gpus[gpu].channel_at = (uint32_t)plan->channel_count;
    plan->gpus[gpu].sem_at = (uint32_t)plan->sem_count;
}

void nuna_builder_threadblock(struct nuna_builder *builder, uint32_t gpu)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, threadblocks, threadblock_cap, threadblock_count)))
        return;
    plan->threadblocks = grown;
    plan->threadblocks[plan->threadblock_count++] =
        (struct nuna_threadblock){.op_at = (uint32_t)plan->op_count,
                                  .send_channel = NUNA_NO_CHANNEL,
                                  .recv_channel = NUNA_NO_CHANNEL};
    plan->gpus[gpu].tb_count++;
}

void nuna_builder_channel(struct nuna_builder *builder, uint32_t gpu, struct nuna_channel channel)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, channels, channel_cap, channel_count)))
        return;
    plan->channels = grown;
    channel.number = plan->gpus[gpu].channel_count++;
    plan->channels[plan->channel_count++] = channel;
}

void nuna_builder_semaphore(struct nuna_builder *builder, uint32_t gpu, uint32_t initial)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, sem_init, sem_cap, sem_count)))
        return;
    plan->sem_init = grown;
    plan->sem_init[plan->sem_count++] = initial;
    plan->gpus[gpu].sem_count++;
}

void nuna_builder_op(struct nuna_builder *builder, enum nuna_op_kind kind, bool relaxed)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, ops, op_cap, op_count)))
        return;
    plan->ops = grown;
    struct nuna_threadblock *tb = &plan->threadblocks[plan->threadblock_count - 1];
    plan->ops[plan->op_count++] =
        (struct nuna_op){.kind = (uint8_t)kind, .relaxed = relaxed, .step = tb->op_count++};
}

void nuna_builder_barrier(struct nuna_builder *builder, uint32_t id, uint32_t blocks)
{
    nuna_builder_op(builder, NUNA_OP_BARRIER, false);
    if (nuna_builder_failed(builder))
        return;
    struct nuna_op *op = &builder->plan->ops[builder->plan->op_count - 1];
    op->barrier_id = id;
    op->barrier_blocks = blocks;
}

/* Counts one more list element of the newest operation; `at` is set by the first. */
static bool count_one(struct nuna_builder *builder, uint16_t *count, uint32_t *at, size_t next)
{
    if (*count == UINT16_MAX) {
        builder->too_large = true;
        return false;
    }
    if ((*count)++ == 0)
        *at = (uint32_t)next;
    return true;
}

static void append_range(struct nuna_builder *builder, struct nuna_range range, bool source)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, ranges, range_cap, range_count)))
        return;
    plan->ranges = grown;
    struct nuna_op *op = &plan->ops[plan->op_count - 1];
    uint16_t *count = source ? &op->src_count : &op->dst_count;
    uint32_t *at = source ? &op->src_at : &op->dst_at;
    if (count_one(builder, count, at, plan->range_count))
        plan->ranges[plan->range_count++] = range;
}

void nuna_builder_source(struct nuna_builder *builder, struct nuna_range range)
{
    append_range(builder, range, true);
}

void nuna_builder_destination(struct nuna_builder *builder, struct nuna_range range)
{
    append_range(builder, range, false);
}

void nuna_builder_id(struct nuna_builder *builder, uint32_t id)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, ids, id_cap, id_count)))
        return;
    plan->ids = grown;
    struct nuna_op *op = &plan->ops[plan->op_count - 1];
    if (count_one(builder, &op->id_count, &op->id_at, plan->id_count))
        plan->ids[plan->id_count++] = id;
}

struct nuna_op *nuna_builder_newest(struct nuna_builder *builder)
{
    return nuna_builder_failed(builder) ? &builder->dummy
                                        : &builder->plan->ops[builder->plan->op_count - 1];
}

void nuna_builder_group(struct nuna_builder *builder)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, groups, group_cap, group_count)))
        return;
    plan->groups = grown;
    plan->groups[plan->group_count++] =
        (struct nuna_switch_group){(uint32_t)plan->group_rank_count, 0};
}

void nuna_builder_group_rank(struct nuna_builder *builder, uint32_t rank)
{
    struct nuna_plan *plan = builder->plan;
    void *grown;
    if (!(ROOM(builder, group_ranks, group_rank_cap, group_rank_count)))
        return;
    plan->group_ranks = grown;
    plan->group_ranks[plan->group_rank_count++] = rank;
    plan->groups[plan->group_count - 1].rank_count++;
}

void nuna_builder_warn(struct nuna_builder *builder, const char *format, ...)
{
    char line[512], *all = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const char *before = builder->plan->warnings;
    if (asprintf(&all, "%s%s\n", before == NULL ? "" : before, line) < 0) {
        builder->no_memory = true;
        return;
    }
    free(builder->plan->warnings);
    builder->plan->warnings = all;
}

bool nuna_builder_failed(const struct nuna_builder *builder)
{
    return builder->no_memory || builder->too_large;
}

/* Returns the unused tail of an array to the system; shrinking cannot lose the array. */
static void *trimmed(void *array, size_t count, size_t size)
{
    void *smaller = realloc(array, (count == 0 ? 1 : count) * size);
    return smaller == NULL ? array : smaller;
}

struct nuna_plan *nuna_builder_finish(struct nuna_builder *builder, struct nuna_error *err)
{
    struct nuna_plan *plan = builder->plan;
    if (builder->no_memory)
        nuna_fail_memory(err, "a plan");
    else if (builder->too_large)
        nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                  "the plan is too large: more than 2^32 operations, or 65535 entries in a list");
    if (nuna_builder_failed(builder)) {
        nuna_builder_discard(builder);
        return NULL;
    }
    plan->threadblocks =
        trimmed(plan->threadblocks, plan->threadblock_count, sizeof *plan->threadblocks);
    plan->ops = trimmed(plan->ops, plan->op_count, sizeof *plan->ops);
    plan->ranges = trimmed(plan->ranges, plan->range_count, sizeof *plan->ranges);
    plan->ids = trimmed(plan->ids, plan->id_count, sizeof *plan->ids);
    plan->channels = trimmed(plan->channels, plan->channel_count, sizeof *plan->channels);
    plan->sem_init = trimmed(plan->sem_init, plan->sem_count, sizeof *plan->sem_init);
    *builder = (struct nuna_builder){0};
    return plan;
}

void nuna_builder_discard(struct nuna_builder *builder)
{
    nuna_plan_destroy(builder->plan);
    *builder = (struct nuna_builder){0};
}
