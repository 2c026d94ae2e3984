/* Simulations for the tests: machines, plans, runs, and times worked out by hand. */
#ifndef NUNA_TESTS_SIM_SCENE_H
#define NUNA_TESTS_SIM_SCENE_H

#include "collectives/generate/generate.h"
#include "collectives/plan/build.h"
#include "drained.h"
#include "pod/report/breakdown.h"
#include "pod/sim.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LINE         256u
#define CONTROL      16u

/* ---- running ---- */

static inline struct nuna_params params_of(int64_t columns, int64_t rows, int64_t dies,
                                           int64_t stacks, int64_t ports)
{
    struct nuna_params p;
    nuna_params_defaults(&p);
    p.noc.fabric = NUNA_FABRIC_MESH;
    p.noc.columns = columns;
    p.noc.rows = rows;
    p.noc.dies = dies;
    p.noc.flit_size = LINE;
    p.noc.control_size = CONTROL;
    p.noc.hop_latency = 9100;
    p.noc.die_crossing_latency = 4300;
    p.noc.link_rate = p.noc.injection_rate = p.noc.ejection_rate = 512000000000;
    p.noc.injection_latency = 21007;
    p.noc.ejection_latency = 17011;
    p.gpu.cus_per_router = 7;
    p.gpu.max_outstanding = 700;
    p.gpu.issue_interval = 2000;
    p.gpu.reduce_rate = 256000000000;
    p.hbm.stacks = stacks;
    p.hbm.channels_per_stack = 16;
    p.hbm.channel_rate = 150000000000;
    p.hbm.access_latency = 119999;
    p.hbm.page_size = 4096;
    p.scaleup.ports = ports;
    p.scaleup.port_rate = 170000000000;
    p.scaleup.link_latency = 151003;
    p.scaleup.switch_latency = 99001;
    return p;
}

