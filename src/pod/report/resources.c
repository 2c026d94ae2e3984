#include "pod/report/resources.h"
#include "gpu/topology.h"
#include "noc/mesh.h"
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

static bool visit_router_links(struct visitor *visitor, const struct nuna_noc_shape *noc,
                               const struct nuna_gpu_servers *servers, uint32_t x, uint32_t y)
{
    static const int dx[NUNA_DIRECTIONS] = {1, -1, 0, 0}, dy[NUNA_DIRECTIONS] = {0, 0, 1, -1};
    uint32_t code = nuna_noc_router(noc, x, y);
    for (int d = 0; d < NUNA_DIRECTIONS; d++) {
        int to_x = (int)x + dx[d], to_y = (int)y + dy[d];
        if (to_x < 0 || to_y < 0 || to_x >= (int)noc->columns || to_y >= (int)noc->rows)
            continue;
        snprintf(visitor->resource.name, sizeof visitor->resource.name, "(%u %u)->(%d %d)", x, y,
                 to_x, to_y);
        if (!visit_server(visitor, &servers->mesh_link[code * NUNA_DIRECTIONS + (uint32_t)d],
                          servers->mesh_rate))
            return false;
    }
    return true;
}

/* Injection or ejection links that carried something: most routers have no memory and no port. */
static bool visit_attachments(struct visitor *visitor, const struct nuna_noc_shape *noc,
                              const struct nuna_server *servers, const struct nuna_rate *rate)
{
    static const char *const names[NUNA_ATTACHMENTS] = {"CUs", "memory", "port"};
    for (uint32_t y = 0; y < noc->rows; y++)
        for (uint32_t x = 0; x < noc->columns; x++)
            for (uint32_t a = 0; a < NUNA_ATTACHMENTS; a++) {
                uint32_t code = nuna_noc_router(noc, x, y);
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

static bool visit_noc(struct visitor *visitor, const struct nuna_noc_shape *noc,
                      const struct nuna_gpu_servers *servers)
{
    if (!servers->mesh_link)
        return true;
    visitor->resource.kind = NUNA_RESOURCE_MESH_LINK;
    for (uint32_t y = 0; y < noc->rows; y++)
        for (uint32_t x = 0; x < noc->columns; x++)
            if (!visit_router_links(visitor, noc, servers, x, y))
                return false;
    visitor->resource.kind = NUNA_RESOURCE_INJECTION;
    if (!visit_attachments(visitor, noc, servers->injection, servers->injection_rate))
        return false;
    visitor->resource.kind = NUNA_RESOURCE_EJECTION;
    return visit_attachments(visitor, noc, servers->ejection, servers->ejection_rate);
}

static bool visit_gpu(struct visitor *visitor, const struct nuna_view *view, uint32_t gpu)
{
    const struct nuna_gpu_servers servers = nuna_view_servers(view, gpu);
    if (!visit_noc(visitor, view->noc, &servers))
        return false;
    char *name = visitor->resource.name;
    size_t room = sizeof visitor->resource.name;
    visitor->resource.kind = NUNA_RESOURCE_HBM_CHANNEL;
    uint32_t per_stack = view->topology->channels_per_stack;
    for (uint32_t c = 0; c < servers.channels; c++) {
        snprintf(name, room, "stack %u channel %u", c / per_stack, c % per_stack);
        if (!visit_server(visitor, &servers.channel[c], servers.channel_rate))
            return false;
    }
    for (uint32_t p = 0; p < servers.ports; p++) {
        snprintf(name, room, "port %u", p);
        visitor->resource.kind = NUNA_RESOURCE_PORT;
        if (!visit_server(visitor, &servers.port[p], servers.port_rate))
            return false;
        snprintf(name, room, "plane %u", p);
        visitor->resource.kind = NUNA_RESOURCE_SWITCH_OUTPUT;
        if (!visit_server(visitor, &servers.switch_output[p], servers.port_rate))
            return false;
    }
    return true;
}

bool nuna_visit_resources(const struct nuna_view *view,
                          bool (*visit)(void *context, const struct nuna_resource *resource),
                          void *context)
{
    struct visitor visitor = {.visit = visit, .context = context};
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        visitor.resource.gpu = g;
        if (!visit_gpu(&visitor, view, g))
            return false;
    }
    return true;
}

static bool keep_busiest(void *context, const struct nuna_resource *resource)
{
    struct nuna_resource *busiest = context;
    if (resource->busy > busiest->busy)
        *busiest = *resource;
    return true;
}

void nuna_busiest_resource(const struct nuna_view *view, struct nuna_resource *ret_resource)
{
    *ret_resource = (struct nuna_resource){.kind = NUNA_RESOURCE_KINDS};
    nuna_visit_resources(view, keep_busiest, ret_resource);
}
