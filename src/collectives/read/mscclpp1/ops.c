/* MSCCL++ JSON, version 1 (0.5 to 0.7): operations name their operands in a dozen keys. */
#include "collectives/read/mscclpp1/ops.h"
#include "collectives/read/mscclpp1/channels.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Where an operation's operands stand. Sources come in the order own, list, channels. */
enum operand {
    SRC_OWN = 1,          /* srcbuff, srcoff */
    SRC_LIST = 2,         /* srcs */
    SRC_REMOTE = 4,       /* i_cids */
    DST_OWN = 8,          /* dstbuff, dstoff */
    DST_LIST = 16,        /* dsts */
    DST_REMOTE = 32,      /* o_cids */
    OWN_PACKETS = 64,     /* srcbuff holds packets */
    LIST_PACKETS = 128,   /* srcs do */
    REMOTE_PACKETS = 256, /* o_cids get packets */
    RESULT_PACKETS = 512, /* dstbuff gets packets */
    OPTIONAL_LIST = 1024, /* srcs or srcbuff may be missing */
};

struct op_name {
    const char *name;
    enum nuna_op_kind kind;
    uint8_t flags;
    unsigned operands;
};

static const struct op_name op_names[] = {
    {"nop", NUNA_OP_NOP, 0, 0},
    {"barrier", NUNA_OP_BARRIER, 0, 0},
    {"signal", NUNA_OP_SIGNAL, 0, DST_REMOTE},
    {"wait", NUNA_OP_WAIT, 0, SRC_REMOTE},
    {"flush", NUNA_OP_FLUSH, NUNA_OP_PORT, 0},
    {"put", NUNA_OP_PUT, 0, SRC_LIST | DST_REMOTE},
    {"pws", NUNA_OP_PUT, NUNA_OP_PORT | NUNA_OP_SIGNALS, SRC_LIST | DST_REMOTE},
    {"pwsf", NUNA_OP_PUT, NUNA_OP_PORT | NUNA_OP_SIGNALS | NUNA_OP_FLUSHES, SRC_LIST | DST_REMOTE},
    {"get", NUNA_OP_GET, 0, SRC_REMOTE | DST_LIST},
    {"copy", NUNA_OP_COPY, 0, SRC_OWN | DST_OWN},
    {"re", NUNA_OP_REDUCE, 0, SRC_OWN | SRC_LIST | OPTIONAL_LIST | DST_OWN},
    {"rs", NUNA_OP_REDUCE, 0, SRC_OWN | SRC_LIST | OPTIONAL_LIST | DST_OWN | DST_REMOTE},
    {"rrc", NUNA_OP_REDUCE, 0, SRC_OWN | SRC_REMOTE | DST_OWN},
    {"rrcs", NUNA_OP_REDUCE, 0, SRC_OWN | SRC_REMOTE | DST_OWN | DST_REMOTE},
    {"ppkt", NUNA_OP_PUT, 0, SRC_LIST | DST_REMOTE | REMOTE_PACKETS},
    {"rppkt", NUNA_OP_FORWARD, 0, SRC_LIST | LIST_PACKETS | DST_REMOTE | REMOTE_PACKETS},
    {"rspkt", NUNA_OP_REDUCE, 0,
     SRC_OWN | SRC_LIST | LIST_PACKETS | DST_OWN | DST_REMOTE | REMOTE_PACKETS},
    {"rpkt", NUNA_OP_REDUCE, 0, SRC_OWN | SRC_LIST | LIST_PACKETS | DST_OWN},
    {"cpkt", NUNA_OP_COPY, 0, SRC_OWN | OWN_PACKETS | DST_OWN},
    {"tpkt", NUNA_OP_COPY, 0, SRC_OWN | DST_OWN | RESULT_PACKETS},
    {"glres", NUNA_OP_REDUCE, 0, SRC_OWN | DST_OWN},
};

/* ---- operands ---- */

struct op_reader {
    struct nuna_plan_reader *reader;
    const struct nuna_json_path *at;
    const cJSON *op;
    uint32_t via, count;
};

