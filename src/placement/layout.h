/* Where the plan's chunks lie in each GPU's memory.
 *
 * The image of a GPU holds its input, output and scratch buffer and its flags, each from a page
 * boundary. Frames are given out chunk by chunk: a chunk begins on a page of its own, unless it
 * fits behind its predecessors on theirs. The blocks of a buffer that has one block per rank come
 * in relative order (own rank first, then own + 1, ...), which makes every GPU's memory look the
 * same from its own seat. Where a chunk lies in virtual memory is the plan's business, where its
 * frames lie is the driver's choice. In a plan that runs in place the smaller of input and output
 * is the GPU's own block of the larger. Scratch that holds packets is twice as long. The slots of
 * the connections that the GPU receives from lie between the buffers and the flags.
 */
#ifndef NUNA_PLACEMENT_LAYOUT_H
#define NUNA_PLACEMENT_LAYOUT_H

#include "collectives/plan/shape.h"

struct nuna_chunk_place {
    uint64_t position, bytes; /* bytes of data */
};

struct nuna_layout_gpu {
    struct nuna_chunk_place *chunks[NUNA_BUFFER_COUNT];
    uint64_t *slots;         /* [channel]: first slot of a receiving end */
    uint64_t flags;          /* first of the flags' pages; one line each */
    uint64_t *flag_position; /* [channel], or NULL: side by side from `flags` on */
    /* In place, chunk i of `alias_buffer` is chunk alias_first + i of `alias_whole`; else
     * NUNA_BUFFER_COUNT. */
    uint32_t alias_buffer, alias_whole, alias_first;
    uint64_t end;
};

struct nuna_layout {
    struct nuna_layout_gpu *gpus;
    const struct nuna_shape *shape;
    uint32_t gpu_count;
    uint32_t flag_stride;    /* bytes between flags: a line */
    uint32_t scratch_factor; /* 2 where scratch holds packets */
    uint64_t scratch_wrap;   /* bytes of a scratch chunk after which it begins anew */
};

/* `shape` must live as long as the layout. */
bool nuna_layout_init(struct nuna_layout *layout, const struct nuna_shape *shape,
                      uint64_t page_size, uint32_t line_size);
/* Lays the chunks out again for a placement by domains: chunks shorter than a page share pages only
 * with chunks of their own domain. `domain` has an entry per chunk, GPU by GPU, buffer by buffer;
 * `domains` and more stand for none. */
void nuna_layout_pack(struct nuna_layout *layout, const struct nuna_plan *plan, uint64_t page_size,
                      const uint32_t *domain, uint32_t domains);

void nuna_layout_finish(struct nuna_layout *layout);

/* A slot of a connection in its receiver's memory. */
static inline uint64_t nuna_layout_slot(const struct nuna_layout *layout, uint32_t gpu,
                                        uint32_t channel, uint32_t slot)
{
    return layout->gpus[gpu].slots[channel] + slot * layout->shape->slot_bytes;
}

static inline uint64_t nuna_layout_flag(const struct nuna_layout *layout, uint32_t gpu,
                                        uint32_t channel)
{
    const struct nuna_layout_gpu *places = &layout->gpus[gpu];
    return places->flag_position ? places->flag_position[channel]
                                 : places->flags + (uint64_t)channel * layout->flag_stride;
}

#endif
