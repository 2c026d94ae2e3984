#include "pod/fold.h"
#include <stdlib.h>
#include <string.h>

/* Compares one GPU's part of the input with another's, relabelled. */
struct comparison {
    const struct nuna_gpu_spec *spec;
    const struct nuna_placement *placement;
    const uint32_t *op_first;
    uint32_t a, b, element; /* `element` moves a to b */
    bool structure_only;    /* bytes and places may differ */
};

static bool same_gpu(const struct comparison *c, uint32_t of_a, uint32_t of_b)
{
    return nuna_group_add(&c->spec->group, of_a, c->element) == of_b;
}

static bool same_range(const struct comparison *c, uint32_t at_a, uint32_t at_b)
{
    const struct nuna_range *a = &c->spec->plan->ranges[at_a], *b = &c->spec->plan->ranges[at_b];
    if (!same_gpu(c, a->gpu, b->gpu) || a->count != b->count)
        return false;
    const struct nuna_layout_gpu *layouts = c->spec->layout->gpus;
    const struct nuna_chunk_place *from = &layouts[a->gpu].chunks[a->buffer][a->index];
    const struct nuna_chunk_place *to = &layouts[b->gpu].chunks[b->buffer][b->index];
    for (uint32_t i = 0; i < a->count && !c->structure_only; i++)
        if (from[i].position != to[i].position || from[i].bytes != to[i].bytes)
            return false;
    return true;
}

static bool same_op(const struct comparison *c, const struct nuna_op *a, const struct nuna_op *b)
{
    const struct nuna_plan *plan = c->spec->plan;
    if (a->kind != b->kind || a->relaxed != b->relaxed || a->src_count != b->src_count ||
        a->dst_count != b->dst_count || a->id_count != b->id_count ||
        a->barrier_id != b->barrier_id || a->barrier_blocks != b->barrier_blocks)
        return false;
    for (uint32_t i = 0; i < a->src_count; i++)
        if (!same_range(c, a->src_at + i, b->src_at + i))
            return false;
    for (uint32_t i = 0; i < a->dst_count; i++)
        if (!same_range(c, a->dst_at + i, b->dst_at + i))
            return false;
    return a->id_count == 0 ||
           memcmp(&plan->ids[a->id_at], &plan->ids[b->id_at], a->id_count * sizeof *plan->ids) == 0;
}

static bool same_threadblocks(const struct comparison *c)
{
    const struct nuna_plan *plan = c->spec->plan;
    uint32_t at_a = plan->gpus[c->a].tb_at, at_b = plan->gpus[c->b].tb_at;
    for (uint32_t t = 0; t < plan->gpus[c->a].tb_count; t++) {
        const struct nuna_threadblock *a = &plan->threadblocks[at_a + t];
        const struct nuna_threadblock *b = &plan->threadblocks[at_b + t];
        if (a->op_count != b->op_count ||
            (a->op_count > 0 && a->op_at - c->op_first[c->a] != b->op_at - c->op_first[c->b]))
            return false;
        const struct nuna_placement *placement = c->placement;
        if (!c->structure_only && (placement->cu[at_a + t] != placement->cu[at_b + t] ||
                                   placement->domain[at_a + t] != placement->domain[at_b + t]))
            return false;
        for (uint32_t o = 0; o < a->op_count; o++)
            if (!same_op(c, &plan->ops[a->op_at + o], &plan->ops[b->op_at + o]))
                return false;
    }
    return true;
}

static bool same_channels(const struct comparison *c)
{
    const struct nuna_plan *plan = c->spec->plan;
    const struct nuna_layout *layout = c->spec->layout;
    const struct nuna_channel *a = &plan->channels[plan->gpus[c->a].channel_at];
    const struct nuna_channel *b = &plan->channels[plan->gpus[c->b].channel_at];
    for (uint32_t i = 0; i < plan->gpus[c->a].channel_count; i++)
        if (!same_gpu(c, a[i].peer, b[i].peer) || a[i].peer_channel != b[i].peer_channel ||
            (!c->structure_only &&
             nuna_layout_flag(layout, c->a, i) != nuna_layout_flag(layout, c->b, i)))
            return false;
    return true;
}

static bool same_image(const struct comparison *c)
{
    const struct nuna_gpu_spec *spec = c->spec;
    if (spec->layout->gpus[c->a].end != spec->layout->gpus[c->b].end)
        return false;
    uint64_t pages = nuna_spec_pages(spec, c->a);
    struct nuna_frame *const *tables = c->placement->pages;
    return !tables || memcmp(tables[c->a], tables[c->b], pages * sizeof **tables) == 0;
}

static bool same_part(const struct comparison *c)
{
    const struct nuna_plan *plan = c->spec->plan;
    const struct nuna_plan_gpu *a = &plan->gpus[c->a], *b = &plan->gpus[c->b];
    if (a->tb_count != b->tb_count || a->channel_count != b->channel_count ||
        a->sem_count != b->sem_count || a->barrier_count != b->barrier_count)
        return false;
    if (a->sem_count > 0 && memcmp(&plan->sem_init[a->sem_at], &plan->sem_init[b->sem_at],
                                   a->sem_count * sizeof *plan->sem_init) != 0)
        return false;
    return (c->structure_only || same_image(c)) && same_channels(c) && same_threadblocks(c);
}

