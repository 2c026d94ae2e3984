/* MSCCL++ JSON, version 2: threadblocks and operations. */
#include "collectives/plan_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct op_name {
    const char *name;
    enum nuna_op_kind kind;
    bool relaxed;
};

static const struct op_name op_names[] = {
    {"nop", NUNA_OP_NOP, false},
    {"put", NUNA_OP_PUT, false},
    {"copy", NUNA_OP_COPY, false},
    {"re", NUNA_OP_REDUCE, false},
    {"signal", NUNA_OP_SIGNAL, false},
    {"rlxsignal", NUNA_OP_SIGNAL, true},
    {"wait", NUNA_OP_WAIT, false},
    {"rlxwait", NUNA_OP_WAIT, true},
    {"barrier", NUNA_OP_BARRIER, false},
    {"sem_acquire", NUNA_OP_SEM_ACQUIRE, false},
    {"sem_release", NUNA_OP_SEM_RELEASE, false},
};

static const char *const later_names[] = {
    "flush",   "pws",   "pwsf",   "get",       "res",      "rre",    "rres",
    "ppkt",    "rppkt", "cpkt",   "upkt",      "repkt",    "recpkt", "respkt",
    "recspkt", "glres", "gstore", "gstorepkt", "pipeline", "glre",
};

static const char *const renamed[][2] = {
    {"rs", "res"},       {"rrc", "rre"},           {"rrcs", "rres"},
    {"rspkt", "respkt"}, {"rpkt", "repkt"},        {"tpkt", "cpkt"},
    {"ucpkt", "upkt"},   {"rsignal", "rlxsignal"}, {"rwait", "rlxwait"},
};

#define SUPPORTED                                                                                   \
    "supported are nop, put, copy, re, signal, rlxsignal, wait, rlxwait, barrier, sem_acquire and " \
    "sem_release"

static bool refuse_name(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const char *name)
{
    struct nuna_json_path here = {at, "name", 0};
    for (size_t i = 0; i < COUNT(later_names); i++) {
        if (strcmp(name, later_names[i]) == 0)
            return nuna_json_fail(reader->doc, &here, reader->err,
                                  "\"%s\" is not supported yet, " SUPPORTED, name);
    }
    for (size_t i = 0; i < COUNT(renamed); i++) {
        if (strcmp(name, renamed[i][0]) == 0)
            return nuna_json_fail(
                reader->doc, &here, reader->err,
                "\"%s\" is a name from before MSCCL++ 0.8, now \"%s\"; " SUPPORTED, name,
                renamed[i][1]);
    }
    const char *names[COUNT(op_names)];
    for (size_t i = 0; i < COUNT(op_names); i++)
        names[i] = op_names[i].name;
    const char *near = nuna_nearest(name, names, COUNT(names));
    return nuna_json_fail(reader->doc, &here, reader->err,
                          "unknown operation \"%.32s\"%s%s%s, " SUPPORTED, name,
                          near == NULL ? "" : ", did you mean \"", near == NULL ? "" : near,
                          near == NULL ? "" : "\"");
}

/* Operations name the one kind of channel there is. */
static bool check_channel_type(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                               const cJSON *object, const char *key)
{
    const char *type = NULL;
    if (!nuna_json_string(reader->doc, at, object, key, NUNA_JSON_REQUIRED, &type, reader->err))
        return false;
    return strcmp(type, "memory") == 0 ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, key, 0}, reader->err,
                          "\"%.32s\" is not supported yet, supported is \"memory\"", type);
}

static bool read_range(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, bool remote, struct nuna_range *ret)
{
    static const char *const buffer_names[NUNA_BUFFER_COUNT] = {"input", "output", "scratch"};
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_error *err = reader->err;
    enum nuna_buffer buffer = NUNA_BUF_INPUT;
    ret->gpu = reader->gpu;
    if (!nuna_json_is_object(doc, at, object, err))
        return false;
    if (remote) {
        uint32_t id = 0;
        if (!nuna_json_u32(doc, at, object, "buffer_id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id,
                           err))
            return false;
        if (id >= reader->tb_remotes.count)
            return nuna_json_fail(doc, &(struct nuna_json_path){at, "buffer_id", 0}, err,
                                  "remote buffer %u, but this threadblock has %zu", id,
                                  reader->tb_remotes.count);
        ret->gpu = reader->tb_remotes.items[id] / NUNA_BUFFER_COUNT;
        buffer = (enum nuna_buffer)(reader->tb_remotes.items[id] % NUNA_BUFFER_COUNT);
    } else if (!nuna_read_buffer(reader, at, object, &buffer)) {
        return false;
    }
    ret->buffer = (uint8_t)buffer;
    uint32_t chunks = reader->builder.plan->gpus[ret->gpu].chunks[buffer];
    if (!nuna_json_u32(doc, at, object, "index", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &ret->index,
                       err) ||
        !nuna_json_u32(doc, at, object, "size", NUNA_JSON_REQUIRED, 1, UINT32_MAX, &ret->count,
                       err))
        return false;
    if (ret->index < chunks && ret->count <= chunks - ret->index)
        return true;
    const char *key = ret->index < chunks ? "size" : "index";
    char last[32] = "";
    if (ret->count > 1)
        snprintf(last, sizeof last, " to %llu", (unsigned long long)ret->index + ret->count - 1);
    return nuna_json_fail(doc, &(struct nuna_json_path){at, key, 0}, err,
                          "chunk %u%s, but the %s of GPU %u has %u chunk%s", ret->index, last,
                          buffer_names[buffer], ret->gpu, chunks, chunks == 1 ? "" : "s");
}

