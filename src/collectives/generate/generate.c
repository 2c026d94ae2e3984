#include "collectives/generate/generator.h"

#include <stdio.h>
#include <string.h>

/* A plan above this is refused before it eats the machine. */
#define PLAN_BYTES_MAX (UINT64_C(6) << 30)

#define GPUS_MAX     4096u
#define CHANNELS_MAX 1024u

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

/* All but the all-to-all run in place: what a GPU contributes already stands where it belongs. */
static bool in_place(const struct nuna_plan_spec *spec)
{
    return spec->collective != NUNA_ALLTOALL;
}

/* ---- all-pairs ---- */

/* All-gather and all-to-all: one store to the peer, and the own part moved while the peer's comes.
 */
static void pairs_exchange(struct gen *gen, uint32_t distance, uint32_t channel)
{
    uint32_t peer = peer_at(gen, distance);
    uint32_t id = (distance - 1) * gen->channels + channel;
    bool gathers = gen->spec->collective == NUNA_ALLGATHER;
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
    bool scatters = gen->spec->collective == NUNA_REDUCESCATTER;
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
    if (gen->spec->collective == NUNA_REDUCESCATTER)
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
    bool reduces =
        gen->spec->collective == NUNA_ALLREDUCE || gen->spec->collective == NUNA_REDUCESCATTER;
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

/* ---- ring ---- */

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
    bool scatters = gen->spec->collective == NUNA_REDUCESCATTER;
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
    bool gathers = gen->spec->collective == NUNA_ALLGATHER;
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
    enum nuna_collective collective = gen->spec->collective;
    if (collective == NUNA_ALLTOALL)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] =
            (gen->gpus - 1) * (gen->gpus - 2) / 2 * gen->channels;
    else if (collective != NUNA_ALLGATHER)
        builder->plan->gpus[gen->own].chunks[NUNA_BUF_SCRATCH] = (gen->gpus - 1) * gen->channels;
    for (uint32_t channel = 0; channel < gen->channels; channel++)
        nuna_builder_channel(builder, gen->own,
                             memory_channel(rank_after(gen, 1), id_of_previous(gen, channel)));
    for (uint32_t channel = 0; gen->gpus > 2 && channel < gen->channels; channel++)
        nuna_builder_channel(builder, gen->own,
                             memory_channel(rank_before(gen, 1), id_of_next(gen, channel)));
    for (uint32_t channel = 0; channel < gen->channels; channel++) {
        nuna_builder_threadblock(builder, gen->own);
        if (collective == NUNA_ALLTOALL) {
            ring_all_to_all(gen, channel);
            continue;
        }
        if (collective != NUNA_ALLGATHER)
            ring_reduce_scatter(gen, channel);
        if (collective != NUNA_REDUCESCATTER)
            ring_all_gather(gen, channel);
    }
}

/* ---- both ---- */

static void lone_gpu(struct gen *gen)
{
    for (uint32_t channel = 0; channel < gen->channels; channel++) {
        nuna_builder_threadblock(&gen->builder, gen->own);
        if (!in_place(gen->spec))
            keep_own(gen, channel);
    }
}

struct algorithm {
    const char *name;
    bool (*prepare)(struct gen *gen, struct nuna_error *err); /* NULL: nothing to do */
    void (*gpu)(struct gen *gen);
    void (*let_go)(struct gen *gen);
};

static const struct algorithm algorithms[] = {
    [NUNA_ALLPAIRS] = {"allpairs", NULL, pairs_gpu, NULL},
    [NUNA_RING] = {"ring", NULL, ring_gpu, NULL},
    [NUNA_DOUBLING] = {"doubling", nuna_staged_prepare, nuna_staged_gpu, nuna_staged_free},
    [NUNA_TWO_STEP] = {"twostep", nuna_staged_prepare, nuna_staged_gpu, nuna_staged_free},
    [NUNA_TREE] = {"tree", nuna_tree_prepare, nuna_tree_gpu, nuna_tree_free},
};

static void gpu_plan(struct gen *gen)
{
    uint32_t all = gen->gpus * gen->channels;
    uint32_t *chunks = gen->builder.plan->gpus[gen->own].chunks;
    chunks[NUNA_BUF_INPUT] = gen->spec->collective == NUNA_ALLGATHER ? gen->channels : all;
    chunks[NUNA_BUF_OUTPUT] = gen->spec->collective == NUNA_REDUCESCATTER ? gen->channels : all;
    nuna_builder_gpu(&gen->builder, gen->own);
    if (gen->gpus == 1)
        lone_gpu(gen);
    else
        algorithms[gen->spec->algorithm].gpu(gen);
}

static bool is_affordable(const struct nuna_plan_spec *spec, uint64_t bytes, struct nuna_error *err)
{
    return bytes <= PLAN_BYTES_MAX ||
           nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "a plan for %u GPUs with %u channels would take at least %llu MiB of memory, "
                     "the limit is %llu MiB; use fewer channels or GPUs",
                     spec->gpus, spec->channels, (unsigned long long)(bytes >> 20),
                     (unsigned long long)(PLAN_BYTES_MAX >> 20));
}

