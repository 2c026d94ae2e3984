#ifndef NUNA_CLI_HOST_CMD_HOST_H
#define NUNA_CLI_HOST_CMD_HOST_H

/* nunasim host --config F --transfer T ... Gets the arguments after the verb's name, prints, and
 * returns the exit code (core/error.h). */
int nuna_cmd_host(int argc, char **argv);

#endif
