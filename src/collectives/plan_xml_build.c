/* MSCCL XML: from records to a plan. */
#include "collectives/plan_build.h"
#include "collectives/plan_xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUSED_MAX 16 /* sources of one operation, in the interpreters */

/* One end of a connection, sorted so that the two ends of one are neighbours. */
struct end {
    int32_t source, destination, chan;
    bool receives;
    uint32_t tb;      /* place in xml->tbs */
    uint32_t gpu;     /* rank */
    uint32_t channel; /* among the GPU's */
};

struct build {
    const struct nuna_xml *xml;
    struct nuna_error *err;
    struct nuna_builder builder;
    uint32_t *gpu_of; /* rank -> place in xml->gpus */
    uint32_t *tb_of;  /* place of the GPU's first tb + id -> place in xml->tbs */
    struct end *ends;
    size_t end_count;
};

static const char *const buffer_names[NUNA_BUFFER_COUNT] = {"input", "output", "scratch"};

__attribute__((format(printf, 4, 5))) static bool bad(struct build *b, uint32_t line,
                                                      uint32_t column, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return nuna_fail(b->err, NUNA_EXIT_BAD_INPUT, "%s:%u:%u: %s", b->xml->path, line, column, what);
}

static int32_t rank_of(const struct build *b, const struct nuna_xml_tb *tb)
{
    return b->xml->gpus[tb->gpu].id;
}

static bool receives(uint8_t type)
{
    return type == NUNA_XML_R || type == NUNA_XML_RCS || type == NUNA_XML_RRC ||
           type == NUNA_XML_RRS || type == NUNA_XML_RRCS;
}

static bool sends(uint8_t type)
{
    return type == NUNA_XML_S || type == NUNA_XML_RCS || type == NUNA_XML_RRS ||
           type == NUNA_XML_RRCS;
}

/* ---- who is there ---- */

static bool index_gpus(struct build *b)
{
    const struct nuna_xml *xml = b->xml;
    uint32_t ngpus = b->builder.plan->gpu_count;
    for (uint32_t r = 0; r < ngpus; r++)
        b->gpu_of[r] = UINT32_MAX;
    for (size_t i = 0; i < xml->gpu_count; i++) {
        const struct nuna_xml_gpu *gpu = &xml->gpus[i];
        if (gpu->id < 0 || (uint32_t)gpu->id >= ngpus)
            return bad(b, gpu->line, gpu->column, "gpu id %d, but ngpus is %u", gpu->id, ngpus);
        if (b->gpu_of[gpu->id] != UINT32_MAX)
            return bad(b, gpu->line, gpu->column, "duplicate gpu id %d", gpu->id);
        b->gpu_of[gpu->id] = (uint32_t)i;
    }
    for (uint32_t r = 0; r < ngpus; r++)
        if (b->gpu_of[r] == UINT32_MAX)
            return bad(b, xml->line, xml->column, "ngpus is %u, but gpu %u is missing", ngpus, r);
    return true;
}

static bool index_tbs(struct build *b)
{
    const struct nuna_xml *xml = b->xml;
    for (size_t i = 0; i < xml->tb_count; i++)
        b->tb_of[i] = UINT32_MAX;
    for (size_t i = 0; i < xml->tb_count; i++) {
        const struct nuna_xml_tb *tb = &xml->tbs[i];
        const struct nuna_xml_gpu *gpu = &xml->gpus[tb->gpu];
        if (tb->id < 0 || (size_t)tb->id >= gpu->tb_count)
            return bad(b, tb->line, tb->column,
                       "threadblock id %d on gpu %d, which has %zu: expected 0 to %zu without gaps",
                       tb->id, gpu->id, gpu->tb_count, gpu->tb_count - 1);
        uint32_t *place = &b->tb_of[gpu->tb_at + (size_t)tb->id];
        if (*place != UINT32_MAX)
            return bad(b, tb->line, tb->column, "duplicate threadblock id %d on gpu %d", tb->id,
                       gpu->id);
        *place = (uint32_t)i;
    }
    return true;
}

