/* MSCCL++ JSON, version 2: operations. */
#include "collectives/read/mscclpp2/ops.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What may stand at each place of src_buff and dst_buff: a letter for each place, the last one for
 * all that follow. d: local data, p: local packets; r, q: remote ones; g: a switch group. */
struct op_name {
    const char *name;
    enum nuna_op_kind kind;
    bool relaxed;
    uint8_t flags;
    const char *sources, *destinations;
    uint32_t most_sources, most_destinations;
};

#define ANY UINT32_MAX

static const struct op_name op_names[] = {
    {"nop", NUNA_OP_NOP, false, 0, NULL, NULL, 0, 0},
    {"barrier", NUNA_OP_BARRIER, false, 0, NULL, NULL, 0, 0},
    {"signal", NUNA_OP_SIGNAL, false, 0, NULL, NULL, 0, 0},
    {"rlxsignal", NUNA_OP_SIGNAL, true, 0, NULL, NULL, 0, 0},
    {"wait", NUNA_OP_WAIT, false, 0, NULL, NULL, 0, 0},
    {"rlxwait", NUNA_OP_WAIT, true, 0, NULL, NULL, 0, 0},
    {"flush", NUNA_OP_FLUSH, false, NUNA_OP_PORT, NULL, NULL, 0, 0},
    {"sem_acquire", NUNA_OP_SEM_ACQUIRE, false, 0, NULL, NULL, 0, 0},
    {"sem_release", NUNA_OP_SEM_RELEASE, false, 0, NULL, NULL, 0, 0},
    {"pipeline", NUNA_OP_LOOP, false, 0, NULL, NULL, 0, 0},
    {"put", NUNA_OP_PUT, false, 0, "d", "r", ANY, ANY},
    {"pws", NUNA_OP_PUT, false, NUNA_OP_PORT | NUNA_OP_SIGNALS, "d", "r", ANY, ANY},
    {"pwsf", NUNA_OP_PUT, false, NUNA_OP_PORT | NUNA_OP_SIGNALS | NUNA_OP_FLUSHES, "d", "r", ANY,
     ANY},
    {"get", NUNA_OP_GET, false, 0, "r", "d", ANY, ANY},
    {"copy", NUNA_OP_COPY, false, 0, "d", "d", ANY, ANY},
    {"re", NUNA_OP_REDUCE, false, 0, "d", "d", ANY, 1},
    {"res", NUNA_OP_REDUCE, false, 0, "d", "dr", ANY, ANY},
    {"rre", NUNA_OP_REDUCE, false, 0, "dr", "d", ANY, 1},
    {"rres", NUNA_OP_REDUCE, false, 0, "dr", "dr", ANY, ANY},
    {"ppkt", NUNA_OP_PUT, false, 0, "d", "q", ANY, ANY},
    {"rppkt", NUNA_OP_FORWARD, false, 0, "p", "q", 1, ANY},
    {"cpkt", NUNA_OP_COPY, false, 0, "d", "p", ANY, ANY},
    {"upkt", NUNA_OP_COPY, false, 0, "p", "d", ANY, ANY},
    {"repkt", NUNA_OP_REDUCE, false, 0, "dp", "d", ANY, 1},
    {"recpkt", NUNA_OP_REDUCE, false, 0, "dp", "dp", ANY, 2},
    {"respkt", NUNA_OP_REDUCE, false, 0, "dp", "dq", ANY, ANY},
    {"recspkt", NUNA_OP_REDUCE, false, 0, "dp", "dpq", ANY, ANY},
    {"glres", NUNA_OP_REDUCE, false, 0, "g", "g", 1, 1},
    {"gstore", NUNA_OP_PUT, false, 0, "d", "g", 1, 1},
    {"gstorepkt", NUNA_OP_PUT, false, 0, "p", "h", 1, 1},
};

/* The same names where the proxy does the work: the source holds packets already. */
static const struct op_name port_names[] = {
    {"put", NUNA_OP_PUT, false, NUNA_OP_PORT, "d", "r", ANY, ANY},
    {"ppkt", NUNA_OP_PUT, false, NUNA_OP_PORT, "p", "q", ANY, ANY},
    {"rppkt", NUNA_OP_PUT, false, NUNA_OP_PORT | NUNA_OP_AWAITS, "p", "q", ANY, ANY},
};

