#include "collectives/read/mscclpp1/mscclpp1.h"
#include "collectives/read/mscclpp/pair.h"
#include "collectives/read/mscclpp1/channels.h"
#include "collectives/read/mscclpp1/ops.h"

static bool read_threadblock(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                             const cJSON *tb)
{
    const cJSON *list, *ops;
    uint32_t id; /* says nothing: the place in the list counts */
    if (!nuna_json_is_object(reader->doc, at, tb, reader->err) ||
        !nuna_json_u32(reader->doc, at, tb, "id", NUNA_JSON_OPTIONAL, 0, UINT32_MAX, &id,
                       reader->err) ||
        !nuna_json_array(reader->doc, at, tb, "channels", NUNA_JSON_OPTIONAL, &list, reader->err) ||
        !nuna_json_array(reader->doc, at, tb, "ops", NUNA_JSON_REQUIRED, &ops, reader->err))
        return false;
    for (uint32_t via = 0; via < NUNA_VIA_KINDS; via++)
        reader->tb_channels[via].count = reader->tb_tags[via].count = 0;
    struct nuna_json_path channels = {at, "channels", 0}, entry = {&channels, NULL, 0};
    for (const cJSON *item = list == NULL ? NULL : list->child; item != NULL;
         item = item->next, entry.index++) {
        if (!nuna_mscclpp1_tb_channel(reader, &entry, item))
            return false;
    }
    nuna_builder_threadblock(&reader->builder, reader->gpu);
    struct nuna_json_path all = {at, "ops", 0}, one = {&all, NULL, 0};
    for (const cJSON *op = ops->child; op != NULL; op = op->next, one.index++) {
        if (!nuna_mscclpp1_op(reader, &one, op))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    return true;
}

static bool read_threadblocks(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                              const cJSON *gpu)
{
    const cJSON *list;
    struct nuna_plan *plan = reader->builder.plan;
    size_t first_op = plan->op_count;
    plan->gpus[reader->gpu].tb_at = (uint32_t)plan->threadblock_count;
    if (!nuna_json_array(reader->doc, at, gpu, "threadblocks", NUNA_JSON_REQUIRED, &list,
                         reader->err))
        return false;
    struct nuna_json_path all = {at, "threadblocks", 0}, one = {&all, NULL, 0};
    for (const cJSON *tb = list->child; tb != NULL; tb = tb->next, one.index++) {
        if (!read_threadblock(reader, &one, tb))
            return false;
    }
    return nuna_builder_failed(&reader->builder) || nuna_read_number_barriers(reader, first_op);
}

static bool read_gpu(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                     const cJSON *gpu)
{
    static const char *const chunk_keys[NUNA_BUFFER_COUNT] = {"inputChunks", "outputChunks",
                                                              "scratchChunks"};
    struct nuna_plan *plan = reader->builder.plan;
    uint32_t groups = 1;
    if (!nuna_json_u32(reader->doc, at, gpu, "chunkGroups", NUNA_JSON_OPTIONAL, 1, NUNA_CHUNKS_MAX,
                       &groups, reader->err))
        return false;
    if (reader->gpu > 0 && groups != plan->chunk_groups)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "chunkGroups", 0},
                              reader->err, "is %u, but GPU 0 has %u", groups, plan->chunk_groups);
    plan->chunk_groups = groups;
    return nuna_read_chunks(reader, at, gpu, chunk_keys) &&
           nuna_u32_push(&reader->channels_at, (uint32_t)reader->channel_count, reader->err) &&
           nuna_u32_push(&reader->groups_at, (uint32_t)reader->groups.count, reader->err) &&
           nuna_mscclpp1_channels(reader, at, gpu);
}

/* GPUs stand in any order; `id` says which is which. */
static const cJSON *find_gpu(struct nuna_plan_reader *reader, uint32_t id, size_t *ret_index)
{
    const cJSON *gpus = nuna_json_get(reader->doc->root, "gpus");
    struct nuna_json_path all = {NULL, "gpus", 0}, one = {&all, NULL, 0};
    const cJSON *found = NULL;
    for (const cJSON *gpu = gpus->child; gpu != NULL; gpu = gpu->next, one.index++) {
        uint32_t here = 0;
        if (!nuna_json_u32(reader->doc, &one, gpu, "id", NUNA_JSON_REQUIRED, 0,
                           reader->builder.plan->gpu_count - 1, &here, reader->err))
            return NULL;
        if (here == id && found == NULL) {
            *ret_index = one.index;
            found = gpu;
        }
    }
    if (found == NULL)
        nuna_json_fail(reader->doc, &all, reader->err, "has no GPU with id %u", id);
    return found;
}

bool nuna_read_mscclpp1(struct nuna_plan_reader *reader)
{
    const struct nuna_plan *plan = reader->builder.plan;
    struct nuna_json_path all = {NULL, "gpus", 0}, one = {&all, NULL, 0};
    for (reader->gpu = 0; reader->gpu < plan->gpu_count; reader->gpu++) {
        const cJSON *gpu = find_gpu(reader, reader->gpu, &one.index);
        if (gpu == NULL || !read_gpu(reader, &one, gpu))
            return false;
    }
    if (!nuna_u32_push(&reader->channels_at, (uint32_t)reader->channel_count, reader->err) ||
        !nuna_u32_push(&reader->groups_at, (uint32_t)reader->groups.count, reader->err))
        return false;
    for (reader->gpu = 0; reader->gpu < plan->gpu_count; reader->gpu++) {
        const cJSON *gpu = find_gpu(reader, reader->gpu, &one.index);
        if (gpu == NULL || !read_threadblocks(reader, &one, gpu))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    return nuna_read_pair_channels(reader);
}
