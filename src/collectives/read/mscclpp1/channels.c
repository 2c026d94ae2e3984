/* MSCCL++ JSON, version 1: channels, which are bound to a pair of buffers. */
#include "collectives/read/mscclpp1/channels.h"

#include <string.h>

bool nuna_mscclpp1_parse_via(const char *type, uint32_t *ret)
{
    *ret = strcmp(type, "sm") == 0 || strcmp(type, "memory") == 0     ? NUNA_VIA_MEMORY
           : strcmp(type, "proxy") == 0 || strcmp(type, "port") == 0  ? NUNA_VIA_PORT
           : strcmp(type, "nvls") == 0 || strcmp(type, "switch") == 0 ? NUNA_VIA_SWITCH
                                                                      : NUNA_VIA_KINDS;
    return *ret < NUNA_VIA_KINDS;
}

bool nuna_mscclpp1_via(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, const char *key, uint32_t *ret)
{
    const char *type = NULL;
    if (!nuna_json_string(reader->doc, at, object, key, NUNA_JSON_REQUIRED, &type, reader->err))
        return false;
    return nuna_mscclpp1_parse_via(type, ret) ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, key, 0}, reader->err,
                          "unknown channel type \"%.32s\", expected \"sm\" (\"memory\"), "
                          "\"proxy\" (\"port\") or \"nvls\" (\"switch\")",
                          type);
}

bool nuna_mscclpp1_tag(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, const char *source, const char *destination,
                       uint32_t *ret)
{
    enum nuna_buffer from, to;
    if (!nuna_read_buffer(reader, at, object, source, &from) ||
        !nuna_read_buffer(reader, at, object, destination, &to))
        return false;
    *ret = (uint32_t)from * NUNA_BUFFER_COUNT + (uint32_t)to;
    return true;
}

static bool read_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                         const cJSON *channel, uint32_t via)
{
    enum nuna_buffer buffer;
    uint32_t tag, peer;
    const cJSON *ranks;
    if (via == NUNA_VIA_SWITCH)
        return nuna_read_buffer(reader, at, channel, "buff", &buffer) &&
               nuna_read_groups(reader, at, channel, "rankGroups", buffer);
    if (!nuna_mscclpp1_tag(reader, at, channel, "srcbuff", "dstbuff", &tag) ||
        !nuna_json_array(reader->doc, at, channel, "connectedTo", NUNA_JSON_REQUIRED, &ranks,
                         reader->err))
        return false;
    struct nuna_json_path to = {at, "connectedTo", 0}, entry = {&to, NULL, 0};
    for (const cJSON *rank = ranks->child; rank != NULL; rank = rank->next, entry.index++) {
        if (!nuna_read_rank(reader, &entry, rank, false, &peer) ||
            !nuna_read_push_channel(reader, (struct nuna_read_channel){peer, via, tag}))
            return false;
    }
    return true;
}

bool nuna_mscclpp1_channels(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *gpu)
{
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, gpu, "channels", NUNA_JSON_REQUIRED, &list, reader->err))
        return false;
    struct nuna_json_path all = {at, "channels", 0}, one = {&all, NULL, 0};
    for (uint32_t wanted = 0; wanted < NUNA_VIA_KINDS; wanted++) {
        one.index = 0;
        for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
            uint32_t via;
            if (!nuna_json_is_object(reader->doc, &one, item, reader->err) ||
                !nuna_mscclpp1_via(reader, &one, item, "type", &via) ||
                (via == wanted && !read_channel(reader, &one, item, via)))
                return false;
        }
    }
    return true;
}

/* The `id`-th of the GPU's channels of that kind and those buffers. */
static bool push_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                         uint32_t via, uint32_t tag, uint32_t id)
{
    uint32_t gpu = reader->gpu, seen = 0, first, last;
    if (via == NUNA_VIA_SWITCH) {
        first = reader->groups_at.items[gpu];
        last = reader->groups_at.items[gpu + 1];
    } else {
        first = reader->channels_at.items[gpu];
        last = reader->channels_at.items[gpu + 1];
    }
    for (uint32_t i = first; i < last; i++) {
        bool same = via == NUNA_VIA_SWITCH
                        ? reader->group_tags.items[i] == tag / NUNA_BUFFER_COUNT
                        : reader->channels[i].via == via && reader->channels[i].tag == tag;
        if (same && seen++ == id)
            return nuna_u32_push(&reader->tb_channels[via], via == NUNA_VIA_SWITCH ? i : i - first,
                                 reader->err) &&
                   nuna_u32_push(&reader->tb_tags[via], tag, reader->err);
    }
    return nuna_json_fail(reader->doc, at, reader->err,
                          "channel %u, but GPU %u declares %u of this type between these buffers",
                          id, gpu, seen);
}

bool nuna_mscclpp1_tb_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                              const cJSON *group)
{
    uint32_t via, tag, id;
    const cJSON *single = nuna_json_get(group, "cid"), *ids;
    const char *source = nuna_json_get(group, "src") == NULL ? "buff" : "src";
    if (!nuna_json_is_object(reader->doc, at, group, reader->err) ||
        !nuna_mscclpp1_via(reader, at, group, "ctype", &via))
        return false;
    const char *destination =
        nuna_json_get(group, "dst") == NULL && via == NUNA_VIA_SWITCH ? source : "dst";
    if (!nuna_mscclpp1_tag(reader, at, group, source, destination, &tag))
        return false;
    struct nuna_json_path at_one = {at, "cid", 0}, all = {at, "cids", 0}, one = {&all, NULL, 0};
    if (single != NULL && cJSON_IsNumber(single)) /* the first files have a single one */
        return nuna_json_value_u32(reader->doc, &at_one, single, 0, UINT32_MAX, &id, reader->err) &&
               push_channel(reader, &at_one, via, tag, id);
    const char *key = single != NULL ? "cid" : "cids";
    all.key = key;
    if (!nuna_json_array(reader->doc, at, group, key, NUNA_JSON_REQUIRED, &ids, reader->err))
        return false;
    for (const cJSON *item = ids->child; item != NULL; item = item->next, one.index++) {
        if (!nuna_json_value_u32(reader->doc, &one, item, 0, UINT32_MAX, &id, reader->err) ||
            !push_channel(reader, &one, via, tag, id))
            return false;
    }
    return true;
}

/* The operation's `id`-th channel among the threadblock's of that kind and tag. */
bool nuna_mscclpp1_find_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                                uint32_t via, uint32_t tag, uint32_t id, uint32_t *ret)
{
    const struct nuna_u32_list *tags = &reader->tb_tags[via];
    uint32_t seen = 0;
    for (size_t i = 0; i < tags->count; i++) {
        bool same = via == NUNA_VIA_SWITCH
                        ? tags->items[i] / NUNA_BUFFER_COUNT == tag / NUNA_BUFFER_COUNT
                        : tags->items[i] == tag;
        if (same && seen++ == id) {
            *ret = reader->tb_channels[via].items[i];
            return true;
        }
    }
    return nuna_json_fail(
        reader->doc, &(struct nuna_json_path){at, "id", 0}, reader->err,
        "channel %u, but this threadblock has %u of this type between these buffers", id, seen);
}
