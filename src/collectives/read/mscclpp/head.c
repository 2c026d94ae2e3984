#include "collectives/read/mscclpp/head.h"

#include <string.h>

static bool read_label(struct nuna_plan_reader *reader, const char *key, char *ret, size_t size)
{
    const char *text = NULL;
    if (!nuna_json_string(reader->doc, NULL, reader->doc->root, key, NUNA_JSON_REQUIRED, &text,
                          reader->err))
        return false;
    if (strlen(text) >= size)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){NULL, key, 0}, reader->err,
                              "is longer than %zu bytes", size - 1);
    memcpy(ret, text, strlen(text) + 1);
    return true;
}

/* Version 1 files of 0.5 spell the key with one letter less, or do without. */
static bool read_collective(struct nuna_plan_reader *reader, bool version1)
{
    struct nuna_plan *plan = reader->builder.plan;
    const cJSON *root = reader->doc->root;
    const char *key = "collective";
    if (version1 && nuna_json_get(root, key) == NULL) {
        key = "colletive";
        if (nuna_json_get(root, key) == NULL) {
            strcpy(plan->collective_name, "unknown");
            plan->collective = NUNA_COLLECTIVE_OTHER;
            return true;
        }
        nuna_builder_warn(&reader->builder,
                          "%s: colletive: taken for collective, as MSCCL++ 0.5 spells it",
                          reader->doc->path);
    }
    if (!read_label(reader, key, plan->collective_name, sizeof plan->collective_name))
        return false;
    if (!nuna_collective_parse(plan->collective_name, &plan->collective))
        plan->collective = NUNA_COLLECTIVE_OTHER;
    return true;
}

static bool read_protocol(struct nuna_plan_reader *reader)
{
    const char *protocol = NULL;
    if (!nuna_json_string(reader->doc, NULL, reader->doc->root, "protocol", NUNA_JSON_REQUIRED,
                          &protocol, reader->err))
        return false;
    bool packets = strcmp(protocol, "LL") == 0;
    reader->builder.plan->protocol = packets ? NUNA_FORM_LL : NUNA_FORM_DATA;
    return packets || strcmp(protocol, "Simple") == 0 ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){NULL, "protocol", 0}, reader->err,
                          "unknown protocol \"%.32s\", the format has \"Simple\" and \"LL\"",
                          protocol);
}

static bool read_flags(struct nuna_plan_reader *reader, bool version1)
{
    struct nuna_plan *plan = reader->builder.plan;
    enum nuna_json_need need = version1 ? NUNA_JSON_OPTIONAL : NUNA_JSON_REQUIRED;
    return nuna_json_bool(reader->doc, NULL, reader->doc->root, "inplace", need, &plan->inplace,
                          reader->err) &&
           nuna_json_bool(reader->doc, NULL, reader->doc->root, "reuse_resources",
                          NUNA_JSON_OPTIONAL, &plan->reuse_scratch, reader->err) &&
           nuna_json_bool(reader->doc, NULL, reader->doc->root, "use_double_scratch_buffer",
                          NUNA_JSON_OPTIONAL, &plan->half_scratch, reader->err);
}

/* What neither version has is ignored, but not without a word. */
static void warn_of_keys(struct nuna_plan_reader *reader)
{
    static const char *const known[] = {
        "name",
        "collective",
        "colletive",
        "protocol",
        "inplace",
        "reuse_resources",
        "use_double_scratch_buffer",
        "gpus",
        "buffer_alignment",
        "num_threads_per_block",
        "min_message_size",
        "max_message_size",
    };
    for (const cJSON *member = reader->doc->root->child; member != NULL; member = member->next) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            found |= strcmp(member->string, known[i]) == 0;
        if (!found)
            nuna_builder_warn(&reader->builder, "%s: %.64s: unknown key, ignored",
                              reader->doc->path, member->string);
    }
}

bool nuna_read_top(struct nuna_plan_reader *reader, bool version1)
{
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_error *err = reader->err;
    struct nuna_plan *plan = reader->builder.plan;
    uint32_t grain = 16, threads = 0;
    plan->format = version1 ? NUNA_PLAN_JSON1 : NUNA_PLAN_JSON2;
    if (!read_label(reader, "name", plan->name, sizeof plan->name) ||
        !read_collective(reader, version1) || !read_protocol(reader) ||
        !read_flags(reader, version1) ||
        !nuna_json_u32(doc, NULL, doc->root, "buffer_alignment", NUNA_JSON_OPTIONAL, 1, INT32_MAX,
                       &grain, err) ||
        !nuna_json_u32(doc, NULL, doc->root, "num_threads_per_block", NUNA_JSON_OPTIONAL, 1,
                       INT32_MAX, &threads, err) ||
        !nuna_json_top_u64(doc, "min_message_size", &plan->min_size, err) ||
        !nuna_json_top_u64(doc, "max_message_size", &plan->max_size, err))
        return false;
    plan->grain = grain;
    warn_of_keys(reader);
    return plan->min_size <= plan->max_size ||
           nuna_json_fail(doc, &(struct nuna_json_path){NULL, "min_message_size", 0}, err,
                          "%llu is above max_message_size, which is %llu",
                          (unsigned long long)plan->min_size, (unsigned long long)plan->max_size);
}
