/* Host transfers against closed forms, to the picosecond, and against the rules of the engines. */
#include "host_scene.h"

/* Pieces of 10 kB on the resources of the scene, in ps. */
enum {
    DRAM = 20000,
    PCIE = 200000,
    PACE = 250000,
    MEMORY = 10000,
    PORT = 400000,
    CONTROL = 640, /* 16 B at 25 GB/s */
};

static nuna_time ps(int64_t value)
{
    return (nuna_time)value;
}

/* From the launch to the start of the first copy. */
static nuna_time to_engine(const struct nuna_params *p)
{
    return ps(p->host.pcie_latency + p->host.copy_gap);
}

/* A copy from near host memory, from its first request to its last byte in the GPU's memory: the
 * pieces leave `interval` apart, or queue at the PCIe link. */
static nuna_time read_time(const struct nuna_params *p, uint64_t pieces, nuna_time interval)
{
    nuna_time last = interval > PCIE ? (pieces - 1) * interval + PCIE : pieces * PCIE;
    return ps(2 * p->host.pcie_latency + p->host.dram_latency + p->hbm.access_latency) + DRAM +
           last + MEMORY;
}

/* A copy to a peer over two ports, from the first read of memory to the last acknowledgement; an
 * even number of pieces. The second port starts one piece later. */
static nuna_time push_time(const struct nuna_params *p, uint64_t pieces)
{
    nuna_time way = ps(2 * p->scaleup.link_latency + p->scaleup.switch_latency);
    return ps(2 * p->hbm.access_latency) + 2 * MEMORY + pieces / 2 * PORT + PORT + MEMORY +
           2 * way + 2 * CONTROL;
}

static nuna_time setup(const struct nuna_params *p)
{
    return ps(p->host.callback_time + p->host.setup_time);
}

static nuna_time finish(const struct nuna_params *p)
{
    return ps(p->host.pcie_latency + p->host.completion_time + p->host.poll_time);
}

Test(host, native_copy)
{
    static const char *const transfers[] = {"h2d:10kB:gpu0", "h2d:1MB:gpu3", "h2d:50MB:gpu7"};
    static const uint64_t pieces[] = {1, 100, 5000};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        scene_init(&scene);
        scene.params.host.engine = NUNA_HOST_NATIVE;
        scene_add(&scene, transfers[i]);
        nuna_time time = scene_time(&scene);
        nuna_time expected = ps(scene.params.host.copy_launch) + to_engine(&scene.params) +
                             read_time(&scene.params, pieces[i], 0);
        cr_assert_eq(time, expected, "%s: %" PRIu64 " ps, expected %" PRIu64, transfers[i], time,
                     expected);
    }
}

Test(host, native_copy_to_the_host)
{
    struct scene scene;
    scene_init(&scene);
    const struct nuna_params *p = &scene.params;
    scene.params.host.engine = NUNA_HOST_NATIVE;
    scene_add(&scene, "d2h:1MB:gpu2");
    /* Memory, link, DRAM, and the credit of the last write. */
    nuna_time expected = ps(p->host.copy_launch + p->hbm.access_latency + p->host.dram_latency +
                            2 * p->host.pcie_latency) +
                         to_engine(p) + MEMORY + 100 * PCIE + DRAM;
    cr_assert_eq(scene_time(&scene), expected);
}

Test(host, far_copy_crosses_four_more_queues)
{
    struct scene scene;
    scene_init(&scene);
    const struct nuna_params *p = &scene.params;
    scene.params.host.engine = NUNA_HOST_NATIVE;
    scene.params.host.buffer = NUNA_HOST_BUFFER_OTHER;
    scene.params.host.far_gpu_rate = 20000000000;      /* 500 ns a piece: binds */
    scene.params.host.far_read_rate = 100000000000;    /* 100 ns */
    scene.params.host.socket_link_rate = 200000000000; /* 50 ns */
    scene_add(&scene, "h2d:1MB:gpu0");
    nuna_time expected = ps(p->host.copy_launch + 2 * p->host.pcie_latency + p->host.dram_latency +
                            p->host.socket_link_latency + p->hbm.access_latency) +
                         to_engine(p) + DRAM + 100 * 500000ull + 100000 + 50000 + PCIE + MEMORY;
    cr_assert_eq(scene_time(&scene), expected);
}

