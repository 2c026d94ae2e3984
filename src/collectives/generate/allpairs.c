/* Every GPU stores to every other directly. */
#include "collectives/generate/generator.h"

/* The peer of an all-pairs plan at a relative position, from 1 on. */
static uint32_t peer_at(const struct gen *gen, uint32_t distance)
{
    return nuna_group_add(&gen->group, gen->own, distance);
}

/* Where this GPU stands, seen from the peer at `distance`. */
static uint32_t reverse_of(const struct gen *gen, uint32_t distance)
{
    return nuna_group_difference(&gen->group, gen->own, peer_at(gen, distance));
}

/* All-gather and all-to-all: one store to the peer, and the own part moved while the peer's comes.
 */
static void pairs_exchange(struct gen *gen, uint32_t distance, uint32_t channel)
{
    uint32_t peer = peer_at(gen, distance);
    uint32_t id = (distance - 1) * gen->channels + channel;
    bool gathers = gen->rule->own_input;
    move(gen, NUNA_OP_PUT,
         chunk(gen->own, NUNA_BUF_INPUT, gathers ? channel : in_block(gen, peer, channel)),
         chunk(peer, NUNA_BUF_OUTPUT, in_block(gen, gen->own, channel)));
    announce(gen, id);
    if (distance == 1 && !gathers && !gen->own_apart)
        keep_own(gen, channel);
    await(gen, id);
}

/* One block of the channel adds up what all of them have received. */
static void pairs_reduce(struct gen *gen, uint32_t channel)
{
    struct nuna_builder *builder = &gen->builder;
    uint32_t block = in_block(gen, gen->own, channel);
    bool scatters = gen->rule->own_output;
    nuna_builder_op(builder, NUNA_OP_REDUCE, false);
    nuna_builder_source(builder, chunk(gen->own, NUNA_BUF_INPUT, block));
    for (uint32_t distance = 1; distance < gen->gpus; distance++)
        nuna_builder_source(
            builder, chunk(gen->own, NUNA_BUF_SCRATCH, (distance - 1) * gen->channels + channel));
    nuna_builder_destination(builder, chunk(gen->own, NUNA_BUF_OUTPUT, scatters ? channel : block));
}

static void pairs_meet(struct gen *gen, uint32_t channel)
{
    if (gen->gpus > 2)
        nuna_builder_barrier(&gen->builder, channel, gen->gpus - 1);
}

static void pairs_reducing(struct gen *gen, uint32_t distance, uint32_t channel)
{
    uint32_t peer = peer_at(gen, distance);
    uint32_t id = (distance - 1) * gen->channels + channel;
    /* The receiver files what it gets by its own distance to the sender. */
    uint32_t slot = (reverse_of(gen, distance) - 1) * gen->channels + channel;
    move(gen, NUNA_OP_PUT, chunk(gen->own, NUNA_BUF_INPUT, in_block(gen, peer, channel)),
         chunk(peer, NUNA_BUF_SCRATCH, slot));
    announce(gen, id);
    await(gen, id);
    pairs_meet(gen, channel);
    if (distance == 1)
        pairs_reduce(gen, channel);
    if (gen->rule->own_output)
        return;

    if (distance == 1)
        nop(gen);
    pairs_meet(gen, channel);
    uint32_t block = in_block(gen, gen->own, channel);
    move(gen, NUNA_OP_PUT, chunk(gen->own, NUNA_BUF_OUTPUT, block),
         chunk(peer, NUNA_BUF_OUTPUT, block));
    announce(gen, id);
    await(gen, id);
}

static void pairs_gpu(struct gen *gen)
{
    struct nuna_builder *builder = &gen->builder;
    bool reduces = gen->rule->reduces;
    struct nuna_plan_gpu *gpu = &builder->plan->gpus[gen->own];
    if (reduces) {
        gpu->chunks[NUNA_BUF_SCRATCH] = (gen->gpus - 1) * gen->channels;
        gpu->barrier_count = gen->gpus > 2 ? gen->channels : 0;
    }
    for (uint32_t distance = 1; distance < gen->gpus; distance++) {
        /* Seen from the peer this GPU is at the opposite distance. */
        uint32_t reverse = (reverse_of(gen, distance) - 1) * gen->channels;
        for (uint32_t channel = 0; channel < gen->channels; channel++) {
            nuna_builder_threadblock(builder, gen->own);
            nuna_builder_channel(builder, gen->own,
                                 memory_channel(peer_at(gen, distance), reverse + channel));
            if (reduces)
                pairs_reducing(gen, distance, channel);
            else
                pairs_exchange(gen, distance, channel);
        }
    }
    for (uint32_t channel = 0; gen->own_apart && channel < gen->channels; channel++) {
        nuna_builder_threadblock(builder, gen->own);
        keep_own(gen, channel);
    }
}

const struct nuna_generator nuna_generator_allpairs = {
    .collectives = NUNA_EVERY_COLLECTIVE,
    .by_nodes = true,
    .own_apart = true,
    .least_bytes = nuna_generator_steps_bytes,
    .gpu = pairs_gpu,
};
