/* What the engines and the machine promise beyond closed forms: who is served first, what is
 * shared and what is not, where the bytes lie. */
#include "host_scene.h"

struct named {
    const char *kind, *name;
    uint64_t bytes;
};

static bool find(void *context, const struct nuna_host_resource *resource)
{
    struct named *named = context;
    if (strcmp(resource->kind, named->kind) == 0 && strcmp(resource->name, named->name) == 0)
        named->bytes = resource->bytes;
    return true;
}

/* Bytes that a resource has served. */
static uint64_t served(const struct scene *scene, const char *kind, const char *name)
{
    struct nuna_host_view view = nuna_host_sim_view(scene->sim);
    struct named named = {kind, name, UINT64_MAX};
    nuna_host_visit_all(view, find, &named);
    cr_assert_neq(named.bytes, UINT64_MAX, "no %s of %s", kind, name);
    return named.bytes;
}

static nuna_time end_of(const struct scene *scene, uint32_t transfer)
{
    struct nuna_host_outcome outcome = scene_outcome(scene, transfer);
    return outcome.begin + outcome.time;
}

/* A path without work of its own serves the GPU with most bytes left, whichever asked first. */
Test(host_rules, the_longest_remaining_destination_is_next)
{
    for (int large_first = 0; large_first < 2; large_first++) {
        struct scene scene;
        struct nuna_error err;
        scene_init(&scene);
        scene.params.host.direct = NUNA_HOST_OFF;
        scene.params.host.chunk_size = 1000000;
        cr_assert(nuna_host_relays_parse("gpu2", 8, &scene.plan.paths, &err));
        scene_add(&scene, large_first ? "h2d:20MB:gpu0" : "h2d:4MB:gpu0");
        scene_add(&scene, large_first ? "h2d:4MB:gpu1" : "h2d:20MB:gpu1");
        scene_run(&scene);
        nuna_time small = end_of(&scene, large_first ? 1 : 0);
        nuna_time large = end_of(&scene, large_first ? 0 : 1);
        /* 16 MB of the large one first, then both in turns. */
        cr_assert_gt(small * 10, large * 9, "%" PRIu64 " against %" PRIu64, small, large);
        scene_end(&scene);
    }
}

/* Two transfers of one GPU: one process serves the older one first, two processes both at once. */
Test(host_rules, processes_have_queues_of_their_own)
{
    nuna_time first[2], second[2];
    for (int each = 0; each < 2; each++) {
        struct scene scene;
        scene_init(&scene);
        scene.params.host.relays = 0;
        scene.params.host.read_window = 200000;
        scene.params.host.task_queue = each ? NUNA_HOST_QUEUE_PER_TRANSFER : NUNA_HOST_QUEUE_SHARED;
        scene_add(&scene, "h2d:100MB:gpu0");
        scene_add(&scene, "h2d:100MB:gpu0");
        scene_run(&scene);
        first[each] = end_of(&scene, 0);
        second[each] = end_of(&scene, 1);
        scene_end(&scene);
    }
    cr_assert_lt(first[0] * 10, second[0] * 6);
    cr_assert_gt(first[1] * 10, second[1] * 9);
}

/* Reads and writes queue at the same memory: 60 GB/s for both, where each link has 50. */
Test(host_rules, reads_and_writes_share_memory)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.engine = NUNA_HOST_NATIVE;
    scene.params.host.dram_rate = 60000000000;
    scene_add(&scene, "h2d:50MB:gpu0");
    scene_add(&scene, "d2h:50MB:gpu1");
    scene_run(&scene);
    nuna_time last = end_of(&scene, 0) > end_of(&scene, 1) ? end_of(&scene, 0) : end_of(&scene, 1);
    cr_assert_geq(last, nuna_units_transfer_time(100000000, 60000000000, NULL));
    scene_end(&scene);
}

/* The two directions of a GPU have an engine and half of the link each. */
Test(host_rules, directions_do_not_meet)
{
    nuna_time alone[2];
    static const char *const transfers[] = {"h2d:50MB:gpu0", "d2h:50MB:gpu0"};
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        scene_init(&scene);
        scene.params.host.relays = 0;
        scene_add(&scene, transfers[i]);
        alone[i] = scene_time(&scene);
    }
    struct scene scene;
    scene_init(&scene);
    scene.params.host.relays = 0;
    scene_add(&scene, transfers[0]);
    scene_add(&scene, transfers[1]);
    scene_run(&scene);
    for (uint32_t i = 0; i < 2; i++)
        cr_assert_lt(end_of(&scene, i), alone[i] + alone[i] / 100, "%s", transfers[i]);
    scene_end(&scene);
}

/* Of a buffer on the other socket every byte crosses the link in its direction, and the limits of
 * the GPU's socket. */
Test(host_rules, far_bytes_take_the_link_of_their_direction)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.engine = NUNA_HOST_NATIVE;
    scene.params.host.buffer = NUNA_HOST_BUFFER_OTHER;
    scene_add(&scene, "h2d:3MB:gpu0");
    scene_add(&scene, "d2h:2MB:gpu1");
    scene_run(&scene);
    cr_assert_eq(served(&scene, "dram", "socket 0"), 0);
    cr_assert_eq(served(&scene, "dram", "socket 1"), 5000000);
    cr_assert_eq(served(&scene, "socket_link", "socket 1->0"), 3000000);
    cr_assert_eq(served(&scene, "socket_link", "socket 0->1"), 2000000);
    cr_assert_eq(served(&scene, "far_read", "socket 0"), 3000000);
    cr_assert_eq(served(&scene, "far_write", "socket 0"), 2000000);
    scene_end(&scene);
}