/* Connections, packets, proxies, loops and switch groups keep state that is not compared here. */
static bool is_comparable(const struct nuna_plan *plan)
{
    bool plain = plan->group_count == 0 && plan->chunks_per_loop == 0 && !plan->reuse_scratch;
    for (size_t i = 0; plain && i < plan->channel_count; i++)
        plain = plan->channels[i].kind == NUNA_CHANNEL_MEMORY;
    for (size_t i = 0; plain && i < plan->range_count; i++)
        plain = plan->ranges[i].form == NUNA_FORM_DATA && !plan->ranges[i].is_group;
    for (size_t i = 0; plain && i < plan->op_count; i++)
        plain = plan->ops[i].kind <= NUNA_OP_SEM_RELEASE && plan->ops[i].flags == 0 &&
                plan->ops[i].parts == 0;
    return plain;
}

/* The representative of `gpu` when those of the first `nodes` nodes and `locals` places stand for
 * all. */
static uint32_t representative(const struct nuna_group *group, uint32_t gpu, uint32_t nodes,
                               uint32_t locals)
{
    return gpu / group->node % nodes * group->node + gpu % group->node % locals;
}

static bool folds(const struct nuna_fold *fold, const struct nuna_gpu_spec *spec,
                  const struct nuna_placement *placement, uint32_t nodes, uint32_t locals,
                  bool structure_only)
{
    for (uint32_t g = 0; g < spec->gpu_count; g++) {
        uint32_t rep = representative(&spec->group, g, nodes, locals);
        const struct comparison comparison = {
            .spec = spec,
            .placement = placement,
            .op_first = fold->op_first,
            .a = rep,
            .b = g,
            .element = nuna_group_difference(&spec->group, g, rep),
            .structure_only = structure_only,
        };
        if (g != rep && !same_part(&comparison))
            return false;
    }
    return true;
}

/* Operations must lie GPU by GPU. */
static bool find_ops(struct nuna_fold *fold, const struct nuna_plan *plan)
{
    uint32_t next = 0;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        fold->op_first[g] = next;
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            if (tb->op_count > 0 && tb->op_at != next)
                return false;
            next += tb->op_count;
        }
    }
    fold->op_first[plan->gpu_count] = next;
    return true;
}

uint32_t nuna_fold_op_gpu(const struct nuna_fold *fold, uint32_t op)
{
    uint32_t low = 0, high = fold->gpu_count; /* the last GPU that begins at or before `op` */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (fold->op_first[middle] <= op)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool adopt(struct nuna_fold *fold, const struct nuna_gpu_spec *spec, uint32_t nodes,
                  uint32_t locals)
{
    const struct nuna_group *group = &spec->group;
    fold->lp_count = 0;
    for (uint32_t g = 0; g < spec->gpu_count; g++)
        if (representative(group, g, nodes, locals) == g) {
            fold->lp[g] = fold->lp_count;
            fold->gpu[fold->lp_count++] = g;
        }
    if (fold->lp_count == fold->gpu_count)
        return true;
    fold->seen = calloc((size_t)fold->lp_count * spec->gpu_count, sizeof *fold->seen);
    if (!fold->seen)
        return false;
    for (uint32_t g = 0; g < spec->gpu_count; g++) {
        uint32_t rep = representative(group, g, nodes, locals);
        uint32_t back = nuna_group_difference(group, rep, g);
        fold->lp[g] = fold->lp[rep];
        for (uint32_t l = 0; l < fold->lp_count; l++)
            fold->seen[(size_t)l * spec->gpu_count + g] =
                (uint16_t)nuna_group_add(group, fold->gpu[l], back);
    }
    return true;
}

/* Tries subgroups, few representatives first. */
static void search(const struct nuna_fold *fold, const struct nuna_gpu_spec *spec,
                   const struct nuna_placement *placement, uint32_t *nodes, uint32_t *locals)
{
    const struct nuna_group *group = &spec->group;
    for (uint32_t reps = 1; reps < spec->gpu_count; reps++)
        for (uint32_t l = 1; l <= group->node && l <= reps; l++) {
            uint32_t n = reps / l;
            if (reps % l != 0 || group->node % l != 0 || group->count / group->node % n != 0 ||
                !folds(fold, spec, placement, n, l, false))
                continue;
            *nodes = n;
            *locals = l;
            return;
        }
}

bool nuna_fold_init(struct nuna_fold *fold, const struct nuna_gpu_spec *spec,
                    const struct nuna_placement *placement, enum nuna_fold_mode mode,
                    struct nuna_error *err)
{
    memset(fold, 0, sizeof *fold);
    fold->gpu_count = fold->lp_count = spec->gpu_count;
    fold->gpu = calloc(spec->gpu_count, sizeof *fold->gpu);
    fold->lp = calloc(spec->gpu_count, sizeof *fold->lp);
    fold->op_first = calloc(spec->gpu_count + 1, sizeof *fold->op_first);
    if (!fold->gpu || !fold->lp || !fold->op_first)
        return nuna_fail_memory(err, "the pod");
    uint32_t locals = spec->group.node, nodes = spec->group.count / locals;
    bool ordered = is_comparable(spec->plan) && find_ops(fold, spec->plan);
    if (mode == NUNA_FOLD_APPROX && spec->gpu_count > 1) {
        if (!ordered || !folds(fold, spec, placement, 1, 1, true))
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "--fold approx: no GPU can stand for the others: their parts of the "
                             "plan differ in structure; expected --fold auto or off");
        fold->approximate = !folds(fold, spec, placement, 1, 1, false);
        nodes = locals = 1;
    }
    if (mode == NUNA_FOLD_AUTO && ordered)
        search(fold, spec, placement, &nodes, &locals);
    return adopt(fold, spec, nodes, locals) || nuna_fail_memory(err, "the pod");
}

void nuna_fold_finish(struct nuna_fold *fold)
{
    free(fold->gpu);
    free(fold->lp);
    free(fold->seen);
    free(fold->op_first);
    memset(fold, 0, sizeof *fold);
}
