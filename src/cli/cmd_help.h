#ifndef NUNA_CLI_CMD_HELP_H
#define NUNA_CLI_CMD_HELP_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_help_on; /* nunasim help [COMMAND], nunasim --help */

#endif
