/* What a configuration holds, for those that read and check one. Private to src/core. */
#ifndef NUNA_CORE_CONFIG_STATE_H
#define NUNA_CORE_CONFIG_STATE_H

#include "core/params.h"

/* Where a value came from; both NULL for a default. */
struct nuna_origin {
    char *name;  /* in the effective configuration: "a.yaml:7:16", "--set" */
    char *where; /* at the head of a message: "a.yaml:7:16", "--set noc.rows=6" */
};

struct nuna_config {
    struct nuna_params params;
    struct nuna_origin origins[]; /* one per row of the table */
};

#endif
