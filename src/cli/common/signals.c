#include "cli/common/signals.h"

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

void nuna_catch_signals(void)
{
    const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {.sa_handler = request_stop, .sa_flags = (int)SA_RESETHAND};
        sigaction(signals[i], &action, NULL);
    }
}

const volatile sig_atomic_t *nuna_stop_flag(void)
{
    return &stop_requested;
}
