/* Private to src/pod. */
#ifndef NUNA_POD_BUILD_H
#define NUNA_POD_BUILD_H

#include "pod/sim_private.h"

/* Builds what sim->options ask for into a simulation that is zero beside them and `origin`. What it
 * leaves when it fails, nuna_sim_destroy takes away. */
bool nuna_sim_build(struct nuna_sim *sim, const struct nuna_params *params,
                    const struct nuna_plan *plan, struct nuna_error *err);

#endif
