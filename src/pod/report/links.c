#include "pod/report/links.h"
#include "pod/report/resources.h"

struct link {
    const struct nuna_result *result;
    const struct nuna_resource *resource;
    nuna_time busy;
};

#define LINK_COLUMNS(X)                                                                            \
    X(link, gpu, "", "owner; a switch plane's output queue belongs to the GPU it leads to",        \
      nuna_count(row->resource->gpu))                                                              \
    X(link, kind, "",                                                                              \
      "`mesh_link`, `injection`, `ejection`, `hbm_channel`, `port`, `switch_output`",              \
      nuna_text(nuna_resource_kind_name(row->resource->kind)))                                     \
    X(link, name, "",                                                                              \
      "a mesh link by its routers' (x y), a channel by its stack, a port or plane by its number",  \
      nuna_text(row->resource->name))                                                              \
    X(link, bytes, "bytes", "served", nuna_count(row->resource->bytes))                            \
    X(link, busy_ns, "ns", "time it was busy", nuna_ns(row->busy))                                 \
    X(link, utilisation, "", "busy time as a share of the time until the last event",              \
      nuna_share(row->busy, row->result->drained))                                                 \
    X(link, max_queue_ns, "ns", "longest wait of a packet", nuna_ns(row->resource->max_wait))      \
    X(link, exactness, "", "`approx`; only in runs that are",                                      \
      nuna_text(nuna_exactness(row->result)))
NUNA_COLUMNS(link, LINK_COLUMNS)
const struct nuna_table nuna_links_table =
    NUNA_TABLE(link, "links.csv", "one row per queue of the pod, GPU by GPU", 1);

struct context {
    struct nuna_csv csv;
    const struct nuna_result *result;
};

static bool print_link(void *pointer, const struct nuna_resource *resource)
{
    const struct context *context = pointer;
    nuna_time elapsed = context->result->drained;
    const struct link row = {
        .result = context->result,
        .resource = resource,
        /* A run that was stopped has booked its queues beyond its last moment. */
        .busy = resource->busy < elapsed ? resource->busy : elapsed,
    };
    return nuna_csv_row(&context->csv, &row);
}

bool nuna_report_links(FILE *out, const struct nuna_view *view)
{
    struct context context = {.result = view->result};
    return nuna_csv_begin(&context.csv, out, &nuna_links_table, view->result->approximate) &&
           nuna_visit_resources(view, print_link, &context);
}
