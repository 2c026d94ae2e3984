#ifndef NUNA_CLI_RUN_CMD_RUN_H
#define NUNA_CLI_RUN_CMD_RUN_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_run; /* nunasim --config F --plan P ... */

#endif
