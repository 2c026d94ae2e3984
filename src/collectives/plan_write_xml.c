/* Writes a one-sided plan as MSCCL XML. What a threadblock puts before it signals a peer becomes
 * sends; the wait that takes the signal becomes the receives; a barrier becomes a dependency on
 * every other threadblock that meets there. */
#include "collectives/plan_io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct step {
    char type[5];
    char source_buffer, target_buffer;
    int64_t source, target;
    uint32_t count;
    int64_t depid, deps;
    bool posted;
};

struct block {
    struct step *steps;
    uint32_t count, cap;
    int64_t send, recv;
    uint32_t chan;
};

/* What a signal announces: the puts of its threadblock between two operations. */
struct message {
    uint32_t tb; /* of the plan */
    uint32_t from, to;
};

struct writer {
    const struct nuna_plan *plan;
    struct block *blocks;
    struct message *messages; /* per channel end that is signalled, in order */
    uint32_t *message_at, *message_count, *message_taken; /* [channel] */
    uint32_t *tb_gpu;
    uint32_t *chan_of; /* [channel]: number among the pair's, the same at both ends */
    uint32_t chans;
    bool failed, no_memory;
};

static bool refuse(struct writer *w)
{
    w->failed = true;
    return false;
}

static struct step *add_step(struct writer *w, uint32_t tb, const char *type)
{
    struct block *block = &w->blocks[tb];
    if (block->count == block->cap) {
        uint32_t cap = block->cap == 0 ? 16 : block->cap * 2;
        struct step *grown = realloc(block->steps, cap * sizeof *grown);
        if (grown == NULL) {
            w->no_memory = true;
            return NULL;
        }
        block->steps = grown;
        block->cap = cap;
    }
    struct step *step = &block->steps[block->count++];
    *step = (struct step){.source_buffer = 'i',
                          .target_buffer = 'o',
                          .source = -1,
                          .target = -1,
                          .depid = -1,
                          .deps = -1};
    snprintf(step->type, sizeof step->type, "%s", type);
    return step;
}

static void name_ranges(struct step *step, const struct nuna_range *from,
                        const struct nuna_range *to)
{
    if (step == NULL)
        return;
    step->source_buffer = "ios"[from->buffer];
    step->source = from->index;
    step->target_buffer = "ios"[to->buffer];
    step->target = to->index;
    step->count = from->count;
}

/* ---- who signals whom with what ---- */

static uint32_t far_end(const struct writer *w, uint32_t gpu, uint32_t id)
{
    const struct nuna_plan *plan = w->plan;
    const struct nuna_channel *end = &plan->channels[plan->gpus[gpu].channel_at + id];
    return plan->gpus[end->peer].channel_at + end->peer_channel;
}

/* First counts, then, with room made, keeps. */
static void list_messages(struct writer *w, bool keep)
{
    const struct nuna_plan *plan = w->plan;
    memset(w->message_count, 0, plan->channel_count * sizeof *w->message_count);
    for (uint32_t tb = 0; tb < plan->threadblock_count; tb++) {
        const struct nuna_threadblock *block = &plan->threadblocks[tb];
        uint32_t from = block->op_at;
        for (uint32_t o = block->op_at; o < block->op_at + block->op_count; o++) {
            const struct nuna_op *op = &plan->ops[o];
            if (op->kind != NUNA_OP_SIGNAL)
                continue;
            for (uint32_t i = 0; i < op->id_count; i++) {
                uint32_t end = far_end(w, w->tb_gpu[tb], plan->ids[op->id_at + i]);
                if (keep)
                    w->messages[w->message_at[end] + w->message_count[end]] =
                        (struct message){tb, from, o};
                w->message_count[end]++;
            }
            from = o + 1;
        }
    }
}

