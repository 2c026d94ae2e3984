/* SIGINT and SIGTERM as a flag. */
#ifndef NUNA_CLI_COMMON_SIGNALS_H
#define NUNA_CLI_COMMON_SIGNALS_H

#include <signal.h>

/* From the first call on, the first SIGINT or SIGTERM sets the flag: an orderly end; a second one
 * kills. */
void nuna_catch_signals(void);
const volatile sig_atomic_t *nuna_stop_flag(void);

#endif
