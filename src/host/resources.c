/* Every resource of the server, for links.csv and the binding resource. */
#include "host/host_sim.h"
#include <stdio.h>

struct visitor {
    nuna_host_visit *visit;
    void *context;
    struct nuna_host_resource resource;
};

static bool visit_link(struct visitor *visitor, const char *kind, const struct nuna_link *link)
{
    visitor->resource.kind = kind;
    visitor->resource.bytes = link->server.bytes;
    visitor->resource.busy = nuna_server_busy(&link->server, link->rate);
    visitor->resource.lanes = 1;
    visitor->resource.timeline = &link->timeline;
    return visitor->visit(visitor->context, &visitor->resource);
}

static nuna_time sum(const struct nuna_timeline *timeline)
{
    nuna_time busy = 0;
    for (uint32_t i = 0; i < NUNA_TIMELINE_BINS; i++)
        busy += timeline->busy[i];
    return busy;
}

static bool visit_ports(struct visitor *visitor, const char *kind,
                        const struct nuna_timeline *timeline, uint64_t bytes, uint32_t ports)
{
    visitor->resource.kind = kind;
    visitor->resource.bytes = bytes;
    visitor->resource.busy = sum(timeline);
    visitor->resource.lanes = ports;
    visitor->resource.timeline = timeline;
    return visitor->visit(visitor->context, &visitor->resource);
}

static bool visit_socket(struct visitor *visitor, const struct nuna_host_side *side, uint32_t s)
{
    char *name = visitor->resource.name;
    const size_t room = sizeof visitor->resource.name;
    uint32_t sockets = side->shape->sockets;
    snprintf(name, room, "socket %u", s);
    if (!visit_link(visitor, "dram", &side->dram[s]))
        return false;
    if (sockets > 1 && (!visit_link(visitor, "far_read", &side->far_read[s]) ||
                        !visit_link(visitor, "far_write", &side->far_write[s])))
        return false;
    for (uint32_t to = 0; to < sockets; to++) {
        snprintf(name, room, "socket %u->%u", s, to);
        if (to != s && !visit_link(visitor, "socket_link", &side->socket_link[s * sockets + to]))
            return false;
    }
    return true;
}

static bool visit_gpu(struct visitor *visitor, const struct nuna_host_side *side,
                      const struct nuna_host_gpu *gpu)
{
    uint32_t g = gpu->gpu, ports = side->shape->clos->ports;
    snprintf(visitor->resource.name, sizeof visitor->resource.name, "gpu%u", g);
    if (side->shape->sockets > 1 && (!visit_link(visitor, "far_gpu_in", &side->far_gpu_in[g]) ||
                                     !visit_link(visitor, "far_gpu_out", &side->far_gpu_out[g])))
        return false;
    return visit_link(visitor, "pcie_down", &side->pcie_down[g]) &&
           visit_link(visitor, "pcie_up", &gpu->pcie_up) &&
           visit_link(visitor, "memory", &gpu->memory) &&
           visit_ports(visitor, "ports_out", &gpu->ports_out, gpu->peer_out, ports) &&
           visit_ports(visitor, "ports_in", &gpu->ports_in, gpu->peer_in, ports);
}

bool nuna_host_visit_all(const struct nuna_host *host, const struct nuna_host_gpu *gpus,
                         nuna_host_visit *visit, void *context)
{
    struct visitor visitor = {.visit = visit, .context = context};
    for (uint32_t s = 0; s < host->shape->sockets; s++)
        if (!visit_socket(&visitor, &host->side, s))
            return false;
    for (uint32_t g = 0; g < host->shape->gpus; g++)
        if (!visit_gpu(&visitor, &host->side, &gpus[g]))
            return false;
    return true;
}