static bool check_peer(struct build *b, const struct nuna_xml_tb *tb, int32_t peer, const char *verb)
{
    int32_t rank = rank_of(b, tb);
    if (peer == -1)
        return true;
    if (peer == rank)
        return bad(b, tb->line, tb->column, "gpu %d threadblock %d %s itself", rank, tb->id, verb);
    if ((uint32_t)peer >= b->builder.plan->gpu_count)
        return bad(b, tb->line, tb->column, "gpu %d threadblock %d %s gpu %d, but ngpus is %u", rank,
                   tb->id, verb, peer, b->builder.plan->gpu_count);
    if (tb->chan < 0 || tb->chan >= b->xml->nchannels)
        return bad(b, tb->line, tb->column,
                   "gpu %d threadblock %d: channel %d, but nchannels is %d", rank, tb->id, tb->chan,
                   b->xml->nchannels);
    return true;
}

/* ---- connections ---- */

static int by_connection(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->destination != b->destination)
        return a->destination < b->destination ? -1 : 1;
    if (a->chan != b->chan)
        return a->chan < b->chan ? -1 : 1;
    if (a->receives != b->receives)
        return a->receives ? 1 : -1;
    return a->tb < b->tb ? -1 : a->tb > b->tb;
}

static size_t uses(const struct build *b, const struct nuna_xml_tb *tb, bool receiving)
{
    size_t count = 0;
    for (size_t s = tb->step_at; s < tb->step_at + tb->step_count; s++) {
        const struct nuna_xml_step *step = &b->xml->steps[s];
        count += step->cnt > 0 && (receiving ? receives(step->type) : sends(step->type));
    }
    return count;
}

/* The ends that carry messages, numbered per GPU in the order of threadblocks, the sending one
 * first. */
static bool list_ends(struct build *b)
{
    const struct nuna_xml *xml = b->xml;
    for (uint32_t rank = 0; rank < b->builder.plan->gpu_count; rank++) {
        const struct nuna_xml_gpu *gpu = &xml->gpus[b->gpu_of[rank]];
        uint32_t channel = 0;
        for (size_t t = 0; t < gpu->tb_count; t++) {
            uint32_t place = b->tb_of[gpu->tb_at + t];
            const struct nuna_xml_tb *tb = &xml->tbs[place];
            if (!check_peer(b, tb, tb->send, "sends to") ||
                !check_peer(b, tb, tb->recv, "receives from"))
                return false;
            for (int receiving = 0; receiving < 2; receiving++) {
                int32_t peer = receiving ? tb->recv : tb->send;
                if (uses(b, tb, receiving == 1) == 0)
                    continue;
                if (peer == -1)
                    return bad(b, tb->line, tb->column,
                               "gpu %u threadblock %d %s, but has %s=\"-1\"", rank, tb->id,
                               receiving ? "receives" : "sends", receiving ? "recv" : "send");
                b->ends[b->end_count++] = (struct end){
                    .source = receiving ? peer : (int32_t)rank,
                    .destination = receiving ? (int32_t)rank : peer,
                    .chan = tb->chan,
                    .receives = receiving == 1,
                    .tb = place,
                    .gpu = rank,
                    .channel = channel++,
                };
            }
        }
    }
    return true;
}

static bool same_connection(const struct end *a, const struct end *b)
{
    return a->source == b->source && a->destination == b->destination && a->chan == b->chan;
}

/* The messages of the two ends, one by one. */
static bool check_messages(struct build *b, const struct end *sender, const struct end *receiver)
{
    const struct nuna_xml *xml = b->xml;
    const struct nuna_xml_tb *from = &xml->tbs[sender->tb], *to = &xml->tbs[receiver->tb];
    size_t sent = uses(b, from, false), received = uses(b, to, true);
    if (sent != received)
        return bad(b, to->line, to->column,
                   "connection %d->%d channel %d has %zu receive%s but %zu send%s (hang)",
                   sender->source, sender->destination, sender->chan, received,
                   received == 1 ? "" : "s", sent, sent == 1 ? "" : "s");
    size_t s = from->step_at, r = to->step_at;
    for (size_t n = 0; n < sent; n++, s++, r++) {
        while (!sends(xml->steps[s].type) || xml->steps[s].cnt == 0)
            s++;
        while (!receives(xml->steps[r].type) || xml->steps[r].cnt == 0)
            r++;
        if (xml->steps[s].cnt != xml->steps[r].cnt)
            return bad(b, xml->steps[r].line, xml->steps[r].column,
                       "connection %d->%d channel %d: message %zu is sent with %d chunks and "
                       "received with %d",
                       sender->source, sender->destination, sender->chan, n, xml->steps[s].cnt,
                       xml->steps[r].cnt);
    }
    return true;
}