static bool append(struct op_reader *r, const struct nuna_json_path *at, const char *key,
                   struct nuna_range range, bool source)
{
    range.count = r->count;
    if (range.form != NUNA_FORM_DATA && range.buffer != NUNA_BUF_SCRATCH)
        return nuna_json_fail(r->reader->doc, at, r->reader->err,
                              "packets lie in scratch (\"s\"), not in another buffer");
    if (!nuna_read_check_range(r->reader, at, key, &range))
        return false;
    if (source)
        nuna_builder_source(&r->reader->builder, range);
    else
        nuna_builder_destination(&r->reader->builder, range);
    return true;
}

/* srcbuff, srcoff; the first files leave out srcoff where it is dstoff. */
static bool read_own(struct op_reader *r, bool source, bool packets)
{
    enum nuna_buffer buffer;
    const char *buffer_key = source ? "srcbuff" : "dstbuff";
    const char *key = source ? "srcoff" : "dstoff";
    if (source && nuna_json_get(r->op, key) == NULL)
        key = "dstoff";
    struct nuna_range range = {.gpu = r->reader->gpu,
                               .form = packets ? NUNA_FORM_LL : NUNA_FORM_DATA};
    if (!nuna_read_buffer(r->reader, r->at, r->op, buffer_key, &buffer) ||
        !nuna_json_u32(r->reader->doc, r->at, r->op, key, NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                       &range.index, r->reader->err))
        return false;
    range.buffer = (uint8_t)buffer;
    return append(r, r->at, key, range, source);
}

static bool read_list(struct op_reader *r, bool source, bool packets)
{
    const char *key = source ? "srcs" : "dsts";
    const cJSON *list;
    if (!nuna_json_array(r->reader->doc, r->at, r->op, key, NUNA_JSON_REQUIRED, &list,
                         r->reader->err))
        return false;
    struct nuna_json_path all = {r->at, key, 0}, one = {&all, NULL, 0};
    for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
        enum nuna_buffer buffer;
        struct nuna_range range = {.gpu = r->reader->gpu,
                                   .form = packets ? NUNA_FORM_LL : NUNA_FORM_DATA};
        if (!nuna_json_is_object(r->reader->doc, &one, item, r->reader->err) ||
            !nuna_read_buffer(r->reader, &one, item, "buff", &buffer) ||
            !nuna_json_u32(r->reader->doc, &one, item, "off", NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                           &range.index, r->reader->err))
            return false;
        range.buffer = (uint8_t)buffer;
        if (!append(r, &one, "off", range, source))
            return false;
    }
    return true;
}

/* The buffers of the channels in i_cids or o_cids: i_buff, o_buff, or the operation's own. */
static bool read_op_tag(struct op_reader *r, bool source, uint32_t *ret)
{
    const char *key = source ? "i_buff" : "o_buff";
    const cJSON *buffers = nuna_json_get(r->op, key);
    struct nuna_json_path here = {r->at, key, 0};
    if (buffers == NULL)
        return nuna_mscclpp1_tag(r->reader, r->at, r->op, "srcbuff", "dstbuff", ret);
    return nuna_json_is_object(r->reader->doc, &here, buffers, r->reader->err) &&
           nuna_mscclpp1_tag(r->reader, &here, buffers, "src", "dst", ret);
}

