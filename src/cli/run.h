/* The parts of the verb that runs a collective: inputs, simulation, outputs. */
#ifndef NUNA_CLI_RUN_H
#define NUNA_CLI_RUN_H

#include "cli/host_options.h"
#include "cli/options.h"
#include "core/config.h"
#include "host/host_report.h"
#include "pod/report.h"

struct nuna_run_options {
    const char *config, *plan, *size, *gpus, *policy, *nar, *background, *threads, *fold, *out;
    struct nuna_opt_list set;
    struct nuna_host_options host; /* of its options, the transfers alone */
    bool quiet, show_placement, reference, help;
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
};

/* Reads and checks all inputs, names the output folder and makes it. */
bool nuna_run_prepare(struct nuna_run *run, struct nuna_error *err);

/* Simulates; by domains as the options say, or by every granularity to keep the fastest. */
bool nuna_run_simulate(struct nuna_run *run, struct nuna_result *result, struct nuna_error *err);

/* Writes every file of the run and, unless it is quiet, their names. */
bool nuna_run_write(struct nuna_run *run, const struct nuna_result *result, struct nuna_error *err);

struct nuna_host_view nuna_run_transfers(const struct nuna_run *run);

#endif