/* Pages in turn, also pages smaller than a piece. */
Test(host_rules, an_interleaved_buffer_alternates_by_page)
{
    static const int64_t pages[] = {4096, 12000, 1048576};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        const uint64_t bytes = 7000001, page = (uint64_t)pages[i];
        uint64_t near = 0;
        scene_init(&scene);
        scene.params.host.buffer = NUNA_HOST_BUFFER_INTERLEAVED;
        scene.params.host.buffer_page = pages[i];
        scene.params.host.chunk_size = 1234567;
        scene_add(&scene, "h2d:7000001B:gpu4");
        scene_run(&scene);
        for (uint64_t at = 0; at < bytes; at += 2 * page)
            near += bytes - at < page ? bytes - at : page;
        cr_assert_eq(served(&scene, "dram", "socket 1"), near, "pages of %" PRIu64, page);
        cr_assert_eq(served(&scene, "dram", "socket 0"), bytes - near);
        scene_end(&scene);
    }
}

/* With a copy of the buffer on each socket nothing crosses. */
Test(host_rules, every_path_reads_the_near_copy)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.buffer = NUNA_HOST_BUFFER_EACH;
    scene.params.host.chunk_size = 1000000;
    scene_add(&scene, "h2d:40MB:gpu0");
    scene_run(&scene);
    const uint64_t *bytes = scene_outcome(&scene, 0).path_bytes;
    cr_assert_eq(served(&scene, "far_read", "socket 1"), 0);
    cr_assert_gt(served(&scene, "dram", "socket 1"), 0);
    cr_assert_eq(served(&scene, "dram", "socket 1"), bytes[4] + bytes[5] + bytes[6] + bytes[7]);
    scene_end(&scene);
}

Test(host_rules, synchronous_native_copies_wake_their_caller)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.engine = NUNA_HOST_NATIVE;
    scene_add(&scene, "h2d:1MB:gpu0");
    nuna_time async = scene_time(&scene);
    scene.params.host.copies = NUNA_HOST_SYNC;
    cr_assert_eq(scene_time(&scene), async + (nuna_time)scene.params.host.wake_time);
}

/* One chunk at a time: its launch keeps one thread busy, then waiting for it another, until the
 * spin kernel sees the end. */
Test(host_rules, cores_count_launching_and_waiting_once)
{
    struct scene scene;
    scene_init(&scene);
    const struct nuna_params *p = &scene.params;
    scene.params.host.relays = 0;
    scene.params.host.queue_depth = 1;
    scene.params.host.dispatch_direct = 300000000; /* as much as the copy */
    scene.params.host.chunk_size = 15000000;
    scene_add(&scene, "h2d:30MB:gpu0");
    scene_run(&scene);
    nuna_time idle = (nuna_time)(p->host.callback_time + p->host.setup_time + p->host.poll_time);
    cr_assert_eq(nuna_host_cpu_millicores(nuna_host_sim_view(scene.sim), scene.elapsed),
                 (scene.elapsed - idle) * 1000 / scene.elapsed);
    scene_end(&scene);
}

/* Bytes that shares do not divide go to earlier paths, the first to the target's own. */
Test(host_rules, odd_bytes_go_to_the_first_paths)
{
    struct scene scene;
    scene_init(&scene);
    scene.params.host.engine = NUNA_HOST_STATIC;
    scene_add(&scene, "h2d:11B:gpu0");
    scene_run(&scene);
    static const uint64_t shares[8] = {2, 1, 2, 1, 1, 2, 1, 1};
    for (uint32_t g = 0; g < 8; g++)
        cr_assert_eq(scene_outcome(&scene, 0).path_bytes[g], shares[g], "gpu%u", g);
    scene_end(&scene);
    scene.plan.request_count = 0;
    scene_add(&scene, "h2d:1B:gpu0");
    scene_run(&scene);
    cr_assert_eq(scene_outcome(&scene, 0).path_bytes[0], 1);
    scene_end(&scene);
}

static bool accepted(const struct scene *scene, struct nuna_error *ret_err)
{
    return nuna_host_plan_check(&scene->plan, &scene->params, 8, ret_err);
}

/* Relays of another socket are not used where only near ones may be: named ones are refused. */
Test(host_rules, relays_stay_on_the_socket)
{
    struct scene scene;
    struct nuna_error err;
    scene_init(&scene);
    scene.params.host.relay_scope = NUNA_HOST_SAME_SOCKET;
    scene.params.host.chunk_size = 1000000;
    scene_add(&scene, "h2d:40MB:gpu5");
    scene_run(&scene);
    for (uint32_t g = 0; g < 8; g++)
        cr_assert_eq(scene_outcome(&scene, 0).path_bytes[g] > 0, g >= 4, "gpu%u", g);
    scene_end(&scene);
    cr_assert(nuna_host_relays_parse("gpu4,gpu7", 8, &scene.plan.paths, &err));
    cr_assert(accepted(&scene, &err), "%s", err.message);
    cr_assert(nuna_host_relays_parse("gpu4,gpu3", 8, &scene.plan.paths, &err));
    cr_assert_not(accepted(&scene, &err));
    cr_assert_str_eq(err.message, "--relays: gpu3 is on another socket than gpu5, expected relays "
                                  "on its own (host.relay_scope: same-socket)");
}
