/* What can be told of a plan without running it. */
#ifndef NUNA_COLLECTIVES_CHECK_STATIC_H
#define NUNA_COLLECTIVES_CHECK_STATIC_H

#include "collectives/plan/plan.h"

/* Ranges, ids and counts of every operation, and the shape the collective needs. */
bool nuna_check_static(const struct nuna_plan *plan, struct nuna_error *err);

#endif
