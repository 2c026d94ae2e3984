#ifndef NUNA_CLI_RUN_CMD_RUN_H
#define NUNA_CLI_RUN_CMD_RUN_H

/* nunasim --config F --plan P ... Gets the arguments after the verb's name, prints, and returns the
 * exit code (core/error.h). */
int nuna_cmd_run(int argc, char **argv);

#endif
