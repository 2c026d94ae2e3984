/* What the checker found. */
#ifndef NUNA_COLLECTIVES_CHECK_VERDICT_H
#define NUNA_COLLECTIVES_CHECK_VERDICT_H

#include "core/types.h"

struct nuna_plan_verdict {
    bool proved;           /* the collective's postcondition holds */
    bool nothing_to_prove; /* collective OTHER: completes, result unchecked */
    uint64_t operations;   /* executed symbolically */
    uint64_t signals, puts, messages;
    /* Messages up to this size get through the connections' slots, larger ones do not. */
    uint64_t largest_size;
    char limit[512]; /* why; empty where there is no such limit */
    /* Two-sided plans: accesses that nothing orders, a line each. The result is right if they
     * happen to come in the order that the plan's author had in mind. */
    char races[1536];
};

#endif
