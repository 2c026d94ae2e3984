/* XML writer: lanes, and the order between them.
 *
 * A receive needs nothing before it: in the plan, what a peer stores may land at any time, too. A
 * send needs what its threadblock has received, copied and added up before; these need all of that
 * and the sends before them, which may read what they overwrite. */
#include "collectives/write/xml_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---- */

static uint32_t add_lane(struct nuna_xml_writer *w)
{
    if (w->lane_count == w->lane_cap) {
        uint32_t cap = w->lane_cap == 0 ? 64 : w->lane_cap * 2;
        struct nuna_xml_lane *grown = realloc(w->lanes, cap * sizeof *grown);
        if (grown == NULL) {
            w->no_memory = true;
            return NUNA_NONE;
        }
        w->lanes = grown;
        w->lane_cap = cap;
    }
    w->lanes[w->lane_count] = (struct nuna_xml_lane){.send = -1, .recv = -1};
    return w->lane_count++;
}

/* Between two GPUs that both send first, several sends and the receives behind them could wait for
 * each other's slots: they get lanes of their own. */
static bool has_room(const struct nuna_xml_writer *w, const struct nuna_xml_lane *lane,
                     uint32_t channel, bool sending)
{
    int64_t here = sending ? lane->send : lane->recv, other = sending ? lane->recv : lane->send;
    int64_t peer = w->plan->channels[channel].peer;
    if (here < 0 && other < 0)
        return true;
    return lane->chan == w->chan_of[channel] && (here < 0 || here == peer) &&
           (other != peer || !w->several[channel]);
}

static void use_channel(struct nuna_xml_writer *w, uint32_t tb, uint32_t channel, bool sending)
{
    uint32_t at = w->lane_at[tb];
    while (at < w->lane_count && !has_room(w, &w->lanes[at], channel, sending))
        at++;
    if (at == w->lane_count && add_lane(w) == NUNA_NONE)
        return;
    struct nuna_xml_lane *lane = &w->lanes[at];
    *(sending ? &lane->send : &lane->recv) = w->plan->channels[channel].peer;
    lane->chan = w->chan_of[channel];
}

bool nuna_xml_make_lanes(struct nuna_xml_writer *w)
{
    const struct nuna_plan *plan = w->plan;
    for (uint32_t tb = 0; tb < plan->threadblock_count && !w->no_memory; tb++) {
        const struct nuna_threadblock *block = &plan->threadblocks[tb];
        w->lane_at[tb] = w->lane_count;
        for (uint32_t o = block->op_at; o < block->op_at + block->op_count; o++) {
            const struct nuna_op *op = &plan->ops[o];
            bool sends = op->kind == NUNA_OP_SIGNAL;
            for (uint32_t i = 0; (sends || op->kind == NUNA_OP_WAIT) && i < op->id_count; i++)
                use_channel(w, tb, plan->gpus[w->tb_gpu[tb]].channel_at + plan->ids[op->id_at + i],
                            sends);
        }
        if (w->lane_count == w->lane_at[tb])
            add_lane(w);
    }
    w->lane_at[plan->threadblock_count] = w->lane_count;
    return !w->no_memory;
}

uint32_t nuna_xml_lane_of(const struct nuna_xml_writer *w, uint32_t tb, uint32_t channel,
                          bool sending)
{
    int64_t peer = w->plan->channels[channel].peer;
    uint32_t at = w->lane_at[tb];
    while ((sending ? w->lanes[at].send : w->lanes[at].recv) != peer ||
           w->lanes[at].chan != w->chan_of[channel])
        at++;
    return at;
}

/* ---- order ---- */

static uint32_t *no_steps(struct nuna_xml_writer *w, uint32_t count)
{
    uint32_t *steps = calloc(count + 1u, sizeof *steps);
    w->no_memory |= steps == NULL;
    return steps;
}

void nuna_xml_begin_order(struct nuna_xml_writer *w, uint32_t gpu)
{
    const struct nuna_plan_gpu *g = &w->plan->gpus[gpu];
    uint32_t lanes = nuna_xml_lane_count(w, gpu);
    bool plain = lanes == g->tb_count && g->barrier_count == 0;
    for (uint32_t tb = g->tb_at; tb < g->tb_at + g->tb_count; tb++) {
        w->needs[tb].current = w->lane_at[tb];
        if (plain || w->no_memory)
            continue; /* each threadblock's own order is all there is */
        w->needs[tb].send = no_steps(w, lanes);
        w->needs[tb].local = no_steps(w, lanes);
    }
}

void nuna_xml_end_order(struct nuna_xml_writer *w, uint32_t gpu)
{
    const struct nuna_plan_gpu *g = &w->plan->gpus[gpu];
    for (uint32_t tb = g->tb_at; tb < g->tb_at + g->tb_count; tb++) {
        free(w->needs[tb].send);
        free(w->needs[tb].local);
        w->needs[tb].send = w->needs[tb].local = NULL;
        for (uint32_t lane = w->lane_at[tb]; lane < w->lane_at[tb + 1]; lane++) {
            free(w->lanes[lane].done);
            w->lanes[lane].done = NULL;
        }
    }
}

