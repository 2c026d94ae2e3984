#ifndef NUNA_CLI_CMD_CHECK_H
#define NUNA_CLI_CMD_CHECK_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_check; /* nunasim check PLAN */

#endif
