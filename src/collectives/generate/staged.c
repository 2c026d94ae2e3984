#include "collectives/generate/staged.h"

#include <stdlib.h>

struct nuna_send *nuna_staged_send(struct nuna_staged *staged, uint32_t offset, uint32_t room)
{
    struct nuna_stage *stage = &staged->stages[staged->count];
    struct nuna_send *grown = realloc(stage->sends, (stage->count + 1u) * sizeof *grown);
    if (grown != NULL)
        stage->sends = grown;
    uint32_t *items = malloc((room + 1u) * sizeof *items);
    if (grown == NULL || items == NULL) {
        free(items);
        staged->no_memory = true;
        return NULL;
    }
    struct nuna_send *send = &stage->sends[stage->count++];
    *send = (struct nuna_send){.offset = offset, .items = items};
    if (stage->count > staged->most)
        staged->most = stage->count;
    return send;
}

static void number_slots(struct nuna_staged *staged)
{
    for (uint32_t s = 0; s < staged->count; s++)
        for (uint32_t p = 0; p < staged->stages[s].count; p++) {
            staged->stages[s].sends[p].slot = staged->slots;
            staged->slots += staged->stages[s].sends[p].count;
        }
}

bool nuna_staged_prepare(struct gen *gen, nuna_stages *gather, nuna_stages *exchange,
                         struct nuna_error *err)
{
    struct nuna_staged *staged = calloc(1, sizeof *staged);
    gen->algorithm = staged;
    if (staged == NULL)
        return nuna_fail_memory(err, "a plan");
    (gen->rule->personal ? exchange : gather)(staged, gen->gpus);
    number_slots(staged);
    return !staged->no_memory || nuna_fail_memory(err, "a plan");
}

void nuna_staged_free(struct gen *gen)
{
    struct nuna_staged *staged = gen->algorithm;
    for (uint32_t s = 0; staged != NULL && s < NUNA_STAGES_MAX; s++) {
        for (uint32_t p = 0; p < staged->stages[s].count; p++)
            free(staged->stages[s].sends[p].items);
        free(staged->stages[s].sends);
    }
    free(staged);
    gen->algorithm = NULL;
}

/* ---- channels ---- */

/* For each send and channel one end towards r + o and one towards r - o, or a single one where
 * those are the same GPU. `forth` names the end that is used to send forwards. */
static uint32_t channel_of(const struct gen *gen, uint32_t stage, uint32_t p, uint32_t channel,
                           bool forth)
{
    const struct nuna_staged *staged = gen->algorithm;
    uint32_t id = 0;
    for (uint32_t s = 0; s <= stage; s++)
        for (uint32_t q = 0; q < (s == stage ? p : staged->stages[s].count); q++)
            id += 2 * staged->stages[s].sends[q].offset == gen->gpus ? 1 : 2;
    bool single = 2 * staged->stages[stage].sends[p].offset == gen->gpus;
    return (id + (single || forth ? 0 : 1)) * gen->channels + channel;
}

static void add_channels(struct gen *gen)
{
    const struct nuna_staged *staged = gen->algorithm;
    for (uint32_t s = 0; s < staged->count; s++)
        for (uint32_t p = 0; p < staged->stages[s].count; p++) {
            uint32_t offset = staged->stages[s].sends[p].offset;
            for (uint32_t c = 0; c < gen->channels; c++)
                nuna_builder_channel(
                    &gen->builder, gen->own,
                    memory_channel(rank_after(gen, offset), channel_of(gen, s, p, c, false)));
            for (uint32_t c = 0; 2 * offset != gen->gpus && c < gen->channels; c++)
                nuna_builder_channel(
                    &gen->builder, gen->own,
                    memory_channel(rank_before(gen, offset), channel_of(gen, s, p, c, true)));
        }
}

/* ---- operations ---- */

