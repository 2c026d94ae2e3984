#include "collectives/plan/plan.h"
#include "core/group.h"

#include <stdlib.h>

void nuna_plan_destroy(struct nuna_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->gpus);
    free(plan->threadblocks);
    free(plan->ops);
    free(plan->ranges);
    free(plan->ids);
    free(plan->channels);
    free(plan->sem_init);
    free(plan->groups);
    free(plan->group_ranks);
    free(plan->warnings);
    free(plan);
}

const char *nuna_buffer_name(uint32_t buffer)
{
    static const char *const names[NUNA_BUFFER_COUNT] = {"input", "output", "scratch"};
    return names[buffer];
}

/* How the chunks of one buffer of one GPU lie in the message. */
enum cut {
    CUT_FLAT,     /* the whole message into `chunks` */
    CUT_BLOCKS,   /* one block per rank (or chunk group), each into an equal number of chunks */
    CUT_RELATIVE, /* the same, but the block's length goes by the distance of the two ranks */
    CUT_OWN,      /* only the block of the GPU itself, into `chunks` */
};

struct layout {
    enum cut cut;
    uint32_t chunks, blocks;
};

static struct layout layout_of(const struct nuna_plan *plan, uint32_t gpu, enum nuna_buffer buffer)
{
    const uint32_t *chunks = plan->gpus[gpu].chunks;
    struct layout layout = {CUT_FLAT, chunks[buffer], plan->gpu_count};
    if (plan->collective == NUNA_COLLECTIVE_OTHER) {
        /* The smaller buffer has chunks of the larger one's length. */
        if (layout.chunks != 0 && chunks[NUNA_BUF_INPUT] > layout.chunks)
            layout.chunks = chunks[NUNA_BUF_INPUT];
        if (layout.chunks != 0 && chunks[NUNA_BUF_OUTPUT] > layout.chunks)
            layout.chunks = chunks[NUNA_BUF_OUTPUT];
        return layout;
    }
    const struct nuna_collective_rule *rule = nuna_collective_rule(plan->collective);
    if (rule->grouped && plan->chunk_groups != 0)
        layout.blocks = plan->chunk_groups;
    if ((buffer == NUNA_BUF_INPUT && rule->own_input) ||
        (buffer == NUNA_BUF_OUTPUT && rule->own_output))
        layout.cut = CUT_OWN;
    else if (layout.chunks % layout.blocks == 0)
        layout.cut = rule->personal ? CUT_RELATIVE : CUT_BLOCKS;
    return layout;
}

static uint64_t part_bytes(uint64_t total, uint64_t grain, uint32_t parts, uint32_t index)
{
    uint64_t grains = total / grain;
    uint64_t bytes = (grains / parts + (index < grains % parts)) * grain;
    return index + 1 == parts ? bytes + total % grain : bytes;
}

/* The first part has the extra grain; when none is left over, the last has the odd bytes. */
static uint64_t longest_part(uint64_t total, uint64_t grain, uint32_t parts)
{
    uint64_t first = part_bytes(total, grain, parts, 0);
    uint64_t last = part_bytes(total, grain, parts, parts - 1);
    return first > last ? first : last;
}

/* What each rank owns is the same for all whenever the message divides by the ranks, be it in
 * multiples of the grain or not: that is how collectives are called. */
static uint64_t block_bytes(const struct nuna_plan *plan, uint64_t size, uint32_t blocks,
                            uint32_t block)
{
    bool equal = blocks == plan->gpu_count && size % blocks == 0;
    return part_bytes(size, equal ? 1 : plan->grain, blocks, block);
}

static uint64_t longest_chunk(const struct nuna_plan *plan, uint64_t size, uint32_t gpu,
                              enum nuna_buffer buffer)
{
    struct layout layout = layout_of(plan, gpu, buffer);
    if (layout.chunks == 0)
        return 0;
    if (layout.cut == CUT_FLAT)
        return longest_part(size, plan->grain, layout.chunks);
    uint64_t first = block_bytes(plan, size, layout.blocks, 0);
    uint64_t last = block_bytes(plan, size, layout.blocks, layout.blocks - 1);
    uint64_t block = first > last ? first : last;
    uint32_t chunks = layout.cut == CUT_OWN ? layout.chunks : layout.chunks / layout.blocks;
    return longest_part(block, plan->grain, chunks);
}

uint64_t nuna_plan_even_bytes(const struct nuna_plan *plan, uint64_t size)
{
    uint64_t chunks = plan->chunks_per_loop;
    const uint32_t *own = plan->gpus[0].chunks;
    if (chunks == 0)
        chunks =
            own[NUNA_BUF_INPUT] > own[NUNA_BUF_OUTPUT] ? own[NUNA_BUF_INPUT] : own[NUNA_BUF_OUTPUT];
    uint64_t grains = (size + plan->grain - 1) / plan->grain;
    return chunks == 0 ? size : (grains + chunks - 1) / chunks * plan->grain;
}

uint64_t nuna_plan_chunk_bytes(const struct nuna_plan *plan, uint64_t size, uint32_t gpu,
                               enum nuna_buffer buffer, uint32_t index)
{
    if (index >= plan->gpus[gpu].chunks[buffer])
        return 0;
    if (plan->even)
        return nuna_plan_even_bytes(plan, size);
    if (buffer == NUNA_BUF_SCRATCH) {
        uint64_t input = longest_chunk(plan, size, gpu, NUNA_BUF_INPUT);
        uint64_t output = longest_chunk(plan, size, gpu, NUNA_BUF_OUTPUT);
        return input > output ? input : output;
    }
    struct layout layout = layout_of(plan, gpu, buffer);
    if (layout.cut == CUT_FLAT)
        return part_bytes(size, plan->grain, layout.chunks, index);

    uint32_t ranks = plan->gpu_count;
    uint32_t chunks = layout.cut == CUT_OWN ? layout.chunks : layout.chunks / layout.blocks;
    uint32_t block = layout.cut == CUT_OWN ? gpu : index / chunks;
    if (layout.cut == CUT_RELATIVE) {
        uint32_t from = buffer == NUNA_BUF_INPUT ? gpu : block;
        uint32_t to = buffer == NUNA_BUF_INPUT ? block : gpu;
        struct nuna_group group = nuna_group_make(ranks, plan->gpus_per_node);
        block = nuna_group_difference(&group, to, from);
    }
    return part_bytes(block_bytes(plan, size, layout.blocks, block), plan->grain, chunks,
                      layout.cut == CUT_OWN ? index : index % chunks);
}

uint32_t nuna_plan_chunk_block(const struct nuna_plan *plan, uint32_t gpu, enum nuna_buffer buffer,
                               uint32_t index)
{
    if (buffer == NUNA_BUF_SCRATCH || index >= plan->gpus[gpu].chunks[buffer])
        return UINT32_MAX;
    struct layout layout = layout_of(plan, gpu, buffer);
    if (layout.cut == CUT_FLAT || layout.blocks != plan->gpu_count)
        return UINT32_MAX;
    return layout.cut == CUT_OWN ? gpu : index / (layout.chunks / plan->gpu_count);
}
