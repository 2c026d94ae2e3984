/* Double binary tree: even channels use one tree over the GPUs, odd ones another in which the first
 * one's leaves are inner nodes, so that both directions of every GPU's links are used. Data go up
 * to the root (sums, or the blocks of a subtree) and down again. */
#include "collectives/plan_generate.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct node {
    uint32_t parent;
    uint32_t child[2], children;
    uint32_t rank_among; /* the parent's children */
};

struct trees {
    struct node *nodes[2];
    uint32_t *first_id; /* [rank][channel] of its ends: parent, then children */
    bool *below;        /* scratch: [rank] in a subtree */
};

/* In-order binary tree over 0 .. n-1 with root 0: the lowest set bit of a rank is its height. */
static uint32_t parent_in_order(uint32_t rank, uint32_t n)
{
    if (rank == 0)
        return NOBODY;
    uint32_t bit = rank & (~rank + 1u);
    uint32_t up = (rank ^ bit) | bit << 1;
    return up >= n ? rank ^ bit : up;
}

/* The second tree: mirrored, or, for an odd number, moved on by one. */
static uint32_t in_second(uint32_t rank, uint32_t n)
{
    return n % 2 == 0 ? n - 1 - rank : (rank + 1) % n;
}

static void grow_tree(struct node *nodes, uint32_t n, bool second)
{
    for (uint32_t r = 0; r < n; r++) {
        uint32_t parent = parent_in_order(r, n);
        uint32_t at = second ? in_second(r, n) : r;
        nodes[at].parent = parent == NOBODY ? NOBODY : second ? in_second(parent, n) : parent;
    }
    for (uint32_t r = 0; r < n; r++) {
        uint32_t parent = nodes[r].parent;
        if (parent == NOBODY)
            continue;
        nodes[r].rank_among = nodes[parent].children;
        nodes[parent].child[nodes[parent].children++] = r;
    }
}

static const struct node *node_of(const struct gen *gen, uint32_t rank, uint32_t channel)
{
    const struct trees *trees = gen->algorithm;
    return &trees->nodes[channel % 2][rank];
}

bool nuna_tree_prepare(struct gen *gen, struct nuna_error *err)
{
    struct trees *trees = calloc(1, sizeof *trees);
    gen->algorithm = trees;
    if (trees == NULL)
        return nuna_fail_memory(err, "a plan");
    trees->nodes[0] = calloc(gen->gpus, sizeof *trees->nodes[0]);
    trees->nodes[1] = calloc(gen->gpus, sizeof *trees->nodes[1]);
    trees->first_id = calloc((size_t)gen->gpus * gen->channels, sizeof *trees->first_id);
    trees->below = calloc(gen->gpus, sizeof *trees->below);
    if (!trees->nodes[0] || !trees->nodes[1] || !trees->first_id || !trees->below)
        return nuna_fail_memory(err, "a plan");
    grow_tree(trees->nodes[0], gen->gpus, false);
    grow_tree(trees->nodes[1], gen->gpus, true);
    for (uint32_t r = 0; r < gen->gpus; r++) {
        uint32_t id = 0;
        for (uint32_t c = 0; c < gen->channels; c++) {
            const struct node *node = node_of(gen, r, c);
            trees->first_id[(size_t)r * gen->channels + c] = id;
            id += (node->parent != NOBODY) + node->children;
        }
    }
    return true;
}

void nuna_tree_free(struct gen *gen)
{
    struct trees *trees = gen->algorithm;
    if (trees == NULL)
        return;
    free(trees->nodes[0]);
    free(trees->nodes[1]);
    free(trees->first_id);
    free(trees->below);
    free(trees);
    gen->algorithm = NULL;
}

static uint32_t id_of_parent(const struct gen *gen, uint32_t rank, uint32_t channel)
{
    const struct trees *trees = gen->algorithm;
    return trees->first_id[(size_t)rank * gen->channels + channel];
}

static uint32_t id_of_child(const struct gen *gen, uint32_t rank, uint32_t channel, uint32_t child)
{
    return id_of_parent(gen, rank, channel) + (node_of(gen, rank, channel)->parent != NOBODY) +
           child;
}

/* Marks the subtree of `rank`. A node's height is small: going up from each is quick enough. */
static void mark_below(struct gen *gen, uint32_t rank, uint32_t channel)
{
    struct trees *trees = gen->algorithm;
    for (uint32_t r = 0; r < gen->gpus; r++) {
        uint32_t at = r;
        while (at != NOBODY && at != rank)
            at = node_of(gen, at, channel)->parent;
        trees->below[r] = at == rank;
    }
}

/* ---- operations ---- */

enum which { ALL, BELOW, NOT_BELOW };

