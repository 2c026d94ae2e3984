/* Is a plan right? */
#ifndef NUNA_COLLECTIVES_CHECK_CHECK_H
#define NUNA_COLLECTIVES_CHECK_CHECK_H

#include "collectives/plan/plan.h"
#include "core/params.h"

/* What the checker found. */
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

/* Static check: ranges, ids, signals against waits, completion (no deadlock), and the collective's
 * postcondition by symbolic execution over chunks, and whether slots of connections limit the size.
 * With `size` the plan must finish at that size, and the size be within the plan's window; without,
 * at any. `params` has the slots' number and size. Returns false with a located reason (who waits
 * for whom; which chunk of which GPU lacks whose contribution) when the plan is wrong. A plan that
 * can only deadlock fails with code NUNA_EXIT_BAD_INPUT, as every wrong plan does. */
bool nuna_plan_check(const struct nuna_plan *plan, const struct nuna_params *params,
                     const uint64_t *size, struct nuna_plan_verdict *ret_verdict,
                     struct nuna_error *err);

#endif
