#include "cli/common/options.h"
#include "core/units.h"

#include <stdio.h>
#include <string.h>

/* One bit per option tells which were given. */
#define OPTIONS_MAX 64

static const struct nuna_opt help_row = {
    .name = "help", .help = "this text", .kind = NUNA_OPT_FLAG};

static const struct nuna_opt *find_option(const struct nuna_opt_table *table, const char *name,
                                          size_t length)
{
    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->rows[i].name, name, length) == 0 && table->rows[i].name[length] == '\0')
            return &table->rows[i];
    return length == strlen(help_row.name) && strncmp(name, help_row.name, length) == 0 ? &help_row
                                                                                        : NULL;
}

static bool unknown_option(const struct nuna_opt_table *table, const char *arg,
                           struct nuna_error *err)
{
    const char *names[OPTIONS_MAX + 1];
    size_t count = table->count < OPTIONS_MAX ? table->count : OPTIONS_MAX;
    char word[64];

    for (size_t i = 0; i < count; i++)
        names[i] = table->rows[i].name;
    names[count++] = help_row.name;
    const char *name = arg + strspn(arg, "-");
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "="), name);
    /* "-size" needs its second dash, not another word. */
    const char *near = nuna_nearest(word, names, count);
    if (near != NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "unknown option %.80s, did you mean --%s?", arg,
                         near);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "unknown option %.80s, --help lists the options",
                     arg);
}

static bool store_value(const struct nuna_opt *opt, void *target, const char *value, bool again,
                        struct nuna_error *err)
{
    if (*value == '\0')
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--%s: empty, expected %s", opt->name,
                         opt->metavar);
    if (opt->kind == NUNA_OPT_LIST) {
        struct nuna_opt_list *list = target;
        size_t room = sizeof(list->items) / sizeof(list->items[0]);
        if (list->count == room)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--%s: given more than %zu times", opt->name,
                             room);
        list->items[list->count++] = value;
        return true;
    }
    if (again)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--%s: given twice, expected once", opt->name);
    *(const char **)target = value;
    return true;
}

/* Where a parse is. */
struct parse {
    const struct nuna_opt_table *table;
    char *target;
    struct nuna_opt_rest *rest;
    uint64_t seen;
};

/* One option at argv[0]; `*ret_used` tells whether argv[1] was its value. */
static bool take_option(struct parse *parse, int argc, char **argv, bool *ret_used,
                        struct nuna_error *err)
{
    const char *name = argv[0] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);

    *ret_used = false;
    const struct nuna_opt *opt = argv[0][1] == '-' ? find_option(parse->table, name, length) : NULL;
    if (strcmp(argv[0], "-h") == 0)
        opt = &help_row;
    if (opt == NULL)
        return unknown_option(parse->table, argv[0], err);
    if (opt->kind == NUNA_OPT_FLAG) {
        if (equals != NULL)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--%s: takes no value", opt->name);
        *(opt == &help_row ? &parse->rest->help : (bool *)(parse->target + opt->target)) = true;
        return true;
    }

    const char *value = equals != NULL ? equals + 1 : NULL;
    if (value == NULL && argc > 1 && strncmp(argv[1], "--", 2) != 0) {
        value = argv[1];
        *ret_used = true;
    }
    if (value == NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--%s: value missing, expected %s", opt->name,
                         opt->metavar);
    uint64_t bit = 1ull << (opt - parse->table->rows) % OPTIONS_MAX;
    bool again = (parse->seen & bit) != 0;
    parse->seen |= bit;
    return store_value(opt, parse->target + opt->target, value, again, err);
}

bool nuna_options_parse(int argc, char **argv, const struct nuna_opt_table *table, void *target,
                        struct nuna_opt_rest *rest, struct nuna_error *err)
{
    struct parse parse = {.table = table, .target = target, .rest = rest};
    bool options_ended = false;

    for (int i = 0; i < argc; i++) {
        bool used = false;
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!take_option(&parse, argc - i, argv + i, &used, err))
                return false;
            i += used;
        } else if (rest->operand_count == rest->operands_max) {
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "unexpected argument \"%.80s\"", argv[i]);
        } else {
            rest->operands[rest->operand_count++] = argv[i];
        }
    }
    return true;
}

static size_t print_usage(const struct nuna_opt *opt, bool print)
{
    const char *blank = opt->metavar != NULL ? " " : "";
    const char *metavar = opt->metavar != NULL ? opt->metavar : "";

    if (print)
        printf("  --%s%s%s", opt->name, blank, metavar);
    return 4 + strlen(opt->name) + strlen(blank) + strlen(metavar);
}

static void print_row(const struct nuna_opt *opt, size_t width)
{
    size_t length = print_usage(opt, true);
    printf("%*s  %s\n", (int)(width - length), "", opt->help);
}

void nuna_options_help(const struct nuna_opt_table *table)
{
    size_t width = print_usage(&help_row, false);

    for (size_t i = 0; i < table->count; i++) {
        size_t length = print_usage(&table->rows[i], false);
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < table->count; i++)
        print_row(&table->rows[i], width);
    print_row(&help_row, width);
}

bool nuna_options_threads(const char *text, uint32_t *ret_threads, struct nuna_error *err)
{
    *ret_threads = 1;
    return !text || nuna_units_whole(text, 256, ret_threads) ||
           nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "--threads %.80s: expected a whole number from 1 to 256", text);
}

struct nuna_config *nuna_options_config(const char *path, const struct nuna_opt_list *set,
                                        struct nuna_error *err)
{
    struct nuna_config *config = nuna_config_create();
    if (!config) {
        nuna_fail_memory(err, "the configuration");
        return NULL;
    }
    if ((path && !nuna_config_load(config, path, err)) ||
        !nuna_config_set_list(config, set->items, set->count, err)) {
        nuna_config_destroy(config);
        return NULL;
    }
    return config;
}
