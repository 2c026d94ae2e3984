#ifndef NUNA_CLI_CMD_COLUMNS_H
#define NUNA_CLI_CMD_COLUMNS_H

#include "cli/common/verb.h"

extern const struct nuna_verb nuna_verb_columns; /* nunasim columns */

#endif
