/* One simulation: everything hangs off struct nuna_sim, and several can live in one process. */
#ifndef NUNA_POD_SIM_H
#define NUNA_POD_SIM_H

#include "collectives/plan/plan.h"
#include "core/error.h"
#include "core/params.h"
#include "host/result.h"
#include "pod/options.h"
#include "pod/result.h"

struct nuna_sim;

/* Builds the pod. `params` and `plan` must outlive the simulation; plan->gpu_count is the number of
 * GPUs. The plan must have passed nuna_plan_check. */
struct nuna_sim *nuna_sim_create(const struct nuna_params *params, const struct nuna_plan *plan,
                                 const struct nuna_sim_options *options, struct nuna_error *err);
void nuna_sim_destroy(struct nuna_sim *sim);

/* Runs to the end, once. False only on internal failure (memory, threads): a deadlock or an
 * interruption is a result. */
bool nuna_sim_run(struct nuna_sim *sim, struct nuna_result *ret_result, struct nuna_error *err);

/* What came of the host transfers, of a simulation that has some. */
struct nuna_host_view nuna_sim_transfers(const struct nuna_sim *sim);

#endif
