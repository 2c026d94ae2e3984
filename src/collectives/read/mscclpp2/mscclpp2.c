/* The GPUs' own lists. */
#include "collectives/read/mscclpp2/mscclpp2.h"
#include "collectives/read/mscclpp/pair.h"
#include "collectives/read/mscclpp2/blocks.h"

#include <string.h>

static bool read_via(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                     const cJSON *list, uint32_t *ret)
{
    const char *type = NULL;
    if (!nuna_json_is_object(reader->doc, at, list, reader->err) ||
        !nuna_json_string(reader->doc, at, list, "channel_type", NUNA_JSON_REQUIRED, &type,
                          reader->err))
        return false;
    *ret = strcmp(type, "memory") == 0   ? NUNA_VIA_MEMORY
           : strcmp(type, "port") == 0   ? NUNA_VIA_PORT
           : strcmp(type, "switch") == 0 ? NUNA_VIA_SWITCH
                                         : NUNA_VIA_KINDS;
    return *ret < NUNA_VIA_KINDS ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "channel_type", 0}, reader->err,
                          "unknown channel type \"%.32s\", expected \"memory\", \"port\" or "
                          "\"switch\"",
                          type);
}

static bool read_connected(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                           const cJSON *list, uint32_t via)
{
    const cJSON *ranks;
    if (!nuna_json_array(reader->doc, at, list, "connected_to", NUNA_JSON_REQUIRED, &ranks,
                         reader->err))
        return false;
    struct nuna_json_path to = {at, "connected_to", 0}, entry = {&to, NULL, 0};
    for (const cJSON *rank = ranks->child; rank != NULL; rank = rank->next, entry.index++) {
        uint32_t peer;
        if (!nuna_read_rank(reader, &entry, rank, false, &peer) ||
            !nuna_read_push_channel(reader, (struct nuna_read_channel){peer, via, 0}))
            return false;
    }
    return true;
}

static bool read_switch(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const cJSON *list)
{
    enum nuna_buffer buffer;
    /* Files of mid-2025 call it "buff". */
    bool old = nuna_json_get(list, "buffer_type") == NULL && nuna_json_get(list, "buff") != NULL;
    return nuna_read_buffer(reader, at, list, old ? "buff" : "buffer_type", &buffer) &&
           nuna_read_groups(reader, at, list, "rank_groups", buffer);
}

static bool read_channels(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                          const cJSON *gpu)
{
    const cJSON *lists;
    if (!nuna_json_array(reader->doc, at, gpu, "channels", NUNA_JSON_REQUIRED, &lists, reader->err))
        return false;
    struct nuna_json_path all = {at, "channels", 0}, one = {&all, NULL, 0};
    for (uint32_t wanted = 0; wanted < NUNA_VIA_KINDS; wanted++) {
        one.index = 0;
        for (const cJSON *list = lists->child; list != NULL; list = list->next, one.index++) {
            uint32_t via;
            if (!read_via(reader, &one, list, &via))
                return false;
            if (via == wanted &&
                !(via == NUNA_VIA_SWITCH ? read_switch(reader, &one, list)
                                         : read_connected(reader, &one, list, via)))
                return false;
        }
    }
    return true;
}

static bool read_access(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const cJSON *buffer, uint32_t *ret)
{
    const cJSON *types;
    if (!nuna_json_array(reader->doc, at, buffer, "access_channel_types", NUNA_JSON_REQUIRED,
                         &types, reader->err))
        return false;
    *ret = 0;
    for (const cJSON *type = types->child; type != NULL; type = type->next) {
        if (cJSON_IsString(type) && strcmp(type->valuestring, "memory") == 0)
            *ret |= 1u << NUNA_VIA_MEMORY;
        if (cJSON_IsString(type) && strcmp(type->valuestring, "port") == 0)
            *ret |= 1u << NUNA_VIA_PORT;
    }
    return true;
}

