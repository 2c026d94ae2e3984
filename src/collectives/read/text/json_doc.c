#include "collectives/read/text/json_doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below this a double holds every whole number. */
#define EXACT_MAX 9007199254740992.0

static const char *article_of(const cJSON *value)
{
    return cJSON_IsString(value)   ? "a string"
           : cJSON_IsNumber(value) ? "a number"
           : cJSON_IsBool(value)   ? "true or false"
           : cJSON_IsArray(value)  ? "an array"
           : cJSON_IsObject(value) ? "an object"
                                   : "null";
}

/* Appends the path to `text`, outermost first. */
static void render(const struct nuna_json_path *at, char *text, size_t size)
{
    if (at == NULL)
        return;
    render(at->up, text, size);
    size_t used = strlen(text);
    if (at->key == NULL)
        snprintf(text + used, size - used, "[%zu]", at->index);
    else
        snprintf(text + used, size - used, "%s%.64s", used == 0 ? "" : ".", at->key);
}

bool nuna_json_fail(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                    struct nuna_error *err, const char *format, ...)
{
    char place[512] = "", what[768];
    render(at, place, sizeof place);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s%s%s", doc->path, place,
                     place[0] == '\0' ? "" : ": ", what);
}

const cJSON *nuna_json_get(const cJSON *object, const char *key)
{
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        if (strcmp(member->string, key) == 0)
            return member;
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The name that an object has twice. Large objects are sorted, small ones compared pairwise. */
static bool find_repeated(const cJSON *object, const char **ret, struct nuna_error *err)
{
    *ret = NULL;
    size_t count = 0;
    for (const cJSON *a = object->child; a != NULL; a = a->next)
        count++;
    if (count <= 16) {
        for (const cJSON *a = object->child; a != NULL; a = a->next)
            for (const cJSON *b = a->next; b != NULL; b = b->next)
                if (a->string[0] == b->string[0] && strcmp(a->string, b->string) == 0)
                    *ret = a->string;
        return true;
    }
    const char **names = malloc(count * sizeof *names);
    if (names == NULL)
        return nuna_fail_memory(err, "the keys of a plan");
    count = 0;
    for (const cJSON *a = object->child; a != NULL; a = a->next)
        names[count++] = a->string;
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            *ret = names[i];
    }
    free(names);
    return true;
}

/* Depth is bounded by the scan. */
static bool refuse_repeated(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                            const cJSON *value, struct nuna_error *err)
{
    if (cJSON_IsObject(value)) {
        const char *repeated;
        if (!find_repeated(value, &repeated, err))
            return false;
        if (repeated != NULL) {
            struct nuna_json_path member = {at, repeated, 0};
            return nuna_json_fail(doc, &member, err, "the key is given twice");
        }
    }
    size_t index = 0;
    for (const cJSON *child = value->child; child != NULL; child = child->next) {
        struct nuna_json_path member = {at, child->string, index++};
        if (child->child != NULL && !refuse_repeated(doc, &member, child, err))
            return false;
    }
    return true;
}

bool nuna_json_parse(struct nuna_plan_text *text, struct nuna_json_doc *ret, struct nuna_error *err)
{
    *ret = (struct nuna_json_doc){.path = text->path};
    bool good = nuna_json_scan(text, &ret->exacts, err);
    if (good) {
        /* The scan has accepted the text, so only memory can be missing. */
        ret->root = cJSON_ParseWithLengthOpts(text->text, text->length + 1, NULL, true);
        if (ret->root == NULL)
            good = nuna_fail_memory(err, "a plan file");
    }
    free(text->text);
    text->text = NULL;
    if (good && !refuse_repeated(ret, NULL, ret->root, err)) {
        nuna_json_close(ret);
        good = false;
    }
    return good;
}

void nuna_json_close(struct nuna_json_doc *doc)
{
    cJSON_Delete(doc->root);
    doc->root = NULL;
}

bool nuna_json_is_object(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                         const cJSON *value, struct nuna_error *err)
{
    return cJSON_IsObject(value) ||
           nuna_json_fail(doc, at, err, "%sis %s, expected an object",
                          at == NULL ? "the top level " : "", article_of(value));
}

