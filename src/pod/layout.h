/* Where the plan's chunks lie in each GPU's memory.
 *
 * The physical image of a GPU holds its input, output and scratch buffer and its flags, each from a
 * page boundary. Inside a buffer chunks lie without gaps; the blocks of a buffer that has one block
 * per rank lie in relative order (own rank first, then own + 1, ...), which makes every GPU's
 * memory look the same from its own seat. Which chunk lies where in virtual memory is the plan's
 * business, where its frames lie is the driver's choice.
 */
#ifndef NUNA_POD_LAYOUT_H
#define NUNA_POD_LAYOUT_H

#include "collectives/plan.h"

struct nuna_chunk_place {
    uint64_t position, bytes;
};

struct nuna_layout_gpu {
    struct nuna_chunk_place *chunks[NUNA_BUFFER_COUNT];
    uint64_t flags; /* position of channel 0's flag; one line each */
    uint64_t end;
};

struct nuna_layout {
    struct nuna_layout_gpu *gpus;
    uint32_t gpu_count;
    uint32_t flag_stride; /* bytes between flags: a line */
};

bool nuna_layout_init(struct nuna_layout *layout, const struct nuna_plan *plan, uint64_t size,
                      uint64_t page_size, uint32_t line_size);
void nuna_layout_finish(struct nuna_layout *layout);

#endif