static const char *const renamed[][2] = {
    {"rs", "res"},       {"rrc", "rre"},           {"rrcs", "rres"},
    {"rspkt", "respkt"}, {"rpkt", "repkt"},        {"tpkt", "cpkt"},
    {"ucpkt", "upkt"},   {"rsignal", "rlxsignal"}, {"rwait", "rlxwait"},
};

static bool refuse_name(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const char *name)
{
    struct nuna_json_path here = {at, "name", 0};
    if (strcmp(name, "glre") == 0)
        return nuna_json_fail(reader->doc, &here, reader->err,
                              "\"glre\" (a switch reduction that is not stored to the group) is "
                              "refused by the executor of MSCCL++, too; expected \"glres\"");
    for (size_t i = 0; i < COUNT(renamed); i++) {
        if (strcmp(name, renamed[i][0]) == 0)
            return nuna_json_fail(reader->doc, &here, reader->err,
                                  "\"%s\" is a name from before MSCCL++ 0.8, now \"%s\"", name,
                                  renamed[i][1]);
    }
    const char *names[COUNT(op_names)];
    for (size_t i = 0; i < COUNT(op_names); i++)
        names[i] = op_names[i].name;
    const char *near = nuna_nearest(name, names, COUNT(names));
    return nuna_json_fail(reader->doc, &here, reader->err,
                          "unknown operation \"%.32s\"%s%s%s; docs/plan-formats.md lists them",
                          name, near == NULL ? "" : ", did you mean \"", near == NULL ? "" : near,
                          near == NULL ? "" : "\"");
}

static bool read_op_via(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const cJSON *op, uint32_t *ret)
{
    const char *type = NULL;
    if (!nuna_json_string(reader->doc, at, op, "channel_type", NUNA_JSON_REQUIRED, &type,
                          reader->err))
        return false;
    *ret = strcmp(type, "memory") == 0 ? NUNA_VIA_MEMORY
           : strcmp(type, "port") == 0 ? NUNA_VIA_PORT
                                       : NUNA_VIA_SWITCH;
    return *ret != NUNA_VIA_SWITCH || strcmp(type, "switch") == 0 ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "channel_type", 0}, reader->err,
                          "unknown channel type \"%.32s\", expected \"memory\", \"port\" or "
                          "\"switch\"",
                          type);
}

/* An id that the threadblock's list of that kind turns into the GPU's. */
static bool read_reference(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                           const cJSON *object, const char *key, const char *what,
                           const struct nuna_u32_list *list, uint32_t *ret)
{
    uint32_t id = 0;
    if (!nuna_json_u32(reader->doc, at, object, key, NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id,
                       reader->err))
        return false;
    if (id >= list->count)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, key, 0}, reader->err,
                              "%s %u, but this threadblock has %zu", what, id, list->count);
    *ret = list->items[id];
    return true;
}

static bool read_place(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, char letter, uint32_t via, struct nuna_range *ret)
{
    enum nuna_buffer buffer = NUNA_BUF_INPUT;
    uint32_t entry = 0;
    *ret = (struct nuna_range){.gpu = reader->gpu};
    if (letter == 'r' || letter == 'q') {
        if (!read_reference(reader, at, object, "buffer_id", "remote buffer",
                            &reader->tb_remotes[via], &entry))
            return false;
        ret->gpu = entry / NUNA_BUFFER_COUNT;
        buffer = (enum nuna_buffer)(entry % NUNA_BUFFER_COUNT);
    } else if (letter == 'g' || letter == 'h') {
        if (!read_reference(reader, at, object, "switch_channel_id", "switch channel",
                            &reader->tb_channels[NUNA_VIA_SWITCH], &entry))
            return false;
        ret->gpu = reader->groups.items[entry];
        ret->is_group = 1;
        buffer = (enum nuna_buffer)reader->group_tags.items[entry];
    } else if (!nuna_read_buffer(reader, at, object, "type", &buffer)) {
        return false;
    }
    ret->buffer = (uint8_t)buffer;
    ret->form = letter == 'p' || letter == 'q' || letter == 'h' ? NUNA_FORM_LL : NUNA_FORM_DATA;
    if (ret->form != NUNA_FORM_DATA && buffer != NUNA_BUF_SCRATCH)
        return nuna_json_fail(reader->doc, at, reader->err,
                              "packets lie in scratch (\"s\"), not in another buffer");
    return true;
}

