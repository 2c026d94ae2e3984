/* Double binary tree: even channels use one tree over the GPUs, odd ones another in which the first
 * one's leaves are inner nodes, so that both directions of every GPU's links are used. Data go up
 * to the root (sums, or the blocks of a subtree) and down again.
 *
 * All-to-all: a block goes up only to the lowest common ancestor and from there down. In between it
 * rests in scratch, each in a slot of its own. */
#include "collectives/generate/generator.h"

#include <stdlib.h>
#include <string.h>

/* Of one put; a plan counts them with 16 bits. */
#define BLOCKS_PER_PUT 16384u

struct node {
    uint32_t parent;
    uint32_t child[2], children;
    uint32_t rank_among; /* the parent's children */
    uint32_t place;      /* in pre-order, where a subtree is `size` places from its root's on */
    uint32_t size;
    uint32_t slots[3]; /* all-to-all: first slot of what comes from the children and the parent */
};

struct trees {
    struct node *nodes[2];
    uint32_t *ranks[2]; /* [place] */
    uint32_t *slots[2]; /* [rank]: of all-to-all scratch, for a channel */
    uint32_t *first_id; /* [rank][channel] of its ends: parent, then children */
    bool *below;        /* scratch: [rank] in a subtree */
};

/* In-order binary tree over 0 .. n-1 with root 0: the lowest set bit of a rank is its height. */
static uint32_t parent_in_order(uint32_t rank, uint32_t n)
{
    if (rank == 0)
        return NUNA_NONE;
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
        nodes[at].parent = parent == NUNA_NONE ? NUNA_NONE : second ? in_second(parent, n) : parent;
    }
    for (uint32_t r = 0; r < n; r++) {
        uint32_t parent = nodes[r].parent;
        if (parent == NUNA_NONE)
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

/* Without recursion: after a node comes its first child, else the next one of the nearest ancestor
 * that has one left. */
static void number_places(struct node *nodes, uint32_t *ranks, uint32_t n)
{
    uint32_t at = 0;
    while (nodes[at].parent != NUNA_NONE)
        at = nodes[at].parent;
    for (uint32_t place = 0; place < n; place++) {
        nodes[at].place = place;
        ranks[place] = at;
        if (nodes[at].children > 0) {
            at = nodes[at].child[0];
            continue;
        }
        for (; at != NUNA_NONE; at = nodes[at].parent) {
            nodes[at].size = place + 1 - nodes[at].place;
            const struct node *parent =
                nodes[at].parent == NUNA_NONE ? NULL : &nodes[nodes[at].parent];
            if (parent != NULL && nodes[at].rank_among + 1 < parent->children) {
                at = parent->child[nodes[at].rank_among + 1];
                break;
            }
        }
    }
}

/* Blocks from a child that are for others than the node, and from the parent likewise. */
static void number_slots(struct node *nodes, uint32_t *slots, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        struct node *node = &nodes[r];
        for (uint32_t k = 0; k < node->children; k++) {
            uint32_t inside = nodes[node->child[k]].size;
            node->slots[k] = slots[r];
            slots[r] += inside * (n - inside - 1);
        }
        node->slots[2] = slots[r];
        slots[r] += (n - node->size) * (node->size - 1);
    }
}

/* Each edge carries the blocks between its two sides, both ways. */
static uint64_t exchange_bytes(const struct gen *gen)
{
    const struct trees *trees = gen->algorithm;
    uint64_t ranges = 0;
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t r = 0; r < gen->gpus; r++) {
            uint64_t inside = trees->nodes[t][r].size;
            ranges += 4 * inside * (gen->gpus - inside) * ((gen->channels + 1 - t) / 2);
        }
    return ranges * sizeof(struct nuna_range);
}

