/* The one representation of a collective plan. Readers and generators make it, the checker proves
 * it, the placement reads it and the executor runs it; none of them knows a file format.
 *
 * program -> GPU -> threadblock -> operations over chunk ranges, with counting semaphores, barriers
 * and signal/wait channels. Everything is held in flat arrays that an index range points into. */
#ifndef NUNA_COLLECTIVES_PLAN_H
#define NUNA_COLLECTIVES_PLAN_H

#include "core/error.h"
#include "core/types.h"

enum nuna_collective {
    NUNA_ALLGATHER,
    NUNA_ALLREDUCE,
    NUNA_REDUCESCATTER,
    NUNA_ALLTOALL,
    NUNA_COLLECTIVE_OTHER, /* runs, but there is no postcondition to prove */
};

enum nuna_buffer {
    NUNA_BUF_INPUT,
    NUNA_BUF_OUTPUT,
    NUNA_BUF_SCRATCH,
};
#define NUNA_BUFFER_COUNT 3

/* A run of chunks of one buffer of one GPU. */
struct nuna_range {
    uint32_t gpu;
    uint8_t buffer; /* enum nuna_buffer */
    uint32_t index; /* first chunk */
    uint32_t count; /* chunks, >= 1 */
};

enum nuna_op_kind {
    NUNA_OP_NOP,     /* all threads of the block meet */
    NUNA_OP_PUT,     /* dst[i] (remote) = src[i] (local), for each pair i */
    NUNA_OP_COPY,    /* dst[i] = src[i], both local */
    NUNA_OP_REDUCE,  /* dst[0] = src[0] + src[1] + ..., all local */
    NUNA_OP_SIGNAL,  /* after this block's earlier stores have landed: +1 at each channel's peer */
    NUNA_OP_WAIT,    /* for each channel: wait for and consume one signal */
    NUNA_OP_BARRIER, /* `barrier_blocks` threadblocks of the GPU meet at barrier `barrier_id` */
    NUNA_OP_SEM_ACQUIRE, /* for each semaphore: wait until > 0, take one */
    NUNA_OP_SEM_RELEASE, /* for each semaphore: +1 */
};

struct nuna_op {
    uint8_t kind;       /* enum nuna_op_kind */
    uint8_t relaxed;    /* SIGNAL without ordering behind earlier stores */
    uint16_t src_count; /* ranges[src_at ..] */
    uint16_t dst_count; /* ranges[dst_at ..] */
    uint16_t id_count;  /* ids[id_at ..]: channels (SIGNAL, WAIT) or semaphores of the GPU */
    uint32_t src_at, dst_at, id_at;
    uint32_t barrier_id; /* dense per GPU */
    uint32_t barrier_blocks;
};

struct nuna_threadblock {
    uint32_t op_at, op_count; /* ops[op_at ..] */
};

/* One end of a signalling channel. The other end is the channel `peer_channel` of GPU `peer`. A
 * signal on this end raises the counter of the other end; a wait on this end consumes this end's
 * counter. */
struct nuna_channel {
    uint32_t peer;
    uint32_t peer_channel;
};

struct nuna_plan_gpu {
    uint32_t chunks[NUNA_BUFFER_COUNT]; /* input, output, scratch */
    uint32_t tb_at, tb_count;           /* threadblocks[tb_at ..] */
    uint32_t channel_at, channel_count; /* channels[channel_at ..] */
    uint32_t sem_at, sem_count;         /* sem_init[sem_at ..] */
    uint32_t barrier_count;
};

struct nuna_plan {
    char name[128];
    char source[512]; /* file path, or "builtin:allgather,..." */
    enum nuna_collective collective;
    char collective_name[32];
    bool inplace;
    uint32_t gpu_count;
    uint32_t gpus_per_node;      /* its relative order is that of core/group.h; 0: rotation */
    uint64_t grain;              /* bytes: chunks are split in multiples of it */
    uint64_t min_size, max_size; /* inclusive message size window, bytes */

    struct nuna_plan_gpu *gpus;
    struct nuna_threadblock *threadblocks;
    struct nuna_op *ops;
    struct nuna_range *ranges;
    uint32_t *ids;
    struct nuna_channel *channels;
    uint32_t *sem_init;
    size_t threadblock_count, op_count, range_count, id_count, channel_count, sem_count;
};

void nuna_plan_destroy(struct nuna_plan *plan); /* NULL is fine */

const char *nuna_collective_name(enum nuna_collective collective); /* "allgather"; "other" */
bool nuna_collective_parse(const char *name, enum nuna_collective *ret);

/* How a message of `size` bytes (the larger of one GPU's input and output) is cut.
 *
 * Every byte belongs to exactly one chunk. A buffer is first cut into one block per rank (when its
 * chunk count is a multiple of the ranks and the collective has such blocks), a block into its
 * chunks; both cuts go in multiples of the grain, the first parts one grain larger, the last part
 * taking the bytes that make no full grain. The block that GPU s sends to GPU d in an all-to-all
 * has the length of part (d - s) mod N, so that both sides agree. A chunk of the input of an
 * all-gather is as long as the output chunk it becomes, and likewise for reduce-scatter. Scratch
 * chunks are as long as the longest chunk of the others. Returns the bytes of the chunk; 0 is
 * possible. */
uint64_t nuna_plan_chunk_bytes(const struct nuna_plan *plan, uint64_t size, uint32_t gpu,
                               enum nuna_buffer buffer, uint32_t index);

/* The owner rank ("block") of a chunk, or UINT32_MAX when the buffer has no per-rank blocks. */
uint32_t nuna_plan_chunk_block(const struct nuna_plan *plan, uint32_t gpu, enum nuna_buffer buffer,
                               uint32_t index);

/* Bytes that all PUT operations of the plan move between different GPUs at this size: what a run
 * must deliver. A put whose source and destination chunks differ in length moves the shorter. */
uint64_t nuna_plan_remote_bytes(const struct nuna_plan *plan, uint64_t size);

#endif