static bool check_single(struct build *b, const struct end *end)
{
    const struct nuna_xml_tb *tb = &b->xml->tbs[end->tb];
    int32_t peer = end->receives ? end->source : end->destination;
    return bad(b, tb->line, tb->column,
               "gpu %u threadblock %d %s gpu %d on channel %d, but gpu %d has no threadblock with "
               "%s=\"%u\" chan=\"%d\" that %s",
               end->gpu, tb->id, end->receives ? "receives from" : "sends to", peer, end->chan, peer,
               end->receives ? "send" : "recv", end->gpu, end->chan,
               end->receives ? "sends" : "receives");
}

static bool connect(struct build *b)
{
    struct nuna_plan *plan = b->builder.plan;
    qsort(b->ends, b->end_count, sizeof *b->ends, by_connection);
    for (size_t i = 0; i < b->end_count; i += 2) {
        const struct end *a = &b->ends[i], *z = i + 1 < b->end_count ? a + 1 : NULL;
        const struct nuna_xml_tb *tb = &b->xml->tbs[z == NULL ? a->tb : z->tb];
        if (z != NULL && same_connection(a, z) && a->receives == z->receives)
            return bad(b, tb->line, tb->column,
                       "two threadblocks of gpu %u own the same connection (%s gpu %d, channel %d): "
                       "the order of messages is undefined",
                       a->gpu, a->receives ? "from" : "to", a->receives ? a->source : a->destination,
                       a->chan);
        if (z == NULL || !same_connection(a, z))
            return check_single(b, a);
        if (i + 2 < b->end_count && same_connection(z, z + 1))
            return bad(b, b->xml->tbs[z[1].tb].line, b->xml->tbs[z[1].tb].column,
                       "two threadblocks of gpu %u own the same connection (from gpu %d, channel "
                       "%d): the order of messages is undefined",
                       z->gpu, z->source, z->chan);
        if (!check_messages(b, a, z))
            return false;
        plan->channels[plan->gpus[a->gpu].channel_at + a->channel] = (struct nuna_channel){
            z->gpu, z->channel, NUNA_CHANNEL_SENDS, (uint32_t)a->chan};
        plan->channels[plan->gpus[z->gpu].channel_at + z->channel] = (struct nuna_channel){
            a->gpu, a->channel, NUNA_CHANNEL_RECEIVES, (uint32_t)a->chan};
    }
    return true;
}

/* Channels of each GPU lie together: made before they are connected. */
static void make_channels(struct build *b)
{
    struct nuna_plan *plan = b->builder.plan;
    size_t at = 0;
    for (uint32_t rank = 0; rank < plan->gpu_count; rank++) {
        plan->gpus[rank].channel_at = (uint32_t)plan->channel_count;
        for (; at < b->end_count && b->ends[at].gpu == rank; at++)
            nuna_builder_channel(&b->builder, rank, (struct nuna_channel){0});
    }
}

/* ---- steps ---- */

struct at_step {
    const struct nuna_xml_gpu *gpu;
    const struct nuna_xml_tb *tb;
    const struct nuna_xml_step *step;
    uint32_t rank, number;
};

__attribute__((format(printf, 3, 4))) static bool wrong(struct build *b, const struct at_step *at,
                                                        const char *format, ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return bad(b, at->step->line, at->step->column, "gpu%u/tb%d/s%u %s", at->rank, at->tb->id,
               at->number, what);
}

static bool operand(struct build *b, const struct at_step *at, bool source)
{
    uint8_t buffer = source ? at->step->srcbuf : at->step->dstbuf;
    int32_t first = source ? at->step->srcoff : at->step->dstoff;
    int32_t chunks = at->gpu->chunks[buffer];
    const char *verb = source ? "reads" : "writes";
    if (first < 0)
        return wrong(b, at, "%s %s at offset %d", verb, buffer_names[buffer], first);
    if (first >= chunks || at->step->cnt > chunks - first)
        return wrong(b, at, "%s %s chunk %d of %d (%c_chunks)", verb, buffer_names[buffer],
                     first >= chunks ? first : first + at->step->cnt - 1, chunks, "ios"[buffer]);
    struct nuna_range range = {.gpu = at->rank,
                               .buffer = buffer,
                               .index = (uint32_t)first,
                               .count = (uint32_t)at->step->cnt};
    if (source)
        nuna_builder_source(&b->builder, range);
    else
        nuna_builder_destination(&b->builder, range);
    return true;
}