/* Appends the ranges of one list and counts them. */
static bool read_ranges(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const cJSON *op, const char *key, bool remote, uint32_t *ret_count)
{
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, op, key, NUNA_JSON_REQUIRED, &list, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    *ret_count = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
        struct nuna_range range;
        if (!read_range(reader, &one, item, remote, &range))
            return false;
        if (key[0] == 's')
            nuna_builder_source(&reader->builder, range);
        else
            nuna_builder_destination(&reader->builder, range);
        ++*ret_count;
    }
    return *ret_count > 0 ||
           nuna_json_fail(reader->doc, &all, reader->err, "is empty, expected a buffer range");
}

/* Sources and destinations pair up, or many sources go to one destination. */
static bool read_move(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *op, enum nuna_op_kind kind)
{
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_json_path to = {at, "dst_buff", 0}, one = {&to, NULL, 0};
    uint32_t sources, destinations;
    if (!read_ranges(reader, at, op, "src_buff", false, &sources) ||
        !read_ranges(reader, at, op, "dst_buff", kind == NUNA_OP_PUT, &destinations))
        return false;
    uint32_t expected = kind == NUNA_OP_REDUCE ? 1 : sources;
    if (destinations != expected)
        return nuna_json_fail(doc, &to, reader->err, "has %u entries, expected %u%s", destinations,
                              expected, kind == NUNA_OP_REDUCE ? "" : " as in src_buff");
    if (nuna_builder_failed(&reader->builder))
        return true; /* reported at the end */
    const struct nuna_plan *plan = reader->builder.plan;
    const struct nuna_range *from = &plan->ranges[plan->range_count - sources - destinations];
    const struct nuna_range *into = &plan->ranges[plan->range_count - destinations];
    for (uint32_t i = 0; i < sources; i++) {
        uint32_t pair = kind == NUNA_OP_REDUCE ? 0 : i;
        one.index = pair;
        if (from[i].count != into[pair].count)
            return nuna_json_fail(doc, &(struct nuna_json_path){&one, "size", 0}, reader->err,
                                  "is %u, but src_buff[%u].size is %u", into[pair].count, i,
                                  from[i].count);
    }
    return true;
}

/* Channels of the threadblock, turned into channels of the GPU, or semaphores of the GPU. */
static bool read_ids(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                     const cJSON *op, const char *key, bool channels)
{
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, op, key, NUNA_JSON_REQUIRED, &list, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    size_t limit =
        channels ? reader->tb_channels.count : reader->builder.plan->gpus[reader->gpu].sem_count;
    for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
        uint32_t id;
        if (!nuna_json_value_u32(reader->doc, &one, item, 0, UINT32_MAX, &id, reader->err))
            return false;
        if (id >= limit)
            return nuna_json_fail(reader->doc, &one, reader->err, "%s %u, but this %s has %zu",
                                  channels ? "channel" : "semaphore", id,
                                  channels ? "threadblock" : "GPU", limit);
        nuna_builder_id(&reader->builder, channels ? reader->tb_channels.items[id] : id);
    }
    return list->child != NULL ||
           nuna_json_fail(reader->doc, &all, reader->err, "is empty, expected a number");
}

static bool read_barrier(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                         const cJSON *op)
{
    uint32_t id = 0, blocks = 0;
    if (!nuna_json_u32(reader->doc, at, op, "barrier_id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id,
                       reader->err) ||
        !nuna_json_u32(reader->doc, at, op, "num_threadblocks", NUNA_JSON_REQUIRED, 1, UINT32_MAX,
                       &blocks, reader->err))
        return false;
    nuna_builder_barrier(&reader->builder, id, blocks);
    return true;
}

