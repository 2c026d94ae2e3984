/* The network on chip, packet by packet, against sums by hand; and where things are on the die. */
#include "gpu/topology.h"
#include "noc/mesh.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            cr_assert_fail(__VA_ARGS__);                                                           \
    } while (0)

#define SPACING 20000000ull /* ps between packets that shall not meet */

enum { EV_SEND = NUNA_NOC_KINDS };

struct packet {
    nuna_time start, arrival;
    uint16_t from, to;
    enum nuna_attachment source, target;
    uint32_t bytes;
};

/* A network alone in a one-LP kernel. */
struct bench {
    struct nuna_params params;
    struct nuna_noc_shape shape;
    struct nuna_noc noc;
    struct nuna_kernel *kernel;
    struct nuna_lp *lp;
    struct packet *packets;
    uint32_t arrived, windows;
    void (*check)(struct bench *bench, const struct packet *packet); /* at arrival; may be NULL */
};

static struct nuna_params params_of(int64_t columns, int64_t rows, int64_t dies)
{
    struct nuna_params params;
    nuna_params_defaults(&params);
    params.noc.fabric = NUNA_FABRIC_MESH;
    params.noc.columns = columns;
    params.noc.rows = rows;
    params.noc.dies = dies;
    params.noc.flit_size = 256;
    params.noc.control_size = 16;
    params.noc.hop_latency = 3300;
    params.noc.die_crossing_latency = 7070;
    params.noc.link_rate = 300000000000;
    params.noc.injection_latency = 11003;
    params.noc.injection_rate = 400000000000;
    params.noc.ejection_latency = 23011;
    params.noc.ejection_rate = 500000000000;
    params.noc.uniform_latency = 120000;
    return params;
}

static struct bench *bench_new(const struct nuna_params *params)
{
    struct bench *bench = calloc(1, sizeof *bench);
    cr_assert_not_null(bench);
    bench->params = *params;
    bench->kernel = nuna_kernel_create(1, 1, 1000000);
    cr_assert(bench->kernel && nuna_noc_shape_init(&bench->shape, &bench->params) &&
              nuna_noc_init(&bench->noc, &bench->shape, nuna_kernel_arena(bench->kernel)));
    bench->lp = nuna_kernel_lp(bench->kernel, 0);
    return bench;
}

static void bench_free(struct bench *bench)
{
    nuna_kernel_destroy(bench->kernel);
    nuna_noc_finish(&bench->noc);
    nuna_noc_shape_finish(&bench->shape);
    free(bench);
}

static void handle(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    struct bench *bench = model;
    struct packet *packet = &bench->packets[nuna_event_handle(event)];
    uint32_t kind = nuna_event_kind(event);
    if (kind == NUNA_NOC_HOP) {
        nuna_noc_hop(&bench->noc, lp, event);
    } else if (kind == EV_SEND) {
        nuna_noc_send(&bench->noc, lp, packet->from, packet->source, packet->to, packet->target,
                      packet->bytes, nuna_event_handle(event));
    } else {
        HOLDS(kind == NUNA_NOC_ARRIVE + (uint32_t)packet->target, "arrival of kind %u", kind);
        HOLDS(packet->arrival == 0, "a packet arrived twice");
        packet->arrival = lp->now;
        bench->arrived++;
        if (bench->check)
            bench->check(bench, packet);
    }
}

static void prefetch(void *model, struct nuna_event event)
{
    (void)model;
    (void)event;
}

static void run_lp(void *model, uint32_t lp, nuna_time end)
{
    struct bench *bench = model;
    bench->windows++;
    nuna_noc_run(&bench->noc, bench->lp, end, bench, handle, prefetch);
}

static void run(struct bench *bench, struct packet *packets, uint32_t count)
{
    static const struct nuna_kernel_ops ops = {.run = run_lp};
    bench->packets = packets;
    for (uint32_t i = 0; i < count; i++)
        nuna_lp_schedule(bench->lp, packets[i].start, nuna_event_make(EV_SEND, i));
    cr_assert_eq(nuna_kernel_run(bench->kernel, &ops, bench, NULL), NUNA_KERNEL_DRAINED);
    cr_assert_eq(bench->arrived, count);
}

static uint32_t column(const struct bench *bench, uint16_t router)
{
    return router & ((1u << bench->shape.x_bits) - 1);
}

