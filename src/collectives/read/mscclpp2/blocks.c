/* MSCCL++ JSON, version 2: threadblocks, and the barriers of both versions. */
#include "collectives/read/mscclpp2/blocks.h"
#include "collectives/read/mscclpp2/ops.h"

#include <stdlib.h>
#include <string.h>

static bool push_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                         uint32_t via, uint32_t id)
{
    uint32_t gpu = reader->gpu;
    uint32_t first = reader->channels_at.items[gpu], last = reader->channels_at.items[gpu + 1];
    uint32_t memory = 0;
    while (first + memory < last && reader->channels[first + memory].via == NUNA_VIA_MEMORY)
        memory++;
    uint32_t count = via == NUNA_VIA_MEMORY ? memory
                     : via == NUNA_VIA_PORT
                         ? last - first - memory
                         : reader->groups_at.items[gpu + 1] - reader->groups_at.items[gpu];
    static const char *const names[] = {"memory", "port", "switch"};
    if (id >= count)
        return nuna_json_fail(reader->doc, at, reader->err, "%s channel %u, but GPU %u declares %u",
                              names[via], id, gpu, count);
    uint32_t value = via == NUNA_VIA_MEMORY ? id
                     : via == NUNA_VIA_PORT ? memory + id
                                            : reader->groups_at.items[gpu] + id;
    return nuna_u32_push(&reader->tb_channels[via], value, reader->err);
}

static bool push_remote(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        uint32_t via, uint32_t id)
{
    uint32_t first = reader->remotes_at.items[reader->gpu];
    uint32_t count = reader->remotes_at.items[reader->gpu + 1] - first;
    if (id >= count)
        return nuna_json_fail(reader->doc, at, reader->err,
                              "remote buffer %u, but GPU %u declares %u", id, reader->gpu, count);
    if (!(reader->remote_vias.items[first + id] >> via & 1))
        return nuna_json_fail(reader->doc, at, reader->err,
                              "remote buffer %u is not open for %s channels", id,
                              via == NUNA_VIA_MEMORY ? "memory" : "port");
    return nuna_u32_push(&reader->tb_remotes[via], reader->remotes.items[first + id], reader->err);
}

static bool read_type(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *group, const char *key, bool channels, uint32_t *ret)
{
    const char *type = NULL;
    if (!nuna_json_string(reader->doc, at, group, key, NUNA_JSON_REQUIRED, &type, reader->err))
        return false;
    *ret = strcmp(type, "memory") == 0               ? NUNA_VIA_MEMORY
           : strcmp(type, "port") == 0               ? NUNA_VIA_PORT
           : strcmp(type, "switch") == 0 && channels ? NUNA_VIA_SWITCH
                                                     : NUNA_VIA_KINDS;
    return *ret < NUNA_VIA_KINDS ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, key, 0}, reader->err,
                          "unknown channel type \"%.32s\", expected \"memory\"%s or \"%s\"", type,
                          channels ? ", \"port\"" : "", channels ? "switch" : "port");
}

/* One of the threadblock's two lists of numbers of the GPU. */
static bool read_references(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *tb, bool channels)
{
    const char *key = channels ? "channels" : "remote_buffer_refs";
    const char *type_key = channels ? "channel_type" : "access_channel_type";
    const char *ids_key = channels ? "channel_ids" : "remote_buffer_ids";
    const cJSON *groups, *ids;
    for (uint32_t via = 0; via < NUNA_VIA_KINDS; via++)
        (channels ? reader->tb_channels : reader->tb_remotes)[via].count = 0;
    if (!nuna_json_array(reader->doc, at, tb, key, NUNA_JSON_OPTIONAL, &groups, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    struct nuna_json_path ids_at = {&one, ids_key, 0}, entry = {&ids_at, NULL, 0};
    for (const cJSON *group = groups == NULL ? NULL : groups->child; group != NULL;
         group = group->next, one.index++) {
        uint32_t via, id;
        if (!nuna_json_is_object(reader->doc, &one, group, reader->err) ||
            !read_type(reader, &one, group, type_key, channels, &via) ||
            !nuna_json_array(reader->doc, &one, group, ids_key, NUNA_JSON_REQUIRED, &ids,
                             reader->err))
            return false;
        entry.index = 0;
        for (const cJSON *item = ids->child; item != NULL; item = item->next, entry.index++) {
            if (!nuna_json_value_u32(reader->doc, &entry, item, 0, UINT32_MAX, &id, reader->err) ||
                !(channels ? push_channel(reader, &entry, via, id)
                           : push_remote(reader, &entry, via, id)))
                return false;
        }
    }
    return true;
}

static bool read_threadblock(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                             const cJSON *tb)
{
    uint32_t id = 0;
    const cJSON *ops;
    if (!nuna_json_is_object(reader->doc, at, tb, reader->err) ||
        !nuna_json_u32(reader->doc, at, tb, "id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id,
                       reader->err))
        return false;
    if (id != at->index)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "id", 0}, reader->err,
                              "is %u, expected %zu, the position in the list", id, at->index);
    if (!read_references(reader, at, tb, true) || !read_references(reader, at, tb, false) ||
        !nuna_json_array(reader->doc, at, tb, "ops", NUNA_JSON_REQUIRED, &ops, reader->err))
        return false;
    nuna_builder_threadblock(&reader->builder, reader->gpu);
    struct nuna_json_path all = {at, "ops", 0}, one = {&all, NULL, 0};
    for (const cJSON *op = ops->child; op != NULL; op = op->next, one.index++) {
        if (!nuna_read_op(reader, &one, op, false))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    return true;
}

bool nuna_read_threadblocks(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *gpu)
{
    struct nuna_plan *plan = reader->builder.plan;
    size_t first_op = plan->op_count;
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, gpu, "threadblocks", NUNA_JSON_REQUIRED, &list,
                         reader->err))
        return false;
    plan->gpus[reader->gpu].tb_at = (uint32_t)plan->threadblock_count;
    struct nuna_json_path all = {at, "threadblocks", 0}, one = {&all, NULL, 0};
    for (const cJSON *tb = list->child; tb != NULL; tb = tb->next, one.index++) {
        if (!read_threadblock(reader, &one, tb))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    return nuna_read_number_barriers(reader, first_op);
}
