#ifndef NUNA_CLI_CMD_PLAN_H
#define NUNA_CLI_CMD_PLAN_H

/* nunasim plan allgather --gpus 8 ... Gets the arguments after the verb's name, prints, and returns
 * the exit code (core/error.h). */
int nuna_cmd_plan(int argc, char **argv);

#endif
