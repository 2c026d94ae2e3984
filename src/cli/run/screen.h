/* What a person reads after a run. */
#ifndef NUNA_CLI_RUN_SCREEN_H
#define NUNA_CLI_RUN_SCREEN_H

#include "core/params.h"
#include "pod/report/summary.h"

void nuna_print_setup(const struct nuna_run_info *info, const struct nuna_params *params);
void nuna_print_result(const struct nuna_run_info *info, const struct nuna_result *result,
                       const struct nuna_breakdown *breakdown, uint32_t threads);

#endif