static bool read_range(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, char letter, uint32_t via, struct nuna_range *ret)
{
    const struct nuna_json_doc *doc = reader->doc;
    if (!nuna_json_is_object(doc, at, object, reader->err) ||
        !read_place(reader, at, object, letter, via, ret) ||
        !nuna_json_u32(doc, at, object, "index", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &ret->index,
                       reader->err) ||
        !nuna_json_u32(doc, at, object, "size", NUNA_JSON_REQUIRED, 1, UINT32_MAX, &ret->count,
                       reader->err))
        return false;
    return nuna_read_check_range(reader, at, "index", ret);
}

/* Appends the ranges of one list; all must have the size of the operation's first. */
static bool read_ranges(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const cJSON *op, bool source, const char *letters, uint32_t most,
                        uint32_t via, uint32_t *size)
{
    const char *key = source ? "src_buff" : "dst_buff";
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, op, key, NUNA_JSON_REQUIRED, &list, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
        struct nuna_range range;
        size_t last = strlen(letters) - 1;
        char letter = letters[one.index < last ? one.index : last];
        if (one.index >= most)
            return nuna_json_fail(reader->doc, &all, reader->err,
                                  "has more than %u entr%s, which is all that the operation takes",
                                  most, most == 1 ? "y" : "ies");
        if (!read_range(reader, &one, item, letter, via, &range))
            return false;
        if (*size != 0 && range.count != *size)
            return nuna_json_fail(reader->doc, &(struct nuna_json_path){&one, "size", 0},
                                  reader->err, "is %u, but src_buff[0].size is %u", range.count,
                                  *size);
        *size = range.count;
        if (source)
            nuna_builder_source(&reader->builder, range);
        else
            nuna_builder_destination(&reader->builder, range);
    }
    return one.index > 0 ||
           nuna_json_fail(reader->doc, &all, reader->err, "is empty, expected a buffer range");
}

/* Sources and destinations that pair up: one source may serve all. */
static bool check_pairs(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                        const struct nuna_op *op)
{
    if (op->kind == NUNA_OP_REDUCE || op->kind == NUNA_OP_FORWARD || op->src_count == op->dst_count)
        return true;
    if (op->kind != NUNA_OP_PUT || op->src_count != 1 || nuna_builder_failed(&reader->builder))
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "dst_buff", 0}, reader->err,
                              "has %u entries, expected %u as in src_buff", op->dst_count,
                              op->src_count);
    /* A list must lie in one piece: sources again behind the destinations. */
    const struct nuna_plan *plan = reader->builder.plan;
    struct nuna_range source = plan->ranges[op->src_at];
    uint32_t pairs = op->dst_count;
    nuna_builder_newest(&reader->builder)->src_count = 0;
    for (uint32_t i = 0; i < pairs; i++)
        nuna_builder_source(&reader->builder, source);
    return true;
}

/* Channels of the threadblock, turned into channels of the GPU, or semaphores of the GPU. */
static bool read_ids(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                     const cJSON *op, const char *key, const struct nuna_u32_list *channels)
{
    const cJSON *list;
    if (!nuna_json_array(reader->doc, at, op, key, NUNA_JSON_REQUIRED, &list, reader->err))
        return false;
    struct nuna_json_path all = {at, key, 0}, one = {&all, NULL, 0};
    size_t limit = channels ? channels->count : reader->builder.plan->gpus[reader->gpu].sem_count;
    for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
        uint32_t id;
        if (!nuna_json_value_u32(reader->doc, &one, item, 0, UINT32_MAX, &id, reader->err))
            return false;
        if (id >= limit)
            return nuna_json_fail(reader->doc, &one, reader->err, "%s %u, but this %s has %zu",
                                  channels ? "channel" : "semaphore", id,
                                  channels ? "threadblock" : "GPU", limit);
        nuna_builder_id(&reader->builder, channels ? channels->items[id] : id);
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
    nuna_builder_newest(&reader->builder)->barrier_id = id;
    nuna_builder_newest(&reader->builder)->barrier_blocks = blocks;
    return true;
}

