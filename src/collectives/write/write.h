/* Plans into files. */
#ifndef NUNA_COLLECTIVES_WRITE_WRITE_H
#define NUNA_COLLECTIVES_WRITE_WRITE_H

#include "collectives/plan/plan.h"
#include <stdio.h>

/* Writes MSCCL++ JSON version 2. False when writing failed, or, with errno EINVAL, when the plan
 * has other operations than generated ones have. */
bool nuna_plan_write_json(const struct nuna_plan *plan, FILE *out);

/* Writes MSCCL XML: puts and their signals and waits become sends and receives, barriers become
 * dependencies, and a threadblock that talks to several peers becomes several. False when writing
 * failed, or, with errno EINVAL, when the plan cannot be expressed so: a signal has no data or goes
 * to another peer than its data, a put has more chunks than a message may have, or there are other
 * operations than generated plans have. */
bool nuna_plan_write_xml(const struct nuna_plan *plan, FILE *out);

#endif
