/* Plans by algorithm. All functions return NULL with `err` filled on failure. */
#ifndef NUNA_COLLECTIVES_GENERATE_GENERATE_H
#define NUNA_COLLECTIVES_GENERATE_GENERATE_H

#include "collectives/generate/spec.h"

const char *nuna_algorithm_name(enum nuna_algorithm algorithm); /* "allpairs" */
bool nuna_algorithm_can(enum nuna_algorithm algorithm, enum nuna_collective collective);

/* Generates a plan. All-pairs plans list peers in relative order (own rank + 1, + 2, ...), and
 * every GPU's list of threadblocks is the same but for that relabelling. Refuses specs whose plan
 * would need absurd memory. */
struct nuna_plan *nuna_plan_generate(const struct nuna_plan_spec *spec, struct nuna_error *err);

struct nuna_plan *nuna_plan_generate_variant(const struct nuna_plan_spec *spec,
                                             const struct nuna_plan_variant *variant,
                                             struct nuna_error *err);

#endif
