/* Every GPU stores to the next one only, step by step. */
#include "collectives/generate/generator.h"

static uint32_t id_of_next(const struct gen *gen, uint32_t channel)
{
    return channel;
}

/* With two GPUs the next is also the previous, and one channel serves both ways. */
static uint32_t id_of_previous(const struct gen *gen, uint32_t channel)
{
    return gen->gpus == 2 ? channel : gen->channels + channel;
}

/* Step by step, each GPU passes on the newest partial sum; its own block comes last. Partial sums
 * are kept where chunks have exact lengths, not in scratch, whose chunks are all as long as the
 * longest. */
static void ring_reduce_scatter(struct gen *gen, uint32_t channel)
{
    struct nuna_builder *builder = &gen->builder;
    bool scatters = gen->rule->own_output;
    enum nuna_buffer partial = scatters ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    uint32_t next = rank_after(gen, 1);
    for (uint32_t step = 0; step + 1 < gen->gpus; step++) {
        uint32_t sent = in_block(gen, rank_before(gen, step + 1), channel);
        uint32_t received = in_block(gen, rank_before(gen, step + 2), channel);
        uint32_t slot = step * gen->channels + channel;
        move(gen, NUNA_OP_PUT, chunk(gen->own, step == 0 ? NUNA_BUF_INPUT : partial, sent),
             chunk(next, NUNA_BUF_SCRATCH, slot));
        announce(gen, id_of_next(gen, channel));
        await(gen, id_of_previous(gen, channel));

        nuna_builder_op(builder, NUNA_OP_REDUCE, false);
        nuna_builder_source(builder, chunk(gen->own, NUNA_BUF_INPUT, received));
        nuna_builder_source(builder, chunk(gen->own, NUNA_BUF_SCRATCH, slot));
        bool last = step + 2 == gen->gpus;
        nuna_builder_destination(builder, last && scatters
                                              ? chunk(gen->own, NUNA_BUF_OUTPUT, channel)
                                              : chunk(gen->own, partial, received));
        if (!last || !scatters)
            nop(gen);
    }
}

/* Each GPU passes on the newest finished block; the first is its own. */
static void ring_all_gather(struct gen *gen, uint32_t channel)
{
    uint32_t next = rank_after(gen, 1);
    bool gathers = gen->rule->own_input;
    for (uint32_t step = 0; step + 1 < gen->gpus; step++) {
        uint32_t block = in_block(gen, rank_before(gen, step), channel);
        struct nuna_range from = gathers && step == 0 ? chunk(gen->own, NUNA_BUF_INPUT, channel)
                                                      : chunk(gen->own, NUNA_BUF_OUTPUT, block);
        move(gen, NUNA_OP_PUT, from, chunk(next, NUNA_BUF_OUTPUT, block));
        announce(gen, id_of_next(gen, channel));
        await(gen, id_of_previous(gen, channel));
    }
}

/* Where step `step` leaves the block that goes `distance` GPUs far: what a step brings keeps its
 * place until the next has passed it on. */
static uint32_t ring_slot(const struct gen *gen, uint32_t step, uint32_t distance, uint32_t channel)
{
    uint32_t before = (step - 1) * (gen->gpus - 1) - (step - 1) * step / 2;
    return (before + distance - step - 1) * gen->channels + channel;
}

/* In step s all blocks move on that go s GPUs far or further. */
static void ring_all_to_all(struct gen *gen, uint32_t channel)
{
    uint32_t next = rank_after(gen, 1);
    for (uint32_t step = 1; step < gen->gpus; step++) {
        nuna_builder_op(&gen->builder, NUNA_OP_PUT, false);
        for (uint32_t d = step; d < gen->gpus; d++)
            nuna_builder_source(
                &gen->builder,
                step == 1
                    ? chunk(gen->own, NUNA_BUF_INPUT, in_block(gen, rank_after(gen, d), channel))
                    : chunk(gen->own, NUNA_BUF_SCRATCH, ring_slot(gen, step - 1, d, channel)));
        for (uint32_t d = step; d < gen->gpus; d++)
            nuna_builder_destination(
                &gen->builder,
                d == step ? chunk(next, NUNA_BUF_OUTPUT,
                                  in_block(gen, rank_before(gen, step - 1), channel))
                          : chunk(next, NUNA_BUF_SCRATCH, ring_slot(gen, step, d, channel)));
        announce(gen, id_of_next(gen, channel));
        if (step == 1)
            keep_own(gen, channel);
        await(gen, id_of_previous(gen, channel));
    }
}

static void ring_gpu(struct gen *gen)
{
    struct nuna_builder *builder = &gen->builder;
    if (gen->rule->personal)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] =
            (gen->gpus - 1) * (gen->gpus - 2) / 2 * gen->channels;
    else if (gen->rule->reduces)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] = (gen->gpus - 1) * gen->channels;
    for (uint32_t channel = 0; channel < gen->channels; channel++)
        nuna_builder_channel(builder, gen->own,
                             memory_channel(rank_after(gen, 1), id_of_previous(gen, channel)));
    for (uint32_t channel = 0; gen->gpus > 2 && channel < gen->channels; channel++)
        nuna_builder_channel(builder, gen->own,
                             memory_channel(rank_before(gen, 1), id_of_next(gen, channel)));
    for (uint32_t channel = 0; channel < gen->channels; channel++) {
        nuna_builder_threadblock(builder, gen->own);
        if (gen->rule->personal) {
            ring_all_to_all(gen, channel);
            continue;
        }
        if (gen->rule->reduces)
            ring_reduce_scatter(gen, channel);
        if (!gen->rule->own_output)
            ring_all_gather(gen, channel);
    }
}

static uint64_t least_bytes(const struct nuna_plan_spec *spec)
{
    uint64_t bytes = nuna_generator_steps_bytes(spec);
    /* On average a step of an all-to-all moves half of the blocks. */
    if (nuna_collective_rule(spec->collective)->personal)
        bytes += (uint64_t)spec->gpus * (spec->gpus - 1) * spec->channels * (spec->gpus / 2) * 2 *
                 sizeof(struct nuna_range);
    return bytes;
}

const struct nuna_generator nuna_generator_ring = {
    .collectives = NUNA_EVERY_COLLECTIVE,
    .least_bytes = least_bytes,
    .gpu = ring_gpu,
};
