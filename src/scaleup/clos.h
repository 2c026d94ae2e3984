/* The scale-up network: I/O ports, links and a rail-optimised single-level Clos.
 *
 * Port p of every GPU is wired to switch plane p. A packet is serialised by its port, crosses the
 * link and the switch, waits in the plane's output queue towards the destination GPU, is serialised
 * again and crosses the second link. Serving is first come first served; a switch forwards a packet
 * when it has all of it (store and forward). The output queue towards a GPU belongs to that GPU's
 * logical process, so every queue has one owner. Source: NUNA section 3.1.2 and figure 3; reverse
 * translation Table 1.
 */
#ifndef NUNA_SCALEUP_CLOS_H
#define NUNA_SCALEUP_CLOS_H

#include "core/params.h"
#include "core/server.h"

/* Constant, shared by all GPUs. */
struct nuna_clos {
    uint32_t ports;
    struct nuna_rate port_rate;
    nuna_time link_latency, switch_latency;
};

/* One GPU's side. */
struct nuna_scaleup {
    const struct nuna_clos *clos;
    struct nuna_server *egress; /* [port]: out of this GPU */
    struct nuna_server *output; /* [port]: switch plane's queue towards this GPU */
};

void nuna_clos_init(struct nuna_clos *clos, const struct nuna_params *params);
bool nuna_scaleup_init(struct nuna_scaleup *scaleup, const struct nuna_clos *clos);
void nuna_scaleup_finish(struct nuna_scaleup *scaleup);

/* The shortest time from entering a port to arriving at a switch's output queue: the kernel's
 * lookahead. */
static inline nuna_time nuna_clos_lookahead(const struct nuna_clos *clos)
{
    return clos->link_latency + clos->switch_latency;
}

/* A packet enters port `port` at `time`; returns when it reaches the output queue of that plane. */
static inline nuna_time nuna_scaleup_depart(struct nuna_scaleup *scaleup, uint32_t port,
                                            nuna_time time, uint32_t bytes)
{
    const struct nuna_clos *clos = scaleup->clos;
    struct nuna_server *egress = &scaleup->egress[port];
    nuna_server_take(egress, &clos->port_rate, time, bytes);
    return egress->free_at + clos->link_latency + clos->switch_latency;
}

/* The port of this GPU did not take `count` data packets when they came: the second link is busy
 * with them from `time` on, once more. */
static inline void nuna_scaleup_repeat(struct nuna_scaleup *scaleup, uint32_t port, nuna_time time,
                                       uint32_t count)
{
    struct nuna_server *output = &scaleup->output[port];
    output->free_at = (output->free_at > time ? output->free_at : time) +
                      count * scaleup->clos->port_rate.time[0];
}

/* A packet reaches the output queue towards this GPU at `time`; returns when it is in at the port.
 */
static inline nuna_time nuna_scaleup_arrive(struct nuna_scaleup *scaleup, uint32_t port,
                                            nuna_time time, uint32_t bytes)
{
    const struct nuna_clos *clos = scaleup->clos;
    struct nuna_server *output = &scaleup->output[port];
    nuna_server_take(output, &clos->port_rate, time, bytes);
    return output->free_at + clos->link_latency;
}

#endif