static bool tree_prepare(struct gen *gen, struct nuna_error *err)
{
    struct trees *trees = calloc(1, sizeof *trees);
    gen->algorithm = trees;
    if (trees == NULL)
        return nuna_fail_memory(err, "a plan");
    trees->first_id = calloc((size_t)gen->gpus * gen->channels, sizeof *trees->first_id);
    trees->below = calloc(gen->gpus, sizeof *trees->below);
    if (!trees->first_id || !trees->below)
        return nuna_fail_memory(err, "a plan");
    for (int t = 0; t < 2; t++) {
        trees->nodes[t] = calloc(gen->gpus, sizeof *trees->nodes[t]);
        trees->ranks[t] = calloc(gen->gpus, sizeof *trees->ranks[t]);
        trees->slots[t] = calloc(gen->gpus, sizeof *trees->slots[t]);
        if (!trees->nodes[t] || !trees->ranks[t] || !trees->slots[t])
            return nuna_fail_memory(err, "a plan");
        grow_tree(trees->nodes[t], gen->gpus, t == 1);
        number_places(trees->nodes[t], trees->ranks[t], gen->gpus);
        number_slots(trees->nodes[t], trees->slots[t], gen->gpus);
    }
    if (gen->rule->personal)
        gen->least_bytes = exchange_bytes(gen);
    for (uint32_t r = 0; r < gen->gpus; r++) {
        uint32_t id = 0;
        for (uint32_t c = 0; c < gen->channels; c++) {
            const struct node *node = node_of(gen, r, c);
            trees->first_id[(size_t)r * gen->channels + c] = id;
            id += (node->parent != NUNA_NONE) + node->children;
        }
    }
    return true;
}

static void tree_free(struct gen *gen)
{
    struct trees *trees = gen->algorithm;
    if (trees == NULL)
        return;
    for (int t = 0; t < 2; t++) {
        free(trees->nodes[t]);
        free(trees->ranks[t]);
        free(trees->slots[t]);
    }
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
    return id_of_parent(gen, rank, channel) + (node_of(gen, rank, channel)->parent != NUNA_NONE) +
           child;
}

