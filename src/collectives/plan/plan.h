/* The one representation of a collective plan. Readers and generators make it, the checker proves
 * it, the placement reads it and the executor runs it; none of them knows a file format.
 *
 * program -> GPU -> threadblock -> operations over chunk ranges, with counting semaphores, barriers
 * and signal/wait channels. Everything is held in flat arrays that an index range points into. */
#ifndef NUNA_COLLECTIVES_PLAN_PLAN_H
#define NUNA_COLLECTIVES_PLAN_PLAN_H

#include "collectives/plan/collective.h"
#include "core/error.h"
#include "core/types.h"

enum nuna_buffer {
    NUNA_BUF_INPUT,
    NUNA_BUF_OUTPUT,
    NUNA_BUF_SCRATCH,
};
#define NUNA_BUFFER_COUNT 3

/* How data look on a connection or in a scratch buffer. */
enum nuna_form {
    NUNA_FORM_DATA,
    NUNA_FORM_LL,    /* packets: 8 bytes of data and 8 of flags */
    NUNA_FORM_LL128, /* lines of 128 bytes that end in a flag */
};

/* A run of chunks of one buffer of one GPU, or of all GPUs of a switch group. */
struct nuna_range {
    uint32_t gpu;
    uint8_t buffer;   /* enum nuna_buffer */
    uint8_t form;     /* enum nuna_form: DATA, or LL in scratch, at twice the offset */
    uint8_t is_group; /* `gpu` is a switch group: stores go to all its GPUs, loads add them up */
    uint32_t index;   /* first chunk */
    uint32_t count;   /* chunks, >= 1 */
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
    NUNA_OP_GET,         /* dst[i] (local) = src[i] (remote) */
    NUNA_OP_FORWARD,     /* every dst = src[0] */
    NUNA_OP_FIFO,        /* receive, reduce, store, send: as the flags say; two-sided */
    NUNA_OP_DEPEND,      /* wait until threadblock dep_tb has posted step dep_step */
    NUNA_OP_POST,        /* tell the GPU's other threadblocks that step dep_step is done */
    NUNA_OP_FLUSH,       /* wait until the proxy has finished all earlier requests */
    NUNA_OP_LOOP,        /* the next loop_ops operations, once for every loop_unit bytes */
};

enum nuna_op_flag {
    NUNA_OP_RECEIVES = 1, /* FIFO: takes a message from the threadblock's receiving connection */
    NUNA_OP_SENDS = 2,    /* FIFO: the result goes into the sending connection */
    NUNA_OP_PORT = 4,     /* done by the proxy; ids[0 ..] are the channels of the destinations */
    NUNA_OP_SIGNALS = 8,  /* PORT: a signal follows the data */
    NUNA_OP_FLUSHES = 16, /* PORT: the block waits until the data and signal are through */
    NUNA_OP_AWAITS = 32,  /* PORT: the block waits for the source's packets first */
};

struct nuna_op {
    uint8_t kind;       /* enum nuna_op_kind */
    uint8_t relaxed;    /* SIGNAL without ordering behind earlier stores */
    uint16_t src_count; /* ranges[src_at ..] */
    uint16_t dst_count; /* ranges[dst_at ..] */
    uint16_t id_count;  /* ids[id_at ..]: channels (SIGNAL, WAIT) or semaphores of the GPU */
    union {
        uint32_t src_at;
        uint32_t loop_unit; /* bytes, > 0 */
    };
    uint32_t dst_at, id_at;
    union {
        uint32_t barrier_id; /* dense per GPU */
        uint32_t dep_tb;     /* of the GPU */
        uint32_t loop_ops;
    };
    union {
        uint32_t barrier_blocks;
        uint32_t dep_step;
        uint32_t loop_chunks; /* the loop covers so many chunks */
    };
    uint16_t part, parts; /* the block does part `part` of `parts` of every range; parts 0: all */
    uint8_t flags;        /* enum nuna_op_flag */
    uint32_t step;        /* its number in the file's list, for messages */
};

#define NUNA_NO_CHANNEL UINT32_MAX

