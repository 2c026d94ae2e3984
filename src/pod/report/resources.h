/* Every queue of the pod, and how busy it was. */
#ifndef NUNA_POD_REPORT_RESOURCES_H
#define NUNA_POD_REPORT_RESOURCES_H

#include "pod/result.h"

enum nuna_resource_kind {
    NUNA_RESOURCE_MESH_LINK,
    NUNA_RESOURCE_INJECTION,
    NUNA_RESOURCE_EJECTION,
    NUNA_RESOURCE_HBM_CHANNEL,
    NUNA_RESOURCE_PORT,
    NUNA_RESOURCE_SWITCH_OUTPUT,
    NUNA_RESOURCE_KINDS,
};
const char *nuna_resource_kind_name(enum nuna_resource_kind kind);

struct nuna_resource {
    enum nuna_resource_kind kind;
    uint32_t gpu;
    char name[64]; /* "(3,2)->(4,2)", "stack 4 channel 3", "port 7" */
    uint64_t bytes;
    nuna_time busy, max_wait;
};

/* Calls `visit` for every resource, GPU by GPU, kind by kind, in a fixed order; stops early when it
 * returns false. */
bool nuna_visit_resources(const struct nuna_view *view,
                          bool (*visit)(void *context, const struct nuna_resource *resource),
                          void *context);

/* The busiest one; of kind NUNA_RESOURCE_KINDS when none was busy. */
void nuna_busiest_resource(const struct nuna_view *view, struct nuna_resource *ret_resource);

#endif
