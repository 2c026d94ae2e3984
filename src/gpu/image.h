/* The memory image of each GPU, as a GPU sees it: where the plan's chunks, slots and flags lie. The
 * placement makes it (placement/layout.h says how). */
#ifndef NUNA_GPU_IMAGE_H
#define NUNA_GPU_IMAGE_H

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