struct nuna_threadblock {
    uint32_t op_at, op_count;            /* ops[op_at ..] */
    uint32_t send_channel, recv_channel; /* FIFO ends among the GPU's channels, or NO_CHANNEL */
};

enum nuna_channel_kind {
    NUNA_CHANNEL_MEMORY,
    NUNA_CHANNEL_PORT,     /* signals go through the proxy */
    NUNA_CHANNEL_SENDS,    /* FIFO: counts free slots */
    NUNA_CHANNEL_RECEIVES, /* FIFO: counts full slots; the slots lie in this GPU's memory */
};

/* One end of a signalling channel. The other end is the channel `peer_channel` of GPU `peer`. A
 * signal on this end raises the counter of the other end; a wait on this end consumes this end's
 * counter. */
struct nuna_channel {
    uint32_t peer;
    uint32_t peer_channel;
    uint32_t kind;   /* enum nuna_channel_kind */
    uint32_t number; /* in the file: MSCCL's channel, or the position among those of its kind */
};

/* GPUs that a switch stores to at once, and adds up. */
struct nuna_switch_group {
    uint32_t rank_at, rank_count; /* group_ranks[rank_at ..] */
};

struct nuna_plan_gpu {
    uint32_t chunks[NUNA_BUFFER_COUNT]; /* input, output, scratch */
    uint32_t tb_at, tb_count;           /* threadblocks[tb_at ..] */
    uint32_t channel_at, channel_count; /* channels[channel_at ..] */
    uint32_t sem_at, sem_count;         /* sem_init[sem_at ..] */
    uint32_t barrier_count;
};

enum nuna_plan_format {
    NUNA_PLAN_GENERATED,
    NUNA_PLAN_JSON2, /* MSCCL++ 0.8 and later */
    NUNA_PLAN_JSON1, /* MSCCL++ 0.5 to 0.7 */
    NUNA_PLAN_XML,   /* MSCCL */
};

struct nuna_plan {
    char name[128];
    char source[512]; /* file path, or "builtin:allgather,..." */
    enum nuna_collective collective;
    char collective_name[32];
    bool inplace;
    uint32_t gpu_count;
    uint32_t gpus_per_node;      /* its relative order is that of core/group.h; 0: rotation */
    bool both_places;            /* written for out of place, but may run in place, too */
    uint64_t grain;              /* bytes: chunks are split in multiples of it */
    uint64_t min_size, max_size; /* inclusive message size window, bytes */

    enum nuna_plan_format format;
    enum nuna_form protocol;  /* of connections; of packets, where there are any */
    uint32_t chunks_per_loop; /* MSCCL: the whole message in chunks; 0: the plan has no FIFOs */
    uint32_t chunk_groups;    /* MSCCL++ 1: an all-reduce is cut into groups first; 0: by ranks */
    bool even;                /* all chunks have one length; the message is padded to fit */
    bool reuse_scratch;       /* scratch is one area of 64 MiB that long chunks wrap in */
    bool half_scratch;        /* of that area a call has one half, the next call the other */
    char *warnings;           /* lines, or NULL */

    struct nuna_plan_gpu *gpus;
    struct nuna_threadblock *threadblocks;
    struct nuna_op *ops;
    struct nuna_range *ranges;
    uint32_t *ids;
    struct nuna_channel *channels;
    uint32_t *sem_init;
    struct nuna_switch_group *groups;
    uint32_t *group_ranks;
    size_t threadblock_count, op_count, range_count, id_count, channel_count, sem_count;
    size_t group_count, group_rank_count;
};

void nuna_plan_destroy(struct nuna_plan *plan); /* NULL is fine */

const char *nuna_buffer_name(uint32_t buffer); /* enum nuna_buffer: "input" */

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

/* The same for every chunk of an `even` plan. */
uint64_t nuna_plan_even_bytes(const struct nuna_plan *plan, uint64_t size);

/* The owner rank ("block") of a chunk, or UINT32_MAX when the buffer has no per-rank blocks. */
uint32_t nuna_plan_chunk_block(const struct nuna_plan *plan, uint32_t gpu, enum nuna_buffer buffer,
                               uint32_t index);

#endif