/* The k-th channel between two GPUs is MSCCL's channel k. */
static void number_channels(struct writer *w)
{
    const struct nuna_plan *plan = w->plan;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t c = 0; c < plan->gpus[g].channel_count; c++) {
            uint32_t at = plan->gpus[g].channel_at + c, number = 0;
            for (uint32_t before = plan->gpus[g].channel_at; before < at; before++)
                number += plan->channels[before].peer == plan->channels[at].peer;
            w->chan_of[at] = number;
            w->chans = number + 1 > w->chans ? number + 1 : w->chans;
        }
}

/* ---- threadblocks ---- */

static bool use_peer(struct writer *w, uint32_t tb, bool sending, uint32_t peer, uint32_t chan)
{
    struct block *block = &w->blocks[tb];
    int64_t *place = sending ? &block->send : &block->recv;
    bool fresh = block->send < 0 && block->recv < 0;
    if ((*place >= 0 && *place != peer) || (!fresh && block->chan != chan))
        return refuse(w);
    *place = peer;
    block->chan = chan;
    return true;
}

static bool write_sends(struct writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan *plan = w->plan;
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *to = &plan->ranges[op->dst_at + i];
        if (to->count > 71)
            return refuse(w);
        name_ranges(add_step(w, tb, "s"), &plan->ranges[op->src_at + i], to);
    }
    return true;
}

/* A signal names the connection; its puts must all be to that peer. */
static bool end_sends(struct writer *w, uint32_t tb, const struct nuna_op *op, uint32_t from,
                      uint32_t to)
{
    const struct nuna_plan *plan = w->plan;
    if (op->id_count != 1)
        return refuse(w);
    uint32_t at = plan->gpus[w->tb_gpu[tb]].channel_at + plan->ids[op->id_at];
    uint32_t peer = plan->channels[at].peer;
    for (uint32_t o = from; o < to; o++)
        for (uint32_t i = 0; plan->ops[o].kind == NUNA_OP_PUT && i < plan->ops[o].dst_count; i++)
            if (plan->ranges[plan->ops[o].dst_at + i].gpu != peer)
                return refuse(w);
    return use_peer(w, tb, true, peer, w->chan_of[at]);
}

/* Several sends before the first receive would need as many slots. In a ring everyone sends while
 * it receives, so the receives, from step `first` on, may as well stand between. What comes from
 * the peer that is sent to may be its answer: then they may not. */
static bool interleave(struct writer *w, uint32_t tb, uint32_t first)
{
    struct block *block = &w->blocks[tb];
    uint32_t start = first, sends = 0, at = 0, next = first;
    for (; start > 0 && !block->steps[start - 1].posted; start--) {
        const char *type = block->steps[start - 1].type;
        if (strcmp(type, "s") != 0 && strcmp(type, "cpy") != 0)
            break;
        sends += type[0] == 's';
    }
    if (sends < 2 || block->send == block->recv)
        return true;
    struct step *mixed = malloc((block->count - start) * sizeof *mixed);
    if (mixed == NULL) {
        w->no_memory = true;
        return false;
    }
    for (uint32_t i = start; i < first; i++) {
        mixed[at++] = block->steps[i];
        if (block->steps[i].type[0] == 's' && next < block->count)
            mixed[at++] = block->steps[next++];
    }
    memcpy(&mixed[at], &block->steps[next], (block->count - next) * sizeof *mixed);
    memcpy(&block->steps[start], mixed, (block->count - start) * sizeof *mixed);
    free(mixed);
    return true;
}

