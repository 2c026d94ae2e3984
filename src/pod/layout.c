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
    /* A buffer that holds the GPU's own block only has nothing to turn. */
    bool blocks = count > 0 && count % ranks == 0 &&
                  nuna_plan_chunk_block(plan, gpu, buffer, 0) !=
                      nuna_plan_chunk_block(plan, gpu, buffer, count - 1);
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
static void find_alias(struct nuna_layout_gpu *gpu, const struct nuna_plan *plan, uint32_t index)
{
    const uint32_t *chunks = plan->gpus[index].chunks;
    bool scatter = chunks[NUNA_BUF_INPUT] > chunks[NUNA_BUF_OUTPUT];
    uint32_t whole = scatter ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    uint32_t part = scatter ? NUNA_BUF_OUTPUT : NUNA_BUF_INPUT;
    bool same = chunks[part] == chunks[whole];
    bool block = (uint64_t)chunks[part] * plan->gpu_count <= chunks[whole];
    gpu->alias_buffer = NUNA_BUFFER_COUNT;
    if (!plan->inplace || !(same || block))
        return;
    gpu->alias_buffer = part;
    gpu->alias_whole = whole;
    gpu->alias_first = same ? 0 : index * chunks[part];
}

static bool lay_out(struct nuna_layout_gpu *gpu, const struct nuna_plan *plan, uint32_t index,
                    uint64_t size, uint64_t page_size, uint32_t line_size)
{
    const struct nuna_plan_gpu *plan_gpu = &plan->gpus[index];
    uint64_t position = 0;
    find_alias(gpu, plan, index);
    for (uint32_t b = 0; b < NUNA_BUFFER_COUNT; b++) {
        gpu->chunks[b] = calloc((size_t)plan_gpu->chunks[b] + 1, sizeof *gpu->chunks[b]);
        if (!gpu->chunks[b])
            return false;
        if (b == gpu->alias_buffer)
            continue;
        position = place_buffer(gpu->chunks[b], plan, index, (enum nuna_buffer)b, size, page_size,
                                position);
        position = round_up(position, page_size);
    }
    if (gpu->alias_buffer < NUNA_BUFFER_COUNT)
        memcpy(gpu->chunks[gpu->alias_buffer], &gpu->chunks[gpu->alias_whole][gpu->alias_first],
               plan_gpu->chunks[gpu->alias_buffer] * sizeof *gpu->chunks[0]);
    gpu->flags = position;
    gpu->end = position + (uint64_t)plan_gpu->channel_count * line_size;
    return true;
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
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        if (!lay_out(&layout->gpus[g], plan, g, size, page_size, line_size))
            return false;
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
