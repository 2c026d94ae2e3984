#include "noc/mesh.h"
#include <stdlib.h>
#include <string.h>

static uint32_t bits_for(uint32_t count)
{
    uint32_t bits = 0;
    while (1u << bits < count)
        bits++;
    return bits;
}

static uint32_t die_of(const struct nuna_params *params, uint32_t x)
{
    return (uint32_t)((int64_t)x * params->noc.dies / params->noc.columns);
}

static void fill_link_latency(struct nuna_noc_shape *shape, const struct nuna_params *params)
{
    for (uint32_t y = 0; y < shape->rows; y++)
        for (uint32_t x = 0; x < shape->columns; x++) {
            uint32_t *latency =
                &shape->link_latency[nuna_noc_router(shape, x, y) * NUNA_DIRECTIONS];
            for (int d = 0; d < NUNA_DIRECTIONS; d++)
                latency[d] = (uint32_t)params->noc.hop_latency;
            uint32_t crossing = (uint32_t)params->noc.die_crossing_latency;
            if (x + 1 < shape->columns && die_of(params, x) != die_of(params, x + 1))
                latency[NUNA_EAST] += crossing;
            if (x > 0 && die_of(params, x) != die_of(params, x - 1))
                latency[NUNA_WEST] += crossing;
        }
}

nuna_time nuna_noc_tail_of(const struct nuna_noc_shape *shape, uint32_t bytes)
{
    const struct nuna_rate *rates[] = {&shape->injection_rate, &shape->link_rate,
                                       &shape->ejection_rate};
    nuna_time tail = 0;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        nuna_time time = nuna_units_transfer_time(bytes, rates[i]->bytes_per_s, NULL);
        tail = time > tail ? time : tail;
    }
    return tail;
}

bool nuna_noc_shape_init(struct nuna_noc_shape *shape, const struct nuna_params *params)
{
    memset(shape, 0, sizeof *shape);
    shape->uniform = params->noc.fabric == NUNA_FABRIC_UNIFORM;
    shape->columns = (uint32_t)params->noc.columns;
    shape->rows = (uint32_t)params->noc.rows;
    shape->x_bits = bits_for(shape->columns);
    shape->codes = shape->rows << shape->x_bits;
    shape->uniform_latency = (nuna_time)params->noc.uniform_latency;
    shape->injection_latency = (nuna_time)params->noc.injection_latency;
    shape->ejection_latency = (nuna_time)params->noc.ejection_latency;
    uint32_t flit = (uint32_t)params->noc.flit_size, control = (uint32_t)params->noc.control_size;
    nuna_rate_init(&shape->link_rate, (uint64_t)params->noc.link_rate, flit, control);
    nuna_rate_init(&shape->injection_rate, (uint64_t)params->noc.injection_rate, flit, control);
    nuna_rate_init(&shape->ejection_rate, (uint64_t)params->noc.ejection_rate, flit, control);
    shape->tail[0] = nuna_noc_tail_of(shape, flit);
    shape->tail[1] = nuna_noc_tail_of(shape, control);
    shape->link_latency =
        calloc((size_t)shape->codes * NUNA_DIRECTIONS, sizeof *shape->link_latency);
    if (!shape->link_latency)
        return false;
    fill_link_latency(shape, params);
    return true;
}

void nuna_noc_shape_finish(struct nuna_noc_shape *shape)
{
    free(shape->link_latency);
    shape->link_latency = NULL;
}

bool nuna_noc_init(struct nuna_noc *noc, const struct nuna_noc_shape *shape,
                   struct nuna_arena *arena)
{
    noc->shape = shape;
    noc->link = nuna_servers_create((size_t)shape->codes * NUNA_DIRECTIONS);
    noc->inject = nuna_servers_create((size_t)shape->codes * NUNA_ATTACHMENTS);
    noc->eject = nuna_servers_create((size_t)shape->codes * NUNA_ATTACHMENTS);
    return noc->link && noc->inject && noc->eject &&
           (shape->uniform || nuna_sweep_init(&noc->sweep, shape->codes, arena));
}

