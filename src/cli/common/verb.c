#include "cli/common/verb.h"
#include "cli/common/messages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERBS_MAX 32

const struct nuna_verb *nuna_verb_find(struct nuna_verbs verbs, const char *name)
{
    for (size_t i = 0; i < verbs.count; i++)
        if (strcmp(verbs.items[i]->name, name) == 0)
            return verbs.items[i];
    return NULL;
}

int nuna_verb_unknown(struct nuna_verbs verbs, const char *name)
{
    const char *names[VERBS_MAX];
    size_t count = verbs.count < VERBS_MAX ? verbs.count : VERBS_MAX;
    struct nuna_error err;

    for (size_t i = 0; i < count; i++)
        names[i] = verbs.items[i]->name;
    const char *near = nuna_nearest(name, names, count);
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

void nuna_verb_help(const struct nuna_verb *verb)
{
    printf("usage: nunasim %s\n\n%s\n\n", verb->synopsis, verb->about);
    nuna_options_help(&verb->options);
    if (verb->notes != NULL)
        printf("\n%s\n", verb->notes);
}

int nuna_verb_call(const struct nuna_verb *verb, struct nuna_verbs verbs, int argc, char **argv)
{
    struct nuna_error err;
    struct nuna_call call = {.verbs = verbs};
    struct nuna_opt_rest rest = {.operands = &call.operand, .operands_max = verb->operand != NULL};
    int code;

    call.state = calloc(1, verb->state_size + 1);
    if (call.state == NULL) {
        nuna_fail_memory(&err, "the command line");
        return nuna_cli_report(&err);
    }
    if (!nuna_options_parse(argc, argv, &verb->options, call.state, &rest, &err)) {
        code = nuna_cli_report(&err);
    } else if (rest.help) {
        nuna_verb_help(verb);
        code = NUNA_EXIT_OK;
    } else {
        code = verb->run(&call);
    }
    free(call.state);
    return code;
}