static uint32_t row(const struct bench *bench, uint16_t router)
{
    return (uint32_t)router >> bench->shape.x_bits;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a < b ? b - a : a - b;
}

/* The tail follows its head by the serialisation time on the slowest kind of link. */
static nuna_time tail(const struct nuna_params *p, uint32_t bytes)
{
    int64_t rate =
        p->noc.injection_rate < p->noc.link_rate ? p->noc.injection_rate : p->noc.link_rate;
    rate = p->noc.ejection_rate < rate ? p->noc.ejection_rate : rate;
    return (nuna_time)((unsigned __int128)bytes * 1000000000000 / (uint64_t)rate);
}

/* Injection, hops, die borders crossed, ejection. Dies are equal vertical strips. */
static nuna_time by_hand(const struct bench *bench, uint16_t from, uint16_t to, uint32_t bytes)
{
    const struct nuna_params *p = &bench->params;
    uint32_t strip = (uint32_t)(p->noc.columns / p->noc.dies);
    uint32_t hops =
        apart(column(bench, from), column(bench, to)) + apart(row(bench, from), row(bench, to));
    uint32_t crossings = apart(column(bench, from) / strip, column(bench, to) / strip);
    return (nuna_time)(p->noc.injection_latency + hops * p->noc.hop_latency +
                       crossings * p->noc.die_crossing_latency + p->noc.ejection_latency) +
           tail(p, bytes);
}

/* Every pair of routers, far apart in time. */
static struct packet *all_pairs(const struct bench *bench, uint32_t *ret_count)
{
    uint32_t columns = (uint32_t)bench->params.noc.columns;
    uint32_t routers = columns * (uint32_t)bench->params.noc.rows;
    struct packet *packets = calloc((size_t)routers * routers, sizeof *packets);
    cr_assert_not_null(packets);
    uint32_t n = 0;
    for (uint32_t a = 0; a < routers; a++)
        for (uint32_t b = 0; b < routers; b++, n++)
            packets[n] = (struct packet){
                .start = 1000 + n * SPACING,
                .from = nuna_noc_router(&bench->shape, a % columns, a / columns),
                .to = nuna_noc_router(&bench->shape, b % columns, b / columns),
                .source = (enum nuna_attachment)(n % 3),
                .target = (enum nuna_attachment)(n / 3 % 3),
                .bytes = n % 2 ? 16 : 256,
            };
    *ret_count = n;
    return packets;
}

static void check_zero_load(int64_t columns, int64_t rows, int64_t dies)
{
    struct nuna_params params = params_of(columns, rows, dies);
    struct bench *bench = bench_new(&params);
    uint32_t count;
    struct packet *packets = all_pairs(bench, &count);
    run(bench, packets, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct packet *p = &packets[i];
        nuna_time due = by_hand(bench, p->from, p->to, p->bytes);
        HOLDS(p->arrival - p->start == due,
              "%" PRId64 "x%" PRId64 ": (%u,%u) to (%u,%u) took %" PRIu64 ", by hand %" PRIu64,
              columns, rows, column(bench, p->from), row(bench, p->from), column(bench, p->to),
              row(bench, p->to), p->arrival - p->start, due);
        HOLDS(nuna_noc_zero_load(&bench->shape, p->from, p->to, p->bytes) == due,
              "nuna_noc_zero_load");
        HOLDS(nuna_noc_hops(&bench->shape, p->from, p->to) ==
                  apart(column(bench, p->from), column(bench, p->to)) +
                      apart(row(bench, p->from), row(bench, p->to)),
              "nuna_noc_hops");
    }
    free(packets);
    bench_free(bench);
}

Test(mesh, zero_load_latency_of_every_pair)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {2, 2, 2}, {3, 5, 3},
                                        {4, 3, 2}, {8, 2, 4}, {9, 4, 3}, {24, 6, 4}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_zero_load(shapes[i][0], shapes[i][1], shapes[i][2]);
}

