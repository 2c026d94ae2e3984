/* MSCCL++ JSON, version 2: the top level and the GPUs' own lists. */
#include "collectives/plan_io.h"
#include "collectives/plan_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_MAX (1u << 24)
#define GPUS_MAX   (1u << 20)

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

bool nuna_read_buffer(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *object, enum nuna_buffer *ret)
{
    const char *type = NULL;
    if (!nuna_json_string(reader->doc, at, object, "type", NUNA_JSON_REQUIRED, &type, reader->err))
        return false;
    if (strcmp(type, "i") == 0)
        *ret = NUNA_BUF_INPUT;
    else if (strcmp(type, "o") == 0)
        *ret = NUNA_BUF_OUTPUT;
    else if (strcmp(type, "s") == 0)
        *ret = NUNA_BUF_SCRATCH;
    else
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "type", 0}, reader->err,
                              "\"%.32s\" is no buffer, expected \"i\" (input), \"o\" (output) or "
                              "\"s\" (scratch)",
                              type);
    return true;
}

/* A rank other than the GPU's own. */
static bool read_peer(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *value, uint32_t *ret)
{
    uint32_t gpu_count = reader->builder.plan->gpu_count;
    if (!nuna_json_value_u32(reader->doc, at, value, 0, UINT32_MAX, ret, reader->err))
        return false;
    if (*ret >= gpu_count)
        return nuna_json_fail(reader->doc, at, reader->err, "rank %u, but the plan has %u GPU%s",
                              *ret, gpu_count, gpu_count == 1 ? "" : "s");
    return *ret != reader->gpu ||
           nuna_json_fail(reader->doc, at, reader->err, "rank %u is this GPU itself", *ret);
}

static bool read_channels(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                          const cJSON *gpu)
{
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_error *err = reader->err;
    const cJSON *lists;
    if (!nuna_json_array(doc, at, gpu, "channels", NUNA_JSON_REQUIRED, &lists, err))
        return false;
    struct nuna_json_path all = {at, "channels", 0}, one = {&all, NULL, 0};
    for (const cJSON *list = lists->child; list != NULL; list = list->next, one.index++) {
        const char *type = NULL;
        if (!nuna_json_is_object(doc, &one, list, err) ||
            !nuna_json_string(doc, &one, list, "channel_type", NUNA_JSON_REQUIRED, &type, err))
            return false;
        if (strcmp(type, "memory") != 0)
            return nuna_json_fail(doc, &(struct nuna_json_path){&one, "channel_type", 0}, err,
                                  "\"%.32s\" is not supported yet, supported is \"memory\"", type);
        const cJSON *ranks;
        if (!nuna_json_array(doc, &one, list, "connected_to", NUNA_JSON_REQUIRED, &ranks, err))
            return false;
        struct nuna_json_path to = {&one, "connected_to", 0}, entry = {&to, NULL, 0};
        for (const cJSON *rank = ranks->child; rank != NULL; rank = rank->next, entry.index++) {
            uint32_t peer;
            if (!read_peer(reader, &entry, rank, &peer) ||
                !nuna_u32_push(&reader->peers, peer, err))
                return false;
        }
    }
    return true;
}

