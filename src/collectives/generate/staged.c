/* Algorithms in which every GPU does the same in stages, seen from its own rank r.
 *
 * All-gather: in a stage r sends to r + o the blocks r - x for the x of a list; who got a block
 * from distance x in one stage passes it on in later ones. Recursive doubling: o = 1, 2, 4, ...,
 * and all that is there; two-step, with N = A * B: o = 1 .. A - 1 with the own block, then o = A,
 * 2A, ... with the A blocks of the first step. Each block reaches each GPU once, for any N, along a
 * tree.
 *
 * Reduce-scatter sends along the same trees backwards, stages in reverse order, and adds up on the
 * way: r sends to r - o its partial sums of the blocks r - o - x. All-reduce is one after the
 * other.
 *
 * All-to-all: the block for distance d hops by the offsets that add up to d: powers of two, or d
 * mod A and then the rest. */
#include "collectives/generate/generator.h"

#include <stdlib.h>

#define STAGES_MAX 16 /* log2 of 4096 GPUs, and one to spare */

struct send {
    uint32_t offset;
    uint32_t *items; /* distances */
    uint32_t count;
    uint32_t slot; /* first of its scratch slots */
};

struct stage {
    struct send *sends;
    uint32_t count;
};

struct staged {
    struct stage stages[STAGES_MAX];
    uint32_t count;
    uint32_t most;  /* sends of a stage */
    uint32_t slots; /* of scratch, for each channel */
    bool no_memory;
};

static struct send *add_send(struct staged *staged, uint32_t offset, uint32_t room)
{
    struct stage *stage = &staged->stages[staged->count];
    struct send *grown = realloc(stage->sends, (stage->count + 1u) * sizeof *grown);
    if (grown != NULL)
        stage->sends = grown;
    uint32_t *items = malloc((room + 1u) * sizeof *items);
    if (grown == NULL || items == NULL) {
        free(items);
        staged->no_memory = true;
        return NULL;
    }
    struct send *send = &stage->sends[stage->count++];
    *send = (struct send){.offset = offset, .items = items};
    if (stage->count > staged->most)
        staged->most = stage->count;
    return send;
}

/* ---- who sends what ---- */

static void doubling_gather(struct staged *staged, uint32_t gpus)
{
    for (uint32_t step = 1; step < gpus; step *= 2, staged->count++) {
        struct send *send = add_send(staged, step, step);
        uint32_t count = gpus - step < step ? gpus - step : step;
        for (uint32_t x = 0; send != NULL && x < count; x++)
            send->items[send->count++] = x;
    }
}

static void doubling_exchange(struct staged *staged, uint32_t gpus)
{
    for (uint32_t step = 1; step < gpus; step *= 2, staged->count++) {
        struct send *send = add_send(staged, step, gpus);
        for (uint32_t d = 1; send != NULL && d < gpus; d++)
            if (d & step)
                send->items[send->count++] = d;
    }
}

/* The largest divisor up to the square root. */
static uint32_t first_side(uint32_t gpus)
{
    uint32_t side = 1;
    for (uint32_t a = 2; a * a <= gpus; a++)
        if (gpus % a == 0)
            side = a;
    return side;
}

static void two_step_gather(struct staged *staged, uint32_t gpus)
{
    uint32_t side = first_side(gpus);
    for (uint32_t o = 1; o < side; o++) {
        struct send *send = add_send(staged, o, 1);
        if (send != NULL)
            send->items[send->count++] = 0;
    }
    staged->count += side > 1;
    for (uint32_t o = side; o < gpus; o += side) {
        struct send *send = add_send(staged, o, side);
        for (uint32_t x = 0; send != NULL && x < side; x++)
            send->items[send->count++] = x;
    }
    staged->count++;
}

static void two_step_exchange(struct staged *staged, uint32_t gpus)
{
    uint32_t side = first_side(gpus);
    for (uint32_t o = 1; o < side; o++) {
        struct send *send = add_send(staged, o, gpus / side);
        for (uint32_t d = o; send != NULL && d < gpus; d += side)
            send->items[send->count++] = d;
    }
    staged->count += side > 1;
    for (uint32_t o = side; o < gpus; o += side) {
        struct send *send = add_send(staged, o, side);
        for (uint32_t d = o; send != NULL && d < o + side; d++)
            send->items[send->count++] = d;
    }
    staged->count++;
}

static void number_slots(struct staged *staged)
{
    for (uint32_t s = 0; s < staged->count; s++)
        for (uint32_t p = 0; p < staged->stages[s].count; p++) {
            staged->stages[s].sends[p].slot = staged->slots;
            staged->slots += staged->stages[s].sends[p].count;
        }
}