static bool check_reduce_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *op)
{
    const char *name = "sum";
    if (!nuna_json_string(reader->doc, at, op, "reduce_op", NUNA_JSON_OPTIONAL, &name, reader->err))
        return false;
    return strcmp(name, "sum") == 0 ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "reduce_op", 0}, reader->err,
                          "\"%.32s\" is not supported yet, supported is \"sum\"", name);
}

static bool read_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                    const cJSON *op)
{
    const char *name = NULL;
    if (!nuna_json_is_object(reader->doc, at, op, reader->err) ||
        !nuna_json_string(reader->doc, at, op, "name", NUNA_JSON_REQUIRED, &name, reader->err))
        return false;
    const struct op_name *known = NULL;
    for (size_t i = 0; known == NULL && i < COUNT(op_names); i++) {
        if (strcmp(name, op_names[i].name) == 0)
            known = &op_names[i];
    }
    if (known == NULL)
        return refuse_name(reader, at, name);
    if (nuna_json_get(op, "tbg_info") != NULL)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "tbg_info", 0}, reader->err,
                              "operations shared by several threadblocks are not supported yet");
    if (known->kind == NUNA_OP_BARRIER)
        return read_barrier(reader, at, op);
    nuna_builder_op(&reader->builder, known->kind, known->relaxed);
    if (nuna_builder_failed(&reader->builder))
        return true; /* reported at the end */
    switch (known->kind) {
    case NUNA_OP_NOP:
    case NUNA_OP_BARRIER:
        break;
    case NUNA_OP_PUT:
        return check_channel_type(reader, at, op, "channel_type") &&
               read_move(reader, at, op, known->kind);
    case NUNA_OP_COPY:
        return read_move(reader, at, op, known->kind);
    case NUNA_OP_REDUCE:
        return check_reduce_op(reader, at, op) && read_move(reader, at, op, known->kind);
    case NUNA_OP_SIGNAL:
    case NUNA_OP_WAIT:
        return check_channel_type(reader, at, op, "channel_type") &&
               read_ids(reader, at, op, "channel_ids", true);
    case NUNA_OP_SEM_ACQUIRE:
    case NUNA_OP_SEM_RELEASE:
        return read_ids(reader, at, op, "semaphore_ids", false);
    }
    return true;
}

/* One of the threadblock's two lists of numbers of the GPU. */
static bool read_references(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *tb, bool channels)
{
    const char *key = channels ? "channels" : "remote_buffer_refs";
    const char *type_key = channels ? "channel_type" : "access_channel_type";
    const char *ids_key = channels ? "channel_ids" : "remote_buffer_ids";
    const char *what = channels ? "memory channel" : "remote buffer";
    struct nuna_u32_list *list = channels ? &reader->tb_channels : &reader->tb_remotes;
    const uint32_t *span =
        &(channels ? &reader->peers_at : &reader->remotes_at)->items[reader->gpu];
    const cJSON *groups, *ids;
    list->count = 0;
    if (!nuna_json_array(reader->doc, at, tb, key, NUNA_JSON_OPTIONAL, &groups, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    struct nuna_json_path ids_at = {&one, ids_key, 0}, entry = {&ids_at, NULL, 0};
    for (const cJSON *group = groups == NULL ? NULL : groups->child; group != NULL;
         group = group->next, one.index++) {
        if (!nuna_json_is_object(reader->doc, &one, group, reader->err) ||
            !check_channel_type(reader, &one, group, type_key) ||
            !nuna_json_array(reader->doc, &one, group, ids_key, NUNA_JSON_REQUIRED, &ids,
                             reader->err))
            return false;
        entry.index = 0;
        for (const cJSON *item = ids->child; item != NULL; item = item->next, entry.index++) {
            uint32_t id;
            if (!nuna_json_value_u32(reader->doc, &entry, item, 0, UINT32_MAX, &id, reader->err))
                return false;
            if (id >= span[1] - span[0])
                return nuna_json_fail(reader->doc, &entry, reader->err,
                                      "%s %u, but GPU %u declares %u", what, id, reader->gpu,
                                      span[1] - span[0]);
            uint32_t value = channels ? id : reader->remotes.items[span[0] + id];
            if (!channels && value == NUNA_REMOTE_NOT_MEMORY)
                return nuna_json_fail(reader->doc, &entry, reader->err,
                                      "remote buffer %u is not open for memory channels", id);
            if (!nuna_u32_push(list, value, reader->err))
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
        if (!read_op(reader, &one, op))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Numbers the GPU's barriers 0, 1, 2 ... in the order of the file's numbers. */
static bool number_barriers(struct nuna_plan_reader *reader, size_t first_op)
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
    return number_barriers(reader, first_op);
}