/* By numbers: from (1,5) to (20,0) on the 24x6 mesh of four dies are 19 + 5 hops and 3 borders. */
Test(mesh, one_pair_in_numbers)
{
    struct nuna_params params = params_of(24, 6, 4);
    struct bench *bench = bench_new(&params);
    struct packet packet = {.start = 17,
                            .from = nuna_noc_router(&bench->shape, 1, 5),
                            .to = nuna_noc_router(&bench->shape, 20, 0),
                            .source = NUNA_AT_PORT,
                            .target = NUNA_AT_MEMORY,
                            .bytes = 256};
    run(bench, &packet, 1);
    cr_assert_eq(packet.arrival, 17 + 11003 + 24 * 3300 + 3 * 7070 + 23011 + tail(&params, 256));
    bench_free(bench);
}

/* The lone packet has passed every link of its way, X first, and no other. */
static void check_way(struct bench *bench, const struct packet *packet)
{
    const struct nuna_noc_shape *shape = &bench->shape;
    uint32_t x = column(bench, packet->from), y = row(bench, packet->from);
    uint32_t to_x = column(bench, packet->to), to_y = row(bench, packet->to);
    while (x != to_x || y != to_y) {
        int direction = x < to_x   ? NUNA_EAST
                        : x > to_x ? NUNA_WEST
                        : y < to_y ? NUNA_SOUTH
                                   : NUNA_NORTH;
        struct nuna_server *link =
            &bench->noc.link[nuna_noc_router(shape, x, y) * NUNA_DIRECTIONS + direction];
        HOLDS(link->bytes == packet->bytes, "link %d of (%u,%u) carried %" PRIu64, direction, x, y,
              link->bytes);
        link->bytes = 0;
        x += direction == NUNA_EAST ? 1u : direction == NUNA_WEST ? -1u : 0u;
        y += direction == NUNA_SOUTH ? 1u : direction == NUNA_NORTH ? -1u : 0u;
    }
    struct nuna_server *in = &bench->noc.inject[packet->from * NUNA_ATTACHMENTS + packet->source];
    struct nuna_server *out = &bench->noc.eject[packet->to * NUNA_ATTACHMENTS + packet->target];
    HOLDS(in->bytes == packet->bytes && out->bytes == packet->bytes, "injection or ejection");
    in->bytes = out->bytes = 0;
    uint64_t elsewhere = 0;
    for (uint32_t i = 0; i < shape->codes * NUNA_DIRECTIONS; i++)
        elsewhere += bench->noc.link[i].bytes;
    for (uint32_t i = 0; i < shape->codes * NUNA_ATTACHMENTS; i++)
        elsewhere += bench->noc.inject[i].bytes + bench->noc.eject[i].bytes;
    HOLDS(elsewhere == 0, "%" PRIu64 " bytes went elsewhere", elsewhere);
}

Test(mesh, x_before_y_and_no_other_link)
{
    static const int64_t shapes[][3] = {{5, 4, 1}, {3, 6, 3}, {12, 3, 4}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct nuna_params params = params_of(shapes[i][0], shapes[i][1], shapes[i][2]);
        struct bench *bench = bench_new(&params);
        uint32_t count;
        struct packet *packets = all_pairs(bench, &count);
        bench->check = check_way;
        run(bench, packets, count);
        free(packets);
        bench_free(bench);
    }
}

