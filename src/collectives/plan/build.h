/* Appends to a plan's flat arrays. The reader and the generator both build through here, so that
 * the same plan always has the same arrays. Failure sticks: check once, at the end. */
#ifndef NUNA_COLLECTIVES_PLAN_BUILD_H
#define NUNA_COLLECTIVES_PLAN_BUILD_H

#include "collectives/plan/plan.h"

struct nuna_builder {
    struct nuna_plan *plan;
    size_t threadblock_cap, op_cap, range_cap, id_cap, channel_cap, sem_cap;
    size_t group_cap, group_rank_cap;
    struct nuna_op dummy;
    bool no_memory;
    bool too_large; /* an index would not fit in 32 bits, or a count in 16 */
};

bool nuna_builder_init(struct nuna_builder *builder, uint32_t gpu_count, struct nuna_error *err);

/* Threadblocks, channels and semaphores that follow belong to this GPU. */
void nuna_builder_gpu(struct nuna_builder *builder, uint32_t gpu);
void nuna_builder_threadblock(struct nuna_builder *builder, uint32_t gpu);
void nuna_builder_channel(struct nuna_builder *builder, uint32_t gpu, struct nuna_channel channel);
void nuna_builder_semaphore(struct nuna_builder *builder, uint32_t gpu, uint32_t initial);

/* Appends to the newest threadblock; sources, then destinations, then ids, belong to the newest op.
 */
void nuna_builder_op(struct nuna_builder *builder, enum nuna_op_kind kind, bool relaxed);
void nuna_builder_barrier(struct nuna_builder *builder, uint32_t id, uint32_t blocks);
void nuna_builder_source(struct nuna_builder *builder, struct nuna_range range);
void nuna_builder_destination(struct nuna_builder *builder, struct nuna_range range);
void nuna_builder_id(struct nuna_builder *builder, uint32_t id);

/* The newest operation, to fill in the rest; a dummy after a failure. */
struct nuna_op *nuna_builder_newest(struct nuna_builder *builder);

/* A switch group, then its GPUs. */
void nuna_builder_group(struct nuna_builder *builder);
void nuna_builder_group_rank(struct nuna_builder *builder, uint32_t rank);

/* Adds a line to the plan's warnings. */
void nuna_builder_warn(struct nuna_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool nuna_builder_failed(const struct nuna_builder *builder);

/* The finished plan, or NULL with the reason; the builder is empty afterwards. */
struct nuna_plan *nuna_builder_finish(struct nuna_builder *builder, struct nuna_error *err);
void nuna_builder_discard(struct nuna_builder *builder);

#endif
