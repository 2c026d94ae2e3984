/* Table-driven command-line options, shared by all verbs. */
#ifndef NUNA_CLI_COMMON_OPTIONS_H
#define NUNA_CLI_COMMON_OPTIONS_H

#include "core/config.h"
#include "core/error.h"

enum nuna_opt_kind {
    NUNA_OPT_FLAG,  /* --quiet; target is bool * */
    NUNA_OPT_VALUE, /* --size 1MB or --size=1MB; target is const char **; given twice is an error */
    NUNA_OPT_LIST,  /* --set a=b, may repeat; target is struct nuna_opt_list * */
};

struct nuna_opt_list {
    const char *items[64];
    size_t count;
};

struct nuna_opt {
    const char *name;    /* without the dashes */
    const char *metavar; /* "SIZE"; NULL for a flag */
    const char *help;    /* one line */
    enum nuna_opt_kind kind;
    void *target;
};

/* Parses argv[0 .. argc-1] (the verb already removed). Positional arguments go to `ret_args`, at
 * most `max_args` of them; more is an error. "--" ends the options. Unknown options get a hint.
 * Every verb understands --help by its own flag. Pointers into argv are kept. */
bool nuna_options_parse(int argc, char **argv, const struct nuna_opt *opts, size_t opt_count,
                        const char **ret_args, size_t max_args, size_t *ret_arg_count,
                        struct nuna_error *err);

/* Prints the option lines, aligned, to standard output. */
void nuna_options_help(const struct nuna_opt *opts, size_t opt_count);

/* A configuration from the values of --config (may be NULL) and --set, not checked yet: other
 * options may come on top. NULL on error; the caller destroys it. */
struct nuna_config *nuna_options_config(const char *path, const struct nuna_opt_list *set,
                                        struct nuna_error *err);

/* Reads the value of --threads, 1 when it is NULL. */
bool nuna_options_threads(const char *text, uint32_t *ret_threads, struct nuna_error *err);

#endif
