/* Writes a one-sided plan as MSCCL XML. What a threadblock puts before it signals a peer becomes
 * sends; the wait that takes the signal becomes the receives; a barrier becomes dependencies on the
 * other threadblocks that meet there. */
#include "collectives/write/write.h"
#include "collectives/write/xml_order.h"
#include "collectives/write/xml_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 71 /* chunks of a step */

static bool refuse(struct nuna_xml_writer *w)
{
    w->failed = true;
    return false;
}

static void name_ranges(struct nuna_xml_out_step *step, const struct nuna_range *from,
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

/* First counts, then, with room made, keeps. */
static void list_messages(struct nuna_xml_writer *w, bool keep)
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
                uint32_t end = nuna_xml_far_end(plan, w->tb_gpu[tb], plan->ids[op->id_at + i]);
                if (keep)
                    w->messages[w->message_at[end] + w->message_count[end]] =
                        (struct nuna_xml_message){tb, from, o};
                w->message_count[end]++;
            }
            from = o + 1;
        }
    }
}

/* Steps of a message. */
static uint32_t steps_of(const struct nuna_xml_writer *w, const struct nuna_xml_message *message)
{
    uint32_t steps = 0;
    for (uint32_t o = message->from; o < message->to; o++)
        steps += w->plan->ops[o].kind == NUNA_OP_PUT ? w->plan->ops[o].src_count : 0;
    return steps;
}

/* A signal without data would be lost, and a connection has one threadblock at its end. */
static bool check_messages(struct nuna_xml_writer *w)
{
    const struct nuna_plan *plan = w->plan;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t c = 0; c < plan->gpus[g].channel_count; c++) {
            uint32_t at = plan->gpus[g].channel_at + c, far = nuna_xml_far_end(plan, g, c);
            const struct nuna_xml_message *messages = &w->messages[w->message_at[at]];
            for (uint32_t m = 0; m < w->message_count[at]; m++) {
                uint32_t steps = steps_of(w, &messages[m]);
                if (steps == 0 || messages[m].tb != messages[0].tb)
                    return refuse(w);
                if (steps > 1)
                    w->several[at] = w->several[far] = true;
            }
        }
    return true;
}

/* The k-th channel between two GPUs, as the first of them lists them, is MSCCL's channel k. */
static void number_channels(struct nuna_xml_writer *w)
{
    const struct nuna_plan *plan = w->plan;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t c = 0; c < plan->gpus[g].channel_count; c++) {
            uint32_t at = plan->gpus[g].channel_at + c, number = 0;
            if (plan->channels[at].peer < g)
                continue;
            for (uint32_t before = plan->gpus[g].channel_at; before < at; before++)
                number += plan->channels[before].peer == plan->channels[at].peer;
            w->chan_of[at] = w->chan_of[nuna_xml_far_end(plan, g, c)] = number;
            w->chans = number + 1 > w->chans ? number + 1 : w->chans;
        }
}

/* ---- threadblocks ---- */

/* The channel end of the signal that announces a put; NONE without one. */
static uint32_t announced_on(const struct nuna_xml_writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan *plan = w->plan;
    const struct nuna_threadblock *block = &plan->threadblocks[tb];
    const struct nuna_op *end = &plan->ops[block->op_at + block->op_count];
    while (op < end && op->kind != NUNA_OP_SIGNAL)
        op++;
    return op == end || op->id_count != 1
               ? NUNA_NONE
               : plan->gpus[w->tb_gpu[tb]].channel_at + plan->ids[op->id_at];
}

/* The signal names the connection; the puts must all be to that peer. */
static bool write_sends(struct nuna_xml_writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan *plan = w->plan;
    uint32_t channel = announced_on(w, tb, op);
    if (channel == NUNA_NONE)
        return refuse(w);
    uint32_t lane = nuna_xml_lane_of(w, tb, channel, true);
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *to = &plan->ranges[op->dst_at + i];
        if (to->count > COUNT_MAX || to->gpu != plan->channels[channel].peer)
            return refuse(w);
        name_ranges(nuna_xml_add_step(w, tb, lane, "s", NUNA_XML_SENDS),
                    &plan->ranges[op->src_at + i], to);
    }
    return true;
}

/* Several sends before the first receive would need as many slots. In a ring everyone sends while
 * it receives, so the receives, from step `first` on, may as well stand between. What comes from
 * the peer that is sent to may be its answer: then they may not. */
