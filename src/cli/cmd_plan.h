#ifndef NUNA_CLI_CMD_PLAN_H
#define NUNA_CLI_CMD_PLAN_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_plan; /* nunasim plan allgather --gpus 8 ... */

#endif
