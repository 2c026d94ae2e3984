/* Every queue of the pod, for links.csv and the binding resource. */
#include "pod/sim_private.h"
#include <stdio.h>

static const char *const kind_names[NUNA_RESOURCE_KINDS] = {
    [NUNA_RESOURCE_MESH_LINK] = "mesh_link", [NUNA_RESOURCE_INJECTION] = "injection",
    [NUNA_RESOURCE_EJECTION] = "ejection",   [NUNA_RESOURCE_HBM_CHANNEL] = "hbm_channel",
    [NUNA_RESOURCE_PORT] = "port",           [NUNA_RESOURCE_SWITCH_OUTPUT] = "switch_output",
};

const char *nuna_resource_kind_name(enum nuna_resource_kind kind)
{
    return kind < NUNA_RESOURCE_KINDS ? kind_names[kind] : "none";
}

struct visitor {
    bool (*visit)(void *context, const struct nuna_resource *resource);
    void *context;
    struct nuna_resource resource;
};

static bool visit_server(struct visitor *visitor, const struct nuna_server *server,
                         const struct nuna_rate *rate)
{
    visitor->resource.bytes = server->bytes;
    visitor->resource.busy = nuna_server_busy(server, rate);
    visitor->resource.max_wait = server->max_wait;
    return visitor->visit(visitor->context, &visitor->resource);
}

static bool visit_router_links(struct visitor *visitor, const struct nuna_noc *noc, uint32_t x,
                               uint32_t y)
{
    static const int dx[NUNA_DIRECTIONS] = {1, -1, 0, 0}, dy[NUNA_DIRECTIONS] = {0, 0, 1, -1};
    uint32_t code = nuna_noc_router(noc->shape, x, y);
    for (int d = 0; d < NUNA_DIRECTIONS; d++) {
        int to_x = (int)x + dx[d], to_y = (int)y + dy[d];
        if (to_x < 0 || to_y < 0 || to_x >= (int)noc->shape->columns ||
            to_y >= (int)noc->shape->rows)
            continue;
        snprintf(visitor->resource.name, sizeof visitor->resource.name, "(%u %u)->(%d %d)", x, y,
                 to_x, to_y);
        if (!visit_server(visitor, &noc->link[code * NUNA_DIRECTIONS + (uint32_t)d],
                          &noc->shape->link_rate))
            return false;
    }
    return true;
}

/* Injection or ejection links that carried something: most routers have no memory and no port. */
static bool visit_attachments(struct visitor *visitor, const struct nuna_noc *noc,
                              const struct nuna_server *servers, const struct nuna_rate *rate)
{
    static const char *const names[NUNA_ATTACHMENTS] = {"CUs", "memory", "port"};
    for (uint32_t y = 0; y < noc->shape->rows; y++)
        for (uint32_t x = 0; x < noc->shape->columns; x++)
            for (uint32_t a = 0; a < NUNA_ATTACHMENTS; a++) {
                uint32_t code = nuna_noc_router(noc->shape, x, y);
                const struct nuna_server *server = &servers[code * NUNA_ATTACHMENTS + a];
                if (server->bytes == 0)
                    continue;
                snprintf(visitor->resource.name, sizeof visitor->resource.name, "(%u %u) %s", x, y,
                         names[a]);
                if (!visit_server(visitor, server, rate))
                    return false;
            }
    return true;
}

static bool visit_noc(struct visitor *visitor, const struct nuna_noc *noc)
{
    if (noc->shape->uniform)
        return true;
    visitor->resource.kind = NUNA_RESOURCE_MESH_LINK;
    for (uint32_t y = 0; y < noc->shape->rows; y++)
        for (uint32_t x = 0; x < noc->shape->columns; x++)
            if (!visit_router_links(visitor, noc, x, y))
                return false;
    visitor->resource.kind = NUNA_RESOURCE_INJECTION;
    if (!visit_attachments(visitor, noc, noc->inject, &noc->shape->injection_rate))
        return false;
    visitor->resource.kind = NUNA_RESOURCE_EJECTION;
    return visit_attachments(visitor, noc, noc->eject, &noc->shape->ejection_rate);
}

static bool visit_gpu(struct visitor *visitor, const struct nuna_gpu_lp *gpu)
{
    if (!visit_noc(visitor, &gpu->noc))
        return false;
    char *name = visitor->resource.name;
    size_t room = sizeof visitor->resource.name;
    visitor->resource.kind = NUNA_RESOURCE_HBM_CHANNEL;
    uint32_t per_stack = gpu->pod->topology.channels_per_stack;
    for (uint32_t c = 0; c < gpu->hbm.channel_count; c++) {
        snprintf(name, room, "stack %u channel %u", c / per_stack, c % per_stack);
        if (!visit_server(visitor, &gpu->hbm.channel[c], &gpu->hbm.rate))
            return false;
    }
    for (uint32_t p = 0; p < gpu->pod->clos.ports; p++) {
        snprintf(name, room, "port %u", p);
        visitor->resource.kind = NUNA_RESOURCE_PORT;
        if (!visit_server(visitor, &gpu->scaleup.egress[p], &gpu->pod->clos.port_rate))
            return false;
        snprintf(name, room, "plane %u", p);
        visitor->resource.kind = NUNA_RESOURCE_SWITCH_OUTPUT;
        if (!visit_server(visitor, &gpu->scaleup.output[p], &gpu->pod->clos.port_rate))
            return false;
    }
    return true;
}

bool nuna_sim_visit_resources(const struct nuna_sim *sim,
                              bool (*visit)(void *context, const struct nuna_resource *resource),
                              void *context)
{
    struct visitor visitor = {.visit = visit, .context = context};
    for (uint32_t g = 0; g < sim->pod.gpu_count; g++) {
        visitor.resource.gpu = g;
        if (!visit_gpu(&visitor, nuna_sim_gpu(sim, g)))
            return false;
    }
    return true;
}