bool nuna_staged_prepare(struct gen *gen, struct nuna_error *err)
{
    struct staged *staged = calloc(1, sizeof *staged);
    gen->algorithm = staged;
    if (staged == NULL)
        return nuna_fail_memory(err, "a plan");
    bool exchange = gen->spec->collective == NUNA_ALLTOALL;
    if (gen->spec->algorithm == NUNA_DOUBLING)
        (exchange ? doubling_exchange : doubling_gather)(staged, gen->gpus);
    else
        (exchange ? two_step_exchange : two_step_gather)(staged, gen->gpus);
    number_slots(staged);
    return !staged->no_memory || nuna_fail_memory(err, "a plan");
}

void nuna_staged_free(struct gen *gen)
{
    struct staged *staged = gen->algorithm;
    for (uint32_t s = 0; staged != NULL && s < STAGES_MAX; s++) {
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
    const struct staged *staged = gen->algorithm;
    uint32_t id = 0;
    for (uint32_t s = 0; s <= stage; s++)
        for (uint32_t q = 0; q < (s == stage ? p : staged->stages[s].count); q++)
            id += 2 * staged->stages[s].sends[q].offset == gen->gpus ? 1 : 2;
    bool single = 2 * staged->stages[stage].sends[p].offset == gen->gpus;
    return (id + (single || forth ? 0 : 1)) * gen->channels + channel;
}

static void add_channels(struct gen *gen)
{
    const struct staged *staged = gen->algorithm;
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

static uint32_t slot_of(const struct gen *gen, const struct send *send, uint32_t item,
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
    const struct staged *staged = gen->algorithm;
    if (staged->most > 1)
        nuna_builder_barrier(&gen->builder, channel, staged->most);
}

static void gather(struct gen *gen, uint32_t p, uint32_t channel)
{
    const struct staged *staged = gen->algorithm;
    bool gathers = gen->spec->collective == NUNA_ALLGATHER;
    for (uint32_t s = 0; s < staged->count; s++) {
        if (s > 0)
            meet(gen, channel);
        if (p >= staged->stages[s].count)
            continue;
        const struct send *send = &staged->stages[s].sends[p];
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
static void add_up(struct gen *gen, const struct stage *stage, enum nuna_buffer partial,
                   uint32_t channel)
{
    const struct send *longest = &stage->sends[0];
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
    const struct staged *staged = gen->algorithm;
    /* In place, the own block of the input is the output. */
    enum nuna_buffer partial =
        gen->spec->collective == NUNA_REDUCESCATTER ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    for (uint32_t s = staged->count; s-- > 0;) {
        const struct stage *stage = &staged->stages[s];
        if (p < stage->count) {
            const struct send *send = &stage->sends[p];
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
static const struct send *other_hop(const struct staged *staged, uint32_t stage, int step,
                                    uint32_t item, uint32_t *ret_place)
{
    for (int64_t s = (int64_t)stage + step; s >= 0 && s < staged->count; s += step)
        for (uint32_t p = 0; p < staged->stages[s].count; p++) {
            const struct send *send = &staged->stages[s].sends[p];
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
    const struct staged *staged = gen->algorithm;
    for (uint32_t s = 0; s < staged->count; s++) {
        if (s > 0)
            meet(gen, channel);
        if (p >= staged->stages[s].count)
            continue;
        const struct send *send = &staged->stages[s].sends[p], *other;
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
    const struct staged *staged = gen->algorithm;
    enum nuna_collective collective = gen->spec->collective;
    struct nuna_plan_gpu *gpu = &gen->builder.plan->gpus[gen->own];
    if (collective != NUNA_ALLGATHER)
        gpu->chunks[NUNA_BUF_SCRATCH] = staged->slots * gen->channels;
    /* A single round of stores needs no meeting. */
    bool reduces = collective == NUNA_ALLREDUCE || collective == NUNA_REDUCESCATTER;
    bool meets = staged->most > 1 && (reduces || staged->count > 1);
    gpu->barrier_count = meets ? gen->channels : 0;
    add_channels(gen);
    for (uint32_t p = 0; p < staged->most; p++)
        for (uint32_t channel = 0; channel < gen->channels; channel++) {
            nuna_builder_threadblock(&gen->builder, gen->own);
            if (collective == NUNA_ALLTOALL) {
                exchange(gen, p, channel);
                continue;
            }
            if (collective != NUNA_ALLGATHER)
                reduce_scatter(gen, p, channel);
            if (collective != NUNA_REDUCESCATTER)
                gather(gen, p, channel);
        }
}
