/* What a run reads. */
#ifndef NUNA_CLI_RUN_INPUTS_H
#define NUNA_CLI_RUN_INPUTS_H

#include "cli/run/run.h"

/* Reads and checks all inputs, names the output folder and makes it. */
bool nuna_run_prepare(struct nuna_run *run, struct nuna_error *err);

#endif