static bool write_receives(struct writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan *plan = w->plan;
    uint32_t first = w->blocks[tb].count;
    for (uint32_t i = 0; i < op->id_count; i++) {
        uint32_t at = plan->gpus[w->tb_gpu[tb]].channel_at + plan->ids[op->id_at + i];
        if (w->message_taken[at] == w->message_count[at])
            return refuse(w);
        struct message message = w->messages[w->message_at[at] + w->message_taken[at]++];
        if (!use_peer(w, tb, false, plan->channels[at].peer, w->chan_of[at]))
            return false;
        for (uint32_t o = message.from; o < message.to; o++) {
            const struct nuna_op *put = &plan->ops[o];
            for (uint32_t k = 0; put->kind == NUNA_OP_PUT && k < put->src_count; k++)
                name_ranges(add_step(w, tb, "r"), &plan->ranges[put->src_at + k],
                            &plan->ranges[put->dst_at + k]);
        }
    }
    return !w->no_memory && interleave(w, tb, first);
}

static bool same_range(const struct nuna_range *a, const struct nuna_range *b)
{
    return a->buffer == b->buffer && a->index == b->index;
}

/* dst = dst + each other source; where dst is no source, the first one is copied there before. */
static bool write_reduction(struct writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_range *ranges = w->plan->ranges, *into = &ranges[op->dst_at];
    uint32_t own = 0;
    while (own < op->src_count && !same_range(&ranges[op->src_at + own], into))
        own++;
    if (own == op->src_count) {
        own = 0;
        name_ranges(add_step(w, tb, "cpy"), &ranges[op->src_at], into);
    }
    for (uint32_t i = 0; i < op->src_count; i++)
        if (i != own)
            name_ranges(add_step(w, tb, "re"), &ranges[op->src_at + i], into);
    return true;
}

/* Everyone's step before the barrier is posted; everyone waits for everyone else's. The steps are
 * those written so far, as all threadblocks are written barrier by barrier. */
static void write_barrier(struct writer *w, uint32_t tb, const uint32_t *last)
{
    const struct nuna_plan_gpu *gpu = &w->plan->gpus[w->tb_gpu[tb]];
    for (uint32_t t = 0; t < gpu->tb_count; t++) {
        uint32_t other = gpu->tb_at + t;
        if (other == tb || last[other] == NONE)
            continue;
        struct step *step = add_step(w, tb, "nop");
        if (step == NULL)
            return;
        step->depid = t;
        step->deps = last[other];
    }
}

static bool write_op(struct writer *w, uint32_t tb, const struct nuna_op *op, uint32_t *from)
{
    const struct nuna_plan *plan = w->plan;
    uint32_t at = (uint32_t)(op - plan->ops);
    switch (op->kind) {
    case NUNA_OP_NOP:
        return true;
    case NUNA_OP_PUT:
        return write_sends(w, tb, op);
    case NUNA_OP_COPY:
        for (uint32_t i = 0; i < op->src_count; i++)
            name_ranges(add_step(w, tb, "cpy"), &plan->ranges[op->src_at + i],
                        &plan->ranges[op->dst_at + i]);
        return true;
    case NUNA_OP_REDUCE:
        return write_reduction(w, tb, op);
    case NUNA_OP_SIGNAL: {
        uint32_t start = *from;
        *from = at + 1;
        return end_sends(w, tb, op, start, at);
    }
    case NUNA_OP_WAIT:
        return write_receives(w, tb, op);
    default:
        return refuse(w);
    }
}

/* A threadblock's steps up to its next barrier. Without any since the last one it has nothing to
 * post: whoever it would hold back has met the same threadblocks there. */
static bool write_phase(struct writer *w, uint32_t tb, uint32_t *pc, uint32_t *from, uint32_t *last)
{
    const struct nuna_plan *plan = w->plan;
    const struct nuna_threadblock *block = &plan->threadblocks[tb];
    uint32_t before = w->blocks[tb].count;
    last[tb] = NONE;
    for (; pc[tb] < block->op_count; pc[tb]++) {
        const struct nuna_op *op = &plan->ops[block->op_at + pc[tb]];
        if (op->kind == NUNA_OP_BARRIER)
            break;
        if (!write_op(w, tb, op, &from[tb]))
            return false;
    }
    if (w->no_memory)
        return false;
    if (pc[tb] < block->op_count && w->blocks[tb].count > before) {
        last[tb] = w->blocks[tb].count - 1;
        w->blocks[tb].steps[last[tb]].posted = true;
    }
    return true;
}

