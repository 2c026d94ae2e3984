/* Algorithm 1's threadblocks, NUNA section 4.2. Groups of threadblocks that share chunks go
 * round-robin to the domains; in its domain a threadblock takes the first CU, by distance to the
 * domain's ports, whose budget of requests fits it. */
#include "placement/logical_allocation.h"
#include "placement/rule.h"
#include <stdlib.h>

struct nap {
    const struct nuna_placing *placing;
    int64_t *cu_left; /* [gpu][cu]: requests */
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

static void place_work(struct nap *nap, uint32_t w, uint32_t domain)
{
    const struct nuna_placing *placing = nap->placing;
    const struct nuna_work *work = &placing->workload->works[w];
    uint32_t cus = placing->spec->topology->cu_count;
    uint32_t cu = nuna_first_fit(&nap->cu_left[(size_t)work->gpu * cus],
                                 &placing->domains->cu_order[(size_t)domain * cus], cus,
                                 requests_of(nap, work), placing->spec->cu_budget);
    placing->result->cu[w] = cu;
    placing->result->domain[w] = domain;
}

/* The order of physical placement: by decreasing size of the group; among groups of one size, the
 * first of each GPU (of its first threadblock's, that is), then the second of each GPU; in them the
 * threadblocks in turn. On any one GPU that is group by group, in the plan's order within each. */
struct step {
    uint32_t size, nth, turn, work;
};

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->nth != y->nth)
        return x->nth < y->nth ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->work < y->work ? -1 : x->work > y->work;
}

/* What is known of groups, by their number; `of` is by threadblock, `order` by rank. */
struct groups {
    uint32_t *of, *order;
    uint32_t *size, *domain, *nth;
    uint32_t count;
};

/* physical_placement, first half: each group, in order, to the next domain. */
static bool number_groups(const struct nap *nap, struct groups *groups)
{
    const struct nuna_workload *workload = nap->placing->workload;
    uint32_t *gpu = calloc((size_t)groups->count + 1, sizeof *gpu);
    uint32_t *seen = calloc((size_t)workload->gpu_count + 1, sizeof *seen);
    uint32_t domain = 0;
    bool ok = gpu && seen;
    for (uint32_t w = workload->work_count; ok && w-- > 0;) {
        groups->size[groups->of[w]]++;
        gpu[groups->of[w]] = workload->works[w].gpu;
    }
    for (uint32_t i = 0; ok && i < groups->count; i++) {
        uint32_t g = groups->order[i];
        domain = (domain + 1) % nap->placing->spec->domains;
        groups->domain[g] = domain;
        groups->nth[g] = seen[gpu[g]]++;
    }
    free(gpu);
    free(seen);
    return ok;
}

static void list_steps(const struct nuna_workload *workload, const struct groups *groups,
                       struct step *steps)
{
    uint32_t turn = 0;
    for (uint32_t w = 0; w < workload->work_count; w++) {
        turn = w > 0 && workload->works[w].gpu == workload->works[w - 1].gpu ? turn + 1 : 0;
        uint32_t g = groups->of[w];
        steps[w] = (struct step){groups->size[g], groups->nth[g], turn, w};
    }
    qsort(steps, workload->work_count, sizeof *steps, compare_steps);
}

/* Second half. */
static void place_steps(struct nap *nap, const struct groups *groups, const struct step *steps)
{
    struct nuna_turn *order = nap->placing->order;
    uint32_t count = nap->placing->workload->work_count;
    for (uint32_t k = 0, round = 0; k < count; k++) {
        const struct step *step = &steps[k], *last = k > 0 ? step - 1 : step;
        round += step->size != last->size || step->nth != last->nth || step->turn != last->turn;
        order[k] = (struct nuna_turn){step->work, round};
        place_work(nap, step->work, groups->domain[groups->of[step->work]]);
    }
}

static bool budgets(struct nap *nap)
{
    const struct nuna_placing *placing = nap->placing;
    uint32_t gpus = placing->workload->gpu_count;
    uint32_t cus = placing->spec->topology->cu_count;
    nap->cu_left = malloc((size_t)gpus * cus * sizeof *nap->cu_left);
    if (!nap->cu_left)
        return false;
    for (size_t i = 0; i < (size_t)gpus * cus; i++)
        nap->cu_left[i] = (int64_t)placing->spec->cu_budget;
    return true;
}

static bool place(const struct nuna_placing *placing)
{
    const struct nuna_workload *workload = placing->workload;
    size_t count = (size_t)workload->work_count + 1;
    struct nap nap = {.placing = placing};
    uint32_t *words = calloc(5 * count, sizeof *words);
    struct step *steps = calloc(count, sizeof *steps);
    bool ok = words && steps && budgets(&nap);
    if (ok) {
        struct groups groups = {.of = words,
                                .order = words + count,
                                .size = words + 2 * count,
                                .domain = words + 3 * count,
                                .nth = words + 4 * count};
        groups.count = nuna_logical_allocation(workload, groups.of, groups.order);
        ok = groups.count != UINT32_MAX && number_groups(&nap, &groups);
        if (ok) {
            list_steps(workload, &groups, steps);
            place_steps(&nap, &groups, steps);
        }
    }
    free(words);
    free(steps);
    free(nap.cu_left);
    return ok;
}

const struct nuna_threadblock_rule nuna_threadblocks_nap = {.place = place, .by_domain = true};
