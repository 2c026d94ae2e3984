/* From a file to a flat list of `section.field: value` entries; meaning is config.c's business. */
#include "core/config_yaml.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define SIZE_LIMIT ((size_t)1 << 20)

struct reader {
    yaml_parser_t parser;
    struct nuna_yaml *yaml;
    const char *path;
    const char *text;
    size_t size;
    const char *section, *field; /* whose value is being read, for messages; else NULL */
    struct nuna_error *err;
};

static bool fail_at(struct reader *r, struct nuna_mark mark, const char *problem)
{
    char section[NUNA_EXCERPT_SIZE] = "", field[NUNA_EXCERPT_SIZE] = "";

    if (r->section != NULL)
        nuna_text_excerpt(r->section, section, sizeof(section));
    if (r->field != NULL)
        nuna_text_excerpt(r->field, field, sizeof(field));
    return nuna_fail(r->err, NUNA_EXIT_BAD_INPUT, "%s:%zu:%zu: %s%s%s%s%s", r->path, mark.line,
                     mark.column, section, r->field != NULL ? "." : "", field,
                     r->section != NULL ? ": " : "", problem);
}

static struct nuna_mark mark_of(yaml_mark_t mark)
{
    return (struct nuna_mark){mark.line + 1, mark.column + 1};
}