static bool read_remote_buffers(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                                const cJSON *gpu)
{
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_error *err = reader->err;
    const cJSON *buffers;
    if (!nuna_json_array(doc, at, gpu, "remote_buffers", NUNA_JSON_REQUIRED, &buffers, err))
        return false;
    struct nuna_json_path all = {at, "remote_buffers", 0}, one = {&all, NULL, 0};
    struct nuna_json_path rank_at = {&one, "rank", 0};
    for (const cJSON *item = buffers->child; item != NULL; item = item->next, one.index++) {
        uint32_t rank, access;
        enum nuna_buffer buffer;
        if (!nuna_json_is_object(doc, &one, item, err))
            return false;
        const cJSON *value = nuna_json_get(item, "rank");
        if (value == NULL)
            return nuna_json_fail(doc, &rank_at, err, "is missing, expected an integer");
        if (!nuna_read_rank(reader, &rank_at, value, false, &rank) ||
            !nuna_read_buffer(reader, &one, item, "type", &buffer) ||
            !read_access(reader, &one, item, &access) ||
            !nuna_u32_push(&reader->remotes, rank * NUNA_BUFFER_COUNT + (uint32_t)buffer, err) ||
            !nuna_u32_push(&reader->remote_vias, access, err))
            return false;
    }
    return true;
}

static bool read_semaphores(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *gpu)
{
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, gpu, "semaphores", NUNA_JSON_OPTIONAL, &list,
                         reader->err))
        return false;
    struct nuna_json_path all = {at, "semaphores", 0}, one = {&all, NULL, 0};
    for (const cJSON *item = list == NULL ? NULL : list->child; item != NULL;
         item = item->next, one.index++) {
        uint32_t initial = 0;
        if (!nuna_json_is_object(reader->doc, &one, item, reader->err) ||
            !nuna_json_u32(reader->doc, &one, item, "init_value", NUNA_JSON_REQUIRED, 0, INT32_MAX,
                           &initial, reader->err))
            return false;
        nuna_builder_semaphore(&reader->builder, reader->gpu, initial);
    }
    return true;
}

static bool read_gpu(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                     const cJSON *gpu)
{
    static const char *const chunk_keys[NUNA_BUFFER_COUNT] = {"input_chunks", "output_chunks",
                                                              "scratch_chunks"};
    struct nuna_plan *plan = reader->builder.plan;
    uint32_t id = 0;
    if (!nuna_json_u32(reader->doc, at, gpu, "id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id,
                       reader->err))
        return false;
    if (id != reader->gpu)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "id", 0}, reader->err,
                              "is %u, expected %u, the position in the list", id, reader->gpu);
    plan->gpus[id].sem_at = (uint32_t)plan->sem_count;
    return nuna_read_chunks(reader, at, gpu, chunk_keys) &&
           nuna_u32_push(&reader->channels_at, (uint32_t)reader->channel_count, reader->err) &&
           nuna_u32_push(&reader->groups_at, (uint32_t)reader->groups.count, reader->err) &&
           nuna_u32_push(&reader->remotes_at, (uint32_t)reader->remotes.count, reader->err) &&
           read_channels(reader, at, gpu) && read_remote_buffers(reader, at, gpu) &&
           read_semaphores(reader, at, gpu);
}

bool nuna_read_mscclpp2(struct nuna_plan_reader *reader)
{
    const cJSON *gpus = nuna_json_get(reader->doc->root, "gpus");
    struct nuna_json_path all = {NULL, "gpus", 0}, one = {&all, NULL, 0};
    reader->gpu = 0;
    for (const cJSON *gpu = gpus->child; gpu != NULL; gpu = gpu->next, reader->gpu++) {
        one.index = reader->gpu;
        if (!read_gpu(reader, &one, gpu))
            return false;
    }
    if (!nuna_u32_push(&reader->channels_at, (uint32_t)reader->channel_count, reader->err) ||
        !nuna_u32_push(&reader->groups_at, (uint32_t)reader->groups.count, reader->err) ||
        !nuna_u32_push(&reader->remotes_at, (uint32_t)reader->remotes.count, reader->err))
        return false;
    reader->gpu = 0;
    for (const cJSON *gpu = gpus->child; gpu != NULL; gpu = gpu->next, reader->gpu++) {
        one.index = reader->gpu;
        if (!nuna_read_threadblocks(reader, &one, gpu))
            return false;
    }
    return nuna_read_pair_channels(reader);
}
