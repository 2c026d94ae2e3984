/* What the size of a message decides. */
#ifndef NUNA_COLLECTIVES_CHECK_LIMITS_H
#define NUNA_COLLECTIVES_CHECK_LIMITS_H

#include "collectives/check/trial.h"
#include "collectives/check/verdict.h"
#include "core/params.h"

/* Whether the threadblocks finish at all, given what connections hold and how often loops turn:
 * all sizes, or, with `size`, that one. Fills in the verdict's limits. */
bool nuna_check_limits(const struct nuna_plan *plan, struct nuna_trial *trial,
                       const struct nuna_params *params, const uint64_t *size,
                       struct nuna_plan_verdict *verdict, struct nuna_error *err);

#endif