static bool interleave(struct nuna_xml_writer *w, struct nuna_xml_lane *lane, uint32_t first)
{
    uint32_t start = first, sends = 0, at = 0, next = first;
    for (; start > lane->fixed && !lane->steps[start - 1].posted; start--) {
        const char *type = lane->steps[start - 1].type;
        if (strcmp(type, "s") != 0 && strcmp(type, "cpy") != 0)
            break;
        sends += type[0] == 's';
    }
    if (sends < 2 || lane->send == lane->recv)
        return true;
    struct nuna_xml_out_step *mixed = malloc((lane->count - start) * sizeof *mixed);
    if (mixed == NULL) {
        w->no_memory = true;
        return false;
    }
    for (uint32_t i = start; i < first; i++) {
        mixed[at++] = lane->steps[i];
        if (lane->steps[i].type[0] == 's' && next < lane->count)
            mixed[at++] = lane->steps[next++];
    }
    memcpy(&mixed[at], &lane->steps[next], (lane->count - next) * sizeof *mixed);
    memcpy(&lane->steps[start], mixed, (lane->count - start) * sizeof *mixed);
    free(mixed);
    return true;
}

static bool write_receives(struct nuna_xml_writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan *plan = w->plan;
    for (uint32_t i = 0; i < op->id_count && !w->no_memory; i++) {
        uint32_t at = plan->gpus[w->tb_gpu[tb]].channel_at + plan->ids[op->id_at + i];
        if (w->message_taken[at] == w->message_count[at])
            return refuse(w);
        struct nuna_xml_message message = w->messages[w->message_at[at] + w->message_taken[at]++];
        uint32_t lane = nuna_xml_lane_of(w, tb, at, false), first = w->lanes[lane].count;
        for (uint32_t o = message.from; o < message.to; o++) {
            const struct nuna_op *put = &plan->ops[o];
            for (uint32_t k = 0; put->kind == NUNA_OP_PUT && k < put->src_count; k++)
                name_ranges(nuna_xml_add_step(w, tb, lane, "r", NUNA_XML_RECEIVES),
                            &plan->ranges[put->src_at + k], &plan->ranges[put->dst_at + k]);
        }
        if (!w->no_memory && !interleave(w, &w->lanes[lane], first))
            return false;
    }
    return !w->no_memory;
}

static void write_local(struct nuna_xml_writer *w, uint32_t tb, const char *type,
                        const struct nuna_range *from, const struct nuna_range *to)
{
    name_ranges(nuna_xml_add_step(w, tb, w->needs[tb].current, type, NUNA_XML_LOCAL), from, to);
}

static bool same_range(const struct nuna_range *a, const struct nuna_range *b)
{
    return a->buffer == b->buffer && a->index == b->index;
}

/* dst = dst + each other source; where dst is no source, the first one is copied there before. */
static bool write_reduction(struct nuna_xml_writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_range *ranges = w->plan->ranges, *into = &ranges[op->dst_at];
    uint32_t own = 0;
    while (own < op->src_count && !same_range(&ranges[op->src_at + own], into))
        own++;
    if (own == op->src_count) {
        own = 0;
        write_local(w, tb, "cpy", &ranges[op->src_at], into);
    }
    for (uint32_t i = 0; i < op->src_count; i++)
        if (i != own)
            write_local(w, tb, "re", &ranges[op->src_at + i], into);
    return true;
}

static bool write_op(struct nuna_xml_writer *w, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan *plan = w->plan;
    switch (op->kind) {
    case NUNA_OP_NOP:
        return true;
    case NUNA_OP_PUT:
        return write_sends(w, tb, op);
    case NUNA_OP_COPY:
        for (uint32_t i = 0; i < op->src_count; i++)
            write_local(w, tb, "cpy", &plan->ranges[op->src_at + i], &plan->ranges[op->dst_at + i]);
        return true;
    case NUNA_OP_REDUCE:
        return write_reduction(w, tb, op);
    case NUNA_OP_SIGNAL:
        return op->id_count == 1 || refuse(w);
    case NUNA_OP_WAIT:
        return write_receives(w, tb, op);
    default:
        return refuse(w);
    }
}

/* A threadblock's steps up to its next barrier, which is returned; NONE: to the end. */
static uint32_t write_phase(struct nuna_xml_writer *w, uint32_t tb)
{
    const struct nuna_threadblock *block = &w->plan->threadblocks[tb];
    for (; w->pc[tb] < block->op_count; w->pc[tb]++) {
        const struct nuna_op *op = &w->plan->ops[block->op_at + w->pc[tb]];
        if (op->kind == NUNA_OP_BARRIER)
            return op->barrier_id;
        if (!write_op(w, tb, op) || w->no_memory)
            return NUNA_NONE;
    }
    return NUNA_NONE;
}