static bool counts(const struct gen *gen, enum which which, uint32_t block)
{
    const struct trees *trees = gen->algorithm;
    return which == ALL || trees->below[block] == (which == BELOW);
}

/* Blocks of the marked subtree, or the others, in the channel's chunks. Blocks of `to` lie in the
 * same order, from `first` on. False when there are none. */
static bool put_blocks(struct gen *gen, enum which which, enum nuna_buffer from, uint32_t peer,
                       enum nuna_buffer to, uint32_t first, uint32_t channel)
{
    struct nuna_builder *builder = &gen->builder;
    bool gathers = gen->spec->collective == NUNA_ALLGATHER, any = false;
    for (uint32_t b = 0; b < gen->gpus && !any; b++)
        any = counts(gen, which, b);
    if (!any)
        return false;
    nuna_builder_op(builder, NUNA_OP_PUT, false);
    for (uint32_t b = 0; b < gen->gpus; b++)
        if (counts(gen, which, b))
            nuna_builder_source(builder, gathers && b == gen->own
                                             ? chunk(gen->own, NUNA_BUF_INPUT, channel)
                                             : chunk(gen->own, from, in_block(gen, b, channel)));
    for (uint32_t b = 0; b < gen->gpus; b++)
        if (counts(gen, which, b))
            nuna_builder_destination(builder, chunk(peer, to, in_block(gen, first + b, channel)));
    return true;
}

/* Scratch of the k-th child: a copy of all blocks. */
static void add_children(struct gen *gen, const struct node *node, enum nuna_buffer partial,
                         uint32_t channel)
{
    struct nuna_builder *builder = &gen->builder;
    for (uint32_t b = 0; b < gen->gpus; b++) {
        struct nuna_range sum = chunk(gen->own, partial, in_block(gen, b, channel));
        nuna_builder_op(builder, NUNA_OP_REDUCE, false);
        nuna_builder_source(builder, sum);
        for (uint32_t k = 0; k < node->children; k++)
            nuna_builder_source(builder, chunk(gen->own, NUNA_BUF_SCRATCH,
                                               in_block(gen, k * gen->gpus + b, channel)));
        nuna_builder_destination(builder, sum);
    }
    nop(gen);
}

static void go_up(struct gen *gen, const struct node *node, enum nuna_buffer partial,
                  uint32_t channel)
{
    bool gathers = gen->spec->collective == NUNA_ALLGATHER;
    for (uint32_t k = 0; k < node->children; k++)
        await(gen, id_of_child(gen, gen->own, channel, k));
    if (!gathers && node->children > 0)
        add_children(gen, node, partial, channel);
    if (node->parent == NOBODY)
        return;
    if (gathers) {
        mark_below(gen, gen->own, channel);
        put_blocks(gen, BELOW, partial, node->parent, partial, 0, channel);
    } else {
        put_blocks(gen, ALL, partial, node->parent, NUNA_BUF_SCRATCH, node->rank_among * gen->gpus,
                   channel);
    }
    announce(gen, id_of_parent(gen, gen->own, channel));
}

static void go_down(struct gen *gen, const struct node *node, enum nuna_buffer partial,
                    uint32_t channel)
{
    enum which which = gen->spec->collective == NUNA_ALLGATHER       ? NOT_BELOW
                       : gen->spec->collective == NUNA_REDUCESCATTER ? BELOW
                                                                     : ALL;
    if (node->parent != NOBODY)
        await(gen, id_of_parent(gen, gen->own, channel));
    for (uint32_t k = 0; k < node->children; k++) {
        if (which != ALL)
            mark_below(gen, node->child[k], channel);
        put_blocks(gen, which, partial, node->child[k], partial, 0, channel);
        announce(gen, id_of_child(gen, gen->own, channel, k));
    }
}

void nuna_tree_gpu(struct gen *gen)
{
    struct nuna_builder *builder = &gen->builder;
    enum nuna_buffer partial =
        gen->spec->collective == NUNA_REDUCESCATTER ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    if (gen->spec->collective != NUNA_ALLGATHER)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] = 2 * gen->gpus * gen->channels;
    for (uint32_t c = 0; c < gen->channels; c++) {
        const struct node *node = node_of(gen, gen->own, c);
        if (node->parent != NOBODY)
            nuna_builder_channel(
                builder, gen->own,
                memory_channel(node->parent, id_of_child(gen, node->parent, c, node->rank_among)));
        for (uint32_t k = 0; k < node->children; k++)
            nuna_builder_channel(
                builder, gen->own,
                memory_channel(node->child[k], id_of_parent(gen, node->child[k], c)));
    }
    for (uint32_t c = 0; c < gen->channels; c++) {
        nuna_builder_threadblock(builder, gen->own);
        go_up(gen, node_of(gen, gen->own, c), partial, c);
        go_down(gen, node_of(gen, gen->own, c), partial, c);
    }
}