/* The parts of a relayed chunk: read into the staging buffer, event, push to the target. */
static nuna_time relayed(const struct nuna_params *p, uint64_t pieces)
{
    return read_time(p, pieces, PACE) + ps(p->host.relay_dependency + p->host.copy_gap) +
           push_time(p, pieces);
}

static void relay_scene(struct scene *scene, const char *transfer, const char *chunk_bytes)
{
    struct nuna_error err;
    scene_init(scene);
    scene->params.host.direct = NUNA_HOST_OFF;
    scene->params.host.chunk_size = atoll(chunk_bytes);
    cr_assert(nuna_host_relays_parse("gpu1", 8, &scene->plan.paths, &err));
    scene_add(scene, transfer);
}

Test(host, one_relayed_chunk)
{
    struct scene scene;
    relay_scene(&scene, "h2d:1MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    nuna_time time = scene_time(&scene);
    nuna_time expected =
        setup(p) + ps(p->host.dispatch_relay) + to_engine(p) + relayed(p, 100) + finish(p);
    cr_assert_eq(time, expected, "%" PRIu64 " ps, expected %" PRIu64, time, expected);
}

Test(host, two_relayed_chunks_overlap_in_two_pipelines)
{
    struct scene scene;
    relay_scene(&scene, "h2d:2MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    /* The second chunk is read while the first one is pushed: one more read, one more gap. */
    nuna_time expected = setup(p) + ps(p->host.dispatch_relay) + to_engine(p) +
                         read_time(p, 100, PACE) + ps(p->host.copy_gap) + relayed(p, 100) +
                         finish(p);
    nuna_time time = scene_time(&scene);
    cr_assert_eq(time, expected, "%" PRIu64 " ps, expected %" PRIu64, time, expected);
}

Test(host, two_relayed_chunks_take_turns_in_one_pipeline)
{
    struct scene scene;
    relay_scene(&scene, "h2d:2MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    scene.params.host.pipelines = 1;
    nuna_time expected = setup(p) + ps(p->host.dispatch_relay) + to_engine(p) + relayed(p, 100) +
                         ps(p->host.copy_gap) + relayed(p, 100) + finish(p);
    nuna_time time = scene_time(&scene);
    cr_assert_eq(time, expected, "%" PRIu64 " ps, expected %" PRIu64, time, expected);
}

/* A relay's write of a staged chunk, from its first read of memory to the credit of its last piece.
 */
static nuna_time write_time(const struct nuna_params *p, uint64_t pieces)
{
    return (pieces - 1) * PACE + MEMORY + PCIE + DRAM +
           ps(p->hbm.access_latency + 2 * p->host.pcie_latency + p->host.dram_latency);
}

/* A pull takes as long as a push: requests go one way in the place of acknowledgements the other.
 */
Test(host, one_chunk_relayed_to_the_host)
{
    struct scene scene;
    relay_scene(&scene, "d2h:1MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    nuna_time expected = setup(p) + ps(p->host.dispatch_relay) + to_engine(p) + push_time(p, 100) +
                         ps(p->host.relay_dependency + p->host.copy_gap) + write_time(p, 100) +
                         finish(p);
    nuna_time time = scene_time(&scene);
    cr_assert_eq(time, expected, "%" PRIu64 " ps, expected %" PRIu64, time, expected);
}

/* Two pipelines do not help a relay towards the host: its engine does one copy at a time. */
Test(host, two_chunks_relayed_to_the_host_take_turns)
{
    struct scene scene;
    relay_scene(&scene, "d2h:2MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    scene.params.host.dispatch_relay = 1000000; /* the second pull follows the first one */
    nuna_time expected = setup(p) + ps(p->host.dispatch_relay + 3 * p->host.copy_gap) +
                         to_engine(p) + 2 * push_time(p, 100) + 2 * write_time(p, 100) + finish(p);
    nuna_time time = scene_time(&scene);
    cr_assert_eq(time, expected, "%" PRIu64 " ps, expected %" PRIu64, time, expected);
}

/* With one chunk outstanding the thread launches the second one when the first one has ended. */
Test(host, depth_one_leaves_a_gap)
{
    struct scene scene;
    relay_scene(&scene, "h2d:2MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    scene.params.host.queue_depth = 1;
    nuna_time one = ps(p->host.dispatch_relay + p->host.pcie_latency + p->host.completion_time) +
                    to_engine(p) + relayed(p, 100);
    cr_assert_eq(scene_time(&scene), setup(p) + 2 * one + ps(p->host.poll_time));
}

Test(host, synchronous_copies_have_no_dummy_task)
{
    struct scene scene;
    relay_scene(&scene, "h2d:1MB:gpu0", "1000000");
    const struct nuna_params *p = &scene.params;
    nuna_time async = scene_time(&scene);
    scene.params.host.copies = NUNA_HOST_SYNC;
    cr_assert_eq(scene_time(&scene),
                 async - ps(p->host.callback_time + p->host.poll_time) + ps(p->host.wake_time));
}

/* Two concurrent copies over one link get half of it each, whatever their sizes. */
Test(host, a_link_is_shared_fairly)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.engine = NUNA_HOST_NATIVE;
    scene.params.host.read_window = 100000;
    scene_add(&scene, "h2d:10MB:gpu0");
    scene_add(&scene, "h2d:30MB:gpu0");
    scene_run(&scene);
    double rate =
        (double)scene_outcome(&scene, 0).bytes / (double)scene_outcome(&scene, 0).time * 1e3;
    cr_assert_float_eq(rate, 25.0, 1.0, "%f GB/s", rate);
    /* The other one has the link for itself afterwards: 40 MB in all. */
    double all = 40e6 / (double)scene_outcome(&scene, 1).time * 1e3;
    cr_assert_float_eq(all, 50.0, 1.0, "%f GB/s", all);
    scene_end(&scene);
}

Test(host, transfers_of_a_stream_take_turns)
{
    struct scene scene;
    scene_init(&scene);
    scene_add(&scene, "h2d:40MB:gpu0,stream=1");
    scene_add(&scene, "d2h:40MB:gpu0,stream=1");
    scene_add(&scene, "h2d:40MB:gpu0,stream=2,start=5us");
    scene_run(&scene);
    struct nuna_host_outcome first = scene_outcome(&scene, 0), second = scene_outcome(&scene, 1);
    cr_assert_eq(first.begin, 0);
    cr_assert_eq(second.begin, first.time);
    cr_assert_eq(scene_outcome(&scene, 2).begin, 5000000);
    scene_end(&scene);
}

Test(host, static_shares_are_exact)
{
    struct scene scene;
    struct nuna_error err;
    scene_init(&scene);
    scene.params.host.engine = NUNA_HOST_STATIC;
    scene.params.host.relays = 3;
    cr_assert(nuna_host_shares_parse("1:2:0:4", &scene.plan.paths, &err));
    scene_add(&scene, "h2d:7000007B:gpu0");
    scene_run(&scene);
    static const uint64_t shares[8] = {1000001, 2000002, 0, 4000004};
    struct nuna_host_outcome outcome = scene_outcome(&scene, 0);
    for (uint32_t g = 0; g < 8; g++)
        cr_assert_eq(outcome.path_bytes[g], shares[g], "gpu%u: %" PRIu64, g, outcome.path_bytes[g]);
    scene_end(&scene);
}

Test(host, small_transfers_fall_back)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.fallback_h2d = 11300000;
    scene.params.host.fallback_d2h = 13000000;
    scene_add(&scene, "h2d:11299999B:gpu0");
    scene_add(&scene, "h2d:11300000B:gpu1");
    scene_add(&scene, "d2h:12999999B:gpu2");
    scene_add(&scene, "d2h:13000000B:gpu3");
    scene_run(&scene);
    static const char *const engines[] = {"native", "mma", "native", "mma"};
    for (uint32_t i = 0; i < 4; i++)
        cr_assert_str_eq(scene_outcome(&scene, i).engine, engines[i]);
    scene_end(&scene);
}

/* A chunk may be larger than its transfer: it is then the whole transfer, on the direct link. */
Test(host, a_chunk_larger_than_the_transfer)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.chunk_size = 1000000000;
    scene_add(&scene, "h2d:20MB:gpu5");
    scene_run(&scene);
    struct nuna_host_outcome outcome = scene_outcome(&scene, 0);
    cr_assert_eq(outcome.chunks, 1);
    cr_assert_eq(outcome.path_bytes[5], 20000000);
    scene_end(&scene);
}

/* Eight transfers: with direct priority nearly nothing is relayed, without it nearly everything. */
static double relayed_share(enum nuna_host_switch priority)
{
    static const char *const transfers[] = {"h2d:200MB:gpu0", "h2d:200MB:gpu1", "h2d:200MB:gpu2",
                                            "h2d:200MB:gpu3", "h2d:200MB:gpu4", "h2d:200MB:gpu5",
                                            "h2d:200MB:gpu6", "h2d:200MB:gpu7"};
    struct scene scene;
    uint64_t direct = 0, all = 0;
    scene_init(&scene);
    scene.params.scaleup.ports = 18;
    scene.params.host.direct_priority = priority;
    for (size_t i = 0; i < 8; i++)
        scene_add(&scene, transfers[i]);
    scene_run(&scene);
    for (uint32_t i = 0; i < 8; i++) {
        direct += scene_outcome(&scene, i).path_bytes[i];
        all += scene_outcome(&scene, i).bytes;
    }
    scene_end(&scene);
    return 1 - (double)direct / (double)all;
}

Test(host, direct_priority_keeps_traffic_off_the_ports)
{
    double with = relayed_share(NUNA_HOST_ON), without = relayed_share(NUNA_HOST_OFF);
    cr_assert_lt(with, 0.06, "%f", with);
    cr_assert_gt(without, 0.8, "%f", without);
}

/* A contended relay carries less, and with a smaller queue less than with a full one. */
static uint64_t carried_beside_background(int64_t backoff_depth)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.read_window = 200000;
    scene.params.scaleup.ports = 18;
    scene.params.host.queue_depth = 4;
    scene.params.host.pipelines = 4;
    scene.params.host.backoff_depth = backoff_depth;
    scene.params.host.dispatch_relay = 60000000; /* an empty queue shows */
    scene_add(&scene, "h2d:400MB:gpu0");
    scene_add(&scene, "background h2d:gpu1");
    scene_run(&scene);
    uint64_t bytes = scene_outcome(&scene, 0).path_bytes[1];
    cr_assert_lt(bytes, scene_outcome(&scene, 0).path_bytes[2]);
    cr_assert_gt(scene_outcome(&scene, 1).bytes, 0);
    scene_end(&scene);
    return bytes;
}

Test(host, a_contended_relay_backs_off)
{
    uint64_t yielding = carried_beside_background(1), pressing = carried_beside_background(4);
    cr_assert_lt(yielding, pressing, "%" PRIu64 " against %" PRIu64, yielding, pressing);
}

/* One synchronisation thread per busy link: at most that, and nearly that. */
Test(host, cores_follow_the_links_in_use)
{
    for (int64_t relays = 0; relays < 8; relays++) {
        struct scene scene;
        scene_init(&scene);
        scene.params.scaleup.ports = 18;
        scene.params.host.relays = relays;
        scene.params.host.dispatch_direct = scene.params.host.dispatch_relay = 0;
        scene_add(&scene, "h2d:500MB:gpu0");
        scene_run(&scene);
        double cores =
            (double)nuna_host_cpu_millicores(nuna_host_sim_view(scene.sim), scene.elapsed) / 1e3;
        cr_assert_leq(cores, (double)relays + 1);
        cr_assert_gt(cores, 0.85 * ((double)relays + 1), "%" PRId64 " relays: %f", relays, cores);
        scene_end(&scene);
    }
}