static uint32_t slot_of(const struct gen *gen, const struct nuna_send *send, uint32_t item,
                        uint32_t channel)
{
    return (send->slot + item) * gen->channels + channel;
}

static void exchange_signals(struct gen *gen, uint32_t stage, uint32_t p, uint32_t channel,
                             bool forth)
{
    announce(gen, channel_of(gen, stage, p, channel, forth));
    await(gen, channel_of(gen, stage, p, channel, !forth));
}

static void meet(struct gen *gen, uint32_t channel)
{
    const struct nuna_staged *staged = gen->algorithm;
    if (staged->most > 1)
        nuna_builder_barrier(&gen->builder, channel, staged->most);
}

static void gather(struct gen *gen, uint32_t p, uint32_t channel)
{
    const struct nuna_staged *staged = gen->algorithm;
    bool gathers = gen->rule->own_input;
    for (uint32_t s = 0; s < staged->count; s++) {
        if (s > 0)
            meet(gen, channel);
        if (p >= staged->stages[s].count)
            continue;
        const struct nuna_send *send = &staged->stages[s].sends[p];
        uint32_t peer = rank_after(gen, send->offset);
        nuna_builder_op(&gen->builder, NUNA_OP_PUT, false);
        for (uint32_t i = 0; i < send->count; i++) {
            uint32_t block = in_block(gen, rank_before(gen, send->items[i]), channel);
            bool own = gathers && send->items[i] == 0;
            nuna_builder_source(&gen->builder, own ? chunk(gen->own, NUNA_BUF_INPUT, channel)
                                                   : chunk(gen->own, NUNA_BUF_OUTPUT, block));
        }
        for (uint32_t i = 0; i < send->count; i++)
            nuna_builder_destination(
                &gen->builder, chunk(peer, NUNA_BUF_OUTPUT,
                                     in_block(gen, rank_before(gen, send->items[i]), channel)));
        exchange_signals(gen, s, p, channel, true);
    }
}

/* What the stage's senders have brought is added to the partial sums of its blocks, r - x. */
static void add_up(struct gen *gen, const struct nuna_stage *stage, enum nuna_buffer partial,
                   uint32_t channel)
{
    const struct nuna_send *longest = &stage->sends[0];
    for (uint32_t p = 1; p < stage->count; p++)
        if (stage->sends[p].count > longest->count)
            longest = &stage->sends[p];
    for (uint32_t i = 0; i < longest->count; i++) {
        uint32_t x = longest->items[i];
        uint32_t block = in_block(gen, rank_before(gen, x), channel);
        nuna_builder_op(&gen->builder, NUNA_OP_REDUCE, false);
        nuna_builder_source(&gen->builder, chunk(gen->own, partial, block));
        for (uint32_t p = 0; p < stage->count; p++)
            for (uint32_t k = 0; k < stage->sends[p].count; k++)
                if (stage->sends[p].items[k] == x)
                    nuna_builder_source(&gen->builder,
                                        chunk(gen->own, NUNA_BUF_SCRATCH,
                                              slot_of(gen, &stage->sends[p], k, channel)));
        nuna_builder_destination(&gen->builder, chunk(gen->own, partial, block));
    }
    nop(gen);
}

static void reduce_scatter(struct gen *gen, uint32_t p, uint32_t channel)
{
    const struct nuna_staged *staged = gen->algorithm;
    /* In place, the own block of the input is the output. */
    enum nuna_buffer partial = gen->rule->own_output ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    for (uint32_t s = staged->count; s-- > 0;) {
        const struct nuna_stage *stage = &staged->stages[s];
        if (p < stage->count) {
            const struct nuna_send *send = &stage->sends[p];
            uint32_t peer = rank_before(gen, send->offset);
            nuna_builder_op(&gen->builder, NUNA_OP_PUT, false);
            for (uint32_t i = 0; i < send->count; i++)
                nuna_builder_source(
                    &gen->builder,
                    chunk(gen->own, partial,
                          in_block(gen, rank_before(gen, send->offset + send->items[i]), channel)));
            for (uint32_t i = 0; i < send->count; i++)
                nuna_builder_destination(
                    &gen->builder, chunk(peer, NUNA_BUF_SCRATCH, slot_of(gen, send, i, channel)));
            exchange_signals(gen, s, p, channel, false);
        }
        meet(gen, channel);
        if (p == 0)
            add_up(gen, stage, partial, channel);
        meet(gen, channel);
    }
}

