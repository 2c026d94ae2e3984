#ifndef NUNA_CLI_CMD_CHECK_H
#define NUNA_CLI_CMD_CHECK_H

/* nunasim check PLAN Gets the arguments after the verb's name, prints, and returns the exit code
 * (core/error.h). */
int nuna_cmd_check(int argc, char **argv);

#endif
