/* The network on chip of one GPU. Two fabrics behind one call, nuna_noc_send: a mesh with X-then-Y
 * routing, and `uniform`, a constant latency.
 *
 * Mesh: routers at (x, y), one link in each direction between neighbours, first come first served,
 * unbounded queues ("ideal" flow control). Routing is cut-through: the head of a packet moves on
 * after the hop latency, the link is busy for the packet's serialisation time. Compute units,
 * memory and I/O ports attach to routers by injection and ejection links, one per router and kind
 * of attachment, with latencies and rates of their own. Source: NUNA (arXiv 2608.00867) section 5.3
 * and figure 8.
 */
#ifndef NUNA_NOC_MESH_H
#define NUNA_NOC_MESH_H

#include "core/kernel.h"
#include "core/params.h"
#include "core/server.h"

/* What is attached to a router. */
enum nuna_attachment {
    NUNA_AT_CU,
    NUNA_AT_MEMORY,
    NUNA_AT_PORT,
};
#define NUNA_ATTACHMENTS 3

/* Event kinds of this layer: a hop, and a packet's arrival at an attachment. */
enum {
    NUNA_NOC_HOP,
    NUNA_NOC_ARRIVE, /* + enum nuna_attachment */
    NUNA_NOC_KINDS = NUNA_NOC_ARRIVE + NUNA_ATTACHMENTS,
};

enum nuna_direction {
    NUNA_EAST,
    NUNA_WEST,
    NUNA_SOUTH,
    NUNA_NORTH,
};
#define NUNA_DIRECTIONS 4

/* Constant, shared by all GPUs. A router is named by its code, y << x_bits | x. */
struct nuna_noc_shape {
    bool uniform;
    uint32_t columns, rows, x_bits;
    uint32_t codes; /* all router codes are below this; some are unused */
    nuna_time uniform_latency, injection_latency, ejection_latency;
    struct nuna_rate link_rate, injection_rate, ejection_rate;
    nuna_time tail[2];      /* of a data flit, of a control packet: see nuna_noc_tail */
    uint32_t *link_latency; /* [code * NUNA_DIRECTIONS + direction], ps */
};

/* One GPU's queues. */
struct nuna_noc {
    const struct nuna_noc_shape *shape;
    struct nuna_server *link;   /* [code * NUNA_DIRECTIONS + direction] */
    struct nuna_server *inject; /* [code * NUNA_ATTACHMENTS + attachment] */
    struct nuna_server *eject;  /* likewise */
};

/* False on lack of memory; finish either way (a zeroed struct is fine). */
bool nuna_noc_shape_init(struct nuna_noc_shape *shape, const struct nuna_params *params);
void nuna_noc_shape_finish(struct nuna_noc_shape *shape);
bool nuna_noc_init(struct nuna_noc *noc, const struct nuna_noc_shape *shape);
void nuna_noc_finish(struct nuna_noc *noc);

static inline uint16_t nuna_noc_router(const struct nuna_noc_shape *shape, uint32_t x, uint32_t y)
{
    return (uint16_t)(y << shape->x_bits | x);
}

/* How long after its head a packet's tail arrives: its serialisation time on the slowest of the
 * mesh's links (injection, mesh, ejection). An attachment has a packet when it has the tail. */
nuna_time nuna_noc_tail_of(const struct nuna_noc_shape *shape, uint32_t bytes);

static inline nuna_time nuna_noc_tail(const struct nuna_noc_shape *shape, uint32_t bytes)
{
    if (bytes == shape->link_rate.size[1])
        return shape->tail[1];
    return __builtin_expect(bytes == shape->link_rate.size[0], 1) ? shape->tail[0]
                                                                  : nuna_noc_tail_of(shape, bytes);
}

/* Latency of a lone packet between two attachments, from leaving the one to being in at the other.
 */
nuna_time nuna_noc_zero_load(const struct nuna_noc_shape *shape, uint16_t from, uint16_t to,
                             uint32_t bytes);

/* Links from one router to another. */
uint32_t nuna_noc_hops(const struct nuna_noc_shape *shape, uint16_t from, uint16_t to);

/* Sends a packet now (lp->now) from `from`'s attachment of kind `source` to `to`'s of kind
 * `target`, where it raises the event NUNA_NOC_ARRIVE + target with this handle. */
static inline void nuna_noc_send(struct nuna_noc *noc, struct nuna_lp *lp, uint16_t from,
                                 enum nuna_attachment source, uint16_t to,
                                 enum nuna_attachment target, uint32_t bytes, uint32_t handle)
{
    const struct nuna_noc_shape *shape = noc->shape;
    struct nuna_event event =
        nuna_event_packet(NUNA_NOC_HOP, NUNA_NOC_ARRIVE + target, bytes, from, to, handle);
    if (shape->uniform) {
        nuna_event_set_kind(&event, NUNA_NOC_ARRIVE + target);
        nuna_lp_schedule(lp, lp->now + shape->uniform_latency, event);
        return;
    }
    struct nuna_server *inject = &noc->inject[from * NUNA_ATTACHMENTS + source];
    nuna_time start = nuna_server_take(inject, &shape->injection_rate, lp->now, bytes);
    nuna_lp_schedule(lp, start + shape->injection_latency, event);
}

/* Fetches the queue that a hop most likely takes: along X. */
static inline void nuna_noc_prefetch(const struct nuna_noc *noc, struct nuna_event event)
{
    nuna_prefetch(&noc->link[nuna_event_here(event) * NUNA_DIRECTIONS]);
}

/* Handles NUNA_NOC_HOP: the packet is at router `here` and takes its next link. */
static inline void nuna_noc_hop(struct nuna_noc *noc, struct nuna_lp *lp, struct nuna_event event)
{
    const struct nuna_noc_shape *shape = noc->shape;
    uint32_t here = nuna_event_here(event), there = nuna_event_there(event);
    uint32_t bytes = nuna_event_bytes(event);
    if (here == there) {
        uint32_t kind = nuna_event_tag(event);
        struct nuna_server *eject =
            &noc->eject[here * NUNA_ATTACHMENTS + kind - (uint32_t)NUNA_NOC_ARRIVE];
        nuna_time start = nuna_server_take(eject, &shape->ejection_rate, lp->now, bytes);
        nuna_event_set_kind(&event, kind);
        nuna_lp_schedule(lp, start + shape->ejection_latency + nuna_noc_tail(shape, bytes), event);
        return;
    }
    /* X first, by arithmetic: which way a packet turns is a coin toss, too. */
    uint32_t mask = (1u << shape->x_bits) - 1;
    uint32_t x = here & mask, to_x = there & mask;
    uint64_t along_y = -(uint64_t)(x == to_x); /* all ones or none */
    uint64_t backward = -(uint64_t)(((there < here) & along_y) | ((to_x < x) & ~along_y));
    uint64_t step = (1 & ~along_y) | ((mask + 1) & along_y);
    uint32_t link = here * NUNA_DIRECTIONS + (uint32_t)((2 & along_y) | (1 & backward));
    nuna_time start = nuna_server_take(&noc->link[link], &shape->link_rate, lp->now, bytes);
    /* `here` is the body's low field and stays within it. */
    event.body += (step ^ backward) - backward;
    nuna_lp_schedule(lp, start + shape->link_latency[link], event);
}

#endif
