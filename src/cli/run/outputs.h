/* The files of a run. */
#ifndef NUNA_CLI_RUN_OUTPUTS_H
#define NUNA_CLI_RUN_OUTPUTS_H

#include "cli/run/run.h"

/* Writes every file of the run and, unless it is quiet, their names. */
bool nuna_run_write(struct nuna_run *run, const struct nuna_result *result, struct nuna_error *err);

#endif
