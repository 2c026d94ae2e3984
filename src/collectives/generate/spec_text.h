/* Plans from the text after "builtin:". */
#ifndef NUNA_COLLECTIVES_GENERATE_SPEC_TEXT_H
#define NUNA_COLLECTIVES_GENERATE_SPEC_TEXT_H

#include "collectives/plan/plan.h"

/* "allgather,channels=8,algorithm=ring" (what follows "builtin:"; further gpus=, gpus_per_node=,
 * instances=, which multiplies the channels, and own=apart); `gpus` and `channels` are the defaults
 * for what the text does not say. */
struct nuna_plan *nuna_plan_builtin(const char *text, uint32_t gpus, uint32_t channels,
                                    struct nuna_error *err);

#endif