static void mark(struct build *b, const struct at_step *at, uint8_t flags)
{
    nuna_builder_newest(&b->builder)->step = at->number;
    nuna_builder_newest(&b->builder)->flags = flags;
}

/* Somebody must post the step, or a later one of that threadblock. */
static bool depend(struct build *b, const struct at_step *at)
{
    const struct nuna_xml_step *step = at->step;
    if (step->depid < 0)
        return true;
    if ((size_t)step->depid >= at->gpu->tb_count)
        return wrong(b, at, "depends on threadblock %d, but gpu %u has %zu", step->depid, at->rank,
                     at->gpu->tb_count);
    if (step->depid == at->tb->id) {
        if (step->deps >= (int32_t)at->number)
            return wrong(b, at, "depends on step %d of its own threadblock, which is not before it",
                         step->deps);
        nuna_builder_warn(&b->builder,
                          "%s:%u:%u: gpu%u/tb%d/s%u depends on an earlier step of its own "
                          "threadblock, which is redundant",
                          b->xml->path, step->line, step->column, at->rank, at->tb->id, at->number);
        return true;
    }
    const struct nuna_xml_tb *other =
        &b->xml->tbs[b->tb_of[at->gpu->tb_at + (size_t)step->depid]];
    bool posted = false;
    for (size_t s = step->deps < 0 ? 0 : (size_t)step->deps; s < other->step_count; s++)
        posted |= b->xml->steps[other->step_at + s].hasdep;
    if (!posted)
        return wrong(b, at,
                     "depends on threadblock %d step %d, but no step from there on has hasdep=\"1\": "
                     "the flag is never posted (hang)",
                     step->depid, step->deps);
    nuna_builder_op(&b->builder, NUNA_OP_DEPEND, false);
    mark(b, at, 0);
    nuna_builder_newest(&b->builder)->dep_tb = (uint32_t)step->depid;
    nuna_builder_newest(&b->builder)->dep_step = step->deps < 0 ? 0 : (uint32_t)step->deps;
    return true;
}

static bool same_target(const struct nuna_xml_step *a, const struct nuna_xml_step *b)
{
    return b->type == NUNA_XML_RE && b->dstbuf == a->dstbuf && b->dstoff == a->dstoff &&
           b->srcbuf == a->srcbuf && b->cnt == a->cnt && b->depid < 0 && !a->hasdep;
}

/* Consecutive additions to one place are one operation. Returns the steps taken. */
static bool reduce(struct build *b, struct at_step *at)
{
    const struct nuna_xml_step *first = at->step;
    size_t left = at->tb->step_count - at->number;
    size_t fused = 1;
    while (fused < left && fused < FUSED_MAX && same_target(&first[fused - 1], &first[fused]))
        fused++;
    nuna_builder_op(&b->builder, NUNA_OP_REDUCE, false);
    nuna_builder_source(&b->builder, (struct nuna_range){.gpu = at->rank,
                                                         .buffer = first->dstbuf,
                                                         .index = (uint32_t)first->dstoff,
                                                         .count = (uint32_t)first->cnt});
    for (size_t i = 0; i < fused; i++) {
        at->step = &first[i];
        if (!operand(b, at, true))
            return false;
        at->number++;
    }
    at->number--;
    if (!operand(b, at, false))
        return false;
    mark(b, at, 0);
    return true;
}