static char *read_all(int fd, size_t *ret_size, struct nuna_error *err)
{
    char *text = malloc(SIZE_LIMIT + 2);
    size_t used = 0;

    if (text == NULL) {
        nuna_fail_memory(err, "a configuration file");
        return NULL;
    }
    while (used <= SIZE_LIMIT) {
        ssize_t got = read(fd, text + used, SIZE_LIMIT + 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            nuna_fail(err, NUNA_EXIT_BAD_INPUT, "cannot read: %s", strerror(errno));
            free(text);
            return NULL;
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    if (used > SIZE_LIMIT) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "is over 1 MiB, expected a configuration file");
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *ret_size = used;
    return text;
}

char *nuna_config_slurp(const char *path, struct nuna_yaml *yaml, size_t *ret_size,
                        struct nuna_error *err)
{
    char *text = NULL;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 || fstat(fd, &status) != 0) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "cannot open: %s", strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "is a directory, expected a configuration file");
    } else {
        yaml->device = status.st_dev;
        yaml->inode = status.st_ino;
        text = read_all(fd, ret_size, err);
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* Whether everything is text; libyaml would say so without a position. */
static bool check_text(struct reader *r)
{
    struct nuna_mark mark = {1, 1};
    size_t at = 0;

    if (r->size >= 3 && memcmp(r->text, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    while (at < r->size) {
        uint32_t code = 0;
        size_t length = nuna_text_decode(r->text + at, r->size - at, &code);
        if (length == 0)
            return fail_at(r, mark, "invalid UTF-8, expected a text file in UTF-8");
        if (code == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (code == 0) {
            return fail_at(r, mark, "a NUL byte, expected a text file");
        } else if (code != '\t' && code != '\r' && !nuna_text_printable(code)) {
            return fail_at(r, mark, "a control character, expected a text file");
        }
        mark.column++;
        at += length;
    }
    return true;
}

/* Looks in the given line for a tab in its indentation. */
static bool tab_in_indentation(const struct reader *r, size_t line, struct nuna_mark *ret_mark)
{
    const char *at = r->text;

    for (size_t i = 1; i < line && at != NULL; i++) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return false;
    size_t blanks = strspn(at, " ");
    *ret_mark = (struct nuna_mark){line, blanks + 1};
    return at[blanks] == '\t';
}

/* Turns libyaml's words into a located sentence. */
static bool syntax_error(struct reader *r)
{
    const yaml_parser_t *parser = &r->parser;
    struct nuna_mark mark = mark_of(parser->problem_mark), tab;
    char text[200];

    if (parser->error == YAML_MEMORY_ERROR)
        return nuna_fail_memory(r->err, "reading a configuration file");
    if (tab_in_indentation(r, mark.line, &tab) ||
        (mark.line > 1 && tab_in_indentation(r, mark.line - 1, &tab))) {
        r->section = r->field = NULL; /* the tab's line is another key's */
        return fail_at(r, tab, "a tab in the indentation, expected spaces");
    }
    const char *problem = parser->problem != NULL ? parser->problem : "not readable";
    if (parser->context != NULL)
        snprintf(text, sizeof(text), "not valid YAML: %s (%s, line %zu)", problem, parser->context,
                 parser->context_mark.line + 1);
    else
        snprintf(text, sizeof(text), "not valid YAML: %s", problem);
    return fail_at(r, mark, text);
}

/* The next event, without the decorations that a configuration has no use for. */
static bool next(struct reader *r, yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    const char *problem = NULL;

    if (!yaml_parser_parse(&r->parser, event))
        return syntax_error(r);
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        problem = "an alias (*name), expected the value itself";
        break;
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    default:
        break;
    }
    if (anchor != NULL)
        problem = "an anchor (&name), expected the value alone";
    else if (tag != NULL)
        problem = "a tag (!name), expected the value alone";
    if (problem == NULL)
        return true;
    fail_at(r, mark_of(event->start_mark), problem);
    yaml_event_delete(event);
    return false;
}

static bool is_null(const yaml_event_t *event)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    const char *value = (const char *)event->data.scalar.value;

    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
        if (strcmp(value, nulls[i]) == 0)
            return true;
    return false;
}

/* The scalar's text; NULL, with the error filled, when it is not one line of text. */
static char *scalar_text(struct reader *r, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    const char *problem = NULL;

    if (event->start_mark.line != event->end_mark.line)
        problem = "text over several lines, expected one line; is a line indented too far?";
    for (size_t at = 0; problem == NULL && at < event->data.scalar.length;) {
        uint32_t code = 0; /* escapes in quotes can make anything */
        size_t length = nuna_text_decode(value + at, event->data.scalar.length - at, &code);
        if (length == 0 || (!nuna_text_printable(code) && code != '\t'))
            problem = "a control character, expected plain text";
        at += length;
    }
    if (problem != NULL) {
        fail_at(r, mark_of(event->start_mark), problem);
        return NULL;
    }
    char *text = strdup(value);
    if (text == NULL)
        nuna_fail_memory(r->err, "reading a configuration file");
    return text;
}

static struct nuna_entry *add_entry(struct reader *r)
{
    struct nuna_yaml *yaml = r->yaml;

    if (yaml->count == yaml->capacity) {
        size_t capacity = yaml->capacity > 0 ? 2 * yaml->capacity : 64;
        struct nuna_entry *entries = realloc(yaml->entries, capacity * sizeof(*entries));
        if (entries == NULL) {
            nuna_fail_memory(r->err, "reading a configuration file");
            return NULL;
        }
        yaml->entries = entries;
        yaml->capacity = capacity;
    }
    struct nuna_entry *entry = &yaml->entries[yaml->count++];
    *entry = (struct nuna_entry){0};
    return entry;
}

/* The start of the entry's value; what is nested stays in the parser. */
static bool read_value(struct reader *r, struct nuna_entry *entry)
{
    yaml_event_t value;
    bool ok = true;

    if (!next(r, &value))
        return false;
    entry->value_mark = mark_of(value.start_mark);
    if (value.type == YAML_MAPPING_START_EVENT) {
        entry->node = NUNA_MAPPING;
    } else if (value.type == YAML_SEQUENCE_START_EVENT) {
        entry->node = NUNA_SEQUENCE;
    } else if (is_null(&value)) {
        entry->node = NUNA_NULL;
    } else {
        entry->value = scalar_text(r, &value);
        ok = entry->value != NULL;
    }
    yaml_event_delete(&value);
    return ok;
}

/* Takes the key from `event` and the start of the value from the parser. */
static bool read_entry(struct reader *r, const char *section, const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT)
        return fail_at(r, mark_of(event->start_mark), "not a key, expected one such as columns:");
    struct nuna_entry *entry = add_entry(r);
    char *key = entry != NULL ? scalar_text(r, event) : NULL;
    if (key == NULL)
        return false;
    entry->key_mark = mark_of(event->start_mark);
    entry->section = key;
    if (section != NULL) {
        entry->field = key;
        entry->section = strdup(section);
        if (entry->section == NULL)
            return nuna_fail_memory(r->err, "reading a configuration file");
    }
    r->section = entry->section;
    r->field = entry->field;
    bool ok = read_value(r, entry);
    r->section = r->field = NULL;
    return ok;
}

/* Reads the entries of an open mapping up to its end, or to the first entry nested too deep
 * (`*ret_stop`). One recursion: sections in the top level. */
static bool read_mapping(struct reader *r, const char *section, bool *ret_stop)
{
    for (;;) {
        yaml_event_t event;
        if (!next(r, &event))
            return false;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        bool ok = end || read_entry(r, section, &event);
        yaml_event_delete(&event);
        if (end || !ok)
            return ok;
        const struct nuna_entry *entry = &r->yaml->entries[r->yaml->count - 1];
        *ret_stop =
            entry->node == NUNA_SEQUENCE || (section != NULL && entry->node == NUNA_MAPPING);
        if (!*ret_stop && entry->node == NUNA_MAPPING && !read_mapping(r, entry->section, ret_stop))
            return false;
        if (*ret_stop)
            return true;
    }
}

static bool read_root(struct reader *r, const yaml_event_t *event)
{
    static const char *const expected =
        "expected sections with keys, such as noc: and below it columns: 24";
    char text[200];
    bool stop = false;

    if (event->type == YAML_STREAM_END_EVENT ||
        (event->type == YAML_SCALAR_EVENT && is_null(event))) {
        bool blank = strspn(r->text, " \t\r\n") == r->size;
        snprintf(text, sizeof(text), "%s, %s", blank ? "an empty file" : "a file without settings",
                 expected);
        return fail_at(r, (struct nuna_mark){1, 1}, text);
    }
    if (event->type != YAML_MAPPING_START_EVENT) {
        snprintf(text, sizeof(text), "%s, %s",
                 event->type == YAML_SEQUENCE_START_EVENT ? "a list" : "text without a key",
                 expected);
        return fail_at(r, mark_of(event->start_mark), text);
    }
    if (!read_mapping(r, NULL, &stop))
        return false;
    if (r->yaml->count == 0) {
        snprintf(text, sizeof(text), "no settings, %s", expected);
        return fail_at(r, mark_of(event->start_mark), text);
    }
    while (!stop) {
        yaml_event_t rest;
        if (!next(r, &rest))
            return false;
        bool more = rest.type == YAML_DOCUMENT_START_EVENT;
        struct nuna_mark mark = mark_of(rest.start_mark);
        stop = rest.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&rest);
        if (more)
            return fail_at(r, mark, "a second YAML document, expected one");
    }
    return true;
}

bool nuna_yaml_parse(struct nuna_yaml *yaml, const char *path, const char *text, size_t size,
                     struct nuna_error *err)
{
    struct reader r = {.yaml = yaml, .path = path, .text = text, .size = size, .err = err};
    yaml_event_t event;
    bool ok = true, root = false;

    if (!check_text(&r))
        return false;
    if (!yaml_parser_initialize(&r.parser))
        return nuna_fail_memory(err, "reading a configuration file");
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    while (ok && !root) {
        ok = next(&r, &event);
        if (!ok)
            break;
        root = event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT;
        if (root)
            ok = read_root(&r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r.parser);
    return ok;
}

void nuna_yaml_free(struct nuna_yaml *yaml)
{
    for (size_t i = 0; i < yaml->count; i++) {
        free(yaml->entries[i].section);
        free(yaml->entries[i].field);
        free(yaml->entries[i].value);
    }
    free(yaml->entries);
    *yaml = (struct nuna_yaml){0};
}
