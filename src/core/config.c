#include "core/config.h"
#include "core/config_keys.h"
#include "core/config_state.h"
#include "core/config_yaml.h"
#include "core/text.h"
#include "core/units.h"

#include <stdlib.h>
#include <string.h>

/* Deeper includes are no configuration anyone can follow. */
#define DEPTH_MAX 16

#define SCHEMA_VERSION 1

/* A file being read, and the file that included it. */
struct chain {
    const struct chain *parent;
    const char *path;
    const struct nuna_yaml *yaml;
    size_t depth;
};

static bool load_file(struct nuna_config *config, const char *path, const char *include_where,
                      const struct chain *parent, struct nuna_error *err);

struct nuna_config *nuna_config_create(void)
{
    struct nuna_config *config =
        calloc(1, sizeof(*config) + nuna_param_count * sizeof(config->origins[0]));
    if (config != NULL)
        nuna_params_defaults(&config->params);
    return config;
}

static void forget_origin(struct nuna_origin *origin)
{
    free(origin->name);
    free(origin->where);
    *origin = (struct nuna_origin){0};
}

void nuna_config_destroy(struct nuna_config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < nuna_param_count; i++)
        forget_origin(&config->origins[i]);
    free(config);
}

const struct nuna_params *nuna_config_params(const struct nuna_config *config)
{
    return &config->params;
}

bool nuna_config_is_set(const struct nuna_config *config, const char *key)
{
    size_t param = nuna_config_find_key(key);
    return param != NUNA_NO_PARAM && config->origins[param].name != NULL;
}

static bool check_range(const struct nuna_param_desc *row, int64_t value, const char *text,
                        struct nuna_error *err)
{
    int64_t min = 0, max = 0;
    char shown[NUNA_EXCERPT_SIZE];

    if (row->quantity == NUNA_Q_ENUM)
        return true;
    if (!nuna_units_parse(row->min_text, row->quantity, row->words, &min, err) ||
        !nuna_units_parse(row->max_text, row->quantity, row->words, &max, err))
        return false;
    if (value >= min && value <= max)
        return true;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "\"%s\" is out of range; expected %s to %s",
                     nuna_text_excerpt(text, shown, sizeof(shown)), row->min_text, row->max_text);
}

/* Parses, checks and stores one value. `where` heads messages; `name` is for later, see struct
 * nuna_origin. */
static bool set_value(struct nuna_config *config, size_t param, const char *text, const char *name,
                      const char *where, struct nuna_error *err)
{
    const struct nuna_param_desc *row = &nuna_param_table[param];
    struct nuna_error reason;
    int64_t value = 0;

    if (!nuna_units_parse(text, row->quantity, row->words, &value, &reason) ||
        !check_range(row, value, text, &reason))
        return nuna_fail(err, reason.code, "%s: %s.%s: %s", where, row->section, row->field,
                         reason.message);

    struct nuna_origin origin = {strdup(name), strdup(where)};
    if (origin.name == NULL || origin.where == NULL) {
        forget_origin(&origin);
        return nuna_fail_memory(err, "a configuration value");
    }
    memcpy((char *)&config->params + row->offset, &value, sizeof(value));
    forget_origin(&config->origins[param]);
    config->origins[param] = origin;
    return true;
}

bool nuna_config_set(struct nuna_config *config, const char *key, const char *value,
                     const char *origin, struct nuna_error *err)
{
    char short_key[NUNA_EXCERPT_SIZE], short_value[NUNA_EXCERPT_SIZE];
    size_t param = nuna_config_find_key(key);

    nuna_text_excerpt(key, short_key, sizeof(short_key));
    nuna_text_excerpt(value, short_value, sizeof(short_value));
    /* As the user typed it: --set has the key in its argument, --size has not. */
    char *where = strcmp(origin, "--set") == 0
                      ? nuna_text_format("%s %s=%s", origin, short_key, short_value)
                      : nuna_text_format("%s %s", origin, short_value);
    if (where == NULL)
        return nuna_fail_memory(err, "a configuration value");
    bool ok = param == NUNA_NO_PARAM ? nuna_config_unknown_option(where, key, err)
                                     : set_value(config, param, value, origin, where, err);
    free(where);
    return ok;
}

