/* Looking keys up in the table, and helping when they are not there. */
#include "core/config_keys.h"
#include "core/params.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

#define SECTION_NAME(section, doc) #section,
static const char *const sections[] = {NUNA_PARAM_SECTIONS(SECTION_NAME) "include",
                                       "schema_version"};
#undef SECTION_NAME

enum {
    TOP_COUNT = sizeof(sections) / sizeof(sections[0]), /* all keys of the top level */
    SECTION_COUNT = TOP_COUNT - 2,
    FIELDS_MAX = 256, /* candidates for hints; more rows would just get no hint */
};

size_t nuna_config_find(const char *section, const char *field)
{
    for (size_t i = 0; i < nuna_param_count; i++)
        if (strcmp(nuna_param_table[i].section, section) == 0 &&
            strcmp(nuna_param_table[i].field, field) == 0)
            return i;
    return NUNA_NO_PARAM;
}

size_t nuna_config_find_key(const char *key)
{
    const char *dot = strchr(key, '.');
    if (dot == NULL)
        return NUNA_NO_PARAM;
    size_t length = (size_t)(dot - key);
    for (size_t i = 0; i < nuna_param_count; i++)
        if (strncmp(nuna_param_table[i].section, key, length) == 0 &&
            nuna_param_table[i].section[length] == '\0' &&
            strcmp(nuna_param_table[i].field, dot + 1) == 0)
            return i;
    return NUNA_NO_PARAM;
}

bool nuna_config_has_section(const char *name)
{
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (strcmp(sections[i], name) == 0)
            return true;
    return false;
}

/* The section that has the field, or NULL. */
static const char *section_of(const char *field)
{
    for (size_t i = 0; i < nuna_param_count; i++)
        if (strcmp(nuna_param_table[i].field, field) == 0)
            return nuna_param_table[i].section;
    return NULL;
}

/* The nearest field, of one section or (NULL) of all. */
static const char *nearest_field(const char *field, const char *section)
{
    const char *candidates[FIELDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < nuna_param_count && count < FIELDS_MAX; i++)
        if (section == NULL || strcmp(nuna_param_table[i].section, section) == 0)
            candidates[count++] = nuna_param_table[i].field;
    return nuna_nearest(field, candidates, count);
}

static const char list_hint[] = "`nunasim params` lists all keys";

bool nuna_config_unknown_key(const char *where, const char *section, const char *field,
                             struct nuna_error *err)
{
    char shown[NUNA_EXCERPT_SIZE];
    const char *home = section_of(field);
    const char *near = nearest_field(field, section);

    nuna_text_excerpt(field, shown, sizeof(shown));
    if (home != NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: %s.%s: unknown key, %s belongs to section %s", where, section, shown,
                         shown, home);
    const char *near_section = section;
    if (near == NULL) {
        near = nearest_field(field, NULL);
        near_section = near != NULL ? section_of(near) : NULL;
    }
    if (near == NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s.%s: unknown key, %s", where, section,
                         shown, list_hint);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s.%s: unknown key, did you mean %s.%s?", where,
                     section, shown, near_section, near);
}

bool nuna_config_unknown_section(const char *where, const char *name, struct nuna_error *err)
{
    char shown[NUNA_EXCERPT_SIZE];
    size_t dotted = nuna_config_find_key(name);
    const char *home = section_of(name);

    nuna_text_excerpt(name, shown, sizeof(shown));
    if (dotted != NUNA_NO_PARAM)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: %s: dotted keys are for --set, expected %s: and below it %s:", where,
                         shown, nuna_param_table[dotted].section, nuna_param_table[dotted].field);
    if (home != NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: %s: unknown section, %s is a key of section %s", where, shown, shown,
                         home);
    const char *near = nuna_nearest(name, sections, TOP_COUNT);
    if (near != NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s: unknown section, did you mean %s?",
                         where, shown, near);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s: unknown section, %s", where, shown,
                     list_hint);
}

bool nuna_config_unknown_option(const char *where, const char *key, struct nuna_error *err)
{
    char shown[NUNA_EXCERPT_SIZE], section[32], whole[64];
    const char *dot = strchr(key, '.');
    const char *home = section_of(dot != NULL ? dot + 1 : key);

    nuna_text_excerpt(key, shown, sizeof(shown));
    if (dot != NULL && (size_t)(dot - key) < sizeof(section)) {
        snprintf(section, sizeof(section), "%.*s", (int)(dot - key), key);
        if (nuna_config_has_section(section))
            return nuna_config_unknown_key(where, section, dot + 1, err);
        const char *near = nuna_nearest(section, sections, SECTION_COUNT);
        snprintf(whole, sizeof(whole), "%s.%.24s", near != NULL ? near : "", dot + 1);
        if (near != NULL && nuna_config_find_key(whole) != NUNA_NO_PARAM)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s: unknown key, did you mean %s?",
                             where, shown, whole);
    }
    if (home != NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s: unknown key, did you mean %s.%s?",
                         where, shown, home, dot != NULL ? dot + 1 : key);
    if (dot == NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: %s: unknown key, expected section.key such as noc.hop_latency", where,
                         shown);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s: unknown key, %s", where, shown, list_hint);
}