/* The proxy takes requests of all channels in order, so a flush waits for all of them; its channels
 * must exist nevertheless. */
static bool read_flush(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *op)
{
    return nuna_json_get(op, "channel_ids") == NULL ||
           read_ids(reader, at, op, "channel_ids", &reader->tb_channels[NUNA_VIA_PORT]);
}

/* The executor always adds, whatever the file says; anything else would be a silent lie. */
static bool check_reduce_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *op)
{
    const char *name = "sum";
    if (!nuna_json_string(reader->doc, at, op, "reduce_op", NUNA_JSON_OPTIONAL, &name, reader->err))
        return false;
    return strcmp(name, "sum") == 0 || strcmp(name, "min") == 0 || strcmp(name, "max") == 0 ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "reduce_op", 0}, reader->err,
                          "unknown reduction \"%.32s\", expected \"sum\", \"min\" or \"max\"",
                          name);
}

static bool read_part(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *op)
{
    const cJSON *info = nuna_json_get(op, "tbg_info");
    uint32_t part = 0, parts = 0;
    struct nuna_json_path here = {at, "tbg_info", 0};
    if (info == NULL)
        return true;
    if (!nuna_json_is_object(reader->doc, &here, info, reader->err) ||
        !nuna_json_u32(reader->doc, &here, info, "tbg_size", NUNA_JSON_REQUIRED, 1, UINT16_MAX - 1,
                       &parts, reader->err) ||
        !nuna_json_u32(reader->doc, &here, info, "tb_id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &part,
                       reader->err))
        return false;
    if (part >= parts)
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){&here, "tb_id", 0}, reader->err,
                              "is %u, but tbg_size is %u", part, parts);
    nuna_builder_newest(&reader->builder)->part = (uint16_t)part;
    nuna_builder_newest(&reader->builder)->parts = (uint16_t)parts;
    return true;
}

static bool read_pipeline(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                          const cJSON *op)
{
    const cJSON *context = nuna_json_get(op, "iter_context"), *body;
    struct nuna_json_path here = {at, "iter_context", 0}, all = {at, "ops", 0};
    struct nuna_json_path one = {&all, NULL, 0};
    uint32_t unit = 0, chunks = 0;
    if (context == NULL)
        return nuna_json_fail(reader->doc, &here, reader->err, "is missing, expected an object");
    if (!nuna_json_is_object(reader->doc, &here, context, reader->err) ||
        !nuna_json_u32(reader->doc, &here, context, "unit_size", NUNA_JSON_REQUIRED, 1, UINT32_MAX,
                       &unit, reader->err) ||
        !nuna_json_u32(reader->doc, &here, context, "num_chunks", NUNA_JSON_REQUIRED, 1, UINT32_MAX,
                       &chunks, reader->err) ||
        !nuna_json_array(reader->doc, at, op, "ops", NUNA_JSON_REQUIRED, &body, reader->err))
        return false;
    size_t loop = reader->builder.plan->op_count - 1;
    for (const cJSON *item = body->child; item != NULL; item = item->next, one.index++) {
        if (!nuna_read_op(reader, &one, item, true))
            return false;
        if (nuna_builder_failed(&reader->builder))
            return true; /* reported at the end */
    }
    struct nuna_op *head = &reader->builder.plan->ops[loop];
    head->loop_unit = unit;
    head->loop_chunks = chunks;
    head->loop_ops = (uint32_t)one.index;
    return true;
}

