#ifndef NUNA_CLI_CMD_COMPLETION_H
#define NUNA_CLI_CMD_COMPLETION_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_completion; /* nunasim completion bash */

#endif
