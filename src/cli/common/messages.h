/* What the command says on standard error, and the words of sentences. */
#ifndef NUNA_CLI_COMMON_MESSAGES_H
#define NUNA_CLI_COMMON_MESSAGES_H

#include "core/error.h"

/* Prints "nunasim: error: MESSAGE" to standard error and returns the error's exit code. */
int nuna_cli_report(const struct nuna_error *err);

/* Prints each line as "nunasim: warning: [SOURCE: ]LINE" to standard error, of many the first ones.
 * `lines` may be NULL. */
void nuna_cli_warn(const char *source, const char *lines);

/* The ending of a noun behind a number. */
const char *nuna_plural(int64_t number);

/* A time in the unit that suits it, three decimals: "4.291 us". Returns `buffer`, of at least 48
 * bytes. */
const char *nuna_duration_text(nuna_time ps, char *buffer);

#endif
