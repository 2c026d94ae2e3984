/* Tables of options: parsed, explained, completed and documented by the same rows. */
#ifndef NUNA_CLI_COMMON_OPTIONS_H
#define NUNA_CLI_COMMON_OPTIONS_H

#include "core/config.h"
#include "core/error.h"

enum nuna_opt_kind {
    NUNA_OPT_FLAG,  /* --quiet; target is bool */
    NUNA_OPT_VALUE, /* --size 1MB or --size=1MB; target is const char *; given twice is an error */
    NUNA_OPT_LIST,  /* --set a=b, may repeat; target is struct nuna_opt_list */
};

/* What can stand for a value, for completion. */
enum nuna_opt_values {
    NUNA_VALUES_FREE, /* a number, a size, ... */
    NUNA_VALUES_FILE,
    NUNA_VALUES_FOLDER,
    NUNA_VALUES_KEY,     /* KEY=VALUE, a configuration key */
    NUNA_VALUES_WORDS,   /* those of `words`, with bars between them */
    NUNA_VALUES_KEYWORD, /* those of the configuration key that `words` names */
    NUNA_VALUES_SECTION, /* a section of the configuration */
    NUNA_VALUES_VERB,
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
    size_t target; /* offset in the structure that is filled */
    enum nuna_opt_values values;
    const char *words;
};

/* Rows that several verbs share, for the member of a structure. */
#define NUNA_OPT_CONFIG(type, member)                                                              \
    {                                                                                              \
        "config", "FILE", "YAML configuration (default: all defaults)", NUNA_OPT_VALUE,            \
            offsetof(type, member), NUNA_VALUES_FILE, NULL                                         \
    }
#define NUNA_OPT_SET(type, member)                                                                 \
    {                                                                                              \
        "set", "KEY=VALUE", "overrides any configuration key; may repeat", NUNA_OPT_LIST,          \
            offsetof(type, member), NUNA_VALUES_KEY, NULL                                          \
    }
#define NUNA_OPT_THREADS(type, member)                                                             \
    {                                                                                              \
        "threads", "T", "threads to simulate with (default 1); never changes a result",            \
            NUNA_OPT_VALUE, offsetof(type, member), NUNA_VALUES_FREE, NULL                         \
    }
#define NUNA_OPT_QUIET(type, member)                                                               \
    {                                                                                              \
        "quiet", NULL, "prints nothing but errors", NUNA_OPT_FLAG, offsetof(type, member),         \
            NUNA_VALUES_FREE, NULL                                                                 \
    }

struct nuna_opt_table {
    const struct nuna_opt *rows;
    size_t count;
};

/* Operands and what every verb understands. */
struct nuna_opt_rest {
    const char **operands; /* room for operands_max */
    size_t operands_max, operand_count;
    bool help; /* --help or -h: the caller prints it */
};

/* Parses argv[0 .. argc-1] (the verb already removed) into `target`, which holds the members that
 * the rows name. What is no option goes to rest->operands; more than fit is an error. "--" ends the
 * options. Unknown options get a hint. Pointers into argv are kept. */
bool nuna_options_parse(int argc, char **argv, const struct nuna_opt_table *table, void *target,
                        struct nuna_opt_rest *rest, struct nuna_error *err);

/* Prints the option lines, aligned, to standard output, --help last. */
void nuna_options_help(const struct nuna_opt_table *table);

/* A configuration from the values of --config (may be NULL) and --set, not checked yet: other
 * options may come on top. NULL on error; the caller destroys it. */
struct nuna_config *nuna_options_config(const char *path, const struct nuna_opt_list *set,
                                        struct nuna_error *err);

/* Reads the value of --threads, 1 when it is NULL. */
bool nuna_options_threads(const char *text, uint32_t *ret_threads, struct nuna_error *err);

#endif
