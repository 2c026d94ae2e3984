/* What makes a plan by an algorithm, and what algorithms are made of. Generated plans list peers in
 * relative order (own rank + 1, + 2,
 * ...) wherever the algorithm allows it. */
#ifndef NUNA_COLLECTIVES_GENERATE_GENERATOR_H
#define NUNA_COLLECTIVES_GENERATE_GENERATOR_H

#include "collectives/generate/spec.h"
#include "collectives/plan/build.h"
#include "core/group.h"

struct gen {
    struct nuna_builder builder;
    const struct nuna_plan_spec *spec;
    const struct nuna_collective_rule *rule;
    uint32_t gpus, channels;
    uint32_t own;         /* the GPU being written */
    void *algorithm;      /* what an algorithm has worked out beforehand */
    uint64_t least_bytes; /* of the plan, where GPUs' parts differ too much to tell by one; or 0 */
    struct nuna_group group; /* relative order of all-pairs plans */
    bool own_apart;
};

static inline uint32_t rank_after(const struct gen *gen, uint32_t steps)
{
    return (gen->own + steps) % gen->gpus;
}

static inline uint32_t rank_before(const struct gen *gen, uint32_t steps)
{
    return (gen->own + gen->gpus - steps % gen->gpus) % gen->gpus;
}

static inline struct nuna_range chunk(uint32_t gpu, enum nuna_buffer buffer, uint32_t index)
{
    return (struct nuna_range){.gpu = gpu, .buffer = (uint8_t)buffer, .index = index, .count = 1};
}

static inline struct nuna_channel memory_channel(uint32_t peer, uint32_t peer_channel)
{
    return (struct nuna_channel){.peer = peer, .peer_channel = peer_channel};
}

/* Chunk `channel` of the block that belongs to `rank`. */
static inline uint32_t in_block(const struct gen *gen, uint32_t rank, uint32_t channel)
{
    return rank * gen->channels + channel;
}

static inline void move(struct gen *gen, enum nuna_op_kind kind, struct nuna_range from,
                        struct nuna_range to)
{
    nuna_builder_op(&gen->builder, kind, false);
    nuna_builder_source(&gen->builder, from);
    nuna_builder_destination(&gen->builder, to);
}

static inline void nop(struct gen *gen)
{
    nuna_builder_op(&gen->builder, NUNA_OP_NOP, false);
}

/* The block must meet between its stores and the signal that announces them. */
static inline void announce(struct gen *gen, uint32_t channel_id)
{
    nop(gen);
    nuna_builder_op(&gen->builder, NUNA_OP_SIGNAL, false);
    nuna_builder_id(&gen->builder, channel_id);
}

/* Only one thread polls; the rest of the block follows after the meeting. */
static inline void await(struct gen *gen, uint32_t channel_id)
{
    nuna_builder_op(&gen->builder, NUNA_OP_WAIT, false);
    nuna_builder_id(&gen->builder, channel_id);
    nop(gen);
}

/* The part of an all-to-all that never leaves the GPU. */
static inline void keep_own(struct gen *gen, uint32_t channel)
{
    uint32_t block = in_block(gen, gen->own, channel);
    move(gen, NUNA_OP_COPY, chunk(gen->own, NUNA_BUF_INPUT, block),
         chunk(gen->own, NUNA_BUF_OUTPUT, block));
}

/* An algorithm; its file defines one, and a row of NUNA_ALGORITHMS (spec.h) names it. */
struct nuna_generator {
    unsigned collectives; /* bit for each that it can do */
    bool by_nodes;        /* its plans keep the relative order of nodes, where there are any */
    bool own_apart;       /* it knows the variant own_apart */
    /* What any plan takes at least, to refuse before any work; NULL: the first GPU's part tells. */
    uint64_t (*least_bytes)(const struct nuna_plan_spec *spec);
    bool (*prepare)(struct gen *gen, struct nuna_error *err); /* NULL: nothing to do */
    void (*gpu)(struct gen *gen);    /* writes the part of gen->own; of two GPUs or more */
    void (*let_go)(struct gen *gen); /* after prepare, also when that failed */
};

#define NUNA_EVERY_COLLECTIVE ((1u << NUNA_COLLECTIVE_OTHER) - 1)

/* Five operations, one of them with two ranges, for each GPU, channel, and step or peer. */
uint64_t nuna_generator_steps_bytes(const struct nuna_plan_spec *spec);

/* `name` is the algorithm's, for messages and the plan's own name. */
struct nuna_plan *nuna_generator_run(const struct nuna_generator *how, const char *name,
                                     const struct nuna_plan_spec *spec,
                                     const struct nuna_plan_variant *variant,
                                     struct nuna_error *err);

#endif
