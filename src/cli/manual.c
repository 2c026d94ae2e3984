#include "cli/manual.h"
#include <stdio.h>
#include <string.h>

const char *const nuna_manual_examples[] = {
    "nunasim --config configs/pod64.yaml --plan traces/plans/allgather.json",
    "nunasim --config configs/pod8.yaml --plan builtin:allgather --size 100kB --policy NAP+NAR",
    "nunasim --config configs/pod8.yaml --plan plan.json --set noc.hop_latency=12ns",
    "nunasim check plan.json",
    "nunasim host --config configs/h20-server.yaml --transfer h2d:1GB:gpu0",
    "nunasim params",
};
const size_t nuna_manual_example_count =
    sizeof nuna_manual_examples / sizeof nuna_manual_examples[0];

const char nuna_manual_values[] =
    "A configuration is a YAML file; values carry units: 12.8ns, 150GB/s, 800Gb/s, 4KiB\n"
    "(GB is 10^9 bytes, GiB 2^30). --set overrides any key, for one run.";

const char *const nuna_manual_codes[] = {
    [NUNA_EXIT_OK] = "done",
    [NUNA_EXIT_INTERNAL] = "the machine failed: out of memory, a disk that filled up",
    [NUNA_EXIT_BAD_INPUT] =
        "the input is wrong: command line, configuration, plan, a folder that cannot be written",
    [NUNA_EXIT_INCOMPLETE] = "the run did not finish: deadlock or interrupt",
};
const size_t nuna_manual_code_count = sizeof nuna_manual_codes / sizeof nuna_manual_codes[0];

/* Text for roff: no character of it is a request or an escape. A blank line begins a paragraph. */
static void print_text(const char *text)
{
    bool line_start = true;
    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (line_start && *text == '\n')
            fputs(".PP", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        line_start = *text == '\n';
    }
    if (!line_start)
        putchar('\n');
}

static void print_option(const struct nuna_opt *opt)
{
    printf(".TP\n\\fB\\-\\-");
    for (const char *c = opt->name; *c != '\0'; c++)
        printf(*c == '-' ? "\\-" : "%c", *c);
    printf("\\fR");
    if (opt->metavar != NULL)
        printf(" \\fI%s\\fR", opt->metavar);
    printf("\n");
    print_text(opt->help);
}

static void print_verb(const struct nuna_verb *verb)
{
    printf(".SS ");
    print_text(verb->name);
    printf(".B nunasim\n");
    print_text(verb->synopsis);
    printf(".PP\n");
    print_text(verb->about);
    for (size_t i = 0; i < verb->options.count; i++)
        print_option(&verb->options.rows[i]);
    if (verb->notes != NULL) {
        printf(".PP\n");
        print_text(verb->notes);
    }
}

void nuna_manual_print(struct nuna_verbs verbs)
{
    printf(".TH NUNASIM 1 \"\" \"nunasim %s\"\n"
           ".SH NAME\n"
           "nunasim \\- simulate collectives on scale\\-up pods of multi\\-die GPUs\n"
           ".SH SYNOPSIS\n"
           ".B nunasim\n\\-\\-config \\fIFILE\\fR \\-\\-plan \\fIPLAN\\fR [options]\n.br\n"
           ".B nunasim\n\\fICOMMAND\\fR [options]\n"
           ".SH DESCRIPTION\n",
           NUNA_VERSION);
    print_text("How long a collective takes on a scale-up pod of multi-die GPUs, and where the "
               "time goes. Every flit is simulated, on chip and between GPUs.\n");
    printf(".PP\n");
    print_text(nuna_manual_values);
    printf(".SH COMMANDS\n");
    print_text("Each explains itself with --help.");
    for (size_t i = 0; i < verbs.count; i++)
        print_verb(verbs.items[i]);
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < nuna_manual_code_count; i++) {
        printf(".TP\n%zu\n", i);
        print_text(nuna_manual_codes[i]);
    }
    printf(".SH EXAMPLES\n.nf\n");
    for (size_t i = 0; i < nuna_manual_example_count; i++)
        print_text(nuna_manual_examples[i]);
    printf(".fi\n");
}
