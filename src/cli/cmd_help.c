#include "cli/cmd_help.h"
#include "cli/manual.h"
#include <stdio.h>

static const char about[] =
    "nunasim %s: how long a collective takes on a scale-up pod of multi-die GPUs, and "
    "where\nthe time goes. Every flit is simulated, on chip and between GPUs.\n\n"
    "Usage:\n"
    "  nunasim --config FILE --plan PLAN [options]\n"
    "  nunasim COMMAND [options]\n\n"
    "Commands (each explains itself with --help):\n";

static void print_overview(struct nuna_verbs verbs)
{
    printf(about, NUNA_VERSION);
    for (size_t i = 0; i < verbs.count; i++)
        printf("  %-12s %s\n", verbs.items[i]->name, verbs.items[i]->summary);
    printf("\nExamples:\n");
    for (size_t i = 0; i < nuna_manual_example_count; i++)
        printf("  %s\n", nuna_manual_examples[i]);
    printf("\n%s\n\nExit codes:\n", nuna_manual_values);
    for (size_t i = 0; i < nuna_manual_code_count; i++)
        printf("  %zu  %s\n", i, nuna_manual_codes[i]);
    printf("\nDocumentation, in the source tree's docs/: configuration.md, parameters.md, "
           "plan-formats.md,\n"
           "placement.md, host.md, output.md, architecture.md, validation.md.\n");
}

struct help_options {
    bool man;
};

static int run(struct nuna_call *call)
{
    const struct help_options *o = call->state;
    if (o->man) {
        nuna_manual_print(call->verbs);
    } else if (call->operand != NULL) {
        const struct nuna_verb *verb = nuna_verb_find(call->verbs, call->operand);
        if (verb == NULL)
            return nuna_verb_unknown(call->verbs, call->operand);
        nuna_verb_help(verb);
    } else {
        print_overview(call->verbs);
    }
    return NUNA_EXIT_OK;
}

static const struct nuna_opt options[] = {
    {"man", NULL, "prints the manual page, nunasim(1), for man to read", NUNA_OPT_FLAG,
     offsetof(struct help_options, man), NUNA_VALUES_FREE, NULL},
};

const struct nuna_verb nuna_verb_help_on = {
    .name = "help",
    .summary = "this text, or `nunasim help COMMAND`",
    .synopsis = "help [COMMAND] [--man]",
    .about = "Explains nunasim, or one of its commands.",
    .options = {options, sizeof options / sizeof options[0]},
    .operand = "COMMAND",
    .operand_values = NUNA_VALUES_VERB,
    .state_size = sizeof(struct help_options),
    .run = run,
};