/* Packets from different attachments meet on the first link only. 256 B at 1 GB/s are 256 ns. */
Test(mesh, packets_wait_on_a_link_for_one_serialisation_each)
{
    struct nuna_params params = params_of(4, 3, 2);
    params.noc.link_rate = 1000000000;
    for (uint32_t count = 2; count <= 3; count++) {
        struct bench *bench = bench_new(&params);
        uint16_t from = nuna_noc_router(&bench->shape, 0, 1);
        uint16_t to = nuna_noc_router(&bench->shape, 3, 2);
        struct packet packets[3];
        for (uint32_t i = 0; i < count; i++)
            packets[i] = (struct packet){.start = 5000,
                                         .from = from,
                                         .to = to,
                                         .source = (enum nuna_attachment)i,
                                         .target = (enum nuna_attachment)i,
                                         .bytes = 256};
        run(bench, packets, count);
        nuna_time alone = 11003 + 4 * 3300 + 7070 + 23011;
        for (uint32_t i = 0; i < count; i++)
            cr_assert_eq(packets[i].arrival, 5000 + alone + (i + 1) * 256000,
                         "packet %u arrived at %" PRIu64, i, packets[i].arrival);
        const struct nuna_server *link = &bench->noc.link[from * NUNA_DIRECTIONS + NUNA_EAST];
        cr_assert_eq(link->max_wait, (count - 1) * 256000);
        cr_assert_eq(link->bytes, count * 256);
        const struct nuna_server *next =
            &bench->noc.link[nuna_noc_router(&bench->shape, 1, 1) * NUNA_DIRECTIONS + NUNA_EAST];
        cr_assert_eq(next->max_wait, 0, "spaced out by the first link");
        bench_free(bench);
    }
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

/* Crowded traffic of all sizes; a third of it meets in one place. Few different times: many ties.
 */
static void crowd(const struct bench *bench, struct packet *packets, uint32_t count, uint64_t state)
{
    uint32_t columns = bench->shape.columns, rows = bench->shape.rows;
    for (uint32_t i = 0; i < count; i++) {
        bool hot = draw(&state, 3) == 0;
        packets[i] = (struct packet){
            .start = 1000 + draw(&state, 40) * 10000ull + draw(&state, 3),
            .from = nuna_noc_router(&bench->shape, draw(&state, columns), draw(&state, rows)),
            .to = nuna_noc_router(&bench->shape, hot ? columns / 2 : draw(&state, columns),
                                  hot ? rows / 2 : draw(&state, rows)),
            .source = (enum nuna_attachment)draw(&state, 3),
            .target = (enum nuna_attachment)draw(&state, 3),
            .bytes = (const uint32_t[]){16, 256, 256, 77}[draw(&state, 4)],
        };
    }
}

static void check_same_links(const struct nuna_server *a, const struct nuna_server *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        HOLDS(a[i].free_at == b[i].free_at && a[i].remainder == b[i].remainder &&
                  a[i].bytes == b[i].bytes && a[i].max_wait == b[i].max_wait,
              "link %zu ends otherwise", i);
}

/* Swept, a mesh does what it does event by event, to the picosecond. */
Test(mesh, sweep_is_as_one_event_per_hop)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {5, 1, 1}, {1, 4, 1}, {3, 5, 3}, {24, 6, 4}};
    enum { PACKETS = 6000 };
    for (size_t i = 0; i < 3 * COUNT(shapes); i++) {
        const int64_t *shape = shapes[i / 3];
        struct nuna_params params = params_of(shape[0], shape[1], shape[2]);
        if (i % 3) { /* times that meet, at rates that leave no remainder or that take no time */
            params.noc.link_rate = params.noc.injection_rate = params.noc.ejection_rate =
                i % 3 == 1 ? 1000000000000 : 1000000000000000;
            params.noc.hop_latency = params.noc.injection_latency = params.noc.ejection_latency =
                10000;
        }
        struct bench *swept = bench_new(&params), *plain = bench_new(&params);
        cr_assert(nuna_noc_can_sweep(&swept->shape));
        cr_assert(nuna_kernel_use_reference(plain->kernel));
        struct packet *packets = calloc(2 * PACKETS, sizeof *packets);
        cr_assert_not_null(packets);
        crowd(swept, packets, PACKETS, 17 + i);
        memcpy(packets + PACKETS, packets, PACKETS * sizeof *packets);
        run(swept, packets, PACKETS);
        run(plain, packets + PACKETS, PACKETS);
        for (uint32_t p = 0; p < PACKETS; p++)
            HOLDS(packets[p].arrival == packets[PACKETS + p].arrival,
                  "shape %zu, packet %u: %" PRIu64 ", event by event %" PRIu64, i, p,
                  packets[p].arrival, packets[PACKETS + p].arrival);
        uint32_t codes = swept->shape.codes;
        check_same_links(swept->noc.link, plain->noc.link, (size_t)codes * NUNA_DIRECTIONS);
        check_same_links(swept->noc.inject, plain->noc.inject, (size_t)codes * NUNA_ATTACHMENTS);
        check_same_links(swept->noc.eject, plain->noc.eject, (size_t)codes * NUNA_ATTACHMENTS);
        cr_assert_eq(nuna_kernel_events(swept->kernel), nuna_kernel_events(plain->kernel));
        free(packets);
        bench_free(swept);
        bench_free(plain);
    }
}

/* Two packets at a link at one time: what comes along the row goes before what is injected there,
 * though it was sent by a later kind of attachment. */
