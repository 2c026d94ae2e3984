#include "placement/placement.h"
#include "placement/flags.h"
#include "placement/policy.h"
#include <stdlib.h>
#include <string.h>

/* Without a placement of its own, a threadblock's traffic takes the domain nearest to its CU. */
static void nearest_domains(const struct nuna_placing *placing)
{
    for (uint32_t w = 0; w < placing->workload->work_count; w++)
        placing->result->domain[w] =
            placing->domains->nearest[placing->spec->topology->cu_router[placing->result->cu[w]]];
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
    const struct nuna_policy_row *policy = nuna_policy_row(placing->spec->policy);
    bool tables = nuna_policy_has_tables(placing->spec->policy);
    if (tables && !make_tables(placing))
        return false;
    if (!nuna_works_in_turn(placing->workload, placing->turns))
        return false;
    memcpy(placing->order, placing->turns, placing->workload->work_count * sizeof *placing->order);
    if (!policy->threadblocks->place(placing))
        return false;
    if (placing->domains && !policy->threadblocks->by_domain)
        nearest_domains(placing);
    if (!tables)
        return true;
    if (!policy->pages->place(placing))
        return false;
    close_pages(placing);
    return true;
}

bool nuna_placement_make(const struct nuna_placement_spec *spec,
                         const struct nuna_workload *workload, struct nuna_placement *ret)
{
    memset(ret, 0, sizeof *ret);
    size_t count = (size_t)workload->work_count + 1;
    struct nuna_domains domains = {0};
    bool uses = nuna_policy_uses_domains(spec->policy);
    ret->gpu_count = workload->gpu_count;
    ret->cu = calloc(count, sizeof *ret->cu);
    ret->domain = calloc(count, sizeof *ret->domain);
    struct nuna_turn *turns = calloc(2 * count, sizeof *turns);
    bool ok = ret->cu && ret->domain && turns &&
              (!uses || nuna_domains_init(&domains, spec->topology, spec->domains));
    const struct nuna_placing placing = {
        .spec = spec,
        .workload = workload,
        .domains = uses ? &domains : NULL,
        .routes = nuna_policy_routes(spec->policy),
        .turns = turns,
        .order = turns ? turns + count : NULL,
        .result = ret,
    };
    ok = ok && find_domain_stacks(&placing) && place(&placing);
    nuna_domains_finish(&domains);
    free(turns);
    return ok;
}

/* The domain that each chunk goes to, UINT32_MAX for none: that of the first threadblock that
 * touches it, or, where only routes are placed, of the first that stores to it from another GPU.
 * NULL on lack of memory; free with free(). */
static uint32_t *chunk_domains(const struct nuna_placement *placement,
                               const struct nuna_workload *workload, bool any_access)
{
    uint32_t *domain = malloc(((size_t)workload->chunk_count + 1) * sizeof *domain);
    if (!domain)
        return NULL;
    memset(domain, 0xff, ((size_t)workload->chunk_count + 1) * sizeof *domain);
    for (uint32_t w = 0; w < workload->work_count; w++)
        for (uint32_t i = 0; i < workload->works[w].access_count; i++) {
            const struct nuna_access *access =
                &workload->accesses[workload->works[w].access_at + i];
            bool counts = any_access || access->kind == NUNA_ACCESS_REMOTE_STORE;
            if (counts && domain[access->chunk] == UINT32_MAX)
                domain[access->chunk] = placement->domain[w];
        }
    return domain;
}

/* Knowing the domains, lays small chunks out by them, and places again: where threadblocks go does
 * not depend on it. */
static bool pack(const struct nuna_placement_spec *spec, const struct nuna_plan *plan,
                 struct nuna_layout *layout, struct nuna_workload *workload,
                 struct nuna_placement *placement)
{
    uint64_t page_size = spec->map->page_size;
    uint32_t *domain = chunk_domains(placement, workload, nuna_policy_chooses_stacks(spec->policy));
    if (!domain)
        return false;
    nuna_layout_pack(layout, plan, page_size, domain, spec->domains);
    free(domain);
    nuna_workload_finish(workload);
    nuna_placement_finish(placement);
    return nuna_workload_init(workload, plan, layout, page_size, spec->domains) &&
           nuna_placement_make(spec, workload, placement);
}

bool nuna_placement_of_plan(const struct nuna_placement_spec *spec, const struct nuna_plan *plan,
                            struct nuna_layout *layout, struct nuna_placement *ret)
{
    struct nuna_workload workload;
    memset(ret, 0, sizeof *ret);
    bool ok = nuna_workload_init(&workload, plan, layout, spec->map->page_size, spec->domains) &&
              nuna_placement_make(spec, &workload, ret) &&
              (!ret->pages || (pack(spec, plan, layout, &workload, ret) &&
                               nuna_place_flags(layout, plan, spec, ret)));
    nuna_workload_finish(&workload);
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
