#ifndef NUNA_CLI_HOST_CMD_HOST_H
#define NUNA_CLI_HOST_CMD_HOST_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_host; /* nunasim host --config F --transfer T ... */

#endif
