/* Host transfers on the command line: of `nunasim host`, and of a run beside a collective. */
#ifndef NUNA_CLI_HOST_OPTIONS_H
#define NUNA_CLI_HOST_OPTIONS_H

#include "cli/common/options.h"
#include "core/config.h"
#include "host/host.h"

struct nuna_host_options {
    struct nuna_opt_list transfers, backgrounds;
    const char *engine, *relays, *ratios, *chunk, *depth, *buffer;
};

/* Puts the options that stand for keys into the configuration; before nuna_config_check. */
bool nuna_host_options_apply(const struct nuna_host_options *options, struct nuna_config *config,
                             struct nuna_error *err);

/* Reads transfers, relays and shares, and checks them all; after nuna_config_check. */
bool nuna_host_options_plan(const struct nuna_host_options *options,
                            const struct nuna_params *params, uint32_t gpus,
                            struct nuna_host_plan *ret_plan, struct nuna_error *err);

#endif
