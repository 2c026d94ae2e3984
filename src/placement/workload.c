#include "placement/workload.h"
#include <stdlib.h>
#include <string.h>

/* Chunks are numbered GPU by GPU, buffer by buffer; in place, the part has the numbers of the
 * whole. */
struct numbering {
    const struct nuna_plan *plan;
    const struct nuna_layout *layout;
    uint32_t *base; /* [gpu][buffer] */
};

static uint32_t chunk_number(const struct numbering *numbering, uint32_t gpu, uint32_t buffer,
                             uint32_t index)
{
    const struct nuna_layout_gpu *places = &numbering->layout->gpus[gpu];
    if (places->alias_buffer == buffer) {
        buffer = places->alias_whole;
        index += places->alias_first;
    }
    return numbering->base[gpu * NUNA_BUFFER_COUNT + buffer] + index;
}

static bool number_chunks(struct nuna_workload *workload, struct numbering *numbering)
{
    const struct nuna_plan *plan = numbering->plan;
    numbering->base = calloc((size_t)plan->gpu_count * NUNA_BUFFER_COUNT, sizeof *numbering->base);
    if (!numbering->base)
        return false;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++) {
            numbering->base[g * NUNA_BUFFER_COUNT + (uint32_t)b] = workload->chunk_count;
            workload->chunk_count += plan->gpus[g].chunks[b];
        }
    workload->chunks = calloc((size_t)workload->chunk_count + 1, sizeof *workload->chunks);
    if (!workload->chunks)
        return false;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++)
            for (uint32_t i = 0; i < plan->gpus[g].chunks[b]; i++) {
                const struct nuna_chunk_place *place = &numbering->layout->gpus[g].chunks[b][i];
                struct nuna_chunk *chunk =
                    &workload->chunks[chunk_number(numbering, g, (uint32_t)b, i)];
                /* A whole and its part agree; the whole is never shorter. */
                if (chunk->bytes > place->bytes)
                    continue;
                *chunk = (struct nuna_chunk){g, place->position, place->bytes};
            }
    return true;
}

struct listing {
    const struct numbering *numbering;
    struct nuna_workload *workload;
    size_t capacity;
    uint32_t *seen; /* [chunk]: last threadblock that listed it, plus one */
    uint32_t work;
    bool failed;
};

static void list_access(struct listing *listing, uint32_t chunk, enum nuna_access_kind kind)
{
    struct nuna_workload *workload = listing->workload;
    if (listing->seen[chunk] == listing->work + 1 || listing->failed)
        return;
    listing->seen[chunk] = listing->work + 1;
    if (workload->access_count == listing->capacity) {
        size_t capacity = listing->capacity ? 2 * listing->capacity : 1024;
        struct nuna_access *accesses =
            realloc(workload->accesses, capacity * sizeof *workload->accesses);
        if (!accesses) {
            listing->failed = true;
            return;
        }
        workload->accesses = accesses;
        listing->capacity = capacity;
    }
    workload->accesses[workload->access_count++] =
        (struct nuna_access){.chunk = chunk, .kind = (uint8_t)kind};
    workload->works[listing->work].access_count++;
}

/* A load from another GPU takes the ways of a store to it, and counts as one. */
static void list_range(struct listing *listing, uint32_t gpu, const struct nuna_range *range,
                       uint32_t owner, bool load)
{
    const struct nuna_plan *plan = listing->numbering->plan;
    enum nuna_access_kind kind = owner != gpu ? NUNA_ACCESS_REMOTE_STORE
                                 : load       ? NUNA_ACCESS_LOAD
                                              : NUNA_ACCESS_STORE;
    for (uint32_t i = 0; i < range->count; i++)
        if (range->index + i < plan->gpus[owner].chunks[range->buffer])
            list_access(listing,
                        chunk_number(listing->numbering, owner, range->buffer, range->index + i),
                        kind);
}

static void list_ranges(struct listing *listing, uint32_t gpu, uint32_t at, uint32_t count,
                        bool load)
{
    const struct nuna_plan *plan = listing->numbering->plan;
    for (uint32_t r = 0; r < count; r++) {
        const struct nuna_range *range = &plan->ranges[at + r];
        const struct nuna_switch_group *group = range->is_group ? &plan->groups[range->gpu] : NULL;
        for (uint32_t i = 0; group && i < group->rank_count; i++)
            list_range(listing, gpu, range, plan->group_ranks[group->rank_at + i], load);
        if (!group)
            list_range(listing, gpu, range, range->gpu, load);
    }
}

static bool list_works(struct nuna_workload *workload, const struct numbering *numbering)
{
    const struct nuna_plan *plan = numbering->plan;
    struct listing listing = {.numbering = numbering, .workload = workload};
    workload->works = calloc(plan->threadblock_count + 1, sizeof *workload->works);
    listing.seen = calloc((size_t)workload->chunk_count + 1, sizeof *listing.seen);
    listing.failed = !workload->works || !listing.seen;
    for (uint32_t g = 0; g < plan->gpu_count && !listing.failed; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            listing.work = plan->gpus[g].tb_at + t;
            workload->works[listing.work] =
                (struct nuna_work){.gpu = g, .access_at = workload->access_count};
            for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++) {
                const struct nuna_op *op = &plan->ops[o];
                list_ranges(&listing, g, op->src_at, op->src_count, true);
                list_ranges(&listing, g, op->dst_at, op->dst_count, false);
            }
        }
    free(listing.seen);
    return !listing.failed;
}

bool nuna_workload_init(struct nuna_workload *workload, const struct nuna_plan *plan,
                        const struct nuna_layout *layout, uint64_t page_size, uint32_t domains)
{
    memset(workload, 0, sizeof *workload);
    struct numbering numbering = {.plan = plan, .layout = layout};
    workload->gpu_count = plan->gpu_count;
    workload->work_count = (uint32_t)plan->threadblock_count;
    workload->image_bytes = calloc(plan->gpu_count, sizeof *workload->image_bytes);
    bool ok = workload->image_bytes && number_chunks(workload, &numbering) &&
              list_works(workload, &numbering);
    /* Each domain's flags begin on a page of their own. */
    for (uint32_t g = 0; ok && g < plan->gpu_count; g++)
        workload->image_bytes[g] = layout->gpus[g].end + (uint64_t)domains * page_size;
    free(numbering.base);
    return ok;
}

void nuna_workload_finish(struct nuna_workload *workload)
{
    free(workload->image_bytes);
    free(workload->works);
    free(workload->accesses);
    free(workload->chunks);
    memset(workload, 0, sizeof *workload);
}