/* i_cids or o_cids: their far buffers as ranges, or their channels as ids, or both. */
static bool read_remote(struct op_reader *r, bool source, bool ranges, bool ids, bool packets)
{
    struct nuna_plan_reader *reader = r->reader;
    const char *key = source ? "i_cids" : "o_cids";
    const cJSON *list;
    uint32_t tag;
    if (!read_op_tag(r, source, &tag) ||
        !nuna_json_array(reader->doc, r->at, r->op, key, NUNA_JSON_REQUIRED, &list, reader->err))
        return false;
    struct nuna_json_path all = {r->at, key, 0}, one = {&all, NULL, 0};
    for (const cJSON *item = list->child; item != NULL; item = item->next, one.index++) {
        uint32_t id = 0, channel = 0;
        struct nuna_range range = {.form = packets ? NUNA_FORM_LL : NUNA_FORM_DATA,
                                   .buffer = (uint8_t)(tag % NUNA_BUFFER_COUNT)};
        if (!nuna_json_is_object(reader->doc, &one, item, reader->err) ||
            !nuna_json_u32(reader->doc, &one, item, "id", NUNA_JSON_REQUIRED, 0, UINT32_MAX, &id,
                           reader->err) ||
            !nuna_mscclpp1_find_channel(reader, &one, r->via, tag, id, &channel))
            return false;
        range.gpu = reader->channels[reader->channels_at.items[reader->gpu] + channel].peer;
        /* A signal has no place, but files give it one. */
        if (!ranges && !nuna_json_u32(reader->doc, &one, item, "off", NUNA_JSON_OPTIONAL, 0,
                                      UINT32_MAX, &range.index, reader->err))
            return false;
        if (ranges && (!nuna_json_u32(reader->doc, &one, item, "off", NUNA_JSON_REQUIRED, 0,
                                      UINT32_MAX, &range.index, reader->err) ||
                       !append(r, &one, "off", range, source)))
            return false;
        if (ids)
            nuna_builder_id(&reader->builder, channel);
    }
    return list->child != NULL ||
           nuna_json_fail(reader->doc, &all, reader->err, "is empty, expected channels");
}

/* glres: both operands are offsets in the buffer of a switch channel. */
static bool read_switch(struct op_reader *r)
{
    struct nuna_plan_reader *reader = r->reader;
    for (int source = 1; source >= 0; source--) {
        const char *key = source ? "i_cids" : "o_cids", *off = source ? "srcoff" : "dstoff";
        const cJSON *list;
        enum nuna_buffer buffer;
        uint32_t id = 0, entry = 0;
        struct nuna_range range = {.is_group = 1};
        struct nuna_json_path all = {r->at, key, 0}, one = {&all, NULL, 0};
        if (!nuna_json_array(reader->doc, r->at, r->op, key, NUNA_JSON_REQUIRED, &list,
                             reader->err))
            return false;
        if (list->child == NULL || list->child->next != NULL)
            return nuna_json_fail(reader->doc, &all, reader->err, "expected one switch channel");
        if (!nuna_json_is_object(reader->doc, &one, list->child, reader->err) ||
            !nuna_json_u32(reader->doc, &one, list->child, "id", NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                           &id, reader->err) ||
            !nuna_read_buffer(reader, r->at, r->op, source ? "srcbuff" : "dstbuff", &buffer) ||
            !nuna_json_u32(reader->doc, r->at, r->op, off, NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                           &range.index, reader->err) ||
            !nuna_mscclpp1_find_channel(reader, &one, NUNA_VIA_SWITCH,
                                        (uint32_t)buffer * NUNA_BUFFER_COUNT, id, &entry))
            return false;
        range.gpu = reader->groups.items[entry];
        range.buffer = (uint8_t)buffer;
        if (!append(r, r->at, off, range, source == 1))
            return false;
    }
    return true;
}

static bool read_sources(struct op_reader *r, unsigned operands, bool from_scratch)
{
    bool has_list = nuna_json_get(r->op, "srcs") != NULL || !(operands & OPTIONAL_LIST);
    bool has_own = nuna_json_get(r->op, "srcbuff") != NULL || !(operands & OPTIONAL_LIST);
    if ((operands & SRC_OWN) && has_own && !read_own(r, true, (operands & OWN_PACKETS) != 0))
        return false;
    if ((operands & SRC_LIST) && has_list &&
        !read_list(r, true, (operands & LIST_PACKETS) != 0 || from_scratch))
        return false;
    return !(operands & SRC_REMOTE) || read_remote(r, true, true, false, false);
}