/* Marks the subtree of `rank`. A node's height is small: going up from each is quick enough. */
static void mark_below(struct gen *gen, uint32_t rank, uint32_t channel)
{
    struct trees *trees = gen->algorithm;
    for (uint32_t r = 0; r < gen->gpus; r++) {
        uint32_t at = r;
        while (at != NUNA_NONE && at != rank)
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
    bool gathers = gen->rule->own_input, any = false;
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
    bool gathers = gen->rule->own_input;
    for (uint32_t k = 0; k < node->children; k++)
        await(gen, id_of_child(gen, gen->own, channel, k));
    if (!gathers && node->children > 0)
        add_children(gen, node, partial, channel);
    if (node->parent == NUNA_NONE)
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
    enum which which = gen->rule->own_input ? NOT_BELOW : gen->rule->own_output ? BELOW : ALL;
    if (node->parent != NUNA_NONE)
        await(gen, id_of_parent(gen, gen->own, channel));
    for (uint32_t k = 0; k < node->children; k++) {
        if (which != ALL)
            mark_below(gen, node->child[k], channel);
        put_blocks(gen, which, partial, node->child[k], partial, 0, channel);
        announce(gen, id_of_child(gen, gen->own, channel, k));
    }
}

/* ---- all-to-all ---- */

static bool is_below(const struct node *node, const struct node *root)
{
    return node->place - root->place < root->size; /* wraps for those before it */
}

/* Number of a GPU outside the subtree, counted on from its end and around. */
static uint32_t number_outside(const struct gen *gen, const struct node *root,
                               const struct node *node)
{
    return (node->place + gen->gpus - root->place - root->size) % gen->gpus;
}

/* Slot of a block that `at` gets and passes on. */
static uint32_t slot_at(const struct gen *gen, const struct node *at, uint32_t from, uint32_t to,
                        uint32_t channel)
{
    const struct node *source = node_of(gen, from, channel), *target = node_of(gen, to, channel);
    for (uint32_t k = 0; k < at->children; k++) {
        const struct node *child = node_of(gen, at->child[k], channel);
        if (!is_below(source, child))
            continue;
        /* What is for `at` itself takes no slot. */
        uint32_t number = number_outside(gen, child, target);
        number -= number > number_outside(gen, child, at);
        return at->slots[k] + (source->place - child->place) * (gen->gpus - child->size - 1) +
               number;
    }
    return at->slots[2] + number_outside(gen, at, source) * (at->size - 1) + target->place -
           at->place - 1;
}

/* Where a block is at a GPU on its way. The two trees' scratch lies one behind the other. */
static struct nuna_range stop_at(const struct gen *gen, uint32_t rank, uint32_t from, uint32_t to,
                                 uint32_t channel)
{
    const struct trees *trees = gen->algorithm;
    if (rank == to)
        return chunk(rank, NUNA_BUF_OUTPUT, in_block(gen, from, channel));
    if (rank == from)
        return chunk(rank, NUNA_BUF_INPUT, in_block(gen, to, channel));
    uint32_t slot = slot_at(gen, node_of(gen, rank, channel), from, to, channel);
    uint32_t even = (gen->channels + 1) / 2, odd = gen->channels / 2;
    return chunk(rank, NUNA_BUF_SCRATCH,
                 channel % 2 == 0 ? slot * even + channel / 2
                                  : trees->slots[0][rank] * even + slot * odd + channel / 2);
}

/* What crosses the edge above `below`, up or down. */
static void put_crossing(struct gen *gen, uint32_t below, uint32_t peer, uint32_t channel)
{
    const struct trees *trees = gen->algorithm;
    const uint32_t *ranks = trees->ranks[channel % 2];
    const struct node *root = node_of(gen, below, channel);
    uint32_t outside = gen->gpus - root->size, all = root->size * outside;
    for (uint32_t first = 0; first < all; first += BLOCKS_PER_PUT) {
        uint32_t end = all - first < BLOCKS_PER_PUT ? all : first + BLOCKS_PER_PUT;
        nuna_builder_op(&gen->builder, NUNA_OP_PUT, false);
        for (int side = 0; side < 2; side++)
            for (uint32_t i = first; i < end; i++) {
                uint32_t in = ranks[root->place + i / outside];
                uint32_t out = ranks[(root->place + root->size + i % outside) % gen->gpus];
                bool up = peer != below;
                struct nuna_range range = stop_at(gen, side == 0 ? gen->own : peer, up ? in : out,
                                                  up ? out : in, channel);
                if (side == 0)
                    nuna_builder_source(&gen->builder, range);
                else
                    nuna_builder_destination(&gen->builder, range);
            }
    }
}

static void exchange(struct gen *gen, const struct node *node, uint32_t channel)
{
    for (uint32_t k = 0; k < node->children; k++)
        await(gen, id_of_child(gen, gen->own, channel, k));
    if (node->parent != NUNA_NONE) {
        put_crossing(gen, gen->own, node->parent, channel);
        announce(gen, id_of_parent(gen, gen->own, channel));
    }
    keep_own(gen, channel);
    if (node->parent != NUNA_NONE)
        await(gen, id_of_parent(gen, gen->own, channel));
    for (uint32_t k = 0; k < node->children; k++) {
        put_crossing(gen, node->child[k], node->child[k], channel);
        announce(gen, id_of_child(gen, gen->own, channel, k));
    }
}

/* ---- all four ---- */

static void tree_gpu(struct gen *gen)
{
    struct nuna_builder *builder = &gen->builder;
    const struct trees *trees = gen->algorithm;
    enum nuna_buffer partial = gen->rule->own_output ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    if (gen->rule->personal)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] =
            trees->slots[0][gen->own] * ((gen->channels + 1) / 2) +
            trees->slots[1][gen->own] * (gen->channels / 2);
    else if (gen->rule->reduces)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] = 2 * gen->gpus * gen->channels;
    for (uint32_t c = 0; c < gen->channels; c++) {
        const struct node *node = node_of(gen, gen->own, c);
        if (node->parent != NUNA_NONE)
            nuna_builder_channel(
                builder, gen->own,
                memory_channel(node->parent, id_of_child(gen, node->parent, c, node->rank_among)));
        for (uint32_t k = 0; k < node->children; k++)
            nuna_builder_channel(
                builder, gen->own,
                memory_channel(node->child[k], id_of_parent(gen, node->child[k], c)));
    }
    for (uint32_t c = 0; c < gen->channels; c++) {
        const struct node *node = node_of(gen, gen->own, c);
        nuna_builder_threadblock(builder, gen->own);
        if (gen->rule->personal) {
            exchange(gen, node, c);
            continue;
        }
        go_up(gen, node, partial, c);
        go_down(gen, node, partial, c);
    }
}

const struct nuna_generator nuna_generator_tree = {
    .collectives = NUNA_EVERY_COLLECTIVE,
    .prepare = tree_prepare,
    .gpu = tree_gpu,
    .let_go = tree_free,
};