static bool has_memory_access(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                              const cJSON *buffer, bool *ret)
{
    const cJSON *types;
    if (!nuna_json_array(reader->doc, at, buffer, "access_channel_types", NUNA_JSON_REQUIRED,
                         &types, reader->err))
        return false;
    *ret = false;
    for (const cJSON *type = types->child; type != NULL; type = type->next)
        *ret |= cJSON_IsString(type) && strcmp(type->valuestring, "memory") == 0;
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
        uint32_t rank;
        enum nuna_buffer buffer;
        bool memory;
        if (!nuna_json_is_object(doc, &one, item, err))
            return false;
        const cJSON *value = nuna_json_get(item, "rank");
        if (value == NULL)
            return nuna_json_fail(doc, &rank_at, err, "is missing, expected an integer");
        if (!read_peer(reader, &rank_at, value, &rank) ||
            !nuna_read_buffer(reader, &one, item, &buffer) ||
            !has_memory_access(reader, &one, item, &memory))
            return false;
        if (!nuna_u32_push(
                &reader->remotes,
                memory ? rank * NUNA_BUFFER_COUNT + (uint32_t)buffer : NUNA_REMOTE_NOT_MEMORY, err))
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

bool nuna_read_gpu(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                   const cJSON *gpu)
{
    static const char *const chunk_keys[NUNA_BUFFER_COUNT] = {"input_chunks", "output_chunks",
                                                              "scratch_chunks"};
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_plan *plan = reader->builder.plan;
    uint32_t id = 0;
    if (!nuna_json_is_object(doc, at, gpu, reader->err) ||
        !nuna_read_check_gpu_keys(doc, at, gpu, reader->err) ||
        !nuna_json_u32(doc, at, gpu, "id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id, reader->err))
        return false;
    if (id != reader->gpu)
        return nuna_json_fail(doc, &(struct nuna_json_path){at, "id", 0}, reader->err,
                              "is %u, expected %u, the position in the list", id, reader->gpu);
    for (int buffer = 0; buffer < NUNA_BUFFER_COUNT; buffer++) {
        if (!nuna_json_u32(doc, at, gpu, chunk_keys[buffer], NUNA_JSON_REQUIRED, 0, CHUNKS_MAX,
                           &plan->gpus[id].chunks[buffer], reader->err))
            return false;
    }
    plan->gpus[id].sem_at = (uint32_t)plan->sem_count;
    return nuna_u32_push(&reader->peers_at, (uint32_t)reader->peers.count, reader->err) &&
           nuna_u32_push(&reader->remotes_at, (uint32_t)reader->remotes.count, reader->err) &&
           read_channels(reader, at, gpu) && read_remote_buffers(reader, at, gpu) &&
           read_semaphores(reader, at, gpu);
}

static bool read_label(struct nuna_plan_reader *reader, const char *key, char *ret, size_t size)
{
    const char *text = NULL;
    if (!nuna_json_string(reader->doc, NULL, reader->doc->root, key, NUNA_JSON_REQUIRED, &text,
                          reader->err))
        return false;
    if (strlen(text) >= size)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){NULL, key, 0}, reader->err,
                              "is longer than %zu bytes", size - 1);
    memcpy(ret, text, strlen(text) + 1);
    return true;
}

static bool refuse_if_set(struct nuna_plan_reader *reader, const char *key)
{
    bool set = false;
    if (!nuna_json_bool(reader->doc, NULL, reader->doc->root, key, NUNA_JSON_OPTIONAL, &set,
                        reader->err))
        return false;
    return !set || nuna_json_fail(reader->doc, &(struct nuna_json_path){NULL, key, 0}, reader->err,
                                  "true is not supported yet, supported is false");
}

static bool read_top(struct nuna_plan_reader *reader)
{
    const struct nuna_json_doc *doc = reader->doc;
    struct nuna_error *err = reader->err;
    struct nuna_plan *plan = reader->builder.plan;
    const char *protocol = NULL;
    uint32_t grain = 16, threads = 0;
    if (!read_label(reader, "name", plan->name, sizeof plan->name) ||
        !read_label(reader, "collective", plan->collective_name, sizeof plan->collective_name) ||
        !nuna_json_string(doc, NULL, doc->root, "protocol", NUNA_JSON_REQUIRED, &protocol, err))
        return false;
    if (!nuna_collective_parse(plan->collective_name, &plan->collective))
        plan->collective = NUNA_COLLECTIVE_OTHER;
    struct nuna_json_path protocol_at = {NULL, "protocol", 0};
    if (strcmp(protocol, "LL") == 0)
        return nuna_json_fail(doc, &protocol_at, err,
                              "\"LL\" (packets) is not supported yet, supported is \"Simple\"");
    if (strcmp(protocol, "Simple") != 0)
        return nuna_json_fail(doc, &protocol_at, err,
                              "unknown protocol \"%.32s\", the format has \"Simple\" and \"LL\"",
                              protocol);
    if (!nuna_json_bool(doc, NULL, doc->root, "inplace", NUNA_JSON_REQUIRED, &plan->inplace, err) ||
        !refuse_if_set(reader, "reuse_resources") ||
        !refuse_if_set(reader, "use_double_scratch_buffer") ||
        !nuna_json_u32(doc, NULL, doc->root, "buffer_alignment", NUNA_JSON_OPTIONAL, 1, INT32_MAX,
                       &grain, err) ||
        !nuna_json_u32(doc, NULL, doc->root, "num_threads_per_block", NUNA_JSON_OPTIONAL, 1,
                       INT32_MAX, &threads, err) ||
        !nuna_json_top_u64(doc, "min_message_size", &plan->min_size, err) ||
        !nuna_json_top_u64(doc, "max_message_size", &plan->max_size, err))
        return false;
    plan->grain = grain;
    return plan->min_size <= plan->max_size ||
           nuna_json_fail(doc, &(struct nuna_json_path){NULL, "min_message_size", 0}, err,
                          "%llu is above max_message_size, which is %llu",
                          (unsigned long long)plan->min_size, (unsigned long long)plan->max_size);
}

static bool read_gpus(struct nuna_plan_reader *reader)
{
    const cJSON *gpus = nuna_json_get(reader->doc->root, "gpus");
    struct nuna_json_path all = {NULL, "gpus", 0}, one = {&all, NULL, 0};
    reader->gpu = 0;
    for (const cJSON *gpu = gpus->child; gpu != NULL; gpu = gpu->next, reader->gpu++) {
        one.index = reader->gpu;
        if (!nuna_read_gpu(reader, &one, gpu))
            return false;
    }
    if (!nuna_u32_push(&reader->peers_at, (uint32_t)reader->peers.count, reader->err) ||
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

static struct nuna_plan *read_document(const struct nuna_json_doc *doc, struct nuna_error *err)
{
    if (!nuna_json_is_object(doc, NULL, doc->root, err) || !nuna_read_check_family(doc, err))
        return NULL;
    int gpu_count = cJSON_GetArraySize(nuna_json_get(doc->root, "gpus"));
    if (gpu_count > (int)GPUS_MAX) {
        nuna_json_fail(doc, &(struct nuna_json_path){NULL, "gpus", 0}, err,
                       "has %d GPUs, the limit is %u", gpu_count, GPUS_MAX);
        return NULL;
    }
    struct nuna_plan_reader reader = {.doc = doc, .err = err};
    struct nuna_plan *plan = NULL;
    if (nuna_builder_init(&reader.builder, (uint32_t)gpu_count, err)) {
        snprintf(reader.builder.plan->source, sizeof reader.builder.plan->source, "%s", doc->path);
        if (read_top(&reader) && read_gpus(&reader))
            plan = nuna_builder_finish(&reader.builder, err);
        nuna_builder_discard(&reader.builder);
    }
    free(reader.peers.items);
    free(reader.peers_at.items);
    free(reader.remotes.items);
    free(reader.remotes_at.items);
    free(reader.tb_channels.items);
    free(reader.tb_remotes.items);
    return plan;
}

/* Told from the first character, so that a file of another kind is not called broken JSON. */
static bool check_kind(const struct nuna_json_text *text, struct nuna_error *err)
{
    const char *first = text->text + strspn(text->text, " \t\r\n");
    if (*first == '<')
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: starts with \"%.*s\": XML plans (MSCCL) are not supported yet, "
                         "supported is MSCCL++ JSON, version 2",
                         text->path, (int)strcspn(first + 1, " \t\r\n/>\"") % 16 + 1, first);
    if (strchr("{[\"-0123456789tfn", *first) == NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: is neither JSON nor XML, expected an MSCCL++ JSON plan, which starts "
                         "with '{'",
                         text->path);
    return true;
}

struct nuna_plan *nuna_plan_read(const char *path, struct nuna_error *err)
{
    struct nuna_json_text text;
    struct nuna_json_doc doc;
    if (!nuna_json_load(path, &text, err))
        return NULL;
    if (!check_kind(&text, err)) {
        free(text.text);
        return NULL;
    }
    if (!nuna_json_parse(&text, &doc, err))
        return NULL;
    struct nuna_plan *plan = read_document(&doc, err);
    nuna_json_close(&doc);
    return plan;
}