/* All threadblocks of a GPU up to their next barrier, then the barrier. */
static bool write_gpu(struct writer *w, uint32_t gpu, uint32_t *pc, uint32_t *from, uint32_t *last)
{
    const struct nuna_plan *plan = w->plan;
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    for (bool barriers = true; barriers && !w->failed && !w->no_memory;) {
        barriers = false;
        for (uint32_t tb = g->tb_at; tb < g->tb_at + g->tb_count; tb++)
            if (!write_phase(w, tb, pc, from, last))
                return false;
        for (uint32_t tb = g->tb_at; tb < g->tb_at + g->tb_count; tb++)
            if (pc[tb] < plan->threadblocks[tb].op_count) {
                write_barrier(w, tb, last);
                pc[tb]++;
                barriers = true;
            }
    }
    return !w->failed && !w->no_memory;
}

/* A chain of nops with dependencies ends in a step that has one, too: the last moves there. At the
 * end of a threadblock there is nothing to hold back. */
static void join_chains(struct block *block)
{
    while (block->count > 0 && block->steps[block->count - 1].depid >= 0 &&
           !block->steps[block->count - 1].posted &&
           strcmp(block->steps[block->count - 1].type, "nop") == 0)
        block->count--;
    for (uint32_t i = 0; i + 1 < block->count; i++) {
        struct step *step = &block->steps[i], *next = step + 1;
        if (strcmp(step->type, "nop") != 0 || step->depid < 0 || next->depid >= 0 || step->posted)
            continue;
        next->depid = step->depid;
        next->deps = step->deps;
        step->count = NONE; /* left out */
    }
}

/* ---- text ---- */

/* Steps are renumbered around those left out; dependencies name posted ones, which stay. */
static void print_block(const struct writer *w, uint32_t tb, FILE *out)
{
    const struct block *block = &w->blocks[tb];
    const struct nuna_plan_gpu *gpu = &w->plan->gpus[w->tb_gpu[tb]];
    fprintf(out,
            "    <tb id=\"%" PRIu32 "\" send=\"%" PRId64 "\" recv=\"%" PRId64 "\" chan=\"%" PRIu32
            "\">\n",
            tb - gpu->tb_at, block->send, block->recv, block->chan);
    uint32_t number = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct step *step = &block->steps[i];
        if (step->count == NONE)
            continue;
        int64_t deps = step->deps;
        if (step->depid >= 0)
            for (int64_t k = 0; k < step->deps; k++)
                deps -= w->blocks[gpu->tb_at + (uint32_t)step->depid].steps[k].count == NONE;
        fprintf(out,
                "      <step s=\"%" PRIu32 "\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%" PRId64
                "\" dstbuf=\"%c\" dstoff=\"%" PRId64 "\" cnt=\"%" PRIu32 "\" depid=\"%" PRId64
                "\" deps=\"%" PRId64 "\" hasdep=\"%d\"/>\n",
                number++, step->type, step->source_buffer, step->source, step->target_buffer,
                step->target, step->count, step->depid, deps, step->posted);
    }
    fprintf(out, "    </tb>\n");
}