/* The send of an earlier (`step` -1) or later (1) stage that carries the item; NULL: none. */
static const struct nuna_send *other_hop(const struct nuna_staged *staged, uint32_t stage, int step,
                                         uint32_t item, uint32_t *ret_place)
{
    for (int64_t s = (int64_t)stage + step; s >= 0 && s < staged->count; s += step)
        for (uint32_t p = 0; p < staged->stages[s].count; p++) {
            const struct nuna_send *send = &staged->stages[s].sends[p];
            for (uint32_t i = 0; i < send->count; i++)
                if (send->items[i] == item) {
                    *ret_place = i;
                    return send;
                }
        }
    return NULL;
}

static void exchange(struct gen *gen, uint32_t p, uint32_t channel)
{
    const struct nuna_staged *staged = gen->algorithm;
    for (uint32_t s = 0; s < staged->count; s++) {
        if (s > 0)
            meet(gen, channel);
        if (p >= staged->stages[s].count)
            continue;
        const struct nuna_send *send = &staged->stages[s].sends[p], *other;
        uint32_t peer = rank_after(gen, send->offset), place;
        nuna_builder_op(&gen->builder, NUNA_OP_PUT, false);
        for (uint32_t i = 0; i < send->count; i++) {
            uint32_t d = send->items[i];
            other = other_hop(staged, s, -1, d, &place);
            nuna_builder_source(
                &gen->builder,
                other == NULL
                    ? chunk(gen->own, NUNA_BUF_INPUT, in_block(gen, rank_after(gen, d), channel))
                    : chunk(gen->own, NUNA_BUF_SCRATCH, slot_of(gen, other, place, channel)));
        }
        for (uint32_t i = 0; i < send->count; i++) {
            uint32_t d = send->items[i];
            uint32_t source = (peer + gen->gpus - d) % gen->gpus;
            other = other_hop(staged, s, 1, d, &place);
            nuna_builder_destination(
                &gen->builder, other == NULL
                                   ? chunk(peer, NUNA_BUF_OUTPUT, in_block(gen, source, channel))
                                   : chunk(peer, NUNA_BUF_SCRATCH, slot_of(gen, send, i, channel)));
        }
        announce(gen, channel_of(gen, s, p, channel, true));
        if (s == 0 && p == 0)
            keep_own(gen, channel);
        await(gen, channel_of(gen, s, p, channel, false));
    }
}

void nuna_staged_gpu(struct gen *gen)
{
    const struct nuna_staged *staged = gen->algorithm;
    struct nuna_plan_gpu *gpu = &gen->builder.plan->gpus[gen->own];
    if (gen->rule->reduces || gen->rule->personal)
        gpu->chunks[NUNA_BUF_SCRATCH] = staged->slots * gen->channels;
    /* A single round of stores needs no meeting. */
    bool reduces = gen->rule->reduces;
    bool meets = staged->most > 1 && (reduces || staged->count > 1);
    gpu->barrier_count = meets ? gen->channels : 0;
    add_channels(gen);
    for (uint32_t p = 0; p < staged->most; p++)
        for (uint32_t channel = 0; channel < gen->channels; channel++) {
            nuna_builder_threadblock(&gen->builder, gen->own);
            if (gen->rule->personal) {
                exchange(gen, p, channel);
                continue;
            }
            if (gen->rule->reduces)
                reduce_scatter(gen, p, channel);
            if (!gen->rule->own_output)
                gather(gen, p, channel);
        }
}
