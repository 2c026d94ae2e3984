#include "placement/layout.h"
#include "core/group.h"
#include <stdlib.h>
#include <string.h>

static uint64_t round_up(uint64_t value, uint64_t grain)
{
    return (value + grain - 1) / grain * grain;
}

#define SHARED_SCRATCH (UINT64_C(64) << 20) /* MSCCL++: with reuse_resources */

/* Bytes that a chunk takes in memory. */
static uint64_t stored_bytes(const struct nuna_layout *layout, enum nuna_buffer buffer,
                             uint64_t bytes)
{
    if (buffer != NUNA_BUF_SCRATCH)
        return bytes;
    bytes *= layout->scratch_factor;
    return bytes < layout->scratch_wrap ? bytes : layout->scratch_wrap;
}

static void find_scratch(struct nuna_layout *layout, const struct nuna_plan *plan)
{
    uint32_t most = 1;
    layout->scratch_factor = 1;
    for (size_t i = 0; i < plan->range_count; i++)
        if (plan->ranges[i].form != NUNA_FORM_DATA)
            layout->scratch_factor = 2;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        if (plan->gpus[g].chunks[NUNA_BUF_SCRATCH] > most)
            most = plan->gpus[g].chunks[NUNA_BUF_SCRATCH];
    uint64_t area = plan->half_scratch ? SHARED_SCRATCH / 2 : SHARED_SCRATCH;
    uint64_t share = area / most / layout->flag_stride * layout->flag_stride;
    layout->scratch_wrap = !plan->reuse_scratch ? UINT64_MAX
                           : share > 0          ? share
                                                : layout->flag_stride;
}

/* Frames are given out chunk by chunk: a chunk begins on a page of its own unless it fits behind
 * its predecessors on theirs. Returns where the next one may begin. */
static uint64_t place(struct nuna_chunk_place *chunk, uint64_t position, uint64_t stored,
                      uint64_t page_size)
{
    if (position % page_size + stored > page_size)
        position = round_up(position, page_size);
    chunk->position = position;
    return position + stored;
}

/* The `n`-th chunk of a buffer in relative order. */
static uint32_t in_order(const struct nuna_plan *plan, uint32_t gpu, enum nuna_buffer buffer,
                         uint32_t n)
{
    uint32_t count = plan->gpus[gpu].chunks[buffer], ranks = plan->gpu_count;
    /* A buffer that holds the GPU's own block only has nothing to turn. */
    if (count % ranks != 0 || nuna_plan_chunk_block(plan, gpu, buffer, 0) ==
                                  nuna_plan_chunk_block(plan, gpu, buffer, count - 1))
        return n;
    uint32_t per_block = count / ranks;
    struct nuna_group group = nuna_group_make(ranks, plan->gpus_per_node);
    return nuna_group_add(&group, gpu, n / per_block) * per_block + n % per_block;
}

/* Places one buffer's chunks from `position` on and returns the end. */
static uint64_t place_buffer(const struct nuna_layout *layout, struct nuna_chunk_place *chunks,
                             uint32_t gpu, enum nuna_buffer buffer, uint64_t page_size,
                             uint64_t position)
{
    const struct nuna_plan *plan = layout->shape->plan;
    for (uint32_t n = 0; n < plan->gpus[gpu].chunks[buffer]; n++) {
        uint32_t i = in_order(plan, gpu, buffer, n);
        chunks[i].bytes = nuna_plan_chunk_bytes(plan, layout->shape->size, gpu, buffer, i);
        position =
            place(&chunks[i], position, stored_bytes(layout, buffer, chunks[i].bytes), page_size);
    }
    return position;
}

/* The same with known lengths: chunks of a page or more first, then the smaller ones, those of a
 * domain together. */
