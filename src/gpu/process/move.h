/* Moves with several ends: any number of local or remote sources, a sum, any number of local or
 * remote destinations; packets that are read as they come; messages of connections; switch groups.
 * The plain PUT, COPY and REDUCE of put.h need none of this.
 *
 * A line of a move is a record that waits for its sources (local loads, or fetches from other GPUs)
 * and then hands its stores, flights of kind STORE, CAST_STORE and KEEP, to the CU. */
#ifndef NUNA_GPU_PROCESS_MOVE_H
#define NUNA_GPU_PROCESS_MOVE_H

#include "gpu/cu.h"

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
    uint32_t source_count, end_count;
    struct nuna_end ends[]; /* sources first; as many as any operation has */
};

struct nuna_movers {
    struct nuna_mover **of; /* [threadblock of the plan], then the proxy's; NULL: it never moves */
    uint32_t count;         /* without the proxy's */
};

/* The most ends that one operation of the plan has. */
uint32_t nuna_move_most_ends(const struct nuna_plan *plan);

/* Whether it takes a move to carry out an operation of GPU `gpu`: not where all sources are local
 * and data, and the one destination, too, and all of the ranges is moved at once (`whole`). */
bool nuna_move_needed(const struct nuna_gpu_spec *spec, uint32_t gpu, const struct nuna_op *op,
                      bool whole);

/* Movers for the threadblocks that may need one, and for the proxy, if there is one. False on lack
 * of memory; destroy either way. */
bool nuna_movers_create(struct nuna_gpu *gpu, bool proxy);
void nuna_movers_destroy(struct nuna_gpu *gpu);

/* Starts lanes [first, end) of an operation; true when there is nothing to move. */
bool nuna_move_start(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const struct nuna_move *move,
                     uint32_t first_lane, uint32_t end_lane);
/* The threadblock's unit has an issue slot: its next line's next source, if it is there. */
void nuna_move_load(struct nuna_gpu *gpu, uint32_t tb);
/* A local source has come to the unit, or a fetch has been answered: its flight ends. */
void nuna_move_loaded(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle);
void nuna_move_fetched(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle);

#endif