static inline struct nuna_plan *generate(enum nuna_collective collective,
                                         enum nuna_algorithm algorithm, uint32_t gpus,
                                         uint32_t channels)
{
    struct nuna_error err;
    struct nuna_plan_spec spec = {collective, algorithm, gpus, channels};
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

static inline struct nuna_sim *simulate_with(const struct nuna_params *params,
                                             const struct nuna_plan *plan,
                                             const struct nuna_sim_options *options,
                                             struct nuna_result *result)
{
    struct nuna_error err;
    struct nuna_sim *sim = nuna_sim_create(params, plan, options, &err);
    cr_assert_not_null(sim, "%s", err.message);
    cr_assert(nuna_sim_run(sim, result, &err), "%s", err.message);
    /* A background kernel is left where it is when the collective is done. */
    if (result->status == NUNA_SIM_COMPLETE && params->background.gemm_size == 0)
        contract_drained(sim, result);
    return sim;
}

static inline struct nuna_sim *simulate_until(const struct nuna_params *params,
                                              const struct nuna_plan *plan, uint64_t size,
                                              uint32_t threads, const volatile sig_atomic_t *stop,
                                              struct nuna_result *result)
{
    struct nuna_sim_options options = {.size = size, .threads = threads, .stop = stop};
    return simulate_with(params, plan, &options, result);
}

static inline struct nuna_sim *simulate(const struct nuna_params *params,
                                        const struct nuna_plan *plan, uint64_t size,
                                        struct nuna_result *result)
{
    struct nuna_sim *sim = simulate_until(params, plan, size, 1, NULL, result);
    cr_assert_eq(result->status, NUNA_SIM_COMPLETE);
    return sim;
}

static inline struct nuna_breakdown breakdown_of(const struct nuna_sim *sim,
                                                 const struct nuna_result *result)
{
    struct nuna_error err;
    struct nuna_breakdown breakdown;
    const struct nuna_view view = nuna_view_of(sim, result);
    cr_assert(nuna_breakdown_make(&view, &breakdown, &err), "%s", err.message);
    return breakdown;
}

static inline nuna_time time_of(const struct nuna_params *params, const struct nuna_plan *plan,
                                uint64_t size)
{
    struct nuna_result result;
    nuna_sim_destroy(simulate(params, plan, size, &result));
    return result.time;
}

/* GPU 0 stores `streams` chunks, one threadblock each after `idle` empty ones, into GPU 1: chunk
 * `from` + i to chunk `to` + i of `chunks`; each signals, and GPU 1 waits for all. */
static inline struct nuna_plan *one_way(uint32_t chunks, uint32_t from, uint32_t to,
                                        uint32_t streams, uint32_t idle)
{
    struct nuna_builder b;
    struct nuna_error err;
    cr_assert(nuna_builder_init(&b, 2, &err));
    b.plan->collective = NUNA_COLLECTIVE_OTHER;
    for (uint32_t g = 0; g < 2; g++) {
        b.plan->gpus[g].chunks[NUNA_BUF_INPUT] = b.plan->gpus[g].chunks[NUNA_BUF_OUTPUT] = chunks;
        nuna_builder_gpu(&b, g);
        for (uint32_t i = 0; i < streams; i++)
            nuna_builder_channel(&b, g, (struct nuna_channel){.peer = 1 - g, .peer_channel = i});
        for (uint32_t i = 0; g == 0 && i < idle; i++)
            nuna_builder_threadblock(&b, g);
        for (uint32_t i = 0; i < streams; i++) {
            nuna_builder_threadblock(&b, g);
            if (g == 0) {
                nuna_builder_op(&b, NUNA_OP_PUT, false);
                nuna_builder_source(
                    &b,
                    (struct nuna_range){.buffer = NUNA_BUF_INPUT, .index = from + i, .count = 1});
                nuna_builder_destination(
                    &b, (struct nuna_range){
                            .gpu = 1, .buffer = NUNA_BUF_OUTPUT, .index = to + i, .count = 1});
            }
            nuna_builder_op(&b, g == 0 ? NUNA_OP_SIGNAL : NUNA_OP_WAIT, false);
            nuna_builder_id(&b, i);
        }
    }
    struct nuna_plan *plan = nuna_builder_finish(&b, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

/* ---- times by hand ---- */

struct spot {
    int64_t x, y;
};

static inline struct spot spot_of_cu(const struct nuna_params *p, int64_t cu)
{
    int64_t router = cu / p->gpu.cus_per_router;
    return (struct spot){router % p->noc.columns, router / p->noc.columns};
}

/* Half of the ports on the left edge, half on the right, spread over the rows. */
static inline struct spot spot_of_port(const struct nuna_params *p, int64_t port)
{
    int64_t half = p->scaleup.ports / 2 ? p->scaleup.ports / 2 : 1;
    return (struct spot){port < half ? 0 : p->noc.columns - 1, port % half * p->noc.rows / half};
}

/* Half of the (evenly many) stacks above, each over an equal share of the columns; the nearest of
 * its routers. */
static inline struct spot spot_of_stack(const struct nuna_params *p, struct spot from,
                                        int64_t channel)
{
    int64_t stack = channel / p->hbm.channels_per_stack, half = p->hbm.stacks / 2;
    int64_t width = p->noc.columns / half, first = stack % half * width, last = first + width - 1;
    return (struct spot){from.x < first  ? first
                         : from.x > last ? last
                                         : from.x,
                         stack < half ? 0 : p->noc.rows - 1};
}

static inline int64_t hops(struct spot a, struct spot b)
{
    return llabs(a.x - b.x) + llabs(a.y - b.y);
}

static inline nuna_time wire(uint64_t bytes, int64_t rate)
{
    return (nuna_time)((unsigned __int128)bytes * 1000000000000u / (uint64_t)rate);
}

/* Injection, hops, ejection, and the tail, on the slowest kind of link. */
static inline nuna_time noc(const struct nuna_params *p, struct spot a, struct spot b,
                            uint64_t bytes)
{
    int64_t strip = p->noc.columns / p->noc.dies;
    int64_t slowest =
        p->noc.injection_rate < p->noc.link_rate ? p->noc.injection_rate : p->noc.link_rate;
    slowest = p->noc.ejection_rate < slowest ? p->noc.ejection_rate : slowest;
    return (nuna_time)(p->noc.injection_latency + hops(a, b) * p->noc.hop_latency +
                       llabs(a.x / strip - b.x / strip) * p->noc.die_crossing_latency +
                       p->noc.ejection_latency) +
           wire(bytes, slowest);
}

static inline nuna_time memory(const struct nuna_params *p, uint64_t bytes)
{
    return wire(bytes, p->hbm.channel_rate) + (nuna_time)p->hbm.access_latency;
}

/* Port, link and switch; then the switch's output and the second link. */
static inline nuna_time to_switch(const struct nuna_params *p, uint64_t bytes)
{
    return wire(bytes, p->scaleup.port_rate) +
           (nuna_time)(p->scaleup.link_latency + p->scaleup.switch_latency);
}

static inline nuna_time from_switch(const struct nuna_params *p, uint64_t bytes)
{
    return wire(bytes, p->scaleup.port_rate) + (nuna_time)p->scaleup.link_latency;
}

#endif
