/* What must hold for every simulation: conservation, monotony, determinism, symmetry. */
#include "default_shape.h"
#include "sim_scene.h"

#include <pthread.h>

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
    const struct nuna_plan *plan = sim->pod.spec.plan;
    const struct nuna_layout_gpu *layout = sim->pod.layout.gpus;
    uint32_t ports = sim->pod.spec.map.ports;
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
                        uint32_t port =
                            nuna_address_locate(&sim->pod.spec.map, NULL, dst.position + at).port;
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
                    uint32_t port = nuna_address_locate(&sim->pod.spec.map, NULL, flag).port;
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
static void check_port_attachments(const struct nuna_gpu *gpu, const char *name)
{
    uint32_t all = gpu->noc.shape->codes * NUNA_ATTACHMENTS, ports = gpu->spec->clos.ports;
    cr_assert_eq(total(gpu->noc.eject, all, NUNA_AT_PORT, NUNA_ATTACHMENTS),
                 total(gpu->scaleup.egress, ports, 0, 1), "%s: GPU %u", name, gpu->index);
    cr_assert_eq(total(gpu->noc.inject, all, NUNA_AT_PORT, NUNA_ATTACHMENTS),
                 total(gpu->scaleup.output, ports, 0, 1), "%s: GPU %u", name, gpu->index);
    cr_assert_eq(total(gpu->noc.inject, all, 0, 1), total(gpu->noc.eject, all, 0, 1),
                 "%s: GPU %u lost bytes in its mesh", name, gpu->index);
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
        const struct nuna_gpu *gpu = &sim->gpus[g];
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
        stores += gpu->probe->latency.count;
    }
    cr_assert_eq(accessed, due, "%s: memory moved %" PRIu64 " bytes, expected %" PRIu64, plan->name,
                 accessed, due);
    cr_assert_eq(result.bytes_delivered, result.bytes_requested);
    cr_assert_eq(result.bytes_requested, remote_bytes(plan, scene->size));
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
    struct nuna_sim *sim = simulate(&p, plan, 2000000, &result);
    enum nuna_resource_kind binding = breakdown_of(sim, &result).binding.kind;
    cr_assert(binding == NUNA_RESOURCE_PORT || binding == NUNA_RESOURCE_SWITCH_OUTPUT);
    nuna_sim_destroy(sim);
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
    const struct nuna_view view = nuna_view_of(sim, r);
    const struct nuna_breakdown breakdown = breakdown_of(sim, r);
    nuna_visit_resources(&view, digest_resource, &digest);
    cr_assert(!digest.too_busy, "a resource is busier than 100 %%");
    digest_resource(&digest, &breakdown.binding);
    const uint64_t values[] = {
        r->status,          r->time,   r->drained,      r->stores,         r->bytes_requested,
        r->bytes_delivered, r->events, r->peak_flights, breakdown.path_ops};
    digest_add(&digest, values, sizeof values);
    digest_add(&digest, breakdown.path, sizeof breakdown.path);
    digest_add(&digest, r->latency, sizeof *r->latency);
    nuna_time sum = 0;
    for (int part = 0; part < NUNA_PATH_PARTS; part++)
        sum += breakdown.path[part];
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
        contract_drained(sides[i].sim, &sides[i].result);
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
    const struct nuna_gpu *zero = &sim->gpus[0];
    uint32_t ports = (uint32_t)p->scaleup.ports;
    for (uint32_t g = 1; g < plan->gpu_count; g++) {
        const struct nuna_gpu *gpu = &sim->gpus[g];
        cr_assert_eq(gpu->lp->events, zero->lp->events, "%s: GPU %u", plan->name, g);
        cr_assert_eq(gpu->exec.finished, zero->exec.finished, "%s: GPU %u", plan->name, g);
        cr_assert_eq(
            memcmp(&gpu->probe->latency, &zero->probe->latency, sizeof gpu->probe->latency), 0,
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
