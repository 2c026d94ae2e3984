/* A threadblock that moves data: one of the plan's, one per tile of the background kernel, or the
 * proxy's. Which part a field belongs to is said beside it. */
#ifndef NUNA_GPU_TB_H
#define NUNA_GPU_TB_H

#include "core/types.h"

#define NUNA_NO_TB    UINT32_MAX
#define NUNA_TB_PROXY (UINT32_MAX - 1) /* the one that no operation of the plan runs on */

struct nuna_cu;

/* Who issues its lines. */
enum nuna_tb_work {
    NUNA_WORK_PUT,
    NUNA_WORK_MOVE,
    NUNA_WORK_BACKGROUND,
};

struct nuna_tb {
    struct nuna_cu *cu;                  /* that it runs on */
    uint32_t op;                         /* the one in progress: index into plan->ops */
    uint32_t pair;                       /* put: source and destination range; tile: its part */
    uint32_t chunk;                      /* put: of that pair */
    uint32_t leader;                     /* put: flight of a REDUCE's line */
    uint16_t operand;                    /* put: of that line, next to load */
    uint16_t dst_gpu;                    /* put */
    uint32_t pending;                    /* lines on their way that the operation waits for */
    uint64_t line, bytes;                /* put, tile: of the chunk, next offset; bytes in all */
    uint64_t src_position, dst_position; /* put, tile: of the chunk */
    uint64_t ahead;                      /* put: first position that no prefetch covers */
    uint32_t unacked;  /* signals: remote stores not acknowledged, of all operations */
    uint32_t next;     /* in the list that it is in: its CU's, an arrival's, the proxy's */
    uint8_t line_kind; /* put, tile: enum nuna_flight_kind */
    uint8_t work;      /* enum nuna_tb_work */
    bool loading;      /* lines are left to load */
    bool npa;          /* put: the chunk's destination is in another node */
    bool held;         /* signals: one waits for `unacked` to become 0 */
    bool awaiting;     /* proxy: packets, before it asks for a move */
};

_Static_assert(sizeof(struct nuna_tb) == 88, "every line looks its threadblock up: keep it small");

#endif