/* Finds a member; false with a message when it is absent though needed. */
static bool member(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                   const cJSON *object, const char *key, enum nuna_json_need need,
                   const char *expected, const cJSON **ret, struct nuna_error *err)
{
    *ret = nuna_json_get(object, key);
    if (*ret != NULL || need == NUNA_JSON_OPTIONAL)
        return true;
    struct nuna_json_path here = {at, key, 0};
    return nuna_json_fail(doc, &here, err, "is missing, expected %s", expected);
}

bool nuna_json_array(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                     const cJSON *object, const char *key, enum nuna_json_need need,
                     const cJSON **ret, struct nuna_error *err)
{
    if (!member(doc, at, object, key, need, "an array", ret, err))
        return false;
    struct nuna_json_path here = {at, key, 0};
    return *ret == NULL || cJSON_IsArray(*ret) ||
           nuna_json_fail(doc, &here, err, "is %s, expected an array", article_of(*ret));
}

bool nuna_json_string(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                      const cJSON *object, const char *key, enum nuna_json_need need,
                      const char **ret, struct nuna_error *err)
{
    const cJSON *value;
    if (!member(doc, at, object, key, need, "a string", &value, err))
        return false;
    struct nuna_json_path here = {at, key, 0};
    if (value != NULL && !cJSON_IsString(value))
        return nuna_json_fail(doc, &here, err, "is %s, expected a string", article_of(value));
    if (value != NULL)
        *ret = value->valuestring;
    return true;
}

bool nuna_json_bool(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                    const cJSON *object, const char *key, enum nuna_json_need need, bool *ret,
                    struct nuna_error *err)
{
    const cJSON *value;
    if (!member(doc, at, object, key, need, "true or false", &value, err))
        return false;
    struct nuna_json_path here = {at, key, 0};
    if (value != NULL && !cJSON_IsBool(value))
        return nuna_json_fail(doc, &here, err, "is %s, expected true or false", article_of(value));
    if (value != NULL)
        *ret = cJSON_IsTrue(value);
    return true;
}

bool nuna_json_value_u32(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                         const cJSON *value, uint32_t min, uint32_t max, uint32_t *ret,
                         struct nuna_error *err)
{
    if (!cJSON_IsNumber(value))
        return nuna_json_fail(doc, at, err, "is %s, expected an integer", article_of(value));
    double number = value->valuedouble;
    if (number != floor(number))
        return nuna_json_fail(doc, at, err, "%.17g is not an integer", number);
    if (number < min || number > max)
        return nuna_json_fail(doc, at, err, "%.17g is out of range, expected %u to %u", number, min,
                              max);
    *ret = (uint32_t)number;
    return true;
}

bool nuna_json_u32(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                   const cJSON *object, const char *key, enum nuna_json_need need, uint32_t min,
                   uint32_t max, uint32_t *ret, struct nuna_error *err)
{
    const cJSON *value;
    if (!member(doc, at, object, key, need, "an integer", &value, err))
        return false;
    struct nuna_json_path here = {at, key, 0};
    return value == NULL || nuna_json_value_u32(doc, &here, value, min, max, ret, err);
}

bool nuna_json_top_u64(const struct nuna_json_doc *doc, const char *key, uint64_t *ret,
                       struct nuna_error *err)
{
    const cJSON *value = nuna_json_get(doc->root, key);
    struct nuna_json_path here = {NULL, key, 0};
    if (value == NULL)
        return true;
    if (!cJSON_IsNumber(value))
        return nuna_json_fail(doc, &here, err, "is %s, expected an integer", article_of(value));
    for (size_t i = 0; i < doc->exacts.count; i++) {
        if (strcmp(doc->exacts.items[i].key, key) != 0)
            continue;
        if (doc->exacts.items[i].overflow)
            return nuna_json_fail(doc, &here, err,
                                  "is out of range, expected 0 to 18446744073709551615");
        *ret = doc->exacts.items[i].value;
        return true;
    }
    double number = value->valuedouble;
    if (number != floor(number) || number < 0)
        return nuna_json_fail(doc, &here, err, "%.17g is not a whole number of bytes", number);
    /* Writers that hold the largest count as a double mean "no limit" by it. */
    if (number >= 9223372036854775808.0 && number <= 18446744073709551616.0)
        *ret = UINT64_MAX;
    else if (number > EXACT_MAX)
        return nuna_json_fail(doc, &here, err,
                              "%.17g is not exact, write all digits without an exponent", number);
    else
        *ret = (uint64_t)number;
    return true;
}