static struct nuna_xml_out_step *append(struct nuna_xml_writer *w, struct nuna_xml_lane *lane,
                                        const char *type)
{
    if (lane->count == lane->cap) {
        uint32_t cap = lane->cap == 0 ? 16 : lane->cap * 2;
        struct nuna_xml_out_step *grown = realloc(lane->steps, cap * sizeof *grown);
        if (grown == NULL) {
            w->no_memory = true;
            return NULL;
        }
        lane->steps = grown;
        lane->cap = cap;
    }
    struct nuna_xml_out_step *step = &lane->steps[lane->count++];
    *step = (struct nuna_xml_out_step){.source_buffer = 'i',
                                       .target_buffer = 'o',
                                       .source = -1,
                                       .target = -1,
                                       .depid = -1,
                                       .deps = -1};
    snprintf(step->type, sizeof step->type, "%s", type);
    return step;
}

/* A nop for each lane that has something to wait for. */
static void depend(struct nuna_xml_writer *w, uint32_t gpu, uint32_t at, const uint32_t *needs)
{
    struct nuna_xml_lane *lane = &w->lanes[at];
    uint32_t first = nuna_xml_first_lane(w, gpu), count = nuna_xml_lane_count(w, gpu);
    for (uint32_t other = 0; other < count; other++) {
        if (needs[other] == 0 || first + other == at)
            continue;
        if (lane->done == NULL && (lane->done = no_steps(w, count)) == NULL)
            return;
        if (lane->done[other] >= needs[other])
            continue;
        struct nuna_xml_out_step *step = append(w, lane, "nop");
        if (step == NULL)
            return;
        step->depid = other;
        step->deps = needs[other] - 1;
        w->lanes[first + other].steps[needs[other] - 1].posted = true;
        lane->done[other] = needs[other];
    }
}

struct nuna_xml_out_step *nuna_xml_add_step(struct nuna_xml_writer *w, uint32_t tb, uint32_t lane,
                                            const char *type, enum nuna_xml_move move)
{
    struct nuna_xml_needs *needs = &w->needs[tb];
    uint32_t gpu = w->tb_gpu[tb], place = lane - nuna_xml_first_lane(w, gpu);
    if (needs->local != NULL && move != NUNA_XML_RECEIVES)
        depend(w, gpu, lane, move == NUNA_XML_SENDS ? needs->send : needs->local);
    struct nuna_xml_out_step *step = w->no_memory ? NULL : append(w, &w->lanes[lane], type);
    needs->current = lane;
    if (step == NULL || needs->local == NULL)
        return step;
    if (move == NUNA_XML_LOCAL) {
        /* It has waited for all the others. */
        memset(needs->send, 0, nuna_xml_lane_count(w, gpu) * sizeof *needs->send);
        memset(needs->local, 0, nuna_xml_lane_count(w, gpu) * sizeof *needs->local);
    }
    needs->local[place] = w->lanes[lane].count;
    if (move != NUNA_XML_SENDS)
        needs->send[place] = w->lanes[lane].count;
    return step;
}

/* Nobody needs to wait for a step that another has waited for which is awaited anyway. */
static void drop_covered(const struct nuna_xml_writer *w, uint32_t gpu, uint32_t *all)
{
    uint32_t first = nuna_xml_first_lane(w, gpu), count = nuna_xml_lane_count(w, gpu);
    for (uint32_t by = 0; by < count; by++) {
        const struct nuna_xml_lane *lane = &w->lanes[first + by];
        if (lane->done == NULL || all[by] == 0 || all[by] != lane->count)
            continue;
        for (uint32_t other = 0; other < count; other++)
            if (other != by && lane->done[other] >= all[other])
                all[other] = 0;
    }
}

void nuna_xml_join(struct nuna_xml_writer *w, uint32_t gpu, const uint32_t *barriers,
                   uint32_t barrier)
{
    const struct nuna_plan_gpu *g = &w->plan->gpus[gpu];
    uint32_t first = nuna_xml_first_lane(w, gpu), count = nuna_xml_lane_count(w, gpu);
    uint32_t *all = no_steps(w, count);
    for (uint32_t t = 0; all != NULL && t < g->tb_count; t++) {
        uint32_t tb = g->tb_at + t;
        if (barriers[t] != barrier)
            continue;
        for (uint32_t other = 0; other < count; other++)
            if (w->needs[tb].local[other] > all[other])
                all[other] = w->needs[tb].local[other];
        for (uint32_t lane = w->lane_at[tb]; lane < w->lane_at[tb + 1]; lane++) {
            all[lane - first] = w->lanes[lane].count;
            w->lanes[lane].fixed = w->lanes[lane].count;
        }
    }
    if (all == NULL)
        return;
    drop_covered(w, gpu, all);
    for (uint32_t t = 0; t < g->tb_count; t++)
        if (barriers[t] == barrier) {
            memcpy(w->needs[g->tb_at + t].send, all, count * sizeof *all);
            memcpy(w->needs[g->tb_at + t].local, all, count * sizeof *all);
        }
    free(all);
}
