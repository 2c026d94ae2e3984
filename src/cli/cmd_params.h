#ifndef NUNA_CLI_CMD_PARAMS_H
#define NUNA_CLI_CMD_PARAMS_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_params; /* nunasim params */

#endif