void nuna_noc_finish(struct nuna_noc *noc)
{
    free(noc->link);
    free(noc->inject);
    free(noc->eject);
    nuna_sweep_finish(&noc->sweep);
    memset(noc, 0, sizeof *noc);
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a < b ? b - a : a - b;
}

uint32_t nuna_noc_hops(const struct nuna_noc_shape *shape, uint16_t from, uint16_t to)
{
    uint32_t mask = (1u << shape->x_bits) - 1;
    return distance(from & mask, to & mask) +
           distance((uint32_t)from >> shape->x_bits, (uint32_t)to >> shape->x_bits);
}

nuna_time nuna_noc_zero_load(const struct nuna_noc_shape *shape, uint16_t from, uint16_t to,
                             uint32_t bytes)
{
    if (shape->uniform)
        return shape->uniform_latency;
    uint32_t mask = (1u << shape->x_bits) - 1, here = from;
    nuna_time time =
        shape->injection_latency + shape->ejection_latency + nuna_noc_tail(shape, bytes);
    while ((here & mask) != (to & mask)) {
        bool east = (here & mask) < (to & mask);
        time += shape->link_latency[here * NUNA_DIRECTIONS + (east ? NUNA_EAST : NUNA_WEST)];
        here = east ? here + 1 : here - 1;
    }
    while (here != to) {
        bool south = here < to;
        time += shape->link_latency[here * NUNA_DIRECTIONS + (south ? NUNA_SOUTH : NUNA_NORTH)];
        here = south ? here + mask + 1 : here - mask - 1;
    }
    return time;
}

void nuna_noc_enter_plain(struct nuna_lp *lp, nuna_time time, enum nuna_attachment source,
                          struct nuna_event event)
{
    nuna_lp_schedule_early(lp, time, NUNA_DIRECTIONS + (uint64_t)source, event);
}

static void eject_plain(struct nuna_noc *noc, struct nuna_lp *lp, struct nuna_event event)
{
    const struct nuna_noc_shape *shape = noc->shape;
    uint32_t here = nuna_event_here(event), bytes = nuna_event_bytes(event);
    uint32_t target = nuna_event_tag(event) - (uint32_t)NUNA_NOC_ARRIVE;
    struct nuna_server *eject = &noc->eject[here * NUNA_ATTACHMENTS + target];
    nuna_time start = nuna_server_take(eject, &shape->ejection_rate, lp->now, bytes);
    nuna_lp_schedule_ranked(lp, start + shape->ejection_latency + nuna_noc_tail(shape, bytes),
                            nuna_noc_rank(target, here, bytes),
                            nuna_event_make(nuna_event_tag(event), nuna_event_handle(event)));
}

void nuna_noc_hop(struct nuna_noc *noc, struct nuna_lp *lp, struct nuna_event event)
{
    const struct nuna_noc_shape *shape = noc->shape;
    uint32_t here = nuna_event_here(event), there = nuna_event_there(event);
    if (here == there) {
        eject_plain(noc, lp, event);
        return;
    }
    uint32_t mask = (1u << shape->x_bits) - 1;
    uint32_t x = here & mask, to_x = there & mask, direction;
    if (x != to_x)
        direction = x < to_x ? NUNA_EAST : NUNA_WEST;
    else
        direction = here < there ? NUNA_SOUTH : NUNA_NORTH;
    uint32_t link = here * NUNA_DIRECTIONS + direction;
    nuna_time start =
        nuna_server_take(&noc->link[link], &shape->link_rate, lp->now, nuna_event_bytes(event));
    event.body = (event.body & ~0xffffull) | nuna_noc_next(shape, here, direction);
    nuna_lp_schedule_early(lp, start + shape->link_latency[link], direction, event);
}
