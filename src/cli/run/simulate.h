/* The simulation of a run, or those it tries. */
#ifndef NUNA_CLI_RUN_SIMULATE_H
#define NUNA_CLI_RUN_SIMULATE_H

#include "cli/run/run.h"

/* Simulates, by domains as the options say, or by every granularity to keep the fastest; and works
 * out where its time went. */
bool nuna_run_simulate(struct nuna_run *run, struct nuna_result *result, struct nuna_error *err);

#endif
