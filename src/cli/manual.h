/* The manual page, and what it shares with `nunasim --help`. */
#ifndef NUNA_CLI_MANUAL_H
#define NUNA_CLI_MANUAL_H

#include "cli/common/verb.h"

extern const char *const nuna_manual_examples[];
extern const size_t nuna_manual_example_count;
extern const char nuna_manual_values[];       /* how values are written */
extern const char *const nuna_manual_codes[]; /* [exit code] */
extern const size_t nuna_manual_code_count;

/* Prints nunasim(1) as man macros. */
void nuna_manual_print(struct nuna_verbs verbs);

#endif
