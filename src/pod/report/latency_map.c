#include "pod/report/latency_map.h"
#include "gpu/topology.h"
#include "scaleup/clos.h"
#include <stdlib.h>
#include <string.h>

struct view {
    struct nuna_noc_shape noc;
    struct nuna_topology topology;
    nuna_time access;  /* one line's memory access */
    nuna_time scaleup; /* one line's way from port to port */
    nuna_time back;    /* a control packet's way from port to port */
    uint32_t line, control;
};

static void spread_start(struct nuna_spread *spread)
{
    *spread = (struct nuna_spread){.best = NUNA_TIME_MAX};
}

static void spread_add(struct nuna_spread *spread, nuna_time time)
{
    spread->best = time < spread->best ? time : spread->best;
    spread->worst = time > spread->worst ? time : spread->worst;
    spread->mean += time; /* a sum until spread_end */
}

static void spread_end(struct nuna_spread *spread, uint64_t count)
{
    spread->mean /= count;
}

static bool view_init(struct view *view, const struct nuna_params *params)
{
    struct nuna_clos clos;
    nuna_clos_init(&clos, params);
    view->line = (uint32_t)params->noc.flit_size;
    view->control = (uint32_t)params->noc.control_size;
    view->access = (nuna_time)params->hbm.access_latency +
                   nuna_units_transfer_time(view->line, (uint64_t)params->hbm.channel_rate, NULL);
    view->scaleup = 2 * (clos.port_rate.time[0] + clos.link_latency) + clos.switch_latency;
    view->back = view->scaleup - 2 * (clos.port_rate.time[0] - clos.port_rate.time[1]);
    return nuna_noc_shape_init(&view->noc, params) &&
           nuna_topology_init(&view->topology, &view->noc, params);
}

/* Extremes of the atomic round trip: of one CU over the addresses, and of each address over the
 * CUs. */
struct extremes {
    nuna_time least, most;
};

static void extremes_add(struct extremes *extremes, nuna_time time)
{
    extremes->least = time < extremes->least ? time : extremes->least;
    extremes->most = time > extremes->most ? time : extremes->most;
}

static void visit_cu(const struct view *view, uint32_t cu, struct nuna_latency_map *map,
                     struct extremes *address)
{
    const struct nuna_topology *topology = &view->topology;
    uint16_t router = topology->cu_router[cu];
    struct extremes own = {.least = NUNA_TIME_MAX};
    for (uint32_t s = 0; s < topology->stack_count; s++) {
        nuna_time sum = 0;
        for (uint32_t p = 0; p < topology->port_count; p++) {
            uint16_t port = topology->port_router[p];
            uint16_t stack = nuna_topology_stack_router(topology, port, s);
            nuna_time noc = nuna_noc_zero_load(&view->noc, router, port, view->line) +
                            nuna_noc_zero_load(&view->noc, port, stack, view->line) + view->access;
            nuna_time round = noc + view->scaleup + view->back +
                              nuna_noc_zero_load(&view->noc, stack, port, view->control) +
                              nuna_noc_zero_load(&view->noc, port, router, view->control);
            spread_add(&map->noc, noc);
            spread_add(&map->transfer, noc + view->scaleup);
            extremes_add(&own, round);
            extremes_add(&address[s * topology->port_count + p], round);
            sum += round;
        }
        map->by_cu_stack[(size_t)cu * topology->stack_count + s] = sum / topology->port_count;
    }
    map->atomic.over_addresses += own.most - own.least; /* a sum until the end */
}

static bool visit_all(const struct view *view, struct nuna_latency_map *map)
{
    uint32_t addresses = map->stacks * view->topology.port_count;
    struct extremes *address = malloc(addresses * sizeof *address);
    if (!address)
        return false;
    for (uint32_t i = 0; i < addresses; i++)
        address[i] = (struct extremes){.least = NUNA_TIME_MAX};
    spread_start(&map->noc);
    spread_start(&map->transfer);
    for (uint32_t cu = 0; cu < map->cus; cu++)
        visit_cu(view, cu, map, address);
    uint64_t count = (uint64_t)map->cus * addresses;
    spread_end(&map->noc, count);
    spread_end(&map->transfer, count);
    map->atomic.over_addresses /= map->cus;
    for (uint32_t i = 0; i < addresses; i++)
        map->atomic.over_cus += address[i].most - address[i].least;
    map->atomic.over_cus /= addresses;
    free(address);
    return true;
}

bool nuna_latency_map_make(const struct nuna_params *params, struct nuna_latency_map *ret_map,
                           struct nuna_error *err)
{
    struct view view = {0};
    memset(ret_map, 0, sizeof *ret_map);
    bool made = view_init(&view, params);
    if (made) {
        ret_map->cus = view.topology.cu_count;
        ret_map->stacks = view.topology.stack_count;
        ret_map->by_cu_stack =
            calloc((size_t)ret_map->cus * ret_map->stacks, sizeof *ret_map->by_cu_stack);
        made = ret_map->by_cu_stack != NULL;
    }
    made = made && visit_all(&view, ret_map);
    nuna_topology_finish(&view.topology);
    nuna_noc_shape_finish(&view.noc);
    return made || nuna_fail_memory(err, "the latency map");
}

void nuna_latency_map_finish(struct nuna_latency_map *map)
{
    free(map->by_cu_stack);
    memset(map, 0, sizeof *map);
}

struct point {
    uint32_t cu, stack;
    nuna_time atomic;
};

#define POINT_COLUMNS(X)                                                                           \
    X(point, cu, "", "compute unit of the source", nuna_count(row->cu))                            \
    X(point, stack, "", "memory stack of the destination", nuna_count(row->stack))                 \
    X(point, atomic_ns, "ns",                                                                      \
      "uncontended round trip of a remote atomic, mean over the I/O ports", nuna_ns(row->atomic))
NUNA_COLUMNS(point, POINT_COLUMNS)
const struct nuna_table nuna_latency_map_table =
    NUNA_TABLE(point, "latency_map.csv", "one row per compute unit and stack", 0);

bool nuna_report_latency_map(FILE *out, const struct nuna_latency_map *map)
{
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_latency_map_table, true);
    for (uint32_t cu = 0; ok && cu < map->cus; cu++)
        for (uint32_t s = 0; ok && s < map->stacks; s++) {
            const struct point row = {cu, s, map->by_cu_stack[(size_t)cu * map->stacks + s]};
            ok = nuna_csv_row(&csv, &row);
        }
    return ok;
}
