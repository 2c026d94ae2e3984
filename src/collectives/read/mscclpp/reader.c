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
                              nuna_buffer_name(range->buffer), gpu, chunks, chunks == 1 ? "" : "s");
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

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

bool nuna_read_number_barriers(struct nuna_plan_reader *reader, size_t first_op)
{
    struct nuna_plan *plan = reader->builder.plan;
    struct nuna_u32_list used = {0};
    bool good = true;
    for (size_t i = first_op; good && i < plan->op_count; i++) {
        if (plan->ops[i].kind == NUNA_OP_BARRIER)
            good = nuna_u32_push(&used, plan->ops[i].barrier_id, reader->err);
    }
    if (good && used.count > 0) {
        qsort(used.items, used.count, sizeof *used.items, by_value);
        size_t unique = 1;
        for (size_t i = 1; i < used.count; i++) {
            if (used.items[i] != used.items[unique - 1])
                used.items[unique++] = used.items[i];
        }
        for (size_t i = first_op; i < plan->op_count; i++) {
            struct nuna_op *op = &plan->ops[i];
            if (op->kind != NUNA_OP_BARRIER)
                continue;
            const uint32_t *found =
                bsearch(&op->barrier_id, used.items, unique, sizeof *used.items, by_value);
            op->barrier_id = (uint32_t)(found - used.items);
        }
        plan->gpus[reader->gpu].barrier_count = (uint32_t)unique;
    }
    free(used.items);
    return good;
}

void nuna_read_free_lists(struct nuna_plan_reader *reader)
{
    free(reader->channels);
    free(reader->channels_at.items);
    free(reader->groups.items);
    free(reader->groups_at.items);
    free(reader->group_tags.items);
    free(reader->remotes.items);
    free(reader->remote_vias.items);
    free(reader->remotes_at.items);
    for (int via = 0; via < NUNA_VIA_KINDS; via++) {
        free(reader->tb_channels[via].items);
        free(reader->tb_tags[via].items);
        free(reader->tb_remotes[via].items);
    }
}
