#include "collectives/read/msccl_xml/build.h"
#include "collectives/read/msccl_xml/connect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUSED_MAX 16 /* sources of one operation, in the interpreters */

/* ---- who is there ---- */

static bool index_gpus(struct nuna_xml_builder *b)
{
    const struct nuna_xml *xml = b->xml;
    uint32_t ngpus = b->builder.plan->gpu_count;
    for (uint32_t r = 0; r < ngpus; r++)
        b->gpu_of[r] = UINT32_MAX;
    for (size_t i = 0; i < xml->gpu_count; i++) {
        const struct nuna_xml_gpu *gpu = &xml->gpus[i];
        if (gpu->id < 0 || (uint32_t)gpu->id >= ngpus)
            return nuna_xml_fail(b, gpu->line, gpu->column, "gpu id %d, but ngpus is %u", gpu->id,
                                 ngpus);
        if (b->gpu_of[gpu->id] != UINT32_MAX)
            return nuna_xml_fail(b, gpu->line, gpu->column, "duplicate gpu id %d", gpu->id);
        b->gpu_of[gpu->id] = (uint32_t)i;
    }
    for (uint32_t r = 0; r < ngpus; r++)
        if (b->gpu_of[r] == UINT32_MAX)
            return nuna_xml_fail(b, xml->line, xml->column, "ngpus is %u, but gpu %u is missing",
                                 ngpus, r);
    return true;
}

static bool index_tbs(struct nuna_xml_builder *b)
{
    const struct nuna_xml *xml = b->xml;
    for (size_t i = 0; i < xml->tb_count; i++)
        b->tb_of[i] = UINT32_MAX;
    for (size_t i = 0; i < xml->tb_count; i++) {
        const struct nuna_xml_tb *tb = &xml->tbs[i];
        const struct nuna_xml_gpu *gpu = &xml->gpus[tb->gpu];
        if (tb->id < 0 || (size_t)tb->id >= gpu->tb_count)
            return nuna_xml_fail(
                b, tb->line, tb->column,
                "threadblock id %d on gpu %d, which has %zu: expected 0 to %zu without gaps",
                tb->id, gpu->id, gpu->tb_count, gpu->tb_count - 1);
        uint32_t *place = &b->tb_of[gpu->tb_at + (size_t)tb->id];
        if (*place != UINT32_MAX)
            return nuna_xml_fail(b, tb->line, tb->column, "duplicate threadblock id %d on gpu %d",
                                 tb->id, gpu->id);
        *place = (uint32_t)i;
    }
    return true;
}

/* ---- steps ---- */

struct at_step {
    const struct nuna_xml_gpu *gpu;
    const struct nuna_xml_tb *tb;
    const struct nuna_xml_step *step;
    uint32_t rank, number;
};

__attribute__((format(printf, 3, 4))) static bool
wrong(struct nuna_xml_builder *b, const struct at_step *at, const char *format, ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return nuna_xml_fail(b, at->step->line, at->step->column, "gpu%u/tb%d/s%u %s", at->rank,
                         at->tb->id, at->number, what);
}

static bool operand(struct nuna_xml_builder *b, const struct at_step *at, bool source)
{
    uint8_t buffer = source ? at->step->srcbuf : at->step->dstbuf;
    int32_t first = source ? at->step->srcoff : at->step->dstoff;
    int32_t chunks = at->gpu->chunks[buffer];
    const char *verb = source ? "reads" : "writes";
    if (first < 0)
        return wrong(b, at, "%s %s at offset %d", verb, nuna_buffer_name(buffer), first);
    if (first >= chunks || at->step->cnt > chunks - first)
        return wrong(b, at, "%s %s chunk %d of %d (%c_chunks)", verb, nuna_buffer_name(buffer),
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

static void mark(struct nuna_xml_builder *b, const struct at_step *at, uint8_t flags)
{
    nuna_builder_newest(&b->builder)->step = at->number;
    nuna_builder_newest(&b->builder)->flags = flags;
}

/* Somebody must post the step, or a later one of that threadblock. */
static bool depend(struct nuna_xml_builder *b, const struct at_step *at)
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
    const struct nuna_xml_tb *other = &b->xml->tbs[b->tb_of[at->gpu->tb_at + (size_t)step->depid]];
    bool posted = false;
    for (size_t s = step->deps < 0 ? 0 : (size_t)step->deps; s < other->step_count; s++)
        posted |= b->xml->steps[other->step_at + s].hasdep;
    if (!posted)
        return wrong(
            b, at,
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
static bool reduce(struct nuna_xml_builder *b, struct at_step *at)
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

static bool move(struct nuna_xml_builder *b, struct at_step *at)
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
static void check_chain(struct nuna_xml_builder *b, const struct at_step *at)
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

static bool add_tb(struct nuna_xml_builder *b, uint32_t rank, uint32_t place)
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
static bool count_chunks(struct nuna_xml_builder *b, uint32_t rank)
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
    const struct nuna_collective_rule *rule = nuna_collective_rule(plan->collective);
    uint32_t wanted[2] = {rule->own_input ? part : whole, rule->own_output ? part : whole};
    for (int i = 0; i < 2; i++)
        if (chunks[i] != 0 && (chunks[i] != wanted[i] || (!even && wanted[i] == part)))
            return nuna_xml_fail(
                b, gpu->line, gpu->column,
                "nchunksperloop=\"%u\" disagrees with i_chunks=\"%u\", o_chunks=\"%u\" of gpu %u "
                "for %s over %u GPUs",
                whole, chunks[0], chunks[1], rank, plan->collective_name, plan->gpu_count);
    chunks[0] = wanted[0];
    chunks[1] = wanted[1];
    return true;
}

static bool fill(struct nuna_xml_builder *b)
{
    struct nuna_plan *plan = b->builder.plan;
    const struct nuna_xml *xml = b->xml;
    if (!index_gpus(b) || !index_tbs(b) || !nuna_xml_list_ends(b))
        return false;
    nuna_xml_make_channels(b);
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
        const struct nuna_xml_end *end = &b->ends[i];
        struct nuna_threadblock *tb =
            &plan->threadblocks[plan->gpus[end->gpu].tb_at + (uint32_t)xml->tbs[end->tb].id];
        *(end->receives ? &tb->recv_channel : &tb->send_channel) = end->channel;
    }
    return nuna_xml_connect(b);
}

/* Such a plan cannot run out of place, whatever it claims. */
static bool names_one_buffer(const struct nuna_xml *xml)
{
    bool unnamed[2] = {true, true};
    for (size_t i = 0; i < xml->gpu_count; i++)
        for (int buffer = 0; buffer < 2; buffer++)
            unnamed[buffer] &= xml->gpus[i].chunks[buffer] == 0;
    return unnamed[0] != unnamed[1];
}

static bool head(struct nuna_xml_builder *b)
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
    out = out && !(in && names_one_buffer(xml));
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
           nuna_xml_fail(b, xml->line, xml->column, "minBytes=\"%lld\" is above maxBytes=\"%lld\"",
                         (long long)xml->min_bytes, (long long)xml->max_bytes);
}

struct nuna_plan *nuna_xml_build(const struct nuna_xml *xml, struct nuna_error *err)
{
    struct nuna_xml_builder b = {.xml = xml, .err = err};
    struct nuna_plan *plan = NULL;
    if (xml->gpu_count == 0) {
        nuna_xml_fail(&b, xml->line, xml->column, "<algo> has no <gpu>");
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