/* A lower bound before any work, so that even the first GPU's part is affordable. */
static bool check_spec(const struct nuna_plan_spec *spec, struct nuna_error *err)
{
    if (spec->gpus < 1 || spec->gpus > GPUS_MAX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan for %u GPUs, expected 1 to %u", spec->gpus,
                         GPUS_MAX);
    if (spec->channels < 1 || spec->channels > CHANNELS_MAX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan with %u channels, expected 1 to %u",
                         spec->channels, CHANNELS_MAX);
    if (spec->collective >= NUNA_COLLECTIVE_OTHER)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan for this collective, expected allgather, "
                         "allreduce, reducescatter or alltoall");
    if (spec->algorithm != NUNA_ALLPAIRS && spec->algorithm != NUNA_RING)
        return true; /* their lists are shorter; the first GPU's part tells their size */
    /* Either algorithm makes at least five operations, one of them with two ranges, for each GPU,
     * channel, and step or peer. */
    uint64_t per_step = 5 * sizeof(struct nuna_op) + 2 * sizeof(struct nuna_range);
    uint64_t bytes = (uint64_t)spec->gpus * (spec->gpus - 1) * spec->channels * per_step;
    /* On average a ring's step moves half of the blocks. */
    if (spec->algorithm == NUNA_RING && spec->collective == NUNA_ALLTOALL)
        bytes += (uint64_t)spec->gpus * (spec->gpus - 1) * spec->channels * (spec->gpus / 2) * 2 *
                 sizeof(struct nuna_range);
    return is_affordable(spec, bytes, err);
}

static bool check_variant(const struct nuna_plan_spec *spec,
                          const struct nuna_plan_variant *variant, struct nuna_error *err)
{
    if (variant->gpus_per_node > 0 && spec->gpus % variant->gpus_per_node != 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan for %u GPUs in nodes of %u, expected a divisor",
                         spec->gpus, variant->gpus_per_node);
    if (variant->own_apart &&
        (spec->collective != NUNA_ALLTOALL || spec->algorithm != NUNA_ALLPAIRS))
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "only an all-pairs alltoall has an own block to copy apart (own=apart)");
    return true;
}

static uint64_t bytes_of(const struct nuna_plan *plan)
{
    return plan->threadblock_count * sizeof *plan->threadblocks +
           plan->op_count * sizeof *plan->ops + plan->range_count * sizeof *plan->ranges +
           plan->id_count * sizeof *plan->ids + plan->channel_count * sizeof *plan->channels;
}

struct nuna_plan *nuna_plan_generate(const struct nuna_plan_spec *spec, struct nuna_error *err)
{
    const struct nuna_plan_variant plain = {0};
    return nuna_plan_generate_variant(spec, &plain, err);
}

struct nuna_plan *nuna_plan_generate_variant(const struct nuna_plan_spec *spec,
                                             const struct nuna_plan_variant *variant,
                                             struct nuna_error *err)
{
    struct gen gen = {.spec = spec, .gpus = spec->gpus, .channels = spec->channels};
    gen.group = nuna_group_make(spec->gpus, variant->gpus_per_node);
    gen.own_apart = variant->own_apart;
    if (!check_spec(spec, err) || !check_variant(spec, variant, err) ||
        !nuna_builder_init(&gen.builder, spec->gpus, err))
        return NULL;

    struct nuna_plan *plan = gen.builder.plan;
    const char *collective = nuna_collective_name(spec->collective);
    const struct algorithm *how = &algorithms[spec->algorithm];
    const char *algorithm = how->name;
    bool prepared = how->prepare != NULL && gen.gpus > 1;
    if (prepared && !(how->prepare(&gen, err) && is_affordable(spec, gen.least_bytes, err))) {
        how->let_go(&gen);
        nuna_builder_discard(&gen.builder);
        return NULL;
    }
    plan->collective = spec->collective;
    plan->inplace = in_place(spec);
    plan->gpus_per_node = spec->algorithm == NUNA_ALLPAIRS ? gen.group.node : 1;
    snprintf(plan->collective_name, sizeof plan->collective_name, "%s", collective);
    snprintf(plan->name, sizeof plan->name, "%s_%s_%ugpus_%uchannels", collective, algorithm,
             spec->gpus, spec->channels);
    snprintf(plan->source, sizeof plan->source, "builtin:%s,gpus=%u,channels=%u,algorithm=%s",
             collective, spec->gpus, spec->channels, algorithm);
    size_t used = strlen(plan->source);
    if (gen.group.node > 1)
        snprintf(plan->source + used, sizeof plan->source - used, ",gpus_per_node=%u",
                 gen.group.node);
    used = strlen(plan->source);
    if (gen.own_apart)
        snprintf(plan->source + used, sizeof plan->source - used, ",own=apart");

    bool fits = true;
    for (gen.own = 0; fits && gen.own < gen.gpus && !nuna_builder_failed(&gen.builder); gen.own++) {
        gpu_plan(&gen);
        /* Where nothing else is known, all GPUs' parts are of about one size. */
        if (gen.own == 0 && gen.least_bytes == 0)
            fits = is_affordable(spec, bytes_of(plan) * gen.gpus, err);
    }
    if (prepared)
        how->let_go(&gen);
    if (fits)
        return nuna_builder_finish(&gen.builder, err);
    nuna_builder_discard(&gen.builder);
    return NULL;
}