static bool read_destinations(struct op_reader *r, unsigned operands, bool port)
{
    if ((operands & DST_OWN) && !read_own(r, false, (operands & RESULT_PACKETS) != 0))
        return false;
    if ((operands & DST_LIST) && !read_list(r, false, false))
        return false;
    return !(operands & DST_REMOTE) ||
           read_remote(r, false, true, port, (operands & REMOTE_PACKETS) != 0);
}

static bool check_pairs(struct op_reader *r, enum nuna_op_kind kind)
{
    struct nuna_builder *builder = &r->reader->builder;
    struct nuna_op op = *nuna_builder_newest(builder);
    if (nuna_builder_failed(builder))
        return true; /* reported at the end */
    if (op.src_count == 0 || op.dst_count == 0)
        return nuna_json_fail(r->reader->doc, r->at, r->reader->err, "moves nothing");
    if (kind == NUNA_OP_REDUCE || op.src_count == op.dst_count ||
        (kind == NUNA_OP_FORWARD && op.src_count == 1))
        return true;
    if (op.src_count != 1)
        return nuna_json_fail(r->reader->doc, r->at, r->reader->err,
                              "%u sources and %u destinations, expected as many of both",
                              op.src_count, op.dst_count);
    struct nuna_range source = builder->plan->ranges[op.src_at];
    nuna_builder_newest(builder)->src_count = 0;
    for (uint32_t i = 0; i < op.dst_count; i++)
        nuna_builder_source(builder, source);
    return true;
}

static bool read_barrier(struct op_reader *r)
{
    struct nuna_plan_reader *reader = r->reader;
    uint32_t id = 0, blocks = 0;
    if (!nuna_json_u32(reader->doc, r->at, r->op, "barrier_id", NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                       &id, reader->err) ||
        !nuna_json_u32(reader->doc, r->at, r->op, "nthread_blocks", NUNA_JSON_REQUIRED, 1,
                       UINT32_MAX, &blocks, reader->err))
        return false;
    nuna_builder_newest(&reader->builder)->barrier_id = id;
    nuna_builder_newest(&reader->builder)->barrier_blocks = blocks;
    return true;
}

static const struct op_name *find_name(struct nuna_plan_reader *reader,
                                       const struct nuna_json_path *at, const char *name)
{
    static const char *const newer[][2] = {
        {"res", "rs"}, {"rre", "rrc"}, {"rres", "rrcs"}, {"respkt", "rspkt"}, {"repkt", "rpkt"}};
    for (size_t i = 0; i < COUNT(newer); i++)
        if (strcmp(name, newer[i][0]) == 0)
            name = newer[i][1];
    const char *names[COUNT(op_names)];
    for (size_t i = 0; i < COUNT(op_names); i++) {
        if (strcmp(name, op_names[i].name) == 0)
            return &op_names[i];
        names[i] = op_names[i].name;
    }
    const char *near = nuna_nearest(name, names, COUNT(names));
    nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "name", 0}, reader->err,
                   "unknown operation \"%.32s\" of MSCCL++ version 1%s%s%s", name,
                   near == NULL ? "" : ", did you mean \"", near == NULL ? "" : near,
                   near == NULL ? "" : "\"");
    return NULL;
}

static bool read_operands(struct op_reader *r, const struct op_name *known)
{
    bool port = r->via == NUNA_VIA_PORT;
    struct nuna_op *made = nuna_builder_newest(&r->reader->builder);
    if (known->kind == NUNA_OP_SIGNAL || known->kind == NUNA_OP_WAIT) {
        made->flags |= port ? NUNA_OP_PORT : 0;
        return read_remote(r, known->kind == NUNA_OP_WAIT, false, true, false);
    }
    if (r->via == NUNA_VIA_SWITCH)
        return read_switch(r);
    /* The proxy moves what lies in scratch; the packets are there already. */
    bool packed = port && (known->operands & REMOTE_PACKETS) != 0;
    if (port) {
        made->flags |= NUNA_OP_PORT;
        if (known->kind == NUNA_OP_FORWARD) {
            made->kind = NUNA_OP_PUT;
            made->flags |= NUNA_OP_AWAITS;
        }
    }
    enum nuna_op_kind kind = (enum nuna_op_kind)made->kind;
    return read_sources(r, known->operands, packed) &&
           read_destinations(r, known->operands, port) && check_pairs(r, kind);
}