/* Whoever meets at the barrier must be there. */
static bool all_there(const struct nuna_xml_writer *w, uint32_t gpu, const uint32_t *barriers,
                      uint32_t barrier)
{
    const struct nuna_plan_gpu *g = &w->plan->gpus[gpu];
    uint32_t there = 0, expected = 0;
    for (uint32_t t = 0; t < g->tb_count; t++)
        if (barriers[t] == barrier) {
            uint32_t at = w->plan->threadblocks[g->tb_at + t].op_at + w->pc[g->tb_at + t];
            expected = w->plan->ops[at].barrier_blocks;
            there++;
        }
    return there == expected;
}

/* All threadblocks of a GPU up to their next barriers, then the barriers. */
static void write_gpu(struct nuna_xml_writer *w, uint32_t gpu, uint32_t *barriers)
{
    const struct nuna_plan_gpu *g = &w->plan->gpus[gpu];
    for (bool any = true; any && !w->failed && !w->no_memory;) {
        any = false;
        for (uint32_t t = 0; t < g->tb_count && !w->failed && !w->no_memory; t++) {
            barriers[t] = write_phase(w, g->tb_at + t);
            any |= barriers[t] != NUNA_NONE;
        }
        for (uint32_t b = 0; any && b < g->barrier_count && !w->failed && !w->no_memory; b++) {
            if (all_there(w, gpu, barriers, b))
                nuna_xml_join(w, gpu, barriers, b);
            else
                refuse(w);
        }
        for (uint32_t t = 0; t < g->tb_count; t++)
            w->pc[g->tb_at + t] += barriers[t] != NUNA_NONE;
    }
}

static bool prepare(struct nuna_xml_writer *w)
{
    const struct nuna_plan *plan = w->plan;
    w->lane_at = calloc(plan->threadblock_count + 1, sizeof *w->lane_at);
    w->message_at = calloc(plan->channel_count + 1, sizeof *w->message_at);
    w->message_count = calloc(plan->channel_count + 1, sizeof *w->message_count);
    w->message_taken = calloc(plan->channel_count + 1, sizeof *w->message_taken);
    w->several = calloc(plan->channel_count + 1, sizeof *w->several);
    w->chan_of = calloc(plan->channel_count + 1, sizeof *w->chan_of);
    w->tb_gpu = calloc(plan->threadblock_count + 1, sizeof *w->tb_gpu);
    w->needs = calloc(plan->threadblock_count + 1, sizeof *w->needs);
    w->pc = calloc(plan->threadblock_count + 1, sizeof *w->pc);
    w->no_memory = !w->lane_at || !w->message_at || !w->message_count || !w->message_taken ||
                   !w->several || !w->chan_of || !w->tb_gpu || !w->needs || !w->pc;
    if (w->no_memory)
        return false;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++)
            w->tb_gpu[plan->gpus[g].tb_at + t] = g;
    number_channels(w);
    list_messages(w, false);
    uint32_t all = 0;
    for (size_t c = 0; c < plan->channel_count; c++) {
        w->message_at[c] = all;
        all += w->message_count[c];
    }
    w->messages = calloc((size_t)all + 1, sizeof *w->messages);
    w->no_memory = w->messages == NULL;
    if (w->no_memory)
        return false;
    list_messages(w, true);
    return check_messages(w) && nuna_xml_make_lanes(w);
}

static void let_go(struct nuna_xml_writer *w)
{
    for (uint32_t lane = 0; lane < w->lane_count; lane++)
        free(w->lanes[lane].steps);
    free(w->lanes);
    free(w->lane_at);
    free(w->messages);
    free(w->message_at);
    free(w->message_count);
    free(w->message_taken);
    free(w->several);
    free(w->chan_of);
    free(w->tb_gpu);
    free(w->needs);
    free(w->pc);
}

bool nuna_plan_write_xml(const struct nuna_plan *plan, FILE *out)
{
    struct nuna_xml_writer w = {.plan = plan};
    uint32_t *barriers = calloc(plan->threadblock_count + 1, sizeof *barriers);
    bool good = prepare(&w) && barriers != NULL;
    w.no_memory |= barriers == NULL;
    for (uint32_t g = 0; good && g < plan->gpu_count; g++) {
        nuna_xml_begin_order(&w, g);
        if (!w.no_memory)
            write_gpu(&w, g, barriers);
        nuna_xml_end_order(&w, g);
        good = !w.failed && !w.no_memory;
    }
    if (good)
        nuna_xml_print(&w, out);
    int why = w.no_memory ? ENOMEM : EINVAL;
    let_go(&w);
    free(barriers);
    if (!good) {
        errno = why;
        return false;
    }
    return fflush(out) == 0 && !ferror(out);
}
