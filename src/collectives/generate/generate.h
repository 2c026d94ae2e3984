/* Plans by algorithm. All functions return NULL with `err` filled on failure. */
#ifndef NUNA_COLLECTIVES_GENERATE_GENERATE_H
#define NUNA_COLLECTIVES_GENERATE_GENERATE_H

#include "collectives/plan/plan.h"

enum nuna_algorithm {
    NUNA_ALLPAIRS,
    NUNA_RING,
    NUNA_DOUBLING, /* recursive doubling and halving, by distances, so for any number of GPUs */
    NUNA_TWO_STEP, /* two rounds over about the square root of the GPUs */
    NUNA_TREE,     /* double binary tree: the channels take turns */
};

struct nuna_plan_spec {
    enum nuna_collective collective; /* not OTHER */
    enum nuna_algorithm algorithm;
    uint32_t gpus;     /* 1 .. 4096 */
    uint32_t channels; /* threadblocks per peer (all-pairs), rings (ring); 1 .. 1024 */
};

/* Generates a plan. All-pairs plans list peers in relative order (own rank + 1, + 2, ...), and
 * every GPU's list of threadblocks is the same but for that relabelling. Refuses specs whose plan
 * would need absurd memory. */
struct nuna_plan *nuna_plan_generate(const struct nuna_plan_spec *spec, struct nuna_error *err);

/* What a plan may do otherwise. All zero is what nuna_plan_generate does. */
struct nuna_plan_variant {
    uint32_t gpus_per_node; /* a divisor: the relative order of all-pairs plans is by nodes
                               (core/group.h) */
    bool own_apart; /* all-to-all: the GPU's own block is copied by threadblocks of its own, not by
                       those of the first peer between signal and wait */
};

struct nuna_plan *nuna_plan_generate_variant(const struct nuna_plan_spec *spec,
                                             const struct nuna_plan_variant *variant,
                                             struct nuna_error *err);

/* "allgather,channels=8,algorithm=ring" (what follows "builtin:"; further gpus=, gpus_per_node=,
 * instances=, which multiplies the channels, and own=apart); `gpus` and `channels` are the defaults
 * for what the text does not say. */
struct nuna_plan *nuna_plan_builtin(const char *text, uint32_t gpus, uint32_t channels,
                                    struct nuna_error *err);

#endif