static uint64_t pack_buffer(const struct nuna_layout *layout, struct nuna_chunk_place *chunks,
                            uint32_t gpu, enum nuna_buffer buffer, const uint32_t *domain,
                            uint32_t domains, uint64_t page_size, uint64_t position)
{
    const struct nuna_plan *plan = layout->shape->plan;
    uint32_t count = plan->gpus[gpu].chunks[buffer];
    for (uint32_t n = 0; n < count; n++) {
        struct nuna_chunk_place *chunk = &chunks[in_order(plan, gpu, buffer, n)];
        uint64_t stored = stored_bytes(layout, buffer, chunk->bytes);
        if (stored >= page_size)
            position = place(chunk, position, stored, page_size);
    }
    for (uint32_t d = 0; d <= domains; d++) {
        position = round_up(position, page_size);
        for (uint32_t n = 0; n < count; n++) {
            uint32_t i = in_order(plan, gpu, buffer, n);
            uint64_t stored = stored_bytes(layout, buffer, chunks[i].bytes);
            if (stored < page_size && (domain[i] < domains ? domain[i] : domains) == d)
                position = place(&chunks[i], position, stored, page_size);
        }
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

/* The alias follows its whole; slots and flags come last. */
static void end_image(const struct nuna_layout *layout, struct nuna_layout_gpu *gpu, uint32_t index,
                      uint64_t position, uint64_t page_size)
{
    const struct nuna_plan *plan = layout->shape->plan;
    const struct nuna_plan_gpu *plan_gpu = &plan->gpus[index];
    if (gpu->alias_buffer < NUNA_BUFFER_COUNT)
        memcpy(gpu->chunks[gpu->alias_buffer], &gpu->chunks[gpu->alias_whole][gpu->alias_first],
               plan_gpu->chunks[gpu->alias_buffer] * sizeof *gpu->chunks[0]);
    for (uint32_t c = 0; c < plan_gpu->channel_count; c++) {
        if (plan->channels[plan_gpu->channel_at + c].kind != NUNA_CHANNEL_RECEIVES)
            continue;
        gpu->slots[c] = position;
        position += layout->shape->slots * layout->shape->slot_bytes;
        position = round_up(position, page_size);
    }
    gpu->flags = position;
    gpu->end = position + (uint64_t)plan_gpu->channel_count * layout->flag_stride;
}

static bool lay_out(const struct nuna_layout *layout, struct nuna_layout_gpu *gpu, uint32_t index,
                    uint64_t page_size)
{
    const struct nuna_plan *plan = layout->shape->plan;
    const struct nuna_plan_gpu *plan_gpu = &plan->gpus[index];
    uint64_t position = 0;
    find_alias(gpu, plan, index);
    gpu->slots = calloc((size_t)plan_gpu->channel_count + 1, sizeof *gpu->slots);
    if (!gpu->slots)
        return false;
    for (uint32_t b = 0; b < NUNA_BUFFER_COUNT; b++) {
        gpu->chunks[b] = calloc((size_t)plan_gpu->chunks[b] + 1, sizeof *gpu->chunks[b]);
        if (!gpu->chunks[b])
            return false;
        if (b == gpu->alias_buffer)
            continue;
        position =
            place_buffer(layout, gpu->chunks[b], index, (enum nuna_buffer)b, page_size, position);
        position = round_up(position, page_size);
    }
    end_image(layout, gpu, index, position, page_size);
    return true;
}

void nuna_layout_pack(struct nuna_layout *layout, const struct nuna_plan *plan, uint64_t page_size,
                      const uint32_t *domain, uint32_t domains)
{
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        struct nuna_layout_gpu *gpu = &layout->gpus[g];
        uint64_t position = 0;
        for (uint32_t b = 0; b < NUNA_BUFFER_COUNT; b++) {
            if (b != gpu->alias_buffer) {
                position = pack_buffer(layout, gpu->chunks[b], g, (enum nuna_buffer)b, domain,
                                       domains, page_size, position);
                position = round_up(position, page_size);
            }
            domain += plan->gpus[g].chunks[b];
        }
        end_image(layout, gpu, g, position, page_size);
    }
}

bool nuna_layout_init(struct nuna_layout *layout, const struct nuna_shape *shape,
                      uint64_t page_size, uint32_t line_size)
{
    const struct nuna_plan *plan = shape->plan;
    memset(layout, 0, sizeof *layout);
    layout->shape = shape;
    layout->flag_stride = line_size;
    layout->gpus = calloc(plan->gpu_count, sizeof *layout->gpus);
    if (!layout->gpus)
        return false;
    layout->gpu_count = plan->gpu_count;
    find_scratch(layout, plan);
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        if (!lay_out(layout, &layout->gpus[g], g, page_size))
            return false;
    return true;
}

void nuna_layout_finish(struct nuna_layout *layout)
{
    for (uint32_t g = 0; layout->gpus && g < layout->gpu_count; g++) {
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++)
            free(layout->gpus[g].chunks[b]);
        free(layout->gpus[g].slots);
        free(layout->gpus[g].flag_position);
    }
    free(layout->gpus);
    memset(layout, 0, sizeof *layout);
}
