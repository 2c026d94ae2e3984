/* What a person reads about host transfers. */
#ifndef NUNA_CLI_HOST_SCREEN_H
#define NUNA_CLI_HOST_SCREEN_H

#include "host/host.h"
#include "host/report.h"

/* Of transfers that are done. */
void nuna_print_transfers(struct nuna_host_view view, nuna_time elapsed);

void nuna_print_sweep_head(const struct nuna_host_plan *plan);
void nuna_print_sweep_row(struct nuna_host_view view, uint64_t bytes);

#endif
