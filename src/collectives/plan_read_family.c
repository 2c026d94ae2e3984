/* Tells version 2 of the MSCCL++ format from its predecessors by the keys they use. */
#include "collectives/plan_read.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Keys of older formats that version 2 does not have, by the object they stand in. */
static const char *const old_top_keys[] = {"colletive"};
static const char *const old_gpu_keys[] = {"inputChunks", "outputChunks", "scratchChunks",
                                           "chunkGroups"};
static const char *const old_channel_keys[] = {"type", "srcbuff", "dstbuff", "connectedTo",
                                               "rankGroups"};
static const char *const old_tb_channel_keys[] = {"ctype", "cids", "src", "dst"};
static const char *const old_op_keys[] = {
    "ctype",  "i_cids", "o_cids", "srcs",         "dsts",      "srcbuff",   "srcoff", "dstbuff",
    "dstoff", "cids",   "unit",   "semaphore_id", "srcBuffer", "dstBuffer", "offset",
};

static const char *old_key(const cJSON *object, const char *const *keys, size_t count)
{
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        if (member->string == NULL)
            return NULL;
        if (strncmp(member->string, "dynamic_", 8) == 0)
            return member->string;
        for (size_t i = 0; i < count; i++) {
            if (strcmp(member->string, keys[i]) == 0)
                return member->string;
        }
    }
    return NULL;
}

static bool refuse_draft(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                         const char *key, struct nuna_error *err)
{
    struct nuna_json_path here = {at, key, 0};
    return nuna_json_fail(doc, &here, err,
                          "this key belongs to a draft of the MSCCL++ format, which is not "
                          "supported yet, supported is version 2 (MSCCL++ 0.8 and later)");
}

static bool check_objects(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                          const cJSON *array, const char *const *keys, size_t count,
                          struct nuna_error *err)
{
    struct nuna_json_path one = {at, NULL, 0};
    for (const cJSON *item = array == NULL ? NULL : array->child; item != NULL;
         item = item->next, one.index++) {
        const char *key = old_key(item, keys, count);
        if (key != NULL)
            return refuse_draft(doc, &one, key, err);
    }
    return true;
}

static bool check_threadblocks(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                               const cJSON *threadblocks, struct nuna_error *err)
{
    struct nuna_json_path one = {at, NULL, 0};
    struct nuna_json_path channels = {&one, "channels", 0}, ops = {&one, "ops", 0};
    for (const cJSON *tb = threadblocks == NULL ? NULL : threadblocks->child; tb != NULL;
         tb = tb->next, one.index++) {
        if (!cJSON_IsObject(tb))
            continue;
        if (!check_objects(doc, &channels, nuna_json_get(tb, "channels"), old_tb_channel_keys,
                           COUNT(old_tb_channel_keys), err) ||
            !check_objects(doc, &ops, nuna_json_get(tb, "ops"), old_op_keys, COUNT(old_op_keys),
                           err))
            return false;
    }
    return true;
}

bool nuna_read_check_gpu_keys(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                              const cJSON *gpu, struct nuna_error *err)
{
    const char *key = old_key(gpu, old_gpu_keys, COUNT(old_gpu_keys));
    if (key == NULL)
        return true;
    if (nuna_json_get(gpu, "input_chunks") != NULL)
        return refuse_draft(doc, at, key, err);
    struct nuna_json_path here = {at, key, 0};
    return nuna_json_fail(doc, &here, err,
                          "this key belongs to version 1 of the MSCCL++ format (before 0.8), which "
                          "is not supported yet, supported is version 2 (0.8 and later)");
}

bool nuna_read_check_family(const struct nuna_json_doc *doc, struct nuna_error *err)
{
    const cJSON *root = doc->root, *gpus;
    struct nuna_json_path all = {NULL, "gpus", 0}, first = {&all, NULL, 0};
    if (!nuna_json_array(doc, NULL, root, "gpus", NUNA_JSON_REQUIRED, &gpus, err))
        return false;
    if (gpus->child == NULL)
        return nuna_json_fail(doc, &all, err, "is empty, expected one object per GPU");
    const cJSON *gpu = gpus->child;
    if (!nuna_json_is_object(doc, &first, gpu, err) ||
        !nuna_read_check_gpu_keys(doc, &first, gpu, err))
        return false;
    const char *key = old_key(root, old_top_keys, COUNT(old_top_keys));
    if (key != NULL)
        return refuse_draft(doc, NULL, key, err);
    struct nuna_json_path channels = {&first, "channels", 0};
    struct nuna_json_path threadblocks = {&first, "threadblocks", 0};
    return check_objects(doc, &channels, nuna_json_get(gpu, "channels"), old_channel_keys,
                         COUNT(old_channel_keys), err) &&
           check_threadblocks(doc, &threadblocks, nuna_json_get(gpu, "threadblocks"), err);
}
