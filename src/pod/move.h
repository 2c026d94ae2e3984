/* Moves with several ends: any number of local or remote sources, a sum, any number of local or
 * remote destinations; packets that are read as they come; messages of connections; switch groups.
 * The plain PUT, COPY and REDUCE of pod/cu_engine.c need none of this. Private to src/pod.
 *
 * A line of a move is a record that waits for its sources (local loads, or fetches from other GPUs)
 * and then hands its stores, flights of kind PUT and COPY, to the CU. */
#ifndef NUNA_POD_MOVE_H
#define NUNA_POD_MOVE_H

#include "pod/gpu_lp.h"

/* Where packets arrive: a chunk of scratch, or a slot of a connection. */
struct nuna_arrival {
    uint64_t bytes;  /* so far, on the wire */
    uint64_t taken;  /* slots: by messages that are through */
    uint32_t waiter; /* first threadblock that waits for more, through `next` */
};

/* One source or destination of the segment being moved. */
struct nuna_end {
    uint32_t gpu;     /* or switch group */
    uint32_t arrival; /* place there, or NUNA_NONE */
    uint32_t chunk;   /* of `buffer`, where it is a group */
    uint8_t buffer, form;
    bool group, slot;
    uint64_t base; /* position of the chunk's or slot's first byte */
    uint64_t wrap;
    uint64_t ahead; /* bytes of the segment that prefetches cover */
};

/* A threadblock's move in progress. */
struct nuna_mover {
    const struct nuna_op *op;
    struct nuna_move move;
    uint32_t lane, last_lane;
    struct nuna_segment segment;
    uint64_t line;        /* data offset in the segment */
    uint64_t slot_offset; /* of the segment in the slots, on the wire */
    uint32_t line_data;   /* data of a line */
    uint32_t source;      /* next to load of this line */
    uint32_t record;      /* flight of this line */
    uint32_t source_count, end_count, end_cap;
    bool awaiting;          /* packets, before a request to the proxy */
    struct nuna_end ends[]; /* sources first; as many as any operation has */
};

/* The most ends that one operation of the plan has. */
uint32_t nuna_move_most_ends(const struct nuna_plan *plan);
/* The threadblock's, made when it first moves: most threadblocks of most plans never do. NULL, and
 * noted, on lack of memory. */
struct nuna_mover *nuna_mover_of(struct nuna_gpu_lp *gpu, uint32_t tb);
bool nuna_movers_init(struct nuna_gpu_lp *gpu);
void nuna_movers_finish(struct nuna_gpu_lp *gpu);

/* Starts lanes [first, end) of an operation; true when there is nothing to move. */
bool nuna_move_start(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op,
                     const struct nuna_move *move, uint32_t first_lane, uint32_t end_lane);
/* The CU has an issue slot for the threadblock, which is in no list now. */
void nuna_move_issue(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t tb);
/* A source has come to the CU. */
void nuna_move_loaded(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t handle);
/* A store of packets has landed. */
void nuna_move_arrived(struct nuna_gpu_lp *gpu, uint32_t place, uint32_t bytes);
/* All packets that the operation's sources stand for have come. */
bool nuna_move_has_all(const struct nuna_gpu_lp *gpu, const struct nuna_op *op);

/* pod/proxy.c: requests of blocks to the thread that drives port channels. */
bool nuna_proxy_init(struct nuna_gpu_lp *gpu);
void nuna_proxy_finish(struct nuna_gpu_lp *gpu);
/* Each is true when the block goes on at once. */
bool nuna_proxy_move(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op,
                     const struct nuna_move *move);
bool nuna_proxy_signal(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                       uint32_t count);
bool nuna_proxy_flush(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op);
void nuna_proxy_event(struct nuna_gpu_lp *gpu);
/* No request is left. */
bool nuna_proxy_idle(const struct nuna_gpu_lp *gpu);
/* Its move has issued its last store, or its stores are all acknowledged. */
void nuna_proxy_moved(struct nuna_gpu_lp *gpu);
void nuna_proxy_acked(struct nuna_gpu_lp *gpu);
/* The packets that a block awaits may be there. */
void nuna_proxy_retry(struct nuna_gpu_lp *gpu, uint32_t tb);

static inline uint32_t nuna_proxy_tb(const struct nuna_gpu_lp *gpu)
{
    return gpu->plan_tb_count + gpu->tile_count;
}

#endif