static void print_plan(const struct writer *w, FILE *out)
{
    const struct nuna_plan *plan = w->plan;
    const uint32_t *first = plan->gpus[0].chunks;
    uint32_t whole = first[NUNA_BUF_INPUT] > first[NUNA_BUF_OUTPUT] ? first[NUNA_BUF_INPUT]
                                                                    : first[NUNA_BUF_OUTPUT];
    fprintf(out,
            "<algo name=\"%s\" proto=\"Simple\" nchannels=\"%" PRIu32 "\" nchunksperloop=\"%" PRIu32
            "\" ngpus=\"%" PRIu32
            "\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"%" PRIu64
            "\" maxBytes=\"%" PRIu64 "\">\n",
            plan->name, w->chans == 0 ? 1 : w->chans, whole, plan->gpu_count, plan->collective_name,
            plan->inplace, !plan->inplace, plan->min_size,
            plan->max_size > INT64_MAX ? 0 : plan->max_size);
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        const struct nuna_plan_gpu *gpu = &plan->gpus[g];
        fprintf(out,
                "  <gpu id=\"%" PRIu32 "\" i_chunks=\"%" PRIu32 "\" o_chunks=\"%" PRIu32
                "\" s_chunks=\"%" PRIu32 "\">\n",
                g, gpu->chunks[0], gpu->chunks[1], gpu->chunks[2]);
        for (uint32_t t = 0; t < gpu->tb_count; t++)
            print_block(w, gpu->tb_at + t, out);
        fprintf(out, "  </gpu>\n");
    }
    fprintf(out, "</algo>\n");
}

static bool prepare(struct writer *w)
{
    const struct nuna_plan *plan = w->plan;
    w->blocks = calloc(plan->threadblock_count + 1, sizeof *w->blocks);
    w->message_at = calloc(plan->channel_count + 1, sizeof *w->message_at);
    w->message_count = calloc(plan->channel_count + 1, sizeof *w->message_count);
    w->message_taken = calloc(plan->channel_count + 1, sizeof *w->message_taken);
    w->chan_of = calloc(plan->channel_count + 1, sizeof *w->chan_of);
    w->tb_gpu = calloc(plan->threadblock_count + 1, sizeof *w->tb_gpu);
    if (!w->blocks || !w->message_at || !w->message_count || !w->message_taken || !w->chan_of ||
        !w->tb_gpu)
        return false;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++)
            w->tb_gpu[plan->gpus[g].tb_at + t] = g;
    for (size_t tb = 0; tb < plan->threadblock_count; tb++)
        w->blocks[tb].send = w->blocks[tb].recv = -1;
    number_channels(w);
    list_messages(w, false);
    uint32_t all = 0;
    for (size_t c = 0; c < plan->channel_count; c++) {
        w->message_at[c] = all;
        all += w->message_count[c];
    }
    w->messages = calloc((size_t)all + 1, sizeof *w->messages);
    if (!w->messages)
        return false;
    list_messages(w, true);
    return true;
}

bool nuna_plan_write_xml(const struct nuna_plan *plan, FILE *out)
{
    struct writer w = {.plan = plan};
    uint32_t *pc = calloc(plan->threadblock_count + 1, sizeof *pc);
    uint32_t *from = calloc(plan->threadblock_count + 1, sizeof *from);
    uint32_t *last = calloc(plan->threadblock_count + 1, sizeof *last);
    w.no_memory = !pc || !from || !last || !prepare(&w);
    for (size_t tb = 0; !w.no_memory && tb < plan->threadblock_count; tb++)
        from[tb] = plan->threadblocks[tb].op_at;
    for (uint32_t g = 0; g < plan->gpu_count && !w.failed && !w.no_memory; g++)
        write_gpu(&w, g, pc, from, last);
    bool good = !w.failed && !w.no_memory;
    for (size_t tb = 0; good && tb < plan->threadblock_count; tb++)
        join_chains(&w.blocks[tb]);
    if (good)
        print_plan(&w, out);
    for (size_t tb = 0; w.blocks && tb < plan->threadblock_count; tb++)
        free(w.blocks[tb].steps);
    free(w.blocks);
    free(w.messages);
    free(w.message_at);
    free(w.message_count);
    free(w.message_taken);
    free(w.chan_of);
    free(w.tb_gpu);
    free(pc);
    free(from);
    free(last);
    if (!good) {
        errno = w.no_memory ? ENOMEM : EINVAL;
        return false;
    }
    return fflush(out) == 0 && !ferror(out);
}