Test(mesh, through_traffic_goes_first)
{
    struct nuna_params params = params_of(4, 1, 1);
    params.noc.link_rate = 1000000000; /* 256 ns */
    for (int plain = 0; plain < 2; plain++) {
        struct bench *bench = bench_new(&params);
        cr_assert(!plain || nuna_kernel_use_reference(bench->kernel));
        uint16_t from[] = {nuna_noc_router(&bench->shape, 0, 0),
                           nuna_noc_router(&bench->shape, 1, 0)};
        uint16_t to = nuna_noc_router(&bench->shape, 3, 0);
        struct packet packets[] = {
            {.start = 5000 + 3300, .from = from[1], .to = to, .source = NUNA_AT_CU, .bytes = 256},
            {.start = 5000, .from = from[0], .to = to, .source = NUNA_AT_PORT, .bytes = 256},
        };
        run(bench, packets, 2);
        nuna_time alone = 11003 + 23011 + 256000;
        cr_assert_eq(packets[1].arrival, 5000 + alone + 3 * 3300);
        cr_assert_eq(packets[0].arrival, 5000 + 3300 + alone + 2 * 3300 + 256000);
        bench_free(bench);
    }
}

/* Where packets are far apart, one that waits is not watched window by window. */
Test(mesh, time_without_hops_is_skipped)
{
    struct nuna_params params = params_of(4, 3, 2);
    params.noc.injection_rate = 1000000; /* 256 us, where a window is 1 us */
    struct bench *bench = bench_new(&params);
    struct packet packets[4];
    for (uint32_t i = 0; i < COUNT(packets); i++)
        packets[i] = (struct packet){.to = nuna_noc_router(&bench->shape, 3, 2), .bytes = 256};
    run(bench, packets, COUNT(packets));
    cr_assert_eq(packets[3].arrival,
                 11003 + 5 * 3300 + 7070 + 23011 + 3 * 256000000ull + tail(&params, 256));
    cr_assert_leq(bench->windows, 4 * COUNT(packets), "%u windows", bench->windows);
    bench_free(bench);
}

/* Attachments so near that spans would be shorter than buckets. */
Test(mesh, near_attachments_cannot_be_swept)
{
    struct nuna_params params = params_of(4, 3, 2);
    params.noc.injection_latency = 1;
    params.noc.ejection_latency = 2;
    struct bench *bench = bench_new(&params);
    cr_assert(!nuna_noc_can_sweep(&bench->shape));
    bench_free(bench);
}

/* One router's injection and ejection links, per kind of attachment. */
Test(mesh, injection_and_ejection_are_serialised)
{
    struct nuna_params params = params_of(3, 3, 1);
    params.noc.link_rate = 1000000000000000;
    for (int slow = 0; slow < 2; slow++) {
        params.noc.injection_rate = slow == 0 ? 1000000000 : 1000000000000000;
        params.noc.ejection_rate = slow == 1 ? 1000000000 : 1000000000000000;
        struct bench *bench = bench_new(&params);
        uint16_t a = nuna_noc_router(&bench->shape, 0, 0), b = nuna_noc_router(&bench->shape, 2, 0);
        struct packet packets[] = {
            {.from = a, .to = b, .source = NUNA_AT_CU, .target = NUNA_AT_CU, .bytes = 16},
            {.from = a, .to = b, .source = NUNA_AT_CU, .target = NUNA_AT_CU, .bytes = 256},
            {.from = a, .to = b, .source = NUNA_AT_CU, .target = NUNA_AT_CU, .bytes = 16},
            {.from = a, .to = b, .source = NUNA_AT_PORT, .target = NUNA_AT_PORT, .bytes = 16},
        };
        run(bench, packets, 4);
        nuna_time alone = 11003 + 2 * 3300 + 23011;
        cr_assert_eq(packets[0].arrival, alone + 16000);
        cr_assert_eq(packets[1].arrival, alone + 16000 + 256000);
        cr_assert_eq(packets[2].arrival, alone + 16000 + 256000 + 16000);
        cr_assert_eq(packets[3].arrival, alone + 16000, "another attachment has its own link");
        bench_free(bench);
    }
}