static bool read_move(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *op, const struct op_name *name, uint32_t via)
{
    uint32_t size = 0;
    if (!check_reduce_op(reader, at, op) || !read_part(reader, at, op) ||
        !read_ranges(reader, at, op, true, name->sources, name->most_sources, via, &size) ||
        !read_ranges(reader, at, op, false, name->destinations, name->most_destinations, via,
                     &size))
        return false;
    if (nuna_builder_failed(&reader->builder))
        return true; /* reported at the end */
    struct nuna_op copy = *nuna_builder_newest(&reader->builder);
    if (!check_pairs(reader, at, &copy))
        return false;
    if (!(name->flags & NUNA_OP_PORT))
        return true;
    if (!read_ids(reader, at, op, "channel_ids", &reader->tb_channels[NUNA_VIA_PORT]))
        return false;
    const struct nuna_op *made = nuna_builder_newest(&reader->builder);
    return made->id_count == made->dst_count || nuna_builder_failed(&reader->builder) ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "channel_ids", 0}, reader->err,
                          "has %u entries, expected %u, one for each destination", made->id_count,
                          made->dst_count);
}

static const struct op_name *find_name(const char *name, const struct op_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i].name) == 0)
            return &names[i];
    }
    return NULL;
}

/* Which channels the operation goes through, when it does through any. */
static bool find_via(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                     const cJSON *op, const struct op_name **known, uint32_t *ret)
{
    const struct op_name *name = *known;
    *ret = NUNA_VIA_MEMORY;
    bool synchronises =
        name->kind == NUNA_OP_SIGNAL || name->kind == NUNA_OP_WAIT || name->kind == NUNA_OP_FLUSH;
    bool leaves = synchronises || (name->sources != NULL && (strpbrk(name->sources, "rg") != NULL ||
                                                             strpbrk(name->destinations, "rqgh")));
    if (!leaves)
        return true;
    if (!read_op_via(reader, at, op, ret))
        return false;
    const struct op_name *ported = find_name(name->name, port_names, COUNT(port_names));
    if (*ret == NUNA_VIA_PORT && ported != NULL)
        *known = ported;
    bool group = name->sources != NULL && strpbrk(name->destinations, "gh") != NULL;
    bool port = (*known)->flags & NUNA_OP_PORT;
    bool good = synchronises ? *ret == NUNA_VIA_PORT || (*ret == NUNA_VIA_MEMORY && !port)
                             : *ret == (group  ? NUNA_VIA_SWITCH
                                        : port ? NUNA_VIA_PORT
                                               : NUNA_VIA_MEMORY);
    return good ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "channel_type", 0}, reader->err,
                          "%s does not work on channels of this type", name->name);
}

bool nuna_read_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at, const cJSON *op,
                  bool in_loop)
{
    const char *name = NULL;
    uint32_t via;
    if (!nuna_json_is_object(reader->doc, at, op, reader->err) ||
        !nuna_json_string(reader->doc, at, op, "name", NUNA_JSON_REQUIRED, &name, reader->err))
        return false;
    const struct op_name *known = find_name(name, op_names, COUNT(op_names));
    if (known == NULL)
        return refuse_name(reader, at, name);
    if (!find_via(reader, at, op, &known, &via))
        return false;
    nuna_builder_op(&reader->builder, known->kind, known->relaxed);
    if (nuna_builder_failed(&reader->builder))
        return true; /* reported at the end */
    struct nuna_op *made = nuna_builder_newest(&reader->builder);
    made->flags = known->flags;
    made->step = (uint32_t)at->index;
    switch (known->kind) {
    case NUNA_OP_NOP:
        return true;
    case NUNA_OP_FLUSH:
        return read_flush(reader, at, op);
    case NUNA_OP_BARRIER:
        return read_barrier(reader, at, op);
    case NUNA_OP_SIGNAL:
    case NUNA_OP_WAIT:
        if (via == NUNA_VIA_PORT)
            made->flags |= NUNA_OP_PORT;
        return read_ids(reader, at, op, "channel_ids", &reader->tb_channels[via]);
    case NUNA_OP_SEM_ACQUIRE:
    case NUNA_OP_SEM_RELEASE:
        return read_ids(reader, at, op, "semaphore_ids", NULL);
    case NUNA_OP_LOOP:
        if (in_loop)
            return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "name", 0}, reader->err,
                                  "a pipeline within a pipeline");
        return read_pipeline(reader, at, op);
    default:
        return read_move(reader, at, op, known, via);
    }
}
