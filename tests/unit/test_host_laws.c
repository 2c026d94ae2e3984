/* What no transfer may break: conservation of bytes, capacities, and the cuts of the topology. */
#include "host_scene.h"

/* ---- maximum flow: breadth-first augmenting paths ---- */

enum { NODES = 64 };

struct graph {
    uint64_t capacity[NODES][NODES];
};

static uint64_t augment(struct graph *graph, int source, int sink)
{
    int from[NODES], queue[NODES], head = 0, tail = 0;
    for (int i = 0; i < NODES; i++)
        from[i] = -1;
    from[source] = source;
    queue[tail++] = source;
    while (head < tail && from[sink] < 0) {
        int at = queue[head++];
        for (int to = 0; to < NODES; to++)
            if (from[to] < 0 && graph->capacity[at][to] > 0) {
                from[to] = at;
                queue[tail++] = to;
            }
    }
    if (from[sink] < 0)
        return 0;
    uint64_t least = UINT64_MAX;
    for (int at = sink; at != source; at = from[at])
        if (graph->capacity[from[at]][at] < least)
            least = graph->capacity[from[at]][at];
    for (int at = sink; at != source; at = from[at]) {
        graph->capacity[from[at]][at] -= least;
        graph->capacity[at][from[at]] += least;
    }
    return least;
}

static uint64_t max_flow(struct graph *graph, int source, int sink)
{
    uint64_t flow = 0, more;
    while ((more = augment(graph, source, sink)) > 0)
        flow += more;
    return flow;
}

enum {
    SOURCE,
    SINK,
    HOST,               /* DRAM of the buffer's socket */
    FAR,                /* everything that crosses the sockets */
    MEMORY,             /* the target GPU's */
    INGRESS,            /* its ports */
    ROOT,               /* + GPU: root ports */
    STAGED = ROOT + 8,  /* + GPU: in its memory */
    ENDLESS_SHIFT = 60, /* a capacity beyond all others */
};

static uint64_t least(int64_t a, int64_t b)
{
    return (uint64_t)(a < b ? a : b);
}

/* Bytes/s from a buffer on the target's socket to a GPU over all paths in use. The reverse
 * direction has the same cuts, with writes in the place of reads. */
static uint64_t bound(const struct nuna_params *p, uint32_t target, bool write)
{
    static struct graph graph;
    const uint64_t endless = 1ull << ENDLESS_SHIFT;
    uint64_t ports = (uint64_t)(p->scaleup.ports * p->scaleup.port_rate);
    memset(&graph, 0, sizeof graph);
    graph.capacity[SOURCE][HOST] = (uint64_t)p->host.dram_rate;
    graph.capacity[HOST][FAR] =
        least(p->host.socket_link_rate, write ? p->host.far_write_rate : p->host.far_read_rate);
    graph.capacity[INGRESS][MEMORY] = ports;
    graph.capacity[MEMORY][SINK] = (uint64_t)p->host.memory_rate;
    uint32_t relays = 0;
    for (int far = 0; far < 2; far++)
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t g = (target + i) % 8;
            if ((g / 4 != target / 4) != (far == 1) || (i > 0 && relays == p->host.relays))
                continue;
            relays += i > 0;
            if (far)
                graph.capacity[FAR][ROOT + g] = (uint64_t)p->host.far_gpu_rate;
            else
                graph.capacity[HOST][ROOT + g] = endless;
            if (g == target) {
                graph.capacity[ROOT + g][MEMORY] = (uint64_t)p->host.pcie_rate;
                continue;
            }
            graph.capacity[ROOT + g][STAGED + g] = least(p->host.pcie_rate, p->host.relay_rate);
            graph.capacity[STAGED + g][INGRESS] = ports;
        }
    return max_flow(&graph, SOURCE, SINK);
}

static int64_t draw_rate(uint64_t *random, uint64_t from_GBps, uint64_t to_GBps)
{
    return (int64_t)((from_GBps + scene_draw(random) % (to_GBps - from_GBps + 1)) * 1000000000);
}

