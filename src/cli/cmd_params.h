#ifndef NUNA_CLI_CMD_PARAMS_H
#define NUNA_CLI_CMD_PARAMS_H

/* nunasim params [--markdown] Gets the arguments after the verb's name, prints, and returns the
 * exit code (core/error.h). */
int nuna_cmd_params(int argc, char **argv);

#endif
