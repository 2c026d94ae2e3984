#include "collectives/read/read.h"
#include "collectives/read/msccl_xml/msccl_xml.h"
#include "collectives/read/mscclpp/family.h"
#include "collectives/read/mscclpp/head.h"
#include "collectives/read/mscclpp1/mscclpp1.h"
#include "collectives/read/mscclpp2/mscclpp2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks that go through scratch as packets must have one length on both sides. */
static void finish_json(struct nuna_plan *plan)
{
    for (size_t i = 0; i < plan->range_count; i++)
        plan->even |= plan->ranges[i].form != NUNA_FORM_DATA;
}

static struct nuna_plan *read_document(const struct nuna_json_doc *doc, struct nuna_error *err)
{
    bool version1;
    if (!nuna_json_is_object(doc, NULL, doc->root, err) || !nuna_read_family(doc, &version1, err))
        return NULL;
    int gpu_count = cJSON_GetArraySize(nuna_json_get(doc->root, "gpus"));
    if (gpu_count > (int)NUNA_GPUS_MAX) {
        nuna_json_fail(doc, &(struct nuna_json_path){NULL, "gpus", 0}, err,
                       "has %d GPUs, the limit is %u", gpu_count, NUNA_GPUS_MAX);
        return NULL;
    }
    struct nuna_plan_reader reader = {.doc = doc, .err = err};
    struct nuna_plan *plan = NULL;
    if (nuna_builder_init(&reader.builder, (uint32_t)gpu_count, err)) {
        snprintf(reader.builder.plan->source, sizeof reader.builder.plan->source, "%s", doc->path);
        if (nuna_read_top(&reader, version1) &&
            (version1 ? nuna_read_mscclpp1(&reader) : nuna_read_mscclpp2(&reader)))
            plan = nuna_builder_finish(&reader.builder, err);
        nuna_builder_discard(&reader.builder);
    }
    nuna_read_free_lists(&reader);
    if (plan != NULL)
        finish_json(plan);
    return plan;
}

static struct nuna_plan *read_json(struct nuna_plan_text *text, struct nuna_error *err)
{
    struct nuna_json_doc doc;
    if (!nuna_json_parse(text, &doc, err))
        return NULL;
    struct nuna_plan *plan = read_document(&doc, err);
    nuna_json_close(&doc);
    return plan;
}

/* Told from the first character, so that a file of another kind is not called broken JSON. */
static const struct {
    const char *first;
    struct nuna_plan *(*read)(struct nuna_plan_text *text, struct nuna_error *err);
} formats[] = {
    {"{[\"-0123456789tfn", read_json}, /* and what is empty */
    {"<", nuna_read_msccl_xml},
};

struct nuna_plan *nuna_plan_parse(struct nuna_plan_text *text, struct nuna_error *err)
{
    const char *first = text->text + strspn(text->text, " \t\r\n");
    struct nuna_plan *plan = NULL;
    bool known = false;
    for (size_t i = 0; !known && i < sizeof formats / sizeof formats[0]; i++) {
        known = strchr(formats[i].first, *first) != NULL;
        if (known)
            plan = formats[i].read(text, err);
    }
    if (!known)
        nuna_fail(
            err, NUNA_EXIT_BAD_INPUT,
            "%s: is neither JSON nor XML, expected an MSCCL++ plan, which starts with '{', or "
            "an MSCCL algorithm, which starts with '<'",
            text->path);
    free(text->text);
    text->text = NULL;
    return plan;
}

struct nuna_plan *nuna_plan_read(const char *path, struct nuna_error *err)
{
    struct nuna_plan_text text;
    if (!nuna_plan_text_load(path, &text, err))
        return NULL;
    return nuna_plan_parse(&text, err);
}