/* A nop lists what it waits for, {tb, step}, for readers to know; its meaning is a meeting of the
 * block's threads. */
static bool check_deps(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *op)
{
    const cJSON *list;
    struct nuna_json_path all = {at, "deps", 0}, one = {&all, NULL, 0};
    if (!nuna_json_array(reader->doc, at, op, "deps", NUNA_JSON_OPTIONAL, &list, reader->err))
        return false;
    for (const cJSON *item = list == NULL ? NULL : list->child; item != NULL;
         item = item->next, one.index++) {
        uint32_t unused;
        if (!nuna_json_is_object(reader->doc, &one, item, reader->err) ||
            !nuna_json_u32(reader->doc, &one, item, "tb", NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                           &unused, reader->err) ||
            !nuna_json_u32(reader->doc, &one, item, "step", NUNA_JSON_REQUIRED, 0, UINT32_MAX,
                           &unused, reader->err))
            return false;
    }
    return true;
}

/* Of an operation without channels: only the proxy's flush is not the block's own. */
static bool check_local_type(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                             const struct op_name *known, const char *type)
{
    bool flush = known->kind == NUNA_OP_FLUSH;
    uint32_t via;
    if (strcmp(type, "none") == 0)
        return true;
    return (nuna_mscclpp1_parse_via(type, &via) &&
            via == (flush ? NUNA_VIA_PORT : NUNA_VIA_MEMORY)) ||
           nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "ctype", 0}, reader->err,
                          "%s has no channel of type \"%.32s\", expected \"none\" or %s",
                          known->name, type,
                          flush ? "\"proxy\" (\"port\")" : "\"sm\" (\"memory\")");
}

bool nuna_mscclpp1_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *op)
{
    struct op_reader r = {reader, at, op, NUNA_VIA_MEMORY, 1};
    const char *name = NULL, *type = "none";
    if (!nuna_json_is_object(reader->doc, at, op, reader->err) ||
        !nuna_json_string(reader->doc, at, op, "name", NUNA_JSON_REQUIRED, &name, reader->err) ||
        !nuna_json_string(reader->doc, at, op, "ctype", NUNA_JSON_OPTIONAL, &type, reader->err) ||
        !nuna_json_u32(reader->doc, at, op, "cnt", NUNA_JSON_OPTIONAL, 1, NUNA_CHUNKS_MAX, &r.count,
                       reader->err))
        return false;
    const struct op_name *known = find_name(reader, at, name);
    if (known == NULL)
        return false;
    bool channels =
        (known->operands & (SRC_REMOTE | DST_REMOTE)) != 0 || strcmp(name, "glres") == 0;
    if (channels ? !nuna_mscclpp1_via(reader, at, op, "ctype", &r.via)
                 : !check_local_type(reader, at, known, type))
        return false;
    if ((r.via == NUNA_VIA_SWITCH) != (strcmp(name, "glres") == 0) ||
        ((known->flags & NUNA_OP_PORT) && channels && r.via != NUNA_VIA_PORT))
        return nuna_json_fail(reader->doc, &(struct nuna_json_path){at, "ctype", 0}, reader->err,
                              "%s does not work on channels of this type", name);
    nuna_builder_op(&reader->builder, known->kind, false);
    if (nuna_builder_failed(&reader->builder))
        return true; /* reported at the end */
    struct nuna_op *made = nuna_builder_newest(&reader->builder);
    made->flags = known->flags;
    made->step = (uint32_t)at->index;
    if (known->kind == NUNA_OP_BARRIER)
        return read_barrier(&r);
    if (known->kind == NUNA_OP_NOP)
        return check_deps(reader, at, op);
    return known->kind == NUNA_OP_FLUSH || read_operands(&r, known);
}
