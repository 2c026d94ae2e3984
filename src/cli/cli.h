/* The verbs of the nunasim command. Each gets the arguments after its name, prints, and returns the
 * exit code (core/error.h). src/cli is the only layer that prints or picks an exit code. */
#ifndef NUNA_CLI_CLI_H
#define NUNA_CLI_CLI_H

int nuna_cmd_run(int argc, char **argv);         /* nunasim --config F --plan P ... */
int nuna_cmd_plan(int argc, char **argv);        /* nunasim plan allgather --gpus 8 ... */
int nuna_cmd_check(int argc, char **argv);       /* nunasim check PLAN */
int nuna_cmd_host(int argc, char **argv);        /* nunasim host --config F --transfer T ... */
int nuna_cmd_params(int argc, char **argv);      /* nunasim params [--markdown] */
int nuna_cmd_latency_map(int argc, char **argv); /* nunasim latency-map --config F */

#endif
