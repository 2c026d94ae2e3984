/* MSCCL++ JSON: what both versions share, and the GPUs' own lists of version 2. */
#include "collectives/read/mscclpp/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool nuna_u32_push(struct nuna_u32_list *list, uint32_t value, struct nuna_error *err)
{
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 64 : list->cap * 2;
        uint32_t *grown =
            cap > SIZE_MAX / sizeof *grown ? NULL : realloc(list->items, cap * sizeof *grown);
        if (grown == NULL)
            return nuna_fail_memory(err, "the lists of a plan");
        list->items = grown;
        list->cap = cap;
    }
    list->items[list->count++] = value;
    return true;
}

bool nuna_read_push_channel(struct nuna_plan_reader *reader, struct nuna_read_channel channel)
{
    if (reader->channel_count == reader->channel_cap) {
        size_t cap = reader->channel_cap == 0 ? 64 : reader->channel_cap * 2;
        struct nuna_read_channel *grown =
            cap > UINT32_MAX ? NULL : realloc(reader->channels, cap * sizeof *grown);
        if (grown == NULL)
            return nuna_fail_memory(reader->err, "the channels of a plan");
        reader->channels = grown;
        reader->channel_cap = cap;
    }
    reader->channels[reader->channel_count++] = channel;
    return true;
}

bool nuna_read_buffer(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *object, const char *key, enum nuna_buffer *ret)
{
    const char *type = NULL;
    if (!nuna_json_string(reader->doc, at, object, key, NUNA_JSON_REQUIRED, &type, reader->err))
        return false;
    if (strcmp(type, "i") == 0)
        *ret = NUNA_BUF_INPUT;
    else if (strcmp(type, "o") == 0)
        *ret = NUNA_BUF_OUTPUT;
    else if (strcmp(type, "s") == 0)
        *ret = NUNA_BUF_SCRATCH;
    else
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, key, 0}, reader->err,
                              "\"%.32s\" is no buffer, expected \"i\" (input), \"o\" (output) or "
                              "\"s\" (scratch)",
                              type);
    return true;
}

bool nuna_read_rank(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                    const cJSON *value, bool own, uint32_t *ret)
{
    uint32_t gpu_count = reader->builder.plan->gpu_count;
    if (!nuna_json_value_u32(reader->doc, at, value, 0, UINT32_MAX, ret, reader->err))
        return false;
    if (*ret >= gpu_count)
        return nuna_json_fail(reader->doc, at, reader->err, "rank %u, but the plan has %u GPU%s",
                              *ret, gpu_count, gpu_count == 1 ? "" : "s");
    return own || *ret != reader->gpu ||
           nuna_json_fail(reader->doc, at, reader->err, "rank %u is this GPU itself", *ret);
}

bool nuna_read_check_range(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                           const char *key, const struct nuna_range *range)
{
    static const char *const buffer_names[NUNA_BUFFER_COUNT] = {"input", "output", "scratch"};
    const struct nuna_plan *plan = reader->builder.plan;
    uint32_t first = range->is_group ? plan->groups[range->gpu].rank_at : 0;
    uint32_t many = range->is_group ? plan->groups[range->gpu].rank_count : 1;
    for (uint32_t i = 0; i < many; i++) {
        uint32_t gpu = range->is_group ? plan->group_ranks[first + i] : range->gpu;
        uint32_t chunks = plan->gpus[gpu].chunks[range->buffer];
        if (range->index < chunks && range->count <= chunks - range->index)
            continue;
        char last[32] = "";
        if (range->count > 1)
            snprintf(last, sizeof last, " to %llu",
                     (unsigned long long)range->index + range->count - 1);
        const char *what = range->index < chunks && strcmp(key, "index") == 0 ? "size" : key;
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, what, 0}, reader->err,
                              "chunk %u%s, but the %s of GPU %u has %u chunk%s", range->index, last,
                              buffer_names[range->buffer], gpu, chunks, chunks == 1 ? "" : "s");
    }
    return true;
}

/* The ranks of {size, ranks}; size may be missing. */
static bool read_group(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *group)
{
    const cJSON *ranks;
    uint32_t size = 0, rank;
    if (!nuna_json_is_object(reader->doc, at, group, reader->err) ||
        !nuna_json_u32(reader->doc, at, group, "size", NUNA_JSON_OPTIONAL, 1, UINT32_MAX, &size,
                       reader->err) ||
        !nuna_json_array(reader->doc, at, group, "ranks", NUNA_JSON_REQUIRED, &ranks, reader->err))
        return false;
    struct nuna_json_path all = {at, "ranks", 0}, one = {&all, NULL, 0};
    nuna_builder_group(&reader->builder);
    for (const cJSON *item = ranks->child; item != NULL; item = item->next, one.index++) {
        if (!nuna_read_rank(reader, &one, item, true, &rank))
            return false;
        for (const cJSON *before = ranks->child; before != item; before = before->next)
            if (before->valuedouble == item->valuedouble)
                return nuna_json_fail(reader->doc, &one, reader->err, "rank %u a second time",
                                      rank);
        nuna_builder_group_rank(&reader->builder, rank);
    }
    if (one.index == 0)
        return nuna_json_fail(reader->doc, &all, reader->err, "is empty, expected ranks");
    return size == 0 || size == one.index ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "size", 0}, reader->err,
                          "is %u, but there are %zu ranks", size, one.index);
}

bool nuna_read_groups(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *channel, const char *key, enum nuna_buffer buffer)
{
    const cJSON *groups;
    if (!nuna_json_array(reader->doc, at, channel, key, NUNA_JSON_REQUIRED, &groups, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    for (const cJSON *group = groups->child; group != NULL; group = group->next, one.index++) {
        uint32_t number = (uint32_t)reader->builder.plan->group_count;
        if (!read_group(reader, &one, group) ||
            !nuna_u32_push(&reader->groups, number, reader->err) ||
            !nuna_u32_push(&reader->group_tags, buffer, reader->err))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    return true;
}

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

bool nuna_read_chunks(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *gpu, const char *const keys[NUNA_BUFFER_COUNT])
{
    for (int buffer = 0; buffer < NUNA_BUFFER_COUNT; buffer++) {
        if (!nuna_json_u32(reader->doc, at, gpu, keys[buffer], NUNA_JSON_REQUIRED, 0,
                           NUNA_CHUNKS_MAX, &reader->builder.plan->gpus[reader->gpu].chunks[buffer],
                           reader->err))
            return false;
    }
    return true;
}

bool nuna_read_gpu(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
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

bool nuna_read_json2(struct nuna_plan_reader *reader)
{
    const cJSON *gpus = nuna_json_get(reader->doc->root, "gpus");
    struct nuna_json_path all = {NULL, "gpus", 0}, one = {&all, NULL, 0};
    reader->gpu = 0;
    for (const cJSON *gpu = gpus->child; gpu != NULL; gpu = gpu->next, reader->gpu++) {
        one.index = reader->gpu;
        if (!nuna_read_gpu(reader, &one, gpu))
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
