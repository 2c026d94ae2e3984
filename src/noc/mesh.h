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
#include "noc/sweep.h"

/* What is attached to a router. */
enum nuna_attachment {
    NUNA_AT_CU,
    NUNA_AT_MEMORY,
    NUNA_AT_PORT,
};
#define NUNA_ATTACHMENTS 3

/* Event kinds of this layer: a hop (in reference mode only), and a packet's arrival at an
 * attachment. */
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
    struct nuna_sweep sweep;
};

/* False on lack of memory; finish either way (a zeroed struct is fine). */
bool nuna_noc_shape_init(struct nuna_noc_shape *shape, const struct nuna_params *params);
void nuna_noc_shape_finish(struct nuna_noc_shape *shape);
/* Queues grow from the arena, which outlives them. */
bool nuna_noc_init(struct nuna_noc *noc, const struct nuna_noc_shape *shape,
                   struct nuna_arena *arena);
void nuna_noc_finish(struct nuna_noc *noc);

static inline uint16_t nuna_noc_router(const struct nuna_noc_shape *shape, uint32_t x, uint32_t y)
{
    return (uint16_t)(y << shape->x_bits | x);
}

/* The neighbour in a direction; there must be one. */
static inline uint32_t nuna_noc_next(const struct nuna_noc_shape *shape, uint32_t code,
                                     uint32_t direction)
{
    uint32_t step = direction < NUNA_SOUTH ? 1u : 1u << shape->x_bits;
    return direction % 2 == 0 ? code + step : code - step;
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

/* The order of arrivals of one time. Of one ejection link's packets, two that arrive together
 * differ in their tails, and in bytes, or started together, at a rate at which that takes no time:
 * then they stay in their order. */
static inline uint32_t nuna_noc_rank(uint32_t target, uint32_t code, uint32_t bytes)
{
    return target << 30 | code << 16 | bytes;
}

/* Whether the mesh can be swept: attachments are far enough away for spans that are worth it. If
 * not, the kernel must be in reference mode. */
bool nuna_noc_can_sweep(const struct nuna_noc_shape *shape);

/* Handles NUNA_NOC_HOP: the packet is at router `here` and takes its next link. */
void nuna_noc_hop(struct nuna_noc *noc, struct nuna_lp *lp, struct nuna_event event);

/* Serves all hops before `end`, schedules the arrivals they lead to, and notes in lp->held when the
 * next one can come. */
void nuna_noc_sweep(struct nuna_noc *noc, struct nuna_lp *lp, nuna_time end);

/* A packet's first router, at `time`. */
void nuna_noc_enter_plain(struct nuna_lp *lp, nuna_time time, enum nuna_attachment source,
                          struct nuna_event event);

static inline void nuna_noc_enter(struct nuna_noc *noc, struct nuna_lp *lp, nuna_time time,
                                  uint16_t from, enum nuna_attachment source, uint16_t to,
                                  enum nuna_attachment target, uint32_t bytes, uint32_t handle)
{
    uint32_t mask = (1u << noc->shape->x_bits) - 1, x = from & mask, to_x = to & mask;
    uint32_t way = to_x > x ? 0 : to_x < x ? 1 : 2;
    const struct nuna_hop hop = {
        .key = time << NUNA_HOP_TIME_SHIFT |
               ((uint64_t)NUNA_DIRECTIONS + source) << NUNA_HOP_INPUT_BITS | target,
        .rest = (uint64_t)handle << 32 | (uint64_t)bytes << 16 | to,
    };
    nuna_hop_push(&noc->sweep, &noc->sweep.routers[from].inject[source][way], hop);
    nuna_sweep_mark(&noc->sweep, way == 2 ? NUNA_SWEEP_TURN : way, from);
    lp->held = lp->now; /* a guess on the safe side, until the next sweep */
}

/* Sends a packet at `time` >= lp->now from `from`'s attachment of kind `source` to `to`'s of kind
 * `target`, where it raises the event NUNA_NOC_ARRIVE + target with this handle. One router's
 * attachments of a kind must send in the order of `time`. */
static inline void nuna_noc_send_at(struct nuna_noc *noc, struct nuna_lp *lp, nuna_time time,
                                    uint16_t from, enum nuna_attachment source, uint16_t to,
                                    enum nuna_attachment target, uint32_t bytes, uint32_t handle)
{
    const struct nuna_noc_shape *shape = noc->shape;
    if (shape->uniform) {
        nuna_lp_schedule(lp, time + shape->uniform_latency,
                         nuna_event_make(NUNA_NOC_ARRIVE + target, handle));
        return;
    }
    struct nuna_server *inject = &noc->inject[from * NUNA_ATTACHMENTS + source];
    nuna_time in =
        nuna_server_take(inject, &shape->injection_rate, time, bytes) + shape->injection_latency;
    if (__builtin_expect(lp->heaps != NULL, 0))
        nuna_noc_enter_plain(
            lp, in, source,
            nuna_event_packet(NUNA_NOC_HOP, NUNA_NOC_ARRIVE + target, bytes, from, to, handle));
    else
        nuna_noc_enter(noc, lp, in, from, source, to, target, bytes, handle);
}

/* Sends one now. */
static inline void nuna_noc_send(struct nuna_noc *noc, struct nuna_lp *lp, uint16_t from,
                                 enum nuna_attachment source, uint16_t to,
                                 enum nuna_attachment target, uint32_t bytes, uint32_t handle)
{
    nuna_noc_send_at(noc, lp, lp->now, from, source, to, target, bytes, handle);
}

/* How far events may run: no packet that is in the mesh arrives before, and none that enters it. */
static inline nuna_time nuna_noc_horizon(const struct nuna_noc *noc, const struct nuna_lp *lp,
                                         nuna_time end)
{
    nuna_time next = nuna_lp_next(lp);
    nuna_time limit =
        (next < end ? next : end) + noc->shape->injection_latency + noc->shape->ejection_latency;
    limit = (limit < lp->held ? limit : lp->held) & ~(nuna_time)(NUNA_BUCKET_PS - 1);
    return limit < end ? limit : end;
}

/* Runs the LP of this network before `end`: events and sweeps by turns. For the rest see
 * nuna_lp_run. */
static inline __attribute__((always_inline)) void
nuna_noc_run(struct nuna_noc *noc, struct nuna_lp *lp, nuna_time end, void *model,
             void (*handle)(void *model, struct nuna_lp *lp, struct nuna_event event),
             void (*prefetch)(void *model, struct nuna_event event))
{
    if (noc->shape->uniform || lp->heaps) {
        nuna_lp_run(lp, end, model, handle, prefetch);
        return;
    }
    for (bool more = true; more;) {
        nuna_time limit = nuna_noc_horizon(noc, lp, end);
        nuna_lp_run(lp, limit, model, handle, prefetch);
        nuna_time to = limit + noc->shape->injection_latency;
        more = limit < end || to < end;
        nuna_noc_sweep(noc, lp, to < end ? to : end);
    }
    if (noc->sweep.out_of_memory)
        lp->out_of_memory = true;
}

#endif
