/* What a plan's operations move at one message size: windows, messages, parts and bytes on the
 * wire.
 *
 * Two-sided plans (MSCCL) run every threadblock's list once per window of each chunk, and cut an
 * operation of several chunks into FIFO operations of as many chunks as fit into one window; Simple
 * moves an operation in slices. Source: the executors of MSCCL (NCCL 2.12 fork), described in
 * docs/plan-formats.md. One-sided plans (MSCCL++) have pipeline loops over windows of a range, and
 * ranges that several threadblocks share. */
#ifndef NUNA_COLLECTIVES_PLAN_SHAPE_H
#define NUNA_COLLECTIVES_PLAN_SHAPE_H

#include "collectives/plan/plan.h"
#include "core/params.h"

#define NUNA_CHUNKS_PER_MESSAGE_MAX 71u /* what the executors' counters hold */

struct nuna_shape {
    const struct nuna_plan *plan;
    uint64_t size;
    uint64_t window;             /* data bytes of a chunk that one turn moves; > 0 */
    uint64_t windows;            /* turns of a threadblock; 1 without FIFOs */
    uint32_t chunks_per_message; /* of a FIFO operation, >= 1 */
    uint32_t slices;             /* messages of a FIFO operation */
    uint32_t slots;              /* messages in flight on a connection */
    uint64_t slot_bytes;         /* the longest message, on the wire */
    uint32_t line_bytes;         /* a data packet */
    uint32_t ll128_data;         /* data in 128 bytes of an LL128 line */
};

/* What of its ranges one execution of an operation moves. */
struct nuna_piece {
    uint32_t first, count;   /* chunks of each range */
    uint64_t offset, length; /* of each chunk */
    uint64_t skip, take;     /* of all that in a row */
};

/* A run of bytes within one chunk of a piece. */
struct nuna_segment {
    uint32_t chunk;         /* of the range */
    uint64_t offset, bytes; /* in the chunk */
    uint64_t before;        /* bytes of the piece before it */
    uint64_t row;           /* bytes of the row up to the end of the chunk */
};

void nuna_shape_init(struct nuna_shape *shape, const struct nuna_plan *plan, uint64_t size,
                     const struct nuna_params *params);

/* Chunks that fit one FIFO operation when the message has `size` bytes, and the largest size at
 * which `chunks` still do (0: none). Both for plans with FIFOs. */
uint32_t nuna_shape_chunks_per_message(const struct nuna_plan *plan, uint64_t size,
                                       uint64_t window);
uint64_t nuna_shape_largest_size(const struct nuna_plan *plan, uint32_t chunks, uint64_t window);
/* A window of a chunk: data bytes of one FIFO operation of the plan's protocol. */
uint64_t nuna_shape_window(const struct nuna_plan *plan, const struct nuna_params *params);
/* FIFO operations that a connection holds. */
uint32_t nuna_shape_operations(const struct nuna_plan *plan, const struct nuna_params *params);

/* Data bytes that a packet of line_bytes carries, and packets' bytes for some data. */
uint32_t nuna_shape_line_data(const struct nuna_shape *shape, enum nuna_form form);
uint64_t nuna_shape_wire_bytes(const struct nuna_shape *shape, enum nuna_form form, uint64_t data);

/* Ranges that move together: PUT, COPY and GET have one lane for each pair, others a single one. */
uint32_t nuna_op_lanes(const struct nuna_op *op);
/* The `n`-th range of a lane, its sources first; NULL behind the last. */
const struct nuna_range *nuna_lane_range(const struct nuna_plan *plan, const struct nuna_op *op,
                                         uint32_t lane, uint32_t n);
/* Bytes of chunk `chunk` that the lane moves: what all its ranges have. */
uint64_t nuna_lane_chunk_bytes(const struct nuna_shape *shape, const struct nuna_op *op,
                               uint32_t lane, uint32_t chunk);

/* Turns of a LOOP. */
uint64_t nuna_shape_turns(const struct nuna_shape *shape, const struct nuna_op *loop);

/* A one-sided operation as a whole or in turn `turn` of `loop`; NULL: in none. */
void nuna_shape_piece(const struct nuna_shape *shape, const struct nuna_op *op,
                      const struct nuna_op *loop, uint64_t turn, struct nuna_piece *ret);

/* Message `n` of a FIFO operation in a window; false behind the last. */
bool nuna_shape_message(const struct nuna_shape *shape, const struct nuna_op *op, uint64_t window,
                        uint32_t n, struct nuna_piece *ret);

/* Steps to the lane's next segment that has bytes; start with `*segment` all zero. False at the
 * end. */
bool nuna_piece_next(const struct nuna_shape *shape, const struct nuna_op *op, uint32_t lane,
                     const struct nuna_piece *piece, struct nuna_segment *segment);

/* Bytes, as they are on the wire, that the whole plan moves between GPUs: what a run must deliver.
 * Of ranges that differ in length the shorter counts. A store to a switch group counts once for
 * each GPU, a load from one once. */
uint64_t nuna_shape_remote_bytes(const struct nuna_shape *shape);

#endif
