/* Is a plan right? */
#ifndef NUNA_COLLECTIVES_CHECK_CHECK_H
#define NUNA_COLLECTIVES_CHECK_CHECK_H

#include "collectives/check/verdict.h"
#include "collectives/plan/plan.h"
#include "core/params.h"

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
