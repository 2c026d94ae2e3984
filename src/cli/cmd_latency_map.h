#ifndef NUNA_CLI_CMD_LATENCY_MAP_H
#define NUNA_CLI_CMD_LATENCY_MAP_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_latency_map; /* nunasim latency-map --config F */

#endif
