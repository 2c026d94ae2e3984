#include "host/result.h"
#include "host/engine.h"
#include "host/host.h"
#include <stdio.h>

struct nuna_host_view nuna_host_view_of(const struct nuna_host *host,
                                        const struct nuna_host_gpu *gpus)
{
    return (struct nuna_host_view){
        .transfers = host->transfer_count,
        .gpu_count = host->shape->gpus,
        .host = host,
        .gpus = gpus,
    };
}

struct nuna_host_outcome nuna_host_outcome(struct nuna_host_view view, uint32_t index)
{
    static const uint8_t kind[] = {
        [NUNA_HOST_H2D] = NUNA_ENGINE_IN,
        [NUNA_HOST_D2H] = NUNA_ENGINE_OUT,
        [NUNA_HOST_P2P] = NUNA_ENGINE_PEER,
    };
    const struct nuna_host_transfer *transfer = &view.host->transfers[index];
    const struct nuna_host_request *request = &transfer->request;
    struct nuna_host_outcome outcome = {
        .request = *request,
        .engine = transfer->engine->name,
        .complete = transfer->end > 0,
        .begin = transfer->begin,
        .bytes = transfer->done,
        .chunks = transfer->chunks,
        .path_bytes = transfer->path_bytes,
    };
    nuna_time end = transfer->end;
    if (!outcome.complete && !transfer->engine->chunked) {
        const struct nuna_copy_engine *engine =
            &view.gpus[request->gpu]
                 .engines[transfer->manager * NUNA_ENGINE_KINDS + kind[request->direction]];
        outcome.bytes = engine->landed;
        end = engine->last_landed;
    }
    outcome.time = end > transfer->begin ? end - transfer->begin : 0;
    return outcome;
}

nuna_time nuna_host_elapsed(struct nuna_host_view view, nuna_time now)
{
    nuna_time elapsed = 0;
    for (uint32_t t = 0; t < view.transfers; t++) {
        const struct nuna_host_outcome outcome = nuna_host_outcome(view, t);
        if (!outcome.complete && !outcome.request.background)
            return now;
        nuna_time end = outcome.begin + outcome.time;
        if (!outcome.request.background && end > elapsed)
            elapsed = end;
    }
    return elapsed;
}

uint64_t nuna_host_cpu_millicores(struct nuna_host_view view, nuna_time elapsed)
{
    const struct nuna_host *host = view.host;
    uint32_t count = host->manager_count * NUNA_HOST_DIRECTIONS * host->shape->gpus;
    unsigned __int128 busy = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct nuna_host_worker *worker = &host->workers[i];
        if (!host->engines[i / host->shape->gpus / NUNA_HOST_DIRECTIONS]->chunked)
            continue;
        busy += worker->sync_busy + worker->launch_busy;
        if (worker->awaited > 0 && elapsed > worker->busy_since) /* interrupted */
            busy += elapsed - worker->busy_since;
    }
    return elapsed ? (uint64_t)(busy * 1000 / elapsed) : 0;
}

/* ---- resources ---- */

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

bool nuna_host_visit_all(struct nuna_host_view view, nuna_host_visit *visit, void *context)
{
    const struct nuna_host *host = view.host;
    struct visitor visitor = {.visit = visit, .context = context};
    for (uint32_t s = 0; s < host->shape->sockets; s++)
        if (!visit_socket(&visitor, &host->side, s))
            return false;
    for (uint32_t g = 0; g < host->shape->gpus; g++)
        if (!visit_gpu(&visitor, &host->side, &view.gpus[g]))
            return false;
    return true;
}