/* "path:line:column", fit for a comment. */
static char *position(const char *path, struct nuna_mark mark)
{
    size_t size = strlen(path) + 8;
    char *shown = malloc(size);
    char *text = NULL;

    if (shown != NULL)
        text = nuna_text_format("%s:%zu:%zu", nuna_text_excerpt(path, shown, size), mark.line,
                                mark.column);
    free(shown);
    return text;
}

/* The path of an included file, seen from the including one. */
static char *relative_path(const char *from, const char *to)
{
    const char *slash = strrchr(from, '/');
    if (to[0] == '/' || slash == NULL)
        return strdup(to);
    return nuna_text_format("%.*s%s", (int)(slash - from + 1), from, to);
}

static bool apply_include(struct nuna_config *config, const struct chain *file,
                          const struct nuna_entry *entry, const char *where, struct nuna_error *err)
{
    if (entry->node != NUNA_SCALAR || entry->value[0] == '\0')
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: include: not a file name, expected one, such as base.yaml", where);
    if (file->depth >= DEPTH_MAX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: include: files include each other more than %d levels deep", where,
                         DEPTH_MAX);
    char *path = relative_path(file->path, entry->value);
    if (path == NULL)
        return nuna_fail_memory(err, "an include path");
    bool ok = load_file(config, path, where, file, err);
    free(path);
    return ok;
}

static bool check_schema(const struct nuna_entry *entry, const char *where, struct nuna_error *err)
{
    int64_t version = 0;
    struct nuna_error reason;

    if (entry->node == NUNA_SCALAR &&
        nuna_units_parse(entry->value, NUNA_Q_COUNT, "", &version, &reason) &&
        version == SCHEMA_VERSION)
        return true;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: schema_version: not known, expected %d", where,
                     SCHEMA_VERSION);
}

static const char *describe(enum nuna_node node)
{
    switch (node) {
    case NUNA_NULL:
        return "no value";
    case NUNA_MAPPING:
        return "a group of keys";
    case NUNA_SEQUENCE:
        return "a list";
    default:
        return "a single value";
    }
}

static bool check_section(const struct nuna_entry *entry, const char *where, struct nuna_error *err)
{
    const struct nuna_param_desc *row = nuna_param_table;

    if (!nuna_config_has_section(entry->section))
        return nuna_config_unknown_section(where, entry->section, err);
    if (entry->node == NUNA_MAPPING)
        return true;
    while (strcmp(row->section, entry->section) != 0)
        row++;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "%s: %s: %s; expected keys below the section, such as %s: %s", where,
                     entry->section, describe(entry->node), row->field, row->default_text);
}

static bool apply_key(struct nuna_config *config, const struct nuna_entry *entry,
                      const char *key_where, const char *value_where, struct nuna_error *err)
{
    size_t param = nuna_config_find(entry->section, entry->field);
    struct nuna_error reason;
    int64_t value = 0;

    if (param == NUNA_NO_PARAM)
        return nuna_config_unknown_key(key_where, entry->section, entry->field, err);
    if (entry->node == NUNA_SCALAR)
        return set_value(config, param, entry->value, value_where, value_where, err);
    /* The parser knows what is expected. */
    nuna_units_parse("", nuna_param_table[param].quantity, nuna_param_table[param].words, &value,
                     &reason);
    const char *expected = strstr(reason.message, "expected");
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s.%s: %s; %s", value_where, entry->section,
                     entry->field, describe(entry->node), expected != NULL ? expected : "");
}

static bool same_key(const struct nuna_entry *a, const struct nuna_entry *b)
{
    if (strcmp(a->section, b->section) != 0 || (a->field == NULL) != (b->field == NULL))
        return false;
    return a->field == NULL || strcmp(a->field, b->field) == 0;
}

/* Few entries pass before an unknown or repeated key ends the reading: no need of a hash. */
static bool check_duplicate(const struct nuna_yaml *yaml, size_t index, const char *where,
                            struct nuna_error *err)
{
    const struct nuna_entry *entry = &yaml->entries[index];
    char shown[NUNA_EXCERPT_SIZE];

