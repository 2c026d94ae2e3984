/* Where flags lie. */
#include "placement/flags.h"
#include "placement/policy.h"
#include <stdlib.h>

static void note_signaller(const struct nuna_plan *plan, uint32_t gpu, uint32_t channel,
                           uint32_t domain, uint32_t *ret_domain)
{
    if (channel == NUNA_NO_CHANNEL)
        return;
    const struct nuna_channel *end = &plan->channels[plan->gpus[gpu].channel_at + channel];
    ret_domain[plan->gpus[end->peer].channel_at + end->peer_channel] = domain;
}

/* The domain of the threadblock that signals on each channel end: of the first, should there be
 * several. */
static void find_signallers(const struct nuna_plan *plan, const struct nuna_placement *placement,
                            uint32_t *ret_domain)
{
    for (uint32_t g = plan->gpu_count; g-- > 0;)
        for (uint32_t w = plan->gpus[g].tb_at + plan->gpus[g].tb_count;
             w-- > plan->gpus[g].tb_at;) {
            const struct nuna_threadblock *tb = &plan->threadblocks[w];
            uint32_t domain = placement->domain[w];
            note_signaller(plan, g, tb->send_channel, domain, ret_domain);
            note_signaller(plan, g, tb->recv_channel, domain, ret_domain);
            for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++) {
                const struct nuna_op *op = &plan->ops[o];
                bool signals = op->kind == NUNA_OP_SIGNAL || (op->flags & NUNA_OP_SIGNALS) != 0;
                for (uint32_t i = 0; signals && i < op->id_count; i++)
                    note_signaller(plan, g, plan->ids[op->id_at + i], domain, ret_domain);
            }
        }
}

static bool place_flags_of_gpu(struct nuna_layout_gpu *gpu, const struct nuna_plan_gpu *plan_gpu,
                               const uint32_t *domain, uint32_t line,
                               const struct nuna_placement_spec *spec,
                               const struct nuna_placement *placement, struct nuna_frame *pages)
{
    uint64_t page_size = spec->map->page_size, position = gpu->flags;
    gpu->flag_position = calloc(plan_gpu->channel_count + 1, sizeof *gpu->flag_position);
    if (!gpu->flag_position)
        return false;
    bool routes = nuna_policy_routes(spec->policy);
    for (uint32_t d = 0; d < spec->domains; d++) {
        for (uint32_t c = 0; c < plan_gpu->channel_count; c++) {
            if (domain[plan_gpu->channel_at + c] != d)
                continue;
            uint64_t page = position / page_size;
            struct nuna_frame frame = nuna_address_default_frame(spec->map, page);
            if (routes) {
                frame.domains = (uint8_t)spec->domains;
                frame.domain = (uint8_t)d;
            }
            if (nuna_policy_chooses_stacks(spec->policy))
                frame.stack = (uint8_t)placement->domain_stack[d];
            pages[page] = frame;
            gpu->flag_position[c] = position;
            position += line;
        }
        position = (position + page_size - 1) / page_size * page_size;
    }
    return true;
}

bool nuna_place_flags(struct nuna_layout *layout, const struct nuna_plan *plan,
                      const struct nuna_placement_spec *spec, struct nuna_placement *placement)
{
    uint32_t *domain = calloc(plan->channel_count + 1, sizeof *domain);
    if (!domain)
        return false;
    find_signallers(plan, placement, domain);
    bool ok = true;
    for (uint32_t g = 0; ok && g < plan->gpu_count; g++)
        ok = place_flags_of_gpu(&layout->gpus[g], &plan->gpus[g], domain, layout->flag_stride, spec,
                                placement, placement->pages[g]);
    free(domain);
    return ok;
}
