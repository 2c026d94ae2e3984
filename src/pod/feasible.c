#include "pod/feasible.h"
#include "placement/layout.h"
#include "placement/policy.h"
#include <inttypes.h>

/* Page tables grow with the message; beyond this they would crowd out the simulation. */
#define PAGE_TABLE_BYTES_MAX (4ull << 30)

/* A GPU's image must fit its stacks. */
static bool check_capacity(const struct nuna_params *params, const struct nuna_plan *plan,
                           uint64_t size, struct nuna_error *err)
{
    struct nuna_layout layout = {0};
    struct nuna_shape shape;
    nuna_shape_init(&shape, plan, size, params);
    uint64_t capacity = (uint64_t)params->hbm.stack_capacity * (uint64_t)params->hbm.stacks;
    bool fits = true;
    if (!nuna_layout_init(&layout, &shape, (uint64_t)params->hbm.page_size,
                          (uint32_t)params->noc.flit_size)) {
        nuna_layout_finish(&layout);
        return nuna_fail_memory(err, "the memory layout");
    }
    for (uint32_t g = 0; fits && g < plan->gpu_count; g++) {
        char due[32], held[32];
        fits =
            layout.gpus[g].end <= capacity ||
            nuna_fail(
                err, NUNA_EXIT_BAD_INPUT,
                "collective.size: GPU %u would need %s of memory, but its %" PRId64
                " stacks hold %s; expected a smaller size, or larger stacks "
                "(hbm.stack_capacity)",
                g, nuna_units_format((int64_t)layout.gpus[g].end, NUNA_Q_SIZE, "", due, sizeof due),
                params->hbm.stacks,
                nuna_units_format((int64_t)capacity, NUNA_Q_SIZE, "", held, sizeof held));
    }
    nuna_layout_finish(&layout);
    return fits;
}

/* Page numbers to be translated have 32 bits. */
static bool check_page_numbers(const struct nuna_params *params, uint64_t size,
                               struct nuna_error *err)
{
    char page[32];
    uint64_t pages = size / (uint64_t)params->hbm.page_size;
    if (params->translation.mode == NUNA_TRANSLATION_OFF || pages < UINT32_MAX / 4)
        return true;
    nuna_units_format(params->hbm.page_size, NUNA_Q_SIZE, "", page, sizeof page);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "collective.size: too many pages of %s (hbm.page_size) to translate; expected "
                     "a smaller size, larger pages, or translation.mode off",
                     page);
}

bool nuna_feasible(const struct nuna_params *params, const struct nuna_plan *plan, uint64_t size,
                   struct nuna_error *err)
{
    enum nuna_policy policy = (enum nuna_policy)params->placement.policy;
    if (!check_capacity(params, plan, size, err) || !check_page_numbers(params, size, err))
        return false;
    if (!nuna_policy_has_tables(policy))
        return true;
    /* Input, output and scratch are at most `size` each, but for the rounding of chunks. */
    unsigned __int128 pages = (unsigned __int128)size / (uint64_t)params->hbm.page_size * 3;
    if (pages * plan->gpu_count * sizeof(struct nuna_frame) <= PAGE_TABLE_BYTES_MAX)
        return true;
    char page[32], others[256];
    nuna_units_format(params->hbm.page_size, NUNA_Q_SIZE, "", page, sizeof page);
    return nuna_fail(
        err, NUNA_EXIT_BAD_INPUT,
        "collective.size: at this size the page tables of %u GPUs with pages of %s would "
        "take more than 4 GiB; expected a smaller size, larger pages (hbm.page_size), "
        "or a policy without page tables (%s)",
        plan->gpu_count, page,
        nuna_policy_words(nuna_policy_has_tables, false, others, sizeof others));
}
