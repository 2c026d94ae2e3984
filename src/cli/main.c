#include "cli/cmd_check.h"
#include "cli/cmd_columns.h"
#include "cli/cmd_completion.h"
#include "cli/cmd_help.h"
#include "cli/cmd_latency_map.h"
#include "cli/cmd_params.h"
#include "cli/cmd_plan.h"
#include "cli/common/messages.h"
#include "cli/host/cmd_host.h"
#include "cli/run/cmd_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct nuna_verb *const verb_table[] = {
    &nuna_verb_run,         &nuna_verb_plan,       &nuna_verb_check,
    &nuna_verb_params,      &nuna_verb_columns,    &nuna_verb_host,
    &nuna_verb_latency_map, &nuna_verb_completion, &nuna_verb_help_on,
};
static const struct nuna_verbs verbs = {verb_table, sizeof verb_table / sizeof verb_table[0]};

static const char short_help[] = "usage: nunasim --config FILE --plan PLAN [--set KEY=VALUE]...\n"
                                 "       nunasim COMMAND ...\n"
                                 "       nunasim --help\n";

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs(short_help, stderr);
        return NUNA_EXIT_BAD_INPUT;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return nuna_verb_call(&nuna_verb_help_on, verbs, 0, NULL);
    if (strcmp(first, "--version") == 0) {
        printf("nunasim %s\n", NUNA_VERSION);
        return NUNA_EXIT_OK;
    }
    if (first[0] == '-')
        return nuna_verb_call(&nuna_verb_run, verbs, argc - 1, argv + 1);
    const struct nuna_verb *verb = nuna_verb_find(verbs, first);
    return verb != NULL ? nuna_verb_call(verb, verbs, argc - 2, argv + 2)
                        : nuna_verb_unknown(verbs, first);
}

int main(int argc, char **argv)
{
    /* A file that grows beyond its limit is an error to report, not an end. */
    signal(SIGXFSZ, SIG_IGN);
    int code = dispatch(argc, argv);

    /* A full disk shows only when the last bytes leave. */
    errno = 0;
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    int reason = errno;
    if (!written) {
        struct nuna_error err;
        nuna_fail(&err, NUNA_EXIT_INTERNAL, "cannot write to standard output%s%s",
                  reason != 0 ? ": " : "", reason != 0 ? strerror(reason) : "");
        nuna_cli_report(&err);
        if (code == NUNA_EXIT_OK)
            code = NUNA_EXIT_INTERNAL;
    }
    return code;
}
