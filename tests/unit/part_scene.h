/* Plans of a few operations by hand, and a machine of one router, one compute unit, one stack and
 * one port whose links take no time for bytes: every time is a sum of latencies. */
#ifndef NUNA_TESTS_PART_SCENE_H
#define NUNA_TESTS_PART_SCENE_H

#include "sim_scene.h"

static inline struct nuna_params pure_latency(void)
{
    struct nuna_params p = params_of(1, 1, 1, 1, 1);
    const int64_t free_of_charge = 1000000000000000;
    p.noc.link_rate = p.noc.injection_rate = p.noc.ejection_rate = free_of_charge;
    p.hbm.channel_rate = p.scaleup.port_rate = free_of_charge;
    p.gpu.cus_per_router = 1;
    return p;
}

/* ---- its latencies ---- */

static inline nuna_time across_noc(const struct nuna_params *p)
{
    struct spot o = {0, 0};
    return noc(p, o, o, 0);
}

/* A line's load; its local store, acknowledged. */
static inline nuna_time there_and_back(const struct nuna_params *p)
{
    return 2 * across_noc(p) + memory(p, 0);
}

/* From a CU to another GPU's memory: store, or the request of a remote load; and back. */
static inline nuna_time reach_peer(const struct nuna_params *p)
{
    return 2 * across_noc(p) + to_switch(p, 0) + from_switch(p, 0) + memory(p, 0);
}

static inline nuna_time peer_answers(const struct nuna_params *p)
{
    return 2 * across_noc(p) + to_switch(p, 0) + from_switch(p, 0);
}

/* ---- plans ---- */

struct script {
    struct nuna_builder b;
    uint32_t gpu;
};

/* Buffers of `chunks` chunks each; operations of GPU 0 follow. */
static inline void script_open(struct script *s, uint32_t gpus, uint32_t chunks)
{
    struct nuna_error err;
    cr_assert(nuna_builder_init(&s->b, gpus, &err));
    s->b.plan->collective = NUNA_COLLECTIVE_OTHER;
    for (uint32_t g = 0; g < gpus; g++)
        for (int buffer = 0; buffer < NUNA_BUFFER_COUNT; buffer++)
            s->b.plan->gpus[g].chunks[buffer] = chunks;
    s->gpu = 0;
    nuna_builder_gpu(&s->b, 0);
}

static inline void script_next_gpu(struct script *s)
{
    nuna_builder_gpu(&s->b, ++s->gpu);
}

static inline void script_block(struct script *s)
{
    nuna_builder_threadblock(&s->b, s->gpu);
}

/* Returns it, to fill in the rest before the next call. */
static inline struct nuna_op *script_op(struct script *s, enum nuna_op_kind kind)
{
    nuna_builder_op(&s->b, kind, false);
    return nuna_builder_newest(&s->b);
}

static inline void script_from(struct script *s, uint32_t gpu, enum nuna_buffer buffer,
                               uint32_t chunk, uint32_t count)
{
    nuna_builder_source(
        &s->b,
        (struct nuna_range){.gpu = gpu, .buffer = (uint8_t)buffer, .index = chunk, .count = count});
}

static inline void script_to(struct script *s, uint32_t gpu, enum nuna_buffer buffer,
                             uint32_t chunk, uint32_t count)
{
    nuna_builder_destination(
        &s->b,
        (struct nuna_range){.gpu = gpu, .buffer = (uint8_t)buffer, .index = chunk, .count = count});
}

/* The range added last. */
static inline struct nuna_range *script_range(struct script *s)
{
    return &s->b.plan->ranges[s->b.plan->range_count - 1];
}

/* GPU `gpu`'s channel to its peer's channel of the same number. */
static inline void script_channel(struct script *s, uint32_t peer, enum nuna_channel_kind kind)
{
    uint32_t number = s->b.plan->gpus[s->gpu].channel_count;
    nuna_builder_channel(&s->b, s->gpu,
                         (struct nuna_channel){.peer = peer, .peer_channel = number, .kind = kind});
}

/* A SIGNAL or WAIT on a channel. */
static inline void script_sync(struct script *s, enum nuna_op_kind kind, uint32_t channel)
{
    script_op(s, kind);
    nuna_builder_id(&s->b, channel);
}

static inline struct nuna_plan *script_close(struct script *s)
{
    struct nuna_error err;
    struct nuna_plan *plan;
    while (s->gpu + 1 < s->b.plan->gpu_count)
        script_next_gpu(s);
    plan = nuna_builder_finish(&s->b, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

/* ---- runs ---- */

/* Ends of all operations, by index into plan->ops; chunks of `bytes`. Free with free(). */
static inline nuna_time *ends_of(const struct nuna_params *p, const struct nuna_plan *plan,
                                 uint64_t bytes, struct nuna_result *result)
{
    nuna_time *ends = calloc(plan->op_count + 1, sizeof *ends);
    cr_assert_not_null(ends);
    struct nuna_sim *sim = simulate(p, plan, bytes * plan->gpus[0].chunks[NUNA_BUF_INPUT], result);
    for (size_t i = 0; i < plan->op_count; i++)
        ends[i] = sim->log[i].end;
    nuna_sim_destroy(sim);
    return ends;
}

static inline void check_end(const char *what, nuna_time end, nuna_time due)
{
    cr_assert_eq(end, due, "%s: ends at %" PRIu64 " ps, by hand %" PRIu64, what, end, due);
}

#endif
