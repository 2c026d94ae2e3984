/* Tells the two versions of the MSCCL++ format from each other, and from the drafts that no release
 * reads, by the keys they use. */
#include "collectives/read/mscclpp/family.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct keys {
    const char *const *words;
    size_t count;
};
#define KEYS(array)                                                                                \
    {                                                                                              \
        array, COUNT(array)                                                                        \
    }

/* Keys that a version does not have but drafts do, by the object they stand in. */
static const char *const gpu1[] = {"input_chunks", "output_chunks", "scratch_chunks",
                                   "remoteBuffers", "remote_buffers"};
static const char *const channel1[] = {"channel_type", "connected_to", "rank_groups", "srcBuffer",
                                       "dstBuffer"};
static const char *const tb_channel1[] = {"channel_type", "channel_ids"};
static const char *const op1[] = {"gi_cid",      "go_cid",     "cids",
                                  "src_buff",    "dst_buff",   "channel_type",
                                  "channel_ids", "src_buffer", "offset"};
static const char *const gpu2[] = {"inputChunks", "outputChunks", "scratchChunks", "chunkGroups",
                                   "remoteBuffers"};
static const char *const channel2[] = {"type",       "srcbuff",   "dstbuff",  "connectedTo",
                                       "rankGroups", "srcBuffer", "dstBuffer"};
static const char *const tb_channel2[] = {"ctype", "cid", "cids", "src", "dst"};
static const char *const op2[] = {
    "ctype",
    "i_cids",
    "o_cids",
    "srcs",
    "dsts",
    "srcbuff",
    "srcoff",
    "dstbuff",
    "dstoff",
    "cids",
    "unit",
    "semaphore_id",
    "srcBuffer",
    "dstBuffer",
    "offset",
    "src_buffer",
    "dst_buffer",
    "output_channel_ids",
    "input_channel_ids",
};

struct family {
    struct keys gpu, channel, tb_channel, op;
    const char *name;
};

static const struct family families[] = {
    {KEYS(gpu1), KEYS(channel1), KEYS(tb_channel1), KEYS(op1), "version 1 (0.5 to 0.7)"},
    {KEYS(gpu2), KEYS(channel2), KEYS(tb_channel2), KEYS(op2), "version 2 (0.8 and later)"},
};

static const char *strange_key(const cJSON *object, const struct keys *keys)
{
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        if (member->string == NULL)
            return NULL;
        if (strncmp(member->string, "dynamic_", 8) == 0)
            return member->string;
        for (size_t i = 0; i < keys->count; i++) {
            if (strcmp(member->string, keys->words[i]) == 0)
                return member->string;
        }
    }
    return NULL;
}

static bool refuse(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                   const char *key, const struct family *family, struct nuna_error *err)
{
    struct nuna_json_path here = {at, key, 0};
    return nuna_json_fail(
        doc, &here, err,
        "this key does not belong to MSCCL++ %s, as the rest of the file does: an "
        "unsupported draft of the format, or a mixture of versions",
        family->name);
}

static bool check_objects(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                          const cJSON *array, const struct keys *keys, const struct family *family,
                          struct nuna_error *err)
{
    struct nuna_json_path one = {at, NULL, 0};
    for (const cJSON *item = array == NULL ? NULL : array->child; item != NULL;
         item = item->next, one.index++) {
        if (!cJSON_IsObject(item))
            continue;
        const char *key = strange_key(item, keys);
        if (key != NULL)
            return refuse(doc, &one, key, family, err);
        struct nuna_json_path inner = {&one, "ops", 0};
        const cJSON *ops = nuna_json_get(item, "ops");
        if (keys == &family->op && ops != NULL &&
            !check_objects(doc, &inner, ops, keys, family, err))
            return false;
    }
    return true;
}

static bool check_gpu(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                      const cJSON *gpu, const struct family *family, struct nuna_error *err)
{
    const char *key = strange_key(gpu, &family->gpu);
    if (key != NULL)
        return refuse(doc, at, key, family, err);
    struct nuna_json_path channels = {at, "channels", 0};
    if (!check_objects(doc, &channels, nuna_json_get(gpu, "channels"), &family->channel, family,
                       err))
        return false;
    const cJSON *threadblocks = nuna_json_get(gpu, "threadblocks");
    struct nuna_json_path all = {at, "threadblocks", 0}, one = {&all, NULL, 0};
    struct nuna_json_path tb_channels = {&one, "channels", 0}, ops = {&one, "ops", 0};
    for (const cJSON *tb = threadblocks == NULL ? NULL : threadblocks->child; tb != NULL;
         tb = tb->next, one.index++) {
        if (!cJSON_IsObject(tb))
            continue;
        if (!check_objects(doc, &tb_channels, nuna_json_get(tb, "channels"), &family->tb_channel,
                           family, err) ||
            !check_objects(doc, &ops, nuna_json_get(tb, "ops"), &family->op, family, err))
            return false;
    }
    return true;
}

bool nuna_read_family(const struct nuna_json_doc *doc, bool *ret_version1, struct nuna_error *err)
{
    const cJSON *gpus;
    struct nuna_json_path all = {NULL, "gpus", 0}, one = {&all, NULL, 0};
    if (!nuna_json_array(doc, NULL, doc->root, "gpus", NUNA_JSON_REQUIRED, &gpus, err))
        return false;
    const cJSON *first = gpus->child;
    if (first == NULL)
        return nuna_json_fail(doc, &all, err, "is empty, expected one object per GPU");
    if (!nuna_json_is_object(doc, &one, first, err))
        return false;
    *ret_version1 = nuna_json_get(first, "inputChunks") != NULL;
    const struct family *family = &families[*ret_version1 ? 0 : 1];
    for (const cJSON *gpu = first; gpu != NULL; gpu = gpu->next, one.index++) {
        if (!nuna_json_is_object(doc, &one, gpu, err) || !check_gpu(doc, &one, gpu, family, err))
            return false;
    }
    return true;
}
