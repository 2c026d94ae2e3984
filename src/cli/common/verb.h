/* A verb of the command: what it is called with, what it says about itself, what it does. Help,
 * completion and the manual page come from the same rows. */
#ifndef NUNA_CLI_COMMON_VERB_H
#define NUNA_CLI_COMMON_VERB_H

#include "cli/common/options.h"

struct nuna_call;

struct nuna_verb {
    const char *name;
    const char *summary;  /* one line, for the list of verbs */
    const char *synopsis; /* what follows "nunasim " */
    const char *about;    /* paragraphs above the options; ends without a newline, as the next */
    const char *notes;    /* below them, or NULL */
    struct nuna_opt_table options;
    const char *operand; /* "PLAN", or NULL: it takes none */
    enum nuna_opt_values operand_values;
    const char *operand_words;
    size_t state_size; /* of the structure that the options' targets lie in */
    /* Returns the exit code (core/error.h). Prints errors itself. */
    int (*run)(struct nuna_call *call);
};

struct nuna_verbs {
    const struct nuna_verb *const *items;
    size_t count;
};

/* One call of a verb. */
struct nuna_call {
    void *state;             /* zero but for what the options set; freed when `run` has returned */
    const char *operand;     /* NULL: not given */
    struct nuna_verbs verbs; /* all there are, for those that tell of others */
};

/* NULL when there is none of that name. */
const struct nuna_verb *nuna_verb_find(struct nuna_verbs verbs, const char *name);

/* Reports that there is no such verb, with the nearest one, and returns the exit code. */
int nuna_verb_unknown(struct nuna_verbs verbs, const char *name);

/* Parses what follows the verb's name, then prints its help or runs it. Returns the exit code. */
int nuna_verb_call(const struct nuna_verb *verb, struct nuna_verbs verbs, int argc, char **argv);

/* Prints what `nunasim VERB --help` does. */
void nuna_verb_help(const struct nuna_verb *verb);

#endif