    for (size_t i = 0; i < index; i++) {
        if (!same_key(&yaml->entries[i], entry))
            continue;
        nuna_text_excerpt(entry->section, shown, sizeof(shown));
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: %s%s%s: given twice, first in line %zu; expected once", where, shown,
                         entry->field != NULL ? "." : "", entry->field != NULL ? entry->field : "",
                         yaml->entries[i].key_mark.line);
    }
    return true;
}

static bool apply_entry(struct nuna_config *config, const struct chain *file, size_t index,
                        struct nuna_error *err)
{
    const struct nuna_entry *entry = &file->yaml->entries[index];
    char *key_where = position(file->path, entry->key_mark);
    char *value_where = position(file->path, entry->value_mark);
    bool ok = false;

    if (key_where == NULL || value_where == NULL)
        nuna_fail_memory(err, "a configuration value");
    else if (!check_duplicate(file->yaml, index, key_where, err))
        ok = false;
    else if (entry->field != NULL)
        ok = apply_key(config, entry, key_where, value_where, err);
    else if (strcmp(entry->section, "schema_version") == 0)
        ok = check_schema(entry, value_where, err);
    else if (strcmp(entry->section, "include") == 0)
        ok = true; /* done before */
    else
        ok = check_section(entry, key_where, err);
    free(key_where);
    free(value_where);
    return ok;
}

/* The included file first, wherever its line stands: what includes overrides. */
static bool apply_file(struct nuna_config *config, const struct chain *file, struct nuna_error *err)
{
    const struct nuna_yaml *yaml = file->yaml;

    for (size_t i = 0; i < yaml->count; i++) {
        const struct nuna_entry *entry = &yaml->entries[i];
        if (entry->field != NULL || strcmp(entry->section, "include") != 0)
            continue;
        char *where = position(file->path, entry->value_mark);
        bool ok = where != NULL ? apply_include(config, file, entry, where, err)
                                : nuna_fail_memory(err, "an include path");
        free(where);
        if (!ok)
            return false;
        break; /* a second one is found to be a duplicate below */
    }
    for (size_t i = 0; i < yaml->count; i++)
        if (!apply_entry(config, file, i, err))
            return false;
    return true;
}

static bool check_cycle(const struct chain *file, const char *where, struct nuna_error *err)
{
    for (const struct chain *up = file->parent; up != NULL; up = up->parent)
        if (up->yaml->device == file->yaml->device && up->yaml->inode == file->yaml->inode)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: include: %s is being read already, files must not include each "
                             "other in a circle",
                             where, file->path);
    return true;
}

static bool load_file(struct nuna_config *config, const char *path, const char *include_where,
                      const struct chain *parent, struct nuna_error *err)
{
    struct nuna_yaml yaml = {0};
    struct chain file = {parent, path, &yaml, parent != NULL ? parent->depth + 1 : 0};
    struct nuna_error reason;
    size_t size = 0;

    char *text = nuna_config_slurp(path, &yaml, &size, &reason);
    if (text == NULL)
        return nuna_fail(err, reason.code, "%s%s%s: %s", parent != NULL ? include_where : "",
                         parent != NULL ? ": include: " : "", path, reason.message);
    bool ok = check_cycle(&file, include_where, err) &&
              nuna_yaml_parse(&yaml, path, text, size, err) && apply_file(config, &file, err);
    nuna_yaml_free(&yaml);
    free(text);
    return ok;
}

bool nuna_config_load(struct nuna_config *config, const char *path, struct nuna_error *err)
{
    return load_file(config, path, "", NULL, err);
}

bool nuna_config_set_list(struct nuna_config *config, const char *const *items, size_t count,
                          struct nuna_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(items[i], '=');
        char key[128];
        if (!equals || equals == items[i] || (size_t)(equals - items[i]) >= sizeof key)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "--set %.200s: expected KEY=VALUE, such as noc.hop_latency=12.8ns",
                             items[i]);
        snprintf(key, sizeof key, "%.*s", (int)(equals - items[i]), items[i]);
        if (!nuna_config_set(config, key, equals + 1, "--set", err))
            return false;
    }
    return true;
}