Test(host_laws, no_transfer_beats_a_cut)
{
    uint64_t random = 2024;
    double tightest = 0;
    for (int round = 0; round < 40; round++) {
        struct scene scene;
        char text[64];
        scene_init(&scene);
        struct nuna_params *p = &scene.params;
        p->host.dram_rate = draw_rate(&random, 20, 400);
        p->host.socket_link_rate = draw_rate(&random, 10, 300);
        p->host.far_read_rate = draw_rate(&random, 10, 300);
        p->host.far_write_rate = draw_rate(&random, 10, 300);
        p->host.far_gpu_rate = draw_rate(&random, 5, 60);
        p->host.pcie_rate = draw_rate(&random, 10, 100);
        p->host.relay_rate = draw_rate(&random, 10, 100);
        p->host.memory_rate = draw_rate(&random, 50, 2000);
        p->scaleup.ports = 1 + (int64_t)(scene_draw(&random) % 8);
        p->host.relays = (int64_t)(scene_draw(&random) % 8);
        p->host.read_window = 262144;
        p->host.peer_window = 1048576;
        uint32_t target = (uint32_t)(scene_draw(&random) % 8);
        bool write = scene_draw(&random) % 2;
        snprintf(text, sizeof text, "%s:120MB:gpu%u", write ? "d2h" : "h2d", target);
        scene_add(&scene, text);
        scene_run(&scene);
        struct nuna_host_outcome outcome = scene_outcome(&scene, 0);
        uint64_t limit = bound(p, target, write);
        nuna_time fastest = nuna_units_transfer_time(outcome.bytes, limit, NULL);
        cr_assert_geq(outcome.time, fastest,
                      "round %d, %s: %" PRIu64 " ps, but the cut needs %" PRIu64, round, text,
                      outcome.time, fastest);
        double used = (double)fastest / (double)outcome.time;
        tightest = used > tightest ? used : tightest;
        scene_end(&scene);
    }
    /* The bound is one that transfers come near to. */
    cr_assert_gt(tightest, 0.85, "%f", tightest);
}

/* ---- conservation ---- */

struct sums {
    uint64_t dram, pcie_down[8], pcie_up[8], far, socket_link, ports_in, ports_out;
    nuna_time elapsed;
    uint32_t resources;
};

static bool collect(void *context, const struct nuna_host_resource *resource)
{
    struct sums *sums = context;
    uint32_t gpu = 0;
    sscanf(resource->name, "gpu%u", &gpu);
    if (strcmp(resource->kind, "dram") == 0)
        sums->dram += resource->bytes;
    else if (strcmp(resource->kind, "pcie_down") == 0)
        sums->pcie_down[gpu] += resource->bytes;
    else if (strcmp(resource->kind, "pcie_up") == 0)
        sums->pcie_up[gpu] += resource->bytes;
    else if (strcmp(resource->kind, "far_read") == 0 || strcmp(resource->kind, "far_write") == 0)
        sums->far += resource->bytes;
    else if (strcmp(resource->kind, "socket_link") == 0)
        sums->socket_link += resource->bytes;
    else if (strcmp(resource->kind, "ports_in") == 0)
        sums->ports_in += resource->bytes;
    else if (strcmp(resource->kind, "ports_out") == 0)
        sums->ports_out += resource->bytes;
    nuna_time whole = sums->elapsed * resource->lanes, binned = 0;
    cr_assert_leq(resource->busy, whole, "%s of %s", resource->kind, resource->name);
    for (uint32_t i = 0; i < NUNA_TIMELINE_BINS; i++) {
        cr_assert_leq(resource->timeline->busy[i], resource->timeline->interval * resource->lanes);
        binned += resource->timeline->busy[i];
    }
    /* The bins hold the same time but for a picosecond of rounding per piece. */
    uint64_t pieces = resource->bytes / 5000 + 100;
    cr_assert(binned <= resource->busy + pieces && binned + pieces >= resource->busy, "%s of %s",
              resource->kind, resource->name);
    sums->resources++;
    return true;
}