static bool move(struct build *b, struct at_step *at)
{
    static const struct {
        uint8_t flags;
        bool reads, writes;
    } kinds[NUNA_XML_TYPES] = {
        [NUNA_XML_S] = {NUNA_OP_SENDS, true, false},
        [NUNA_XML_R] = {NUNA_OP_RECEIVES, false, true},
        [NUNA_XML_RCS] = {NUNA_OP_RECEIVES | NUNA_OP_SENDS, false, true},
        [NUNA_XML_RRC] = {NUNA_OP_RECEIVES, true, true},
        [NUNA_XML_RRS] = {NUNA_OP_RECEIVES | NUNA_OP_SENDS, true, false},
        [NUNA_XML_RRCS] = {NUNA_OP_RECEIVES | NUNA_OP_SENDS, true, true},
        [NUNA_XML_CPY] = {0, true, true},
    };
    uint8_t type = at->step->type;
    if (type == NUNA_XML_NOP) {
        nuna_builder_op(&b->builder, NUNA_OP_NOP, false);
        mark(b, at, 0);
        return true;
    }
    if (at->step->cnt == 0) {
        nuna_builder_warn(&b->builder, "%s:%u:%u: gpu%u/tb%d/s%u moves nothing (cnt=\"0\")",
                          b->xml->path, at->step->line, at->step->column, at->rank, at->tb->id,
                          at->number);
        nuna_builder_op(&b->builder, NUNA_OP_NOP, false);
        mark(b, at, 0);
        return true;
    }
    if (type == NUNA_XML_RE)
        return at->step->dstoff >= 0 ? reduce(b, at) : operand(b, at, false);
    nuna_builder_op(&b->builder, type == NUNA_XML_CPY ? NUNA_OP_COPY : NUNA_OP_FIFO, false);
    mark(b, at, kinds[type].flags);
    return (!kinds[type].reads || operand(b, at, true)) &&
           (!kinds[type].writes || operand(b, at, false));
}

/* Peers refuse a chain of nops with dependencies whose last step has none. */
static void check_chain(struct build *b, const struct at_step *at)
{
    const struct nuna_xml_step *step = at->step;
    bool last = at->number + 1 == at->tb->step_count;
    if (step->type != NUNA_XML_NOP || step->depid < 0 || (!last && step[1].depid >= 0))
        return;
    nuna_builder_warn(&b->builder,
                      "%s:%u:%u: gpu%u/tb%d/s%u is a nop with a dependency that no step with a "
                      "dependency follows: NCCL's executors refuse the plan",
                      b->xml->path, step->line, step->column, at->rank, at->tb->id, at->number);
}

static bool add_tb(struct build *b, uint32_t rank, uint32_t place)
{
    const struct nuna_xml *xml = b->xml;
    const struct nuna_xml_tb *tb = &xml->tbs[place];
    struct at_step at = {&xml->gpus[tb->gpu], tb, NULL, rank, 0};
    nuna_builder_threadblock(&b->builder, rank);
    for (; at.number < tb->step_count; at.number++) {
        at.step = &xml->steps[tb->step_at + at.number];
        check_chain(b, &at);
        if (!depend(b, &at) || !move(b, &at))
            return false;
        if (at.step->hasdep) {
            nuna_builder_op(&b->builder, NUNA_OP_POST, false);
            mark(b, &at, 0);
            nuna_builder_newest(&b->builder)->dep_step = at.number;
        }
        if (nuna_builder_failed(&b->builder))
            return true; /* reported at the end */
    }
    return true;
}

/* ---- the whole ---- */

/* The buffers in full, whatever part of them the GPU touches. */
static bool count_chunks(struct build *b, uint32_t rank)
{
    struct nuna_plan *plan = b->builder.plan;
    const struct nuna_xml_gpu *gpu = &b->xml->gpus[b->gpu_of[rank]];
    uint32_t *chunks = plan->gpus[rank].chunks;
    uint32_t whole = plan->chunks_per_loop, part = whole / plan->gpu_count;
    bool even = whole % plan->gpu_count == 0;
    for (int i = 0; i < NUNA_BUFFER_COUNT; i++)
        chunks[i] = (uint32_t)gpu->chunks[i];
    if (plan->collective == NUNA_COLLECTIVE_OTHER)
        return true;
    uint32_t wanted[2] = {plan->collective == NUNA_ALLGATHER ? part : whole,
                          plan->collective == NUNA_REDUCESCATTER ? part : whole};
    for (int i = 0; i < 2; i++)
        if (chunks[i] != 0 && (chunks[i] != wanted[i] || (!even && wanted[i] == part)))
            return bad(b, gpu->line, gpu->column,
                       "nchunksperloop=\"%u\" disagrees with i_chunks=\"%u\", o_chunks=\"%u\" of gpu %u "
                       "for %s over %u GPUs",
                       whole, chunks[0], chunks[1], rank, plan->collective_name, plan->gpu_count);
    chunks[0] = wanted[0];
    chunks[1] = wanted[1];
    return true;
}

