#include "cli/cmd_check.h"
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

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} verbs[] = {
    {"run", nuna_cmd_run, "simulate a plan on a pod; what a command that starts with -- does"},
    {"plan", nuna_cmd_plan, "generate a collective plan"},
    {"check", nuna_cmd_check, "prove that a plan does what its collective promises"},
    {"params", nuna_cmd_params, "list every configuration key with default, range and meaning"},
    {"host", nuna_cmd_host, "copy between host and GPU memory, relayed by other GPUs or not"},
    {"latency-map", nuna_cmd_latency_map, "latencies across one GPU, from the configuration"},
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static const char short_help[] = "usage: nunasim --config FILE --plan PLAN [--set KEY=VALUE]...\n"
                                 "       nunasim COMMAND ...\n"
                                 "       nunasim --help\n";

static int help(void)
{
    printf("nunasim %s: how long a collective takes on a scale-up pod of multi-die GPUs, and "
           "where\nthe time goes. Every flit is simulated, on chip and between GPUs.\n\n"
           "Usage:\n"
           "  nunasim --config FILE --plan PLAN [options]\n"
           "  nunasim COMMAND [options]\n\n"
           "Commands (each explains itself with --help):\n",
           NUNA_VERSION);
    for (size_t i = 0; i < VERB_COUNT; i++)
        printf("  %-12s %s\n", verbs[i].name, verbs[i].help);
    printf("  %-12s %s\n", "help", "this text, or `nunasim help COMMAND`");
    printf(
        "\nExamples:\n"
        "  nunasim --config configs/pod64.yaml --plan traces/plans/allgather.json\n"
        "  nunasim --config configs/pod8.yaml --plan builtin:allgather --size 100kB --policy NAP+NAR\n"
        "  nunasim --config configs/pod8.yaml --plan plan.json --set noc.hop_latency=12ns\n"
        "  nunasim check plan.json\n"
        "  nunasim host --config configs/h20-server.yaml --transfer h2d:1GB:gpu0\n"
        "  nunasim params\n"
        "\nA configuration is a YAML file; values carry units: 12.8ns, 150GB/s, 800Gb/s, 4KiB\n"
        "(GB is 10^9 bytes, GiB 2^30). --set overrides any key, for one run.\n"
        "\nExit codes:\n"
        "  0  done\n"
        "  1  the machine failed: out of memory, a disk that filled up\n"
        "  2  the input is wrong: command line, configuration, plan, a folder that cannot be written\n"
        "  3  the run did not finish: deadlock or interrupt\n"
        "\nDocumentation, in the source tree's docs/: configuration.md, parameters.md, plan-formats.md,\n"
        "placement.md, host.md, output.md, architecture.md, validation.md.\n");
    return NUNA_EXIT_OK;
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *names[VERB_COUNT];
    struct nuna_error err;

    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    const char *near = nuna_nearest(name, names, VERB_COUNT);
    if (near != NULL)
        nuna_fail(&err, NUNA_EXIT_BAD_INPUT, "unknown command \"%.80s\", did you mean %s?", name,
                  near);
    else
        nuna_fail(&err, NUNA_EXIT_BAD_INPUT,
                  "unknown command \"%.80s\", expected --config FILE --plan PLAN or a command that "
                  "`nunasim --help` lists",
                  name);
    return nuna_cli_report(&err);
}

static int help_on(const char *name)
{
    char flag[] = "--help";
    char *args[] = {flag, NULL};
    const struct verb *verb = find_verb(name);
    return verb != NULL ? verb->run(1, args) : unknown_verb(name);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs(short_help, stderr);
        return NUNA_EXIT_BAD_INPUT;
    }
    const char *first = argv[1];
    if (strcmp(first, "help") == 0 && argc > 2)
        return help_on(argv[2]);
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
        return help();
    if (strcmp(first, "--version") == 0) {
        printf("nunasim %s\n", NUNA_VERSION);
        return NUNA_EXIT_OK;
    }
    if (first[0] == '-')
        return nuna_cmd_run(argc - 1, argv + 1);
    const struct verb *verb = find_verb(first);
    return verb != NULL ? verb->run(argc - 2, argv + 2) : unknown_verb(first);
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
