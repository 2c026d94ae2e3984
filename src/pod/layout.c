#include "pod/layout.h"
#include <stdlib.h>
#include <string.h>

static uint64_t round_up(uint64_t value, uint64_t grain)
{
    return (value + grain - 1) / grain * grain;
}

/* Frames are given out chunk by chunk: a chunk begins on a page of its own unless it fits behind
 * its predecessors on theirs. Returns where the next one may begin. */
static uint64_t place(struct nuna_chunk_place *chunk, uint64_t position, uint64_t bytes,
                      uint64_t page_size)
{
    if (position % page_size + bytes > page_size)
        position = round_up(position, page_size);
    chunk->position = position;
    chunk->bytes = bytes;
    return position + bytes;
}

/* Places one buffer's chunks from `position` on and returns the end. */
static uint64_t place_buffer(struct nuna_chunk_place *chunks, const struct nuna_plan *plan,
                             uint32_t gpu, enum nuna_buffer buffer, uint64_t size,
                             uint64_t page_size, uint64_t position)
{
    uint32_t count = plan->gpus[gpu].chunks[buffer], ranks = plan->gpu_count;
    bool blocks = count > 0 && count % ranks == 0 &&
                  nuna_plan_chunk_block(plan, gpu, buffer, 0) != UINT32_MAX;
    uint32_t per_block = blocks ? count / ranks : count;
    for (uint32_t rel = 0; rel < (blocks ? ranks : 1); rel++) {
        uint32_t first = blocks ? (gpu + rel) % ranks * per_block : 0;
        for (uint32_t i = first; i < first + per_block; i++)
            position = place(&chunks[i], position,
                             nuna_plan_chunk_bytes(plan, size, gpu, buffer, i), page_size);
    }
    return position;
}

/* In place, input and output are one memory: the smaller buffer is the own block of the larger. */
static void alias_in_place(struct nuna_layout_gpu *gpu, const struct nuna_plan *plan,
                           uint32_t index)
{
    const uint32_t *chunks = plan->gpus[index].chunks;
    bool scatter = chunks[NUNA_BUF_INPUT] > chunks[NUNA_BUF_OUTPUT];
    int whole = scatter ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    int part = scatter ? NUNA_BUF_OUTPUT : NUNA_BUF_INPUT;
    uint32_t first = chunks[part] == chunks[whole] ? 0 : index * chunks[part];
    gpu->alias_buffer = (uint32_t)part;
    gpu->alias_whole = (uint32_t)whole;
    gpu->alias_first = first;
    for (uint32_t i = 0; i < chunks[part] && first + i < chunks[whole]; i++)
        gpu->chunks[part][i].position = gpu->chunks[whole][first + i].position;
}

bool nuna_layout_init(struct nuna_layout *layout, const struct nuna_plan *plan, uint64_t size,
                      uint64_t page_size, uint32_t line_size)
{
    memset(layout, 0, sizeof *layout);
    layout->flag_stride = line_size;
    layout->gpus = calloc(plan->gpu_count, sizeof *layout->gpus);
    if (!layout->gpus)
        return false;
    layout->gpu_count = plan->gpu_count;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        struct nuna_layout_gpu *gpu = &layout->gpus[g];
        uint64_t position = 0;
        gpu->alias_buffer = NUNA_BUFFER_COUNT;
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++) {
            gpu->chunks[b] = calloc(plan->gpus[g].chunks[b] + 1, sizeof *gpu->chunks[b]);
            if (!gpu->chunks[b])
                return false;
            position = place_buffer(gpu->chunks[b], plan, g, (enum nuna_buffer)b, size, page_size,
                                    position);
            position = round_up(position, page_size);
        }
        if (plan->inplace)
            alias_in_place(gpu, plan, g);
        gpu->flags = position;
        gpu->end = position + (uint64_t)plan->gpus[g].channel_count * line_size;
    }
    return true;
}

void nuna_layout_finish(struct nuna_layout *layout)
{
    for (uint32_t g = 0; layout->gpus && g < layout->gpu_count; g++) {
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++)
            free(layout->gpus[g].chunks[b]);
        free(layout->gpus[g].flag_position);
    }
    free(layout->gpus);
    memset(layout, 0, sizeof *layout);
}