static bool fill(struct build *b)
{
    struct nuna_plan *plan = b->builder.plan;
    const struct nuna_xml *xml = b->xml;
    if (!index_gpus(b) || !index_tbs(b) || !list_ends(b))
        return false;
    make_channels(b);
    if (nuna_builder_failed(&b->builder))
        return true; /* reported at the end */
    for (uint32_t rank = 0; rank < plan->gpu_count; rank++) {
        const struct nuna_xml_gpu *gpu = &xml->gpus[b->gpu_of[rank]];
        plan->gpus[rank].tb_at = (uint32_t)plan->threadblock_count;
        plan->gpus[rank].sem_at = 0;
        if (!count_chunks(b, rank))
            return false;
        for (size_t t = 0; t < gpu->tb_count; t++)
            if (!add_tb(b, rank, b->tb_of[gpu->tb_at + t]))
                return false;
    }
    if (nuna_builder_failed(&b->builder))
        return true; /* reported at the end */
    for (size_t i = 0; i < b->end_count; i++) {
        const struct end *end = &b->ends[i];
        struct nuna_threadblock *tb =
            &plan->threadblocks[plan->gpus[end->gpu].tb_at + (uint32_t)xml->tbs[end->tb].id];
        *(end->receives ? &tb->recv_channel : &tb->send_channel) = end->channel;
    }
    return connect(b);
}

static bool head(struct build *b)
{
    const struct nuna_xml *xml = b->xml;
    struct nuna_plan *plan = b->builder.plan;
    plan->format = NUNA_PLAN_XML;
    snprintf(plan->source, sizeof plan->source, "%s", xml->path);
    snprintf(plan->name, sizeof plan->name, "%s", xml->name);
    snprintf(plan->collective_name, sizeof plan->collective_name, "%s", xml->coll);
    if (!nuna_collective_parse(xml->coll, &plan->collective))
        plan->collective = NUNA_COLLECTIVE_OTHER;
    bool in = xml->inplace == 1, out = xml->outofplace == -1 ? !in : xml->outofplace == 1;
    plan->inplace = in && !out;
    plan->both_places = in && out;
    plan->protocol = xml->proto;
    plan->chunks_per_loop = (uint32_t)xml->nchunksperloop;
    plan->even = true;
    plan->min_size = (uint64_t)xml->min_bytes;
    plan->max_size = xml->max_bytes == 0 ? UINT64_MAX : (uint64_t)xml->max_bytes;
    if (xml->warnings != NULL && (plan->warnings = strdup(xml->warnings)) == NULL)
        return nuna_fail_memory(b->err, "a plan");
    return plan->min_size <= plan->max_size ||
           bad(b, xml->line, xml->column, "minBytes=\"%lld\" is above maxBytes=\"%lld\"",
               (long long)xml->min_bytes, (long long)xml->max_bytes);
}

struct nuna_plan *nuna_xml_build(const struct nuna_xml *xml, struct nuna_error *err)
{
    struct build b = {.xml = xml, .err = err};
    struct nuna_plan *plan = NULL;
    if (xml->gpu_count == 0) {
        bad(&b, xml->line, xml->column, "<algo> has no <gpu>");
        return NULL;
    }
    uint32_t ngpus = xml->ngpus > 0 ? (uint32_t)xml->ngpus : (uint32_t)xml->gpu_count;
    if (!nuna_builder_init(&b.builder, ngpus, err))
        return NULL;
    b.gpu_of = calloc(ngpus, sizeof *b.gpu_of);
    b.tb_of = calloc(xml->tb_count + 1, sizeof *b.tb_of);
    b.ends = calloc(2 * xml->tb_count + 1, sizeof *b.ends);
    if (b.gpu_of == NULL || b.tb_of == NULL || b.ends == NULL)
        nuna_fail_memory(err, "a plan");
    else if (head(&b) && fill(&b))
        plan = nuna_builder_finish(&b.builder, err);
    nuna_builder_discard(&b.builder);
    free(b.gpu_of);
    free(b.tb_of);
    free(b.ends);
    return plan;
}
