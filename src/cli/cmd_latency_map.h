#ifndef NUNA_CLI_CMD_LATENCY_MAP_H
#define NUNA_CLI_CMD_LATENCY_MAP_H

/* nunasim latency-map --config F Gets the arguments after the verb's name, prints, and returns the
 * exit code (core/error.h). */
int nuna_cmd_latency_map(int argc, char **argv);

#endif