Test(mesh, uniform_fabric)
{
    struct nuna_params params = params_of(6, 4, 2);
    params.noc.fabric = NUNA_FABRIC_UNIFORM;
    params.noc.uniform_latency = 123457;
    struct bench *bench = bench_new(&params);
    uint32_t count;
    struct packet *packets = all_pairs(bench, &count);
    for (uint32_t i = 0; i < count; i++)
        packets[i].start = 99 + i / 50; /* crowds do not matter */
    run(bench, packets, count);
    for (uint32_t i = 0; i < count; i++) {
        HOLDS(packets[i].arrival == packets[i].start + 123457, "packet %u", i);
        HOLDS(nuna_noc_zero_load(&bench->shape, packets[i].from, packets[i].to, 256) == 123457,
              "%u", i);
    }
    for (uint32_t i = 0; i < bench->shape.codes * NUNA_DIRECTIONS; i++)
        cr_assert_eq(bench->noc.link[i].bytes, 0);
    free(packets);
    bench_free(bench);
}

/* ---- places ---- */

Test(topology, four_dies_sixteen_stacks_twelve_ports)
{
    struct nuna_params params = params_of(24, 6, 4);
    params.hbm.stacks = 16;
    params.scaleup.ports = 12;
    params.gpu.cus_per_router = 7;
    struct bench *bench = bench_new(&params);
    struct nuna_topology topology;
    cr_assert(nuna_topology_init(&topology, &bench->shape, &params));
    cr_assert_eq(topology.cu_count, 1008);
    for (uint32_t s = 0; s < 16; s++) {
        cr_assert_eq(topology.stack[s].first_x, s % 8 * 3);
        cr_assert_eq(topology.stack[s].last_x, s % 8 * 3 + 2);
        cr_assert_eq(topology.stack[s].y, s < 8 ? 0 : 5);
    }
    for (uint32_t p = 0; p < 12; p++) {
        cr_assert_eq(column(bench, topology.port_router[p]), p < 6 ? 0 : 23);
        cr_assert_eq(row(bench, topology.port_router[p]), p % 6);
    }
    for (uint32_t cu = 0; cu < 1008; cu++) {
        uint16_t router = topology.cu_router[cu];
        cr_assert_eq(column(bench, router), cu / 7 % 24);
        cr_assert_eq(row(bench, router), cu / 7 / 24);
        cr_assert_eq(nuna_topology_die(&topology, router), cu / 7 % 24 / 6);
    }
    nuna_topology_finish(&topology);
    bench_free(bench);
}

/* Of the routers that reach the stack the one with the fewest hops, found by trying all. */
Test(topology, nearest_router_of_a_stack)
{
    static const int64_t shapes[][4] = {{24, 6, 4, 16}, {24, 6, 4, 8}, {5, 3, 1, 3},
                                        {4, 4, 2, 16},  {1, 1, 1, 1},  {7, 2, 1, 4}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct nuna_params params = params_of(shapes[i][0], shapes[i][1], shapes[i][2]);
        params.hbm.stacks = shapes[i][3];
        struct bench *bench = bench_new(&params);
        struct nuna_topology topology;
        cr_assert(nuna_topology_init(&topology, &bench->shape, &params));
        uint32_t columns = bench->shape.columns, routers = columns * bench->shape.rows;
        for (uint32_t r = 0; r < routers; r++)
            for (uint32_t s = 0; s < topology.stack_count; s++) {
                uint16_t from = nuna_noc_router(&bench->shape, r % columns, r / columns);
                uint16_t found = nuna_topology_stack_router(&topology, from, s);
                const struct nuna_stack_place *place = &topology.stack[s];
                uint32_t least = UINT32_MAX;
                for (uint32_t x = place->first_x; x <= place->last_x; x++) {
                    uint32_t hops = apart(x, r % columns) + apart(place->y, r / columns);
                    least = hops < least ? hops : least;
                }
                HOLDS(row(bench, found) == place->y && column(bench, found) >= place->first_x &&
                          column(bench, found) <= place->last_x && place->last_x < columns,
                      "stack %u is not reached from that router", s);
                HOLDS(nuna_noc_hops(&bench->shape, from, found) == least,
                      "stack %u from router %u: %u hops, least %u", s, r,
                      nuna_noc_hops(&bench->shape, from, found), least);
            }
        nuna_topology_finish(&topology);
        bench_free(bench);
    }
}
