/* NAP: Algorithm 1 of NUNA section 4.2. Groups of threadblocks that share chunks go round-robin to
 * the domains; in its domain a threadblock takes the first CU, by distance to the domain's ports,
 * whose budget of requests fits it, and its chunks' pages the nearest stack whose budget of bytes
 * fits them. NAP* places threadblocks only. */
#include "gpu/placement_private.h"
#include <stdlib.h>

struct nap {
    const struct nuna_placing *placing;
    int64_t *cu_left;    /* [gpu][cu]: requests */
    int64_t *stack_left; /* [gpu][stack]: bytes */
    bool places_memory;
};

static uint64_t requests_of(const struct nap *nap, const struct nuna_work *work)
{
    const struct nuna_workload *workload = nap->placing->workload;
    uint64_t line = nap->placing->spec->line_bytes, requests = 0;
    for (uint32_t i = 0; i < work->access_count; i++) {
        const struct nuna_access *access = &workload->accesses[work->access_at + i];
        requests += (workload->chunks[access->chunk].bytes + line - 1) / line;
    }
    return requests;
}

/* The first of `count` places, in the given order, that has `due` left. When none has, all get
 * another budget: what does not fit side by side is stacked up evenly. */
static uint32_t first_fit(int64_t *left, const uint32_t *order, uint32_t count, uint64_t due,
                          uint64_t budget)
{
    int64_t take = (int64_t)(due < budget ? due : budget);
    for (;;) {
        for (uint32_t i = 0; i < count; i++)
            if (left[order[i]] >= take) {
                left[order[i]] -= take;
                return order[i];
            }
        for (uint32_t i = 0; i < count; i++)
            left[i] += (int64_t)budget;
    }
}

static bool any_open(struct nuna_pages pages)
{
    for (uint64_t page = pages.first; page < pages.end; page++)
        if (pages.table[page].domains == NUNA_FRAME_OPEN)
            return true;
    return false;
}

static void place_chunks(struct nap *nap, const struct nuna_work *work, uint32_t cu,
                         uint32_t domain)
{
    const struct nuna_placing *placing = nap->placing;
    const struct nuna_topology *topology = placing->spec->topology;
    uint32_t stacks = topology->stack_count;
    const uint32_t *order = &placing->domains->stack_order[topology->cu_router[cu] * stacks];
    bool routes = nuna_policy_routes(placing->spec->policy);
    for (uint32_t i = 0; i < work->access_count; i++) {
        const struct nuna_access *access = &placing->workload->accesses[work->access_at + i];
        const struct nuna_chunk *chunk = &placing->workload->chunks[access->chunk];
        struct nuna_pages pages = nuna_pages_of(placing, chunk);
        if (!any_open(pages))
            continue;
        uint32_t stack = first_fit(&nap->stack_left[chunk->gpu * stacks], order, stacks,
                                   chunk->bytes, placing->spec->stack_budget);
        struct nuna_frame frame = {
            .domains = (uint8_t)(routes ? placing->spec->domains : 1),
            .domain = (uint8_t)(routes ? domain : 0),
            .stack = (uint8_t)stack,
        };
        /* The first chunk on a page has fixed it. */
        for (uint64_t page = pages.first; page < pages.end; page++)
            if (pages.table[page].domains == NUNA_FRAME_OPEN)
                pages.table[page] = frame;
    }
}

static void place_work(struct nap *nap, uint32_t w, uint32_t domain)
{
    const struct nuna_placing *placing = nap->placing;
    const struct nuna_work *work = &placing->workload->works[w];
    uint32_t cus = placing->spec->topology->cu_count;
    uint32_t cu = first_fit(&nap->cu_left[(size_t)work->gpu * cus],
                            &placing->domains->cu_order[(size_t)domain * cus], cus,
                            requests_of(nap, work), placing->spec->cu_budget);
    placing->result->cu[w] = cu;
    placing->result->domain[w] = domain;
    if (nap->places_memory)
        place_chunks(nap, work, cu, domain);
}

/* physical_placement: groups in order, each to the next domain. */
static void place_groups(struct nap *nap, const uint32_t *order, const uint32_t *first,
                         const uint32_t *works, uint32_t groups)
{
    uint32_t domain = 0;
    for (uint32_t i = 0; i < groups; i++) {
        domain = (domain + 1) % nap->placing->spec->domains;
        for (uint32_t k = first[order[i]]; k < first[order[i] + 1]; k++)
            place_work(nap, works[k], domain);
    }
}

/* Threadblocks by group, in the plan's order within each. */
static void list_groups(const struct nuna_workload *workload, const uint32_t *group,
                        uint32_t groups, uint32_t *first, uint32_t *works)
{
    for (uint32_t w = 0; w < workload->work_count; w++)
        first[group[w] + 2]++;
    for (uint32_t g = 0; g < groups; g++)
        first[g + 2] += first[g + 1];
    for (uint32_t w = 0; w < workload->work_count; w++)
        works[first[group[w] + 1]++] = w;
}

static bool budgets(struct nap *nap)
{
    const struct nuna_placing *placing = nap->placing;
    uint32_t gpus = placing->workload->gpu_count;
    uint32_t cus = placing->spec->topology->cu_count;
    uint32_t stacks = placing->spec->topology->stack_count;
    nap->cu_left = malloc((size_t)gpus * cus * sizeof *nap->cu_left);
    nap->stack_left = malloc((size_t)gpus * stacks * sizeof *nap->stack_left);
    if (!nap->cu_left || !nap->stack_left)
        return false;
    for (size_t i = 0; i < (size_t)gpus * cus; i++)
        nap->cu_left[i] = (int64_t)placing->spec->cu_budget;
    for (size_t i = 0; i < (size_t)gpus * stacks; i++)
        nap->stack_left[i] = (int64_t)placing->spec->stack_budget;
    return true;
}

bool nuna_place_nap(const struct nuna_placing *placing)
{
    const struct nuna_workload *workload = placing->workload;
    size_t count = workload->work_count;
    struct nap nap = {
        .placing = placing,
        .places_memory = nuna_policy_places_memory(placing->spec->policy),
    };
    uint32_t *group = calloc(count + 1, sizeof *group);
    uint32_t *order = calloc(count + 1, sizeof *order);
    uint32_t *first = calloc(count + 3, sizeof *first);
    uint32_t *works = calloc(count + 1, sizeof *works);
    bool ok = group && order && first && works && budgets(&nap);
    uint32_t groups = ok ? nuna_logical_allocation(workload, group, order) : UINT32_MAX;
    ok = groups != UINT32_MAX;
    if (ok) {
        list_groups(workload, group, groups, first, works);
        place_groups(&nap, order, first, works, groups);
    }
    free(group);
    free(order);
    free(first);
    free(works);
    free(nap.cu_left);
    free(nap.stack_left);
    return ok;
}
