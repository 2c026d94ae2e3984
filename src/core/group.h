/* The relabelling group of a pod: the renamings of GPUs under which it looks the same. Rotation
 * when nodes do not matter; else node rotation times rotation within the node. Whatever must look
 * alike from every GPU (orders, ties, the places of frames) goes by the difference of two GPUs. */
#ifndef NUNA_CORE_GROUP_H
#define NUNA_CORE_GROUP_H

#include "core/types.h"

struct nuna_group {
    uint32_t count; /* GPUs */
    uint32_t node;  /* GPUs of a node, a divisor of `count`; 1: rotation */
};

static inline struct nuna_group nuna_group_make(uint32_t count, uint32_t gpus_per_node)
{
    /* One node, or nodes of one: either is a plain rotation. */
    bool plain = gpus_per_node == 0 || gpus_per_node >= count;
    return (struct nuna_group){count, plain ? 1 : gpus_per_node};
}

static inline uint32_t nuna_group_turn(uint32_t a, uint32_t b, uint32_t count)
{
    return a >= b ? a - b : a + count - b;
}

/* a - b: 0 for the GPU itself. */
static inline uint32_t nuna_group_difference(const struct nuna_group *group, uint32_t a, uint32_t b)
{
    uint32_t node = group->node;
    if (__builtin_expect(node == 1, 1))
        return nuna_group_turn(a, b, group->count);
    return nuna_group_turn(a / node, b / node, group->count / node) * node +
           nuna_group_turn(a % node, b % node, node);
}

/* The GPU whose difference to `a` is `difference`. */
static inline uint32_t nuna_group_add(const struct nuna_group *group, uint32_t a,
                                      uint32_t difference)
{
    uint32_t node = group->node, nodes = group->count / node;
    return (a / node + difference / node) % nodes * node + (a % node + difference % node) % node;
}

#endif
