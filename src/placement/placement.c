#include "placement/placement.h"
#include "placement/private.h"
#include <stdlib.h>
#include <string.h>

bool nuna_policy_routes(enum nuna_policy policy)
{
    return policy == NUNA_POLICY_UA_NAR || policy == NUNA_POLICY_NUMA_NAR ||
           policy == NUNA_POLICY_NAP_NAR || policy == NUNA_POLICY_NAP_STAR_NAR;
}

bool nuna_policy_places_memory(enum nuna_policy policy)
{
    return policy == NUNA_POLICY_NAP || policy == NUNA_POLICY_NAP_NAR;
}

static bool places_by_domain(enum nuna_policy policy)
{
    return nuna_policy_places_memory(policy) || policy == NUNA_POLICY_NAP_STAR ||
           policy == NUNA_POLICY_NAP_STAR_NAR;
}

bool nuna_policy_uses_domains(enum nuna_policy policy)
{
    return nuna_policy_routes(policy) || places_by_domain(policy);
}

struct nuna_pages nuna_pages_of(const struct nuna_placing *placing, const struct nuna_chunk *chunk)
{
    uint64_t page_size = placing->spec->map->page_size;
    uint64_t first = chunk->position / page_size;
    uint64_t end = chunk->bytes ? (chunk->position + chunk->bytes - 1) / page_size + 1 : first;
    return (struct nuna_pages){placing->result->pages[chunk->gpu], first, end};
}

static bool place_ua(const struct nuna_placing *placing)
{
    const struct nuna_workload *workload = placing->workload;
    for (uint32_t first = 0; first < workload->work_count;) {
        uint32_t next = first;
        while (next < workload->work_count &&
               workload->works[next].gpu == workload->works[first].gpu)
            next++;
        if (!nuna_placement_ua(placing->spec->topology, next - first, &placing->result->cu[first]))
            return false;
        first = next;
    }
    return true;
}

/* Without a placement of its own, a threadblock's traffic takes the domain nearest to its CU. */
static void nearest_domains(const struct nuna_placing *placing)
{
    for (uint32_t w = 0; w < placing->workload->work_count; w++)
        placing->result->domain[w] =
            placing->domains->nearest[placing->spec->topology->cu_router[placing->result->cu[w]]];
}

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

/* NAR with round-robin memory: a page's segment and domain follow the first threadblock, in turn,
 * that stores to it from another GPU; its stack stays. */
static bool route_pages(const struct nuna_placing *placing)
{
    uint32_t count = placing->workload->work_count;
    uint32_t *turn = calloc((size_t)count + 1, sizeof *turn);
    bool ok = turn && nuna_works_in_turn(placing->workload, turn);
    for (uint32_t k = 0; ok && k < count; k++)
        route_pages_of(placing, turn[k]);
    free(turn);
    return ok;
}

/* Pages that nothing decided keep their default frame. */
static void close_pages(const struct nuna_placing *placing)
{
    const struct nuna_address_map *map = placing->spec->map;
    for (uint32_t g = 0; g < placing->workload->gpu_count; g++) {
        uint64_t count = placing->workload->image_bytes[g] / map->page_size + 1;
        for (uint64_t page = 0; page < count; page++)
            if (placing->result->pages[g][page].domains == NUNA_FRAME_OPEN)
                placing->result->pages[g][page] = nuna_address_default_frame(map, page);
    }
}

static bool make_tables(const struct nuna_placing *placing)
{
    const struct nuna_workload *workload = placing->workload;
    struct nuna_placement *result = placing->result;
    result->pages = calloc(workload->gpu_count, sizeof *result->pages);
    for (uint32_t g = 0; result->pages && g < workload->gpu_count; g++) {
        uint64_t count = workload->image_bytes[g] / placing->spec->map->page_size + 1;
        result->pages[g] = calloc(count, sizeof *result->pages[g]);
        if (!result->pages[g])
            return false;
    }
    return result->pages != NULL;
}

static bool find_domain_stacks(const struct nuna_placing *placing)
{
    if (!placing->domains)
        return true;
    const struct nuna_topology *topology = placing->spec->topology;
    placing->result->domain_stack =
        calloc(placing->domains->count, sizeof *placing->result->domain_stack);
    if (!placing->result->domain_stack)
        return false;
    for (uint32_t d = 0; d < placing->domains->count; d++) {
        uint32_t nearest_cu = placing->domains->cu_order[(size_t)d * topology->cu_count];
        uint32_t at = topology->cu_router[nearest_cu] * topology->stack_count;
        placing->result->domain_stack[d] = placing->domains->stack_order[at];
    }
    return true;
}

static bool place(const struct nuna_placing *placing)
{
    enum nuna_policy policy = placing->spec->policy;
    bool tables = nuna_policy_routes(policy) || nuna_policy_places_memory(policy);
    if (tables && !make_tables(placing))
        return false;
    bool placed = places_by_domain(policy) ? nuna_place_nap(placing)
                  : policy == NUNA_POLICY_NUMA || policy == NUNA_POLICY_NUMA_NAR
                      ? nuna_place_numa(placing)
                      : place_ua(placing);
    if (!placed)
        return false;
    if (nuna_policy_routes(policy) && !places_by_domain(policy))
        nearest_domains(placing);
    if (nuna_policy_routes(policy) && !nuna_policy_places_memory(policy) && !route_pages(placing))
        return false;
    if (tables)
        close_pages(placing);
    return true;
}

bool nuna_placement_make(const struct nuna_placement_spec *spec,
                         const struct nuna_workload *workload, struct nuna_placement *ret)
{
    memset(ret, 0, sizeof *ret);
    struct nuna_domains domains = {0};
    bool uses = nuna_policy_uses_domains(spec->policy);
    ret->gpu_count = workload->gpu_count;
    ret->cu = calloc((size_t)workload->work_count + 1, sizeof *ret->cu);
    ret->domain = calloc((size_t)workload->work_count + 1, sizeof *ret->domain);
    bool ok = ret->cu && ret->domain &&
              (!uses || nuna_domains_init(&domains, spec->topology, spec->domains));
    const struct nuna_placing placing = {
        .spec = spec,
        .workload = workload,
        .domains = uses ? &domains : NULL,
        .result = ret,
    };
    ok = ok && find_domain_stacks(&placing) && place(&placing);
    nuna_domains_finish(&domains);
    return ok;
}

void nuna_placement_finish(struct nuna_placement *placement)
{
    for (uint32_t g = 0; placement->pages && g < placement->gpu_count; g++)
        free(placement->pages[g]);
    free(placement->pages);
    free(placement->cu);
    free(placement->domain);
    free(placement->domain_stack);
    memset(placement, 0, sizeof *placement);
}
