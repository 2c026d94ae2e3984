/* Whole simulations. Closed forms are worked out here from the parameters; of the simulator's own
 * arithmetic only where a line lies (address map, layout, placement) is taken. */
#include "collectives/plan_build.h"
#include "collectives/plan_io.h"
#include "pod/latency_map.h"
#include "pod/sim_private.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LINE         256u
#define CONTROL      16u

/* ---- running ---- */

static struct nuna_params params_of(int64_t columns, int64_t rows, int64_t dies, int64_t stacks,
                                    int64_t ports)
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

static struct nuna_plan *generate(enum nuna_collective collective, enum nuna_algorithm algorithm,
                                  uint32_t gpus, uint32_t channels)
{
    struct nuna_error err;
    struct nuna_plan_spec spec = {collective, algorithm, gpus, channels};
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

static struct nuna_sim *simulate_until(const struct nuna_params *params,
                                       const struct nuna_plan *plan, uint64_t size,
                                       uint32_t threads, const volatile sig_atomic_t *stop,
                                       struct nuna_result *result)
{
    struct nuna_error err;
    struct nuna_sim_options options = {.size = size, .threads = threads, .stop = stop};
    struct nuna_sim *sim = nuna_sim_create(params, plan, &options, &err);
    cr_assert_not_null(sim, "%s", err.message);
    cr_assert(nuna_sim_run(sim, result, &err), "%s", err.message);
    return sim;
}

static struct nuna_sim *simulate(const struct nuna_params *params, const struct nuna_plan *plan,
                                 uint64_t size, struct nuna_result *result)
{
    struct nuna_sim *sim = simulate_until(params, plan, size, 1, NULL, result);
    cr_assert_eq(result->status, NUNA_SIM_COMPLETE);
    return sim;
}

static nuna_time time_of(const struct nuna_params *params, const struct nuna_plan *plan,
                         uint64_t size)
{
    struct nuna_result result;
    nuna_sim_destroy(simulate(params, plan, size, &result));
    return result.time;
}

/* GPU 0 stores `streams` chunks, one threadblock each after `idle` empty ones, into GPU 1: chunk
 * `from` + i to chunk `to` + i of `chunks`; each signals, and GPU 1 waits for all. */
static struct nuna_plan *one_way(uint32_t chunks, uint32_t from, uint32_t to, uint32_t streams,
                                 uint32_t idle)
{
    struct nuna_builder b;
    struct nuna_error err;
    cr_assert(nuna_builder_init(&b, 2, &err));
    b.plan->collective = NUNA_COLLECTIVE_OTHER;
    for (uint32_t g = 0; g < 2; g++) {
        b.plan->gpus[g].chunks[NUNA_BUF_INPUT] = b.plan->gpus[g].chunks[NUNA_BUF_OUTPUT] = chunks;
        nuna_builder_gpu(&b, g);
        for (uint32_t i = 0; i < streams; i++)
            nuna_builder_channel(&b, g, (struct nuna_channel){1 - g, i});
        for (uint32_t i = 0; g == 0 && i < idle; i++)
            nuna_builder_threadblock(&b, g);
        for (uint32_t i = 0; i < streams; i++) {
            nuna_builder_threadblock(&b, g);
            if (g == 0) {
                nuna_builder_op(&b, NUNA_OP_PUT, false);
                nuna_builder_source(&b, (struct nuna_range){0, NUNA_BUF_INPUT, from + i, 1});
                nuna_builder_destination(&b, (struct nuna_range){1, NUNA_BUF_OUTPUT, to + i, 1});
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

static struct spot spot_of_cu(const struct nuna_params *p, int64_t cu)
{
    int64_t router = cu / p->gpu.cus_per_router;
    return (struct spot){router % p->noc.columns, router / p->noc.columns};
}

/* Half of the ports on the left edge, half on the right, spread over the rows. */
static struct spot spot_of_port(const struct nuna_params *p, int64_t port)
{
    int64_t half = p->scaleup.ports / 2 ? p->scaleup.ports / 2 : 1;
    return (struct spot){port < half ? 0 : p->noc.columns - 1, port % half * p->noc.rows / half};
}

/* Half of the (evenly many) stacks above, each over an equal share of the columns; the nearest of
 * its routers. */
static struct spot spot_of_stack(const struct nuna_params *p, struct spot from, int64_t channel)
{
    int64_t stack = channel / p->hbm.channels_per_stack, half = p->hbm.stacks / 2;
    int64_t width = p->noc.columns / half, first = stack % half * width, last = first + width - 1;
    return (struct spot){from.x < first  ? first
                         : from.x > last ? last
                                         : from.x,
                         stack < half ? 0 : p->noc.rows - 1};
}

static int64_t hops(struct spot a, struct spot b)
{
    return llabs(a.x - b.x) + llabs(a.y - b.y);
}

static nuna_time noc(const struct nuna_params *p, struct spot a, struct spot b)
{
    int64_t strip = p->noc.columns / p->noc.dies;
    return (nuna_time)(p->noc.injection_latency + hops(a, b) * p->noc.hop_latency +
                       llabs(a.x / strip - b.x / strip) * p->noc.die_crossing_latency +
                       p->noc.ejection_latency);
}

static nuna_time wire(uint64_t bytes, int64_t rate)
{
    return (nuna_time)((unsigned __int128)bytes * 1000000000000u / (uint64_t)rate);
}

static nuna_time memory(const struct nuna_params *p, uint64_t bytes)
{
    return wire(bytes, p->hbm.channel_rate) + (nuna_time)p->hbm.access_latency;
}

/* Port, link and switch; then the switch's output and the second link. */
static nuna_time to_switch(const struct nuna_params *p, uint64_t bytes)
{
    return wire(bytes, p->scaleup.port_rate) +
           (nuna_time)(p->scaleup.link_latency + p->scaleup.switch_latency);
}

static nuna_time from_switch(const struct nuna_params *p, uint64_t bytes)
{
    return wire(bytes, p->scaleup.port_rate) + (nuna_time)p->scaleup.link_latency;
}

/* ---- closed forms ---- */

static void check_single_store(const struct nuna_params *p, uint32_t to, uint32_t idle,
                               int64_t *least, int64_t *most)
{
    const uint32_t chunks = 512, from = (to * 7 + 3) % chunks;
    struct nuna_plan *plan = one_way(chunks, from, to, 1, idle);
    struct nuna_result result;
    struct nuna_sim *sim = simulate(p, plan, chunks * LINE, &result);

    const struct nuna_layout_gpu *here = &sim->pod.layout.gpus[0], *there = here + 1;
    struct nuna_location source =
        nuna_address_locate(&sim->pod.map, here->chunks[NUNA_BUF_INPUT][from].position);
    struct nuna_location target =
        nuna_address_locate(&sim->pod.map, there->chunks[NUNA_BUF_OUTPUT][to].position);
    struct nuna_location flag = nuna_address_locate(&sim->pod.map, there->flags);
    struct spot cu = spot_of_cu(p, sim->gpus[0].tbs[idle].cu);
    struct spot local = spot_of_stack(p, cu, source.channel);
    struct spot port = spot_of_port(p, target.port), flag_port = spot_of_port(p, flag.port);
    struct spot remote = spot_of_stack(p, port, target.channel);
    struct spot flag_stack = spot_of_stack(p, flag_port, flag.channel);

    nuna_time load = noc(p, cu, local) + memory(p, LINE) + noc(p, local, cu);
    nuna_time store = noc(p, cu, port) + to_switch(p, LINE) + from_switch(p, LINE) +
                      noc(p, port, remote) + memory(p, LINE);
    nuna_time ack =
        noc(p, remote, port) + to_switch(p, CONTROL) + from_switch(p, CONTROL) + noc(p, port, cu);
    nuna_time signal = noc(p, cu, flag_port) + to_switch(p, CONTROL) + from_switch(p, CONTROL) +
                       noc(p, flag_port, flag_stack) + memory(p, CONTROL);
    cr_assert_eq(result.stores, 1);
    cr_assert_eq(result.latency->max, store, "store to line %u: %" PRIu64 " ps, by hand %" PRIu64,
                 to, result.latency->max, store);
    cr_assert_eq(result.time, load + store + ack + signal, "%" PRIu64 " ps, by hand %" PRIu64,
                 result.time, load + store + ack + signal);
    cr_assert_eq(result.drained, result.time);
    const nuna_time parts[NUNA_PATH_PARTS] = {
        [NUNA_PATH_LOAD_NOC] = noc(p, cu, local) + noc(p, local, cu),
        [NUNA_PATH_LOAD_HBM] = memory(p, LINE),
        [NUNA_PATH_STORE_NOC] = noc(p, cu, port) + noc(p, cu, flag_port),
        [NUNA_PATH_PORT] = to_switch(p, LINE) + to_switch(p, CONTROL),
        [NUNA_PATH_SWITCH] = from_switch(p, LINE) + from_switch(p, CONTROL),
        [NUNA_PATH_REMOTE_NOC] = noc(p, port, remote) + noc(p, flag_port, flag_stack),
        [NUNA_PATH_REMOTE_HBM] = memory(p, LINE) + memory(p, CONTROL),
        [NUNA_PATH_ACK] = ack,
    };
    for (int part = 0; part < NUNA_PATH_PARTS; part++)
        cr_assert_eq(result.path[part], parts[part], "%s: %" PRIu64 " ps, by hand %" PRIu64,
                     nuna_path_part_name((enum nuna_path_part)part), result.path[part],
                     parts[part]);
    int64_t way = hops(cu, port) + hops(port, remote);
    *least = way < *least ? way : *least;
    *most = way > *most ? way : *most;
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
}

Test(closed_form, single_store_and_its_collective)
{
    static const uint32_t lines[] = {0, 5, 16, 77, 130, 256, 301, 511}, idle[] = {0, 1, 2, 3, 30};
    const struct nuna_params params[] = {params_of(24, 6, 4, 16, 12), params_of(24, 6, 4, 8, 7),
                                         params_of(6, 4, 2, 4, 2), params_of(2, 1, 1, 2, 1)};
    int64_t least = INT64_MAX, most = 0;
    for (size_t p = 0; p < COUNT(params); p++)
        for (size_t l = 0; l < COUNT(lines); l++)
            for (size_t i = 0; i < COUNT(idle); i++)
                check_single_store(&params[p], lines[l], idle[i], &least, &most);
    cr_assert_leq(least, 3, "no near path: %" PRId64 " hops", least);
    cr_assert_gt(most, 25, "no far path: %" PRId64 " hops", most);
}

/* One router, one stack, one port. */
static struct nuna_params tiny(void)
{
    struct nuna_params p = params_of(1, 1, 1, 1, 1);
    p.hbm.channel_rate = 256000000000;
    return p;
}

static void check_port_bound(const uint32_t *lines, size_t count, uint32_t streams)
{
    struct nuna_params p = tiny();
    p.scaleup.port_rate = 1000000000; /* a line takes 256 ns */
    struct nuna_plan *plan = one_way(streams, 0, 0, streams, 0);
    nuna_time first = time_of(&p, plan, (uint64_t)streams * lines[0] * LINE);
    for (size_t i = 1; i < count; i++) {
        nuna_time more = time_of(&p, plan, (uint64_t)streams * lines[i] * LINE) - first;
        cr_assert_eq(more, (uint64_t)streams * (lines[i] - lines[0]) * 256000,
                     "%u streams: %u lines more take %" PRIu64 " ps", streams, lines[i] - lines[0],
                     more);
    }
    nuna_plan_destroy(plan);
}

Test(closed_form, port_bound_streams)
{
    /* Before the first load is back, and with loads under way then. */
    static const uint32_t few[] = {2, 3, 10, 50}, many[] = {300, 301, 650, 1500, 4000};
    for (uint32_t streams = 1; streams <= 5; streams++) {
        check_port_bound(few, COUNT(few), streams);
        check_port_bound(many, COUNT(many), streams);
    }
}

Test(closed_form, ring_of_eight)
{
    struct nuna_params p = tiny();
    struct spot o = {0, 0};
    nuna_time load = 2 * noc(&p, o, o) + memory(&p, LINE);
    nuna_time across = to_switch(&p, CONTROL) + from_switch(&p, CONTROL) + 2 * noc(&p, o, o);
    nuna_time store =
        to_switch(&p, LINE) + from_switch(&p, LINE) + 2 * noc(&p, o, o) + memory(&p, LINE);
    nuna_time step = load + store + across + across + memory(&p, CONTROL);
    /* Two loads, one issue interval apart, the CU's work, a local store and its acknowledgement. */
    nuna_time reduce = (nuna_time)p.gpu.issue_interval + load + wire(2 * LINE, p.gpu.reduce_rate) +
                       2 * noc(&p, o, o) + memory(&p, LINE);
    static const enum nuna_collective collectives[] = {NUNA_ALLGATHER, NUNA_REDUCESCATTER,
                                                       NUNA_ALLREDUCE};
    const nuna_time due[] = {7 * step, 7 * (step + reduce), 14 * step + 7 * reduce};
    for (size_t c = 0; c < COUNT(collectives); c++) {
        struct nuna_plan *plan = generate(collectives[c], NUNA_RING, 8, 1);
        nuna_time time = time_of(&p, plan, 8 * LINE);
        cr_assert_eq(time, due[c], "%s: %" PRIu64 " ps, closed form %" PRIu64, plan->name, time,
                     due[c]);
        nuna_plan_destroy(plan);
    }
}

/* ---- laws ---- */

static const struct scene {
    enum nuna_collective collective;
    enum nuna_algorithm algorithm;
    uint32_t gpus, channels;
    uint64_t size;
} scenes[] = {
    {NUNA_ALLGATHER, NUNA_ALLPAIRS, 2, 1, 1},        {NUNA_ALLGATHER, NUNA_ALLPAIRS, 8, 8, 100003},
    {NUNA_ALLGATHER, NUNA_RING, 5, 2, 65536},        {NUNA_ALLREDUCE, NUNA_ALLPAIRS, 3, 2, 50021},
    {NUNA_ALLREDUCE, NUNA_ALLPAIRS, 8, 1, 65536},    {NUNA_ALLREDUCE, NUNA_RING, 4, 3, 99999},
    {NUNA_REDUCESCATTER, NUNA_ALLPAIRS, 7, 2, 257},  {NUNA_REDUCESCATTER, NUNA_RING, 6, 1, 60000},
    {NUNA_ALLTOALL, NUNA_ALLPAIRS, 12, 1, 128},      {NUNA_ALLTOALL, NUNA_ALLPAIRS, 5, 4, 200000},
    {NUNA_REDUCESCATTER, NUNA_ALLPAIRS, 2, 4, 8192}, {NUNA_ALLTOALL, NUNA_ALLPAIRS, 3, 1, 0},
    {NUNA_ALLGATHER, NUNA_ALLPAIRS, 1, 3, 5000},
};

static struct nuna_plan *plan_of(const struct scene *scene)
{
    return generate(scene->collective, scene->algorithm, scene->gpus, scene->channels);
}

/* What the ports of all GPUs must carry, [gpu * ports + port]: lines and flags out of the sender
 * and into the receiver, acknowledgements the other way. */
static void expect_bytes(const struct nuna_sim *sim, uint64_t *out, uint64_t *in, uint64_t *memory_)
{
    const struct nuna_plan *plan = sim->pod.plan;
    const struct nuna_layout_gpu *layout = sim->pod.layout.gpus;
    uint32_t ports = sim->pod.map.ports;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        const struct nuna_threadblock *tbs = &plan->threadblocks[plan->gpus[g].tb_at];
        for (uint32_t i = 0; i < plan->gpus[g].tb_count; i++)
            for (uint32_t o = tbs[i].op_at; o < tbs[i].op_at + tbs[i].op_count; o++) {
                const struct nuna_op *op = &plan->ops[o];
                for (uint32_t d = 0; d < op->dst_count; d++) {
                    const struct nuna_range *to = &plan->ranges[op->dst_at + d];
                    const struct nuna_range *from = &plan->ranges[op->src_at + d];
                    struct nuna_chunk_place dst = layout[to->gpu].chunks[to->buffer][to->index];
                    struct nuna_chunk_place src = layout[g].chunks[from->buffer][from->index];
                    uint64_t bytes = src.bytes < dst.bytes ? src.bytes : dst.bytes;
                    *memory_ += bytes * (op->kind == NUNA_OP_REDUCE ? op->src_count + 1u : 2u);
                    for (uint64_t at = 0; op->kind == NUNA_OP_PUT && at < bytes; at += LINE) {
                        uint64_t line = bytes - at < LINE ? bytes - at : LINE;
                        uint32_t port = nuna_address_locate(&sim->pod.map, dst.position + at).port;
                        out[g * ports + port] += line;
                        in[to->gpu * ports + port] += line;
                        out[to->gpu * ports + port] += CONTROL;
                        in[g * ports + port] += CONTROL;
                    }
                }
                for (uint32_t s = 0; op->kind == NUNA_OP_SIGNAL && s < op->id_count; s++) {
                    const struct nuna_channel *channel =
                        &plan->channels[plan->gpus[g].channel_at + plan->ids[op->id_at + s]];
                    uint64_t flag = layout[channel->peer].flags + LINE * channel->peer_channel;
                    uint32_t port = nuna_address_locate(&sim->pod.map, flag).port;
                    out[g * ports + port] += CONTROL;
                    in[channel->peer * ports + port] += CONTROL;
                    *memory_ += CONTROL;
                }
            }
    }
}

static uint64_t total(const struct nuna_server *servers, uint32_t count, uint32_t first,
                      uint32_t step)
{
    uint64_t bytes = 0;
    for (uint32_t i = first; i < count; i += step)
        bytes += servers[i].bytes;
    return bytes;
}

/* What leaves the mesh for the ports goes out, what comes in enters it; nothing is lost inside. */
static void check_port_attachments(const struct nuna_gpu_lp *gpu, const char *name)
{
    uint32_t all = gpu->noc.shape->codes * NUNA_ATTACHMENTS, ports = gpu->pod->clos.ports;
    cr_assert_eq(total(gpu->noc.eject, all, NUNA_AT_PORT, NUNA_ATTACHMENTS),
                 total(gpu->scaleup.egress, ports, 0, 1), "%s: GPU %u", name, gpu->gpu);
    cr_assert_eq(total(gpu->noc.inject, all, NUNA_AT_PORT, NUNA_ATTACHMENTS),
                 total(gpu->scaleup.output, ports, 0, 1), "%s: GPU %u", name, gpu->gpu);
    cr_assert_eq(total(gpu->noc.inject, all, 0, 1), total(gpu->noc.eject, all, 0, 1),
                 "%s: GPU %u lost bytes in its mesh", name, gpu->gpu);
}

static void check_conservation(const struct scene *scene)
{
    struct nuna_params p = params_of(6, 2, 2, 4, 3);
    struct nuna_plan *plan = plan_of(scene);
    struct nuna_result result;
    struct nuna_sim *sim = simulate(&p, plan, scene->size, &result);
    uint64_t *out = calloc(2 * scene->gpus * 3, sizeof *out), *in = out + scene->gpus * 3;
    cr_assert_not_null(out);
    uint64_t due = 0, accessed = 0, stores = 0;
    expect_bytes(sim, out, in, &due);
    for (uint32_t g = 0; g < scene->gpus; g++) {
        const struct nuna_gpu_lp *gpu = &sim->gpus[g];
        for (uint32_t port = 0; port < 3; port++) {
            cr_assert_eq(gpu->scaleup.egress[port].bytes, out[g * 3 + port],
                         "%s: GPU %u port %u sent %" PRIu64 ", expected %" PRIu64, plan->name, g,
                         port, gpu->scaleup.egress[port].bytes, out[g * 3 + port]);
            cr_assert_eq(gpu->scaleup.output[port].bytes, in[g * 3 + port], "%s: GPU %u port %u in",
                         plan->name, g, port);
        }
        for (uint32_t c = 0; c < gpu->hbm.channel_count; c++)
            accessed += gpu->hbm.channel[c].bytes;
        check_port_attachments(gpu, plan->name);
        for (uint32_t cu = 0; cu < sim->pod.topology.cu_count; cu++)
            cr_assert_eq(gpu->cus[cu].outstanding, 0, "%s: CU %u", plan->name, cu);
        stores += gpu->latency.count;
        cr_assert_eq(gpu->flights.in_use, 0, "%s: GPU %u keeps flights", plan->name, g);
        cr_assert_eq(gpu->lp->blocks.in_use, 0, "%s: GPU %u keeps blocks", plan->name, g);
        cr_assert_eq(gpu->exec.unfinished, 0);
    }
    cr_assert_eq(accessed, due, "%s: memory moved %" PRIu64 " bytes, expected %" PRIu64, plan->name,
                 accessed, due);
    cr_assert_eq(result.bytes_delivered, result.bytes_requested);
    cr_assert_eq(result.bytes_requested, nuna_plan_remote_bytes(plan, scene->size));
    cr_assert_eq(result.stores, stores);
    free(out);
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
}

Test(laws, conservation)
{
    for (size_t i = 0; i < COUNT(scenes); i++)
        check_conservation(&scenes[i]);
}

/* Queues are first come first served and stores go before loads, so a delay can reorder packets for
 * the better: `per_cent` of the time are allowed for that. */
static void check_slower(const struct scene *scene, uint64_t size, uint64_t per_cent)
{
    struct nuna_params p = params_of(6, 2, 2, 4, 3), slow[4] = {p, p, p, p};
    static const char *const what[] = {"port rate", "link rate", "channel rate", "hop latency"};
    slow[0].scaleup.port_rate /= 2;
    slow[1].noc.link_rate /= 2;
    slow[2].hbm.channel_rate /= 2;
    slow[3].noc.hop_latency *= 2;
    struct nuna_plan *plan = plan_of(scene);
    nuna_time time = time_of(&p, plan, size);
    for (int s = 0; s < 4; s++) {
        nuna_time slower = time_of(&slow[s], plan, size);
        cr_assert_geq(100 * slower, (100 - per_cent) * time,
                      "%s, %s: %" PRIu64 " ps become %" PRIu64, plan->name, what[s], time, slower);
    }
    nuna_plan_destroy(plan);
}

Test(laws, slower_parts_never_speed_a_run_up)
{
    for (size_t i = 0; i < COUNT(scenes); i++) {
        check_slower(&scenes[i], scenes[i].size, 2);
        /* One line a chunk: hardly any queue, and no order to gain from. */
        check_slower(&scenes[i], (uint64_t)scenes[i].gpus * scenes[i].channels * LINE, 0);
    }
}

/* What binds a run decides its time: at a fifth of the rate it takes more than four times as long.
 */
Test(laws, the_bottleneck_counts)
{
    struct nuna_params p = params_of(6, 2, 2, 4, 3), slow;
    p.scaleup.port_rate = 10000000000;
    slow = p;
    slow.scaleup.port_rate /= 5;
    struct nuna_plan *plan = plan_of(&scenes[1]);
    struct nuna_result result;
    nuna_sim_destroy(simulate(&p, plan, 2000000, &result));
    cr_assert(result.binding.kind == NUNA_RESOURCE_PORT ||
              result.binding.kind == NUNA_RESOURCE_SWITCH_OUTPUT);
    cr_assert_gt(time_of(&slow, plan, 2000000), 4 * result.time);
    nuna_plan_destroy(plan);
}

struct digest {
    uint64_t hash;
    nuna_time elapsed;
    bool too_busy;
};

static void digest_add(struct digest *digest, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        digest->hash = (digest->hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3ull;
}

static bool digest_resource(void *context, const struct nuna_resource *r)
{
    struct digest *digest = context;
    const uint64_t values[] = {r->kind, r->gpu, r->bytes, r->busy, r->max_wait};
    digest_add(digest, values, sizeof values);
    digest_add(digest, r->name, strlen(r->name));
    digest->too_busy = digest->too_busy || r->busy > digest->elapsed;
    return true;
}

/* Of everything a run tells; also checks what holds of every run. */
static uint64_t digest_of(const struct nuna_sim *sim, const struct nuna_result *r)
{
    struct digest digest = {.hash = 1469598103934665603ull, .elapsed = r->drained};
    nuna_sim_visit_resources(sim, digest_resource, &digest);
    cr_assert(!digest.too_busy, "a resource is busier than 100 %%");
    digest_resource(&digest, &r->binding);
    const uint64_t values[] = {
        r->status,          r->time,   r->drained,      r->stores,  r->bytes_requested,
        r->bytes_delivered, r->events, r->peak_flights, r->path_ops};
    digest_add(&digest, values, sizeof values);
    digest_add(&digest, r->path, sizeof r->path);
    digest_add(&digest, r->latency, sizeof *r->latency);
    nuna_time sum = 0;
    for (int part = 0; part < NUNA_PATH_PARTS; part++)
        sum += r->path[part];
    cr_assert_eq(sum, r->time, "the critical path sums to %" PRIu64 " of %" PRIu64, sum, r->time);
    return digest.hash;
}

Test(laws, same_results_for_any_threads_and_again)
{
    static const uint32_t threads[] = {1, 2, 4, 3, 1};
    for (size_t i = 0; i < COUNT(scenes); i++) {
        struct nuna_params p = params_of(6, 2, 2, 4, 3);
        struct nuna_plan *plan = plan_of(&scenes[i]);
        uint64_t first = 0;
        for (size_t t = 0; t < COUNT(threads); t++) {
            struct nuna_result result;
            struct nuna_sim *sim =
                simulate_until(&p, plan, scenes[i].size, threads[t], NULL, &result);
            uint64_t hash = digest_of(sim, &result);
            first = t == 0 ? hash : first;
            cr_assert_eq(hash, first, "%s differs with %u threads", plan->name, threads[t]);
            nuna_sim_destroy(sim);
        }
        nuna_plan_destroy(plan);
    }
}

struct side {
    struct nuna_sim *sim;
    struct nuna_result result;
    bool fine;
};

static void *run_side(void *argument)
{
    struct side *side = argument;
    struct nuna_error err;
    side->fine = nuna_sim_run(side->sim, &side->result, &err);
    return NULL;
}

/* Both exist, and run, at the same time. */
Test(laws, two_simulations_in_one_process)
{
    struct nuna_params p = params_of(6, 2, 2, 4, 3);
    struct nuna_plan *plans[2] = {plan_of(&scenes[1]), plan_of(&scenes[5])};
    uint64_t alone[2];
    struct side sides[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        struct nuna_error err;
        struct nuna_result result;
        struct nuna_sim *sim = simulate(&p, plans[i], 200000, &result);
        alone[i] = digest_of(sim, &result);
        nuna_sim_destroy(sim);
        struct nuna_sim_options options = {.size = 200000, .threads = 2};
        sides[i].sim = nuna_sim_create(&p, plans[i], &options, &err);
        cr_assert_not_null(sides[i].sim);
    }
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run_side, &sides[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        cr_assert(sides[i].fine);
        cr_assert_eq(digest_of(sides[i].sim, &sides[i].result), alone[i], "simulation %d", i);
        nuna_sim_destroy(sides[i].sim);
        nuna_plan_destroy(plans[i]);
    }
}

static bool same_bytes(const struct nuna_server *a, const struct nuna_server *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].bytes != b[i].bytes || a[i].max_wait != b[i].max_wait)
            return false;
    return true;
}

/* Every time is a multiple of 1 ns, so that packets from several GPUs often arrive at one instant.
 */
static struct nuna_params grid(void)
{
    struct nuna_params p = params_of(2, 1, 2, 1, 2);
    p.noc.control_size = LINE;
    p.noc.hop_latency = p.noc.injection_latency = p.noc.ejection_latency = 1000;
    p.noc.die_crossing_latency = 0;
    p.noc.link_rate = p.noc.injection_rate = p.noc.ejection_rate = 256000000000;
    p.gpu.issue_interval = 1000;
    p.hbm.channels_per_stack = 2;
    p.hbm.channel_rate = p.scaleup.port_rate = 256000000000;
    p.hbm.access_latency = p.scaleup.link_latency = p.scaleup.switch_latency = 100000;
    return p;
}

static void check_symmetry(const struct nuna_params *p, const struct nuna_plan *plan, uint64_t size)
{
    struct nuna_result result;
    struct nuna_sim *sim = simulate(p, plan, size, &result);
    const struct nuna_gpu_lp *zero = &sim->gpus[0];
    uint32_t ports = (uint32_t)p->scaleup.ports;
    for (uint32_t g = 1; g < plan->gpu_count; g++) {
        const struct nuna_gpu_lp *gpu = &sim->gpus[g];
        cr_assert_eq(gpu->lp->events, zero->lp->events, "%s: GPU %u", plan->name, g);
        cr_assert_eq(gpu->exec.finished, zero->exec.finished, "%s: GPU %u", plan->name, g);
        cr_assert_eq(memcmp(&gpu->latency, &zero->latency, sizeof gpu->latency), 0,
                     "%s: GPU %u has other latencies", plan->name, g);
        cr_assert(same_bytes(gpu->hbm.channel, zero->hbm.channel, gpu->hbm.channel_count) &&
                      same_bytes(gpu->scaleup.egress, zero->scaleup.egress, ports) &&
                      same_bytes(gpu->scaleup.output, zero->scaleup.output, ports),
                  "%s: GPU %u has other queues", plan->name, g);
    }
    nuna_sim_destroy(sim);
}

/* Rotation: every GPU is GPU 0 from its own seat. */
Test(laws, every_gpu_does_the_same)
{
    static const uint32_t gpus[] = {2, 3, 5, 8};
    const struct nuna_params params[] = {params_of(6, 2, 2, 4, 3), grid()};
    for (int collective = NUNA_ALLGATHER; collective <= NUNA_ALLTOALL; collective++)
        for (size_t n = 0; n < COUNT(gpus); n++)
            for (uint32_t channels = 1; channels <= 8; channels *= 8) {
                struct nuna_plan *plan =
                    generate((enum nuna_collective)collective, NUNA_ALLPAIRS, gpus[n], channels);
                check_symmetry(&params[0], plan, (uint64_t)gpus[n] * channels * 1040);
                check_symmetry(&params[1], plan, (uint64_t)gpus[n] * channels * 2048);
                nuna_plan_destroy(plan);
            }
}

/* ---- ends other than the good one ---- */

Test(ends, deadlock_names_who_waits)
{
    struct nuna_params p = tiny();
    struct nuna_plan *plan = one_way(2, 0, 0, 2, 0);
    for (size_t i = 0; i < plan->op_count;
         i++) /* the second stream signals on the first's channel */
        if (plan->ops[i].kind == NUNA_OP_SIGNAL)
            plan->ids[plan->ops[i].id_at] = 0;
    struct nuna_result result;
    struct nuna_sim *sim = simulate_until(&p, plan, 2 * LINE, 1, NULL, &result);
    cr_assert_eq(result.status, NUNA_SIM_DEADLOCK);
    cr_assert_str_eq(result.waiters,
                     "\n  GPU 1 threadblock 1 op 0 (wait): a signal from GPU 0 on channel 1");
    cr_assert_eq(result.time, result.drained);
    cr_assert_eq(result.bytes_delivered, 2 * LINE);
    for (int part = 0; part < NUNA_PATH_PARTS; part++)
        cr_assert_eq(result.path[part], 0);
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
}

Test(ends, stop_flag_interrupts)
{
    volatile sig_atomic_t stop = 1;
    struct nuna_params p = tiny();
    struct nuna_plan *plan = plan_of(&scenes[1]);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct nuna_result result;
        struct nuna_sim *sim = simulate_until(&p, plan, 100000, threads, &stop, &result);
        cr_assert_eq(result.status, NUNA_SIM_INTERRUPTED);
        cr_assert_eq(result.bytes_delivered, 0);
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* ---- latency map ---- */

/* 3x2 routers, a stack above and one below, a port left and one right, both in row 0. CU to port:
 * 0 1 2 / 1 2 3 hops from the left one and mirrored from the right one, 1.5 on average; port to
 * stack: 0 or 1. */
Test(latency_map, small_die_by_hand)
{
    struct nuna_params p = params_of(3, 2, 1, 2, 2);
    struct nuna_latency_map map;
    struct nuna_error err;
    cr_assert(nuna_latency_map_make(&p, &map, &err));
    nuna_time base = 2 * (21007 + 17011) + memory(&p, LINE);
    nuna_time across = to_switch(&p, LINE) + from_switch(&p, LINE);
    cr_assert_eq(map.noc.best, base);
    cr_assert_eq(map.noc.mean, base + 2 * 9100);
    cr_assert_eq(map.noc.worst, base + 4 * 9100);
    cr_assert_eq(map.transfer.best, base + across);
    cr_assert_eq(map.transfer.mean, base + across + 2 * 9100);
    cr_assert_eq(map.transfer.worst, base + across + 4 * 9100);
    cr_assert(map.cus == 42 && map.stacks == 2);
    static const nuna_time halves[] = {2, 2, 2, 4, 4, 4}; /* both ports' hops, by router */
    for (uint32_t cu = 0; cu < 42; cu++)
        for (uint32_t stack = 0; stack < 2; stack++)
            cr_assert_eq(map.by_cu_stack[cu * 2 + stack],
                         base + across + (halves[cu / 7] + 2 * stack) * 9100 / 2);
    nuna_latency_map_finish(&map);
}

static void within(const char *what, nuna_time value, double target, nuna_time best)
{
    double ratio = (double)value / (double)best;
    cr_assert(ratio > 0.9 * target && ratio < 1.1 * target, "%s: %.3f times the best, target %.2f",
              what, ratio, target);
}

/* The NUNA study's ratios, with the parameters that nunasim ships. */
Test(latency_map, ratios_of_the_published_die)
{
    struct nuna_params p;
    struct nuna_latency_map map;
    struct nuna_error err;
    nuna_params_defaults(&p);
    cr_assert(nuna_latency_map_make(&p, &map, &err));
    within("NoC, mean", map.noc.mean, 2, map.noc.best);
    within("NoC, worst", map.noc.worst, 3, map.noc.best);
    within("transfer, mean", map.transfer.mean, 1.45, map.transfer.best);
    within("transfer, worst", map.transfer.worst, 1.8, map.transfer.best);
    nuna_latency_map_finish(&map);
}
