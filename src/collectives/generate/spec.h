/* What plan to generate. */
#ifndef NUNA_COLLECTIVES_GENERATE_SPEC_H
#define NUNA_COLLECTIVES_GENERATE_SPEC_H

#include "collectives/plan/plan.h"

/* X(id, word, file), one row an algorithm. */
#define NUNA_ALGORITHMS(X)                                                                         \
    X(ALLPAIRS, "allpairs", allpairs)                                                              \
    X(RING, "ring", ring)                                                                          \
    X(DOUBLING, "doubling", doubling)                                                              \
    X(TWO_STEP, "twostep", two_step)                                                               \
    X(TREE, "tree", tree)

enum nuna_algorithm {
#define NUNA_ALGORITHM_ID(id, ...) NUNA_##id,
    NUNA_ALGORITHMS(NUNA_ALGORITHM_ID)
#undef NUNA_ALGORITHM_ID
        NUNA_ALGORITHM_COUNT,
};

struct nuna_plan_spec {
    enum nuna_collective collective; /* not OTHER */
    enum nuna_algorithm algorithm;
    uint32_t gpus;     /* 1 .. 4096 */
    uint32_t channels; /* threadblocks per peer (all-pairs), rings, trees; 1 .. 1024 */
};

/* What a plan may do otherwise. All zero is what nuna_plan_generate does. */
struct nuna_plan_variant {
    uint32_t gpus_per_node; /* a divisor: the relative order of all-pairs plans is by nodes
                               (core/group.h) */
    bool own_apart; /* all-to-all: the GPU's own block is copied by threadblocks of its own, not by
                       those of the first peer between signal and wait */
};

#endif
