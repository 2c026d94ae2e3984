/* Algorithm 1's pages, NUNA section 4.2: a chunk's pages go to the stack nearest to the CU of the
 * threadblock that is first to touch it, as far as the stack's budget of bytes fits them. */
#include "placement/rule.h"
#include <stdlib.h>

static bool any_open(struct nuna_pages pages)
{
    for (uint64_t page = pages.first; page < pages.end; page++)
        if (pages.table[page].domains == NUNA_FRAME_OPEN)
            return true;
    return false;
}

/* Places the pages of the threadblock's chunks that no one has placed yet: those on its own GPU, or
 * those on others. `left` is [gpu][stack]: bytes. */
static void place_chunks(const struct nuna_placing *placing, int64_t *left, uint32_t w, bool own)
{
    const struct nuna_topology *topology = placing->spec->topology;
    const struct nuna_work *work = &placing->workload->works[w];
    uint32_t cu = placing->result->cu[w], domain = placing->result->domain[w];
    uint32_t stacks = topology->stack_count;
    const uint32_t *order = &placing->domains->stack_order[topology->cu_router[cu] * stacks];
    for (uint32_t i = 0; i < work->access_count; i++) {
        const struct nuna_access *access = &placing->workload->accesses[work->access_at + i];
        const struct nuna_chunk *chunk = &placing->workload->chunks[access->chunk];
        struct nuna_pages pages = nuna_pages_of(placing, chunk);
        if ((chunk->gpu == work->gpu) != own || !any_open(pages))
            continue;
        uint32_t stack = nuna_first_fit(&left[chunk->gpu * stacks], order, stacks, chunk->bytes,
                                        placing->spec->stack_budget);
        struct nuna_frame frame = {
            .domains = (uint8_t)(placing->routes ? placing->spec->domains : 1),
            .domain = (uint8_t)(placing->routes ? domain : 0),
            .stack = (uint8_t)stack,
        };
        /* The first chunk on a page has fixed it. */
        for (uint64_t page = pages.first; page < pages.end; page++)
            if (pages.table[page].domains == NUNA_FRAME_OPEN)
                pages.table[page] = frame;
    }
}

/* The threadblocks of a round place their own memory before that of others, so that no GPU's rank
 * gives it precedence. */
static bool place(const struct nuna_placing *placing)
{
    const struct nuna_turn *order = placing->order;
    uint32_t count = placing->workload->work_count;
    size_t stacks = (size_t)placing->workload->gpu_count * placing->spec->topology->stack_count;
    int64_t *left = malloc(stacks * sizeof *left);
    if (!left)
        return false;
    for (size_t i = 0; i < stacks; i++)
        left[i] = (int64_t)placing->spec->stack_budget;
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && order[end].round == order[first].round;)
            place_chunks(placing, left, order[end++].work, true);
        for (uint32_t k = first; k < end; k++)
            place_chunks(placing, left, order[k].work, false);
    }
    free(left);
    return true;
}

const struct nuna_page_rule nuna_pages_near = {.place = place, .chooses_stacks = true};
