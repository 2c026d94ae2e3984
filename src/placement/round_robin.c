/* Pages round-robin over the stacks. With NAR, a page's segment and domain follow the first
 * threadblock, in turn, that stores to it from another GPU; its stack stays. */
#include "placement/rule.h"

static void route_pages_of(const struct nuna_placing *placing, uint32_t w)
{
    const struct nuna_workload *workload = placing->workload;
    const struct nuna_address_map *map = placing->spec->map;
    for (uint32_t i = 0; i < workload->works[w].access_count; i++) {
        const struct nuna_access *access = &workload->accesses[workload->works[w].access_at + i];
        const struct nuna_chunk *chunk = &workload->chunks[access->chunk];
        if (access->kind != NUNA_ACCESS_REMOTE_STORE)
            continue;
        struct nuna_pages pages = nuna_pages_of(placing, chunk);
        for (uint64_t page = pages.first; page < pages.end; page++) {
            struct nuna_frame *frame = &pages.table[page];
            if (frame->domains != NUNA_FRAME_OPEN)
                continue;
            *frame = nuna_address_default_frame(map, page);
            frame->domains = (uint8_t)placing->spec->domains;
            frame->domain = (uint8_t)placing->result->domain[w];
        }
    }
}

static bool place(const struct nuna_placing *placing)
{
    for (uint32_t k = 0; placing->routes && k < placing->workload->work_count; k++)
        route_pages_of(placing, placing->turns[k].work);
    return true;
}

const struct nuna_page_rule nuna_pages_round_robin = {.place = place};
