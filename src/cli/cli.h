/* The verbs of the nunasim command. Each gets the arguments after its name, prints, and returns the
 * exit code (core/error.h). src/cli is the only layer that prints or picks an exit code. */
#ifndef NUNA_CLI_CLI_H
#define NUNA_CLI_CLI_H

#include "core/error.h"
#include <signal.h>
#include <stdint.h>

int nuna_cmd_run(int argc, char **argv);         /* nunasim --config F --plan P ... */
int nuna_cmd_plan(int argc, char **argv);        /* nunasim plan allgather --gpus 8 ... */
int nuna_cmd_check(int argc, char **argv);       /* nunasim check PLAN */
int nuna_cmd_host(int argc, char **argv);        /* nunasim host --config F --transfer T ... */
int nuna_cmd_params(int argc, char **argv);      /* nunasim params [--markdown] */
int nuna_cmd_latency_map(int argc, char **argv); /* nunasim latency-map --config F */

/* Prints "nunasim: error: MESSAGE" to standard error and returns the error's exit code. */
int nuna_cli_report(const struct nuna_error *err);

/* Prints each line as "nunasim: warning: [SOURCE: ]LINE" to standard error, of many the first ones.
 * `lines` may be NULL. */
void nuna_cli_warn(const char *source, const char *lines);

/* The ending of a noun behind a number. */
static inline const char *nuna_plural(int64_t number)
{
    return number == 1 ? "" : "s";
}

/* From the first call on, the first SIGINT or SIGTERM sets the flag: an orderly end; a second one
 * kills. */
void nuna_catch_signals(void);
const volatile sig_atomic_t *nuna_stop_flag(void);

#endif