static void check_conservation(struct scene *scene)
{
    struct nuna_host_view view = nuna_host_sim_view(scene->sim);
    struct sums sums = {.elapsed = nuna_host_sim_now(scene->sim)};
    uint64_t bytes = 0, relayed = 0, down[8] = {0}, up[8] = {0};
    for (uint32_t t = 0; t < view.host->transfer_count; t++) {
        struct nuna_host_outcome outcome = scene_outcome(scene, t);
        cr_assert_eq(outcome.bytes, outcome.request.bytes);
        if (outcome.request.direction == NUNA_HOST_P2P) {
            relayed += outcome.bytes;
            continue;
        }
        uint64_t sum = 0;
        for (uint32_t g = 0; g < 8; g++) {
            sum += outcome.path_bytes[g];
            (outcome.request.direction == NUNA_HOST_H2D ? down : up)[g] += outcome.path_bytes[g];
        }
        cr_assert_eq(sum, outcome.bytes);
        bytes += sum;
        relayed += sum - outcome.path_bytes[outcome.request.gpu];
    }
    nuna_host_visit_all(view, collect, &sums);
    cr_assert_gt(sums.resources, 40);
    cr_assert_eq(sums.dram, bytes);
    cr_assert_eq(sums.far, sums.socket_link);
    cr_assert_eq(sums.ports_out, relayed);
    cr_assert_eq(sums.ports_in, relayed);
    for (uint32_t g = 0; g < 8; g++) {
        cr_assert_eq(sums.pcie_down[g], down[g]);
        cr_assert_eq(sums.pcie_up[g], up[g]);
        cr_assert_eq(view.gpus[g].pieces.in_use, 0);
    }
    cr_assert_eq(view.host->side.pieces.in_use, 0);
}

Test(host_laws, every_byte_is_carried_once)
{
    static const char *const names[] = {"h2d", "d2h"};
    uint64_t random = 77;
    for (int round = 0; round < 80; round++) {
        struct scene scene;
        char text[64];
        scene_init(&scene);
        struct nuna_params *p = &scene.params;
        p->scaleup.ports = 1 + (int64_t)(scene_draw(&random) % 18);
        p->host.engine = (int64_t)(scene_draw(&random) % 3);
        p->host.buffer = (int64_t)(scene_draw(&random) % 4);
        p->host.buffer_page = 65536;
        p->host.task_queue = (int64_t)(scene_draw(&random) % 2);
        p->host.direct_priority = (int64_t)(scene_draw(&random) % 2);
        p->host.relays = (int64_t)(scene_draw(&random) % 8);
        p->host.queue_depth = 1 + (int64_t)(scene_draw(&random) % 4);
        p->host.pipelines = 1 + (int64_t)(scene_draw(&random) % 3);
        p->host.chunk_size = 1000 + (int64_t)(scene_draw(&random) % 3000000);
        p->host.read_window = 1 + (int64_t)(scene_draw(&random) % 500000);
        p->host.peer_window = 1 + (int64_t)(scene_draw(&random) % 500000);
        uint32_t count = 1 + (uint32_t)(scene_draw(&random) % 4);
        for (uint32_t t = 0; t < count; t++) {
            snprintf(text, sizeof text, "%s:%" PRIu64 "B:gpu%" PRIu64,
                     names[scene_draw(&random) % 2], 1 + scene_draw(&random) % 9000000,
                     scene_draw(&random) % 8);
            scene_add(&scene, text);
        }
        if (round % 5 == 0)
            scene_add(&scene, "p2p:7654321B:gpu2:gpu6");
        scene_run(&scene);
        check_conservation(&scene);
        scene_end(&scene);
    }
}

/* Renaming the GPUs of a socket, or the sockets, changes nothing for one transfer. */
Test(host_laws, gpus_of_a_kind_are_alike)
{
    nuna_time first = 0;
    for (uint32_t g = 0; g < 8; g++) {
        struct scene scene;
        char text[64];
        scene_init(&scene);
        scene.params.scaleup.ports = 18;
        snprintf(text, sizeof text, "h2d:64MB:gpu%u", g);
        scene_add(&scene, text);
        nuna_time time = scene_time(&scene);
        if (g == 0)
            first = time;
        double ratio = (double)time / (double)first;
        cr_assert_float_eq(ratio, 1, 0.01, "gpu%u: %" PRIu64 " against %" PRIu64, g, time, first);
    }
}

/* Bandwidth of a native copy grows with its size, up to the link's. */
Test(host_laws, native_bandwidth_grows_with_size)
{
    double before = 0;
    for (uint64_t bytes = 1000; bytes <= 1000000000; bytes *= 10) {
        struct scene scene;
        char text[64];
        scene_init(&scene);
        scene.params.host.engine = NUNA_HOST_NATIVE;
        snprintf(text, sizeof text, "h2d:%" PRIu64 "B:gpu0", bytes);
        scene_add(&scene, text);
        double rate = (double)bytes / (double)scene_time(&scene) * 1e3;
        cr_assert_gt(rate, before);
        cr_assert_lt(rate, 50.0);
        before = rate;
    }
    cr_assert_gt(before, 49.9);
}
