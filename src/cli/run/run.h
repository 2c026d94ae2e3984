/* The parts of the verb that runs a collective: inputs, simulation, outputs. */
#ifndef NUNA_CLI_RUN_RUN_H
#define NUNA_CLI_RUN_RUN_H

#include "cli/common/options.h"
#include "cli/host/options.h"
#include "core/config.h"
#include "pod/report/summary.h"
#include "pod/sim.h"

struct nuna_run_options {
    const char *config, *plan, *size, *gpus, *policy, *nar, *background, *threads, *fold, *out;
    struct nuna_opt_list set;
    struct nuna_host_options host; /* of its options, the transfers alone */
    bool quiet, show_placement, reference;
};

/* Everything a run holds, so that one function can let it go. */
struct nuna_run {
    struct nuna_run_options options;
    struct nuna_config *config;
    struct nuna_plan *plan;
    struct nuna_sim *sim;
    struct nuna_host_plan transfers;
    uint32_t threads;
    enum nuna_fold_mode fold;
    char out[4096], policy[32];
    struct nuna_run_info info;
    struct nuna_breakdown breakdown; /* of the result */
};

#endif
