#include "host/report.h"
#include "host/link.h"

uint64_t nuna_host_bandwidth(uint64_t bytes, nuna_time time)
{
    return time ? (uint64_t)((unsigned __int128)bytes * 1000000 / time) : 0;
}

/* ---- summary.csv ---- */

struct transfer {
    uint32_t index;
    struct nuna_host_outcome outcome;
    bool good;
    uint64_t millicores;
};

#define TRANSFER_COLUMNS(X)                                                                        \
    X(transfer, transfer, "", "its number, in the order of the command line",                      \
      nuna_count(row->index))                                                                      \
    X(transfer, direction, "", "`h2d`, `d2h` or `p2p`",                                            \
      nuna_text(nuna_host_direction_name(row->outcome.request.direction)))                         \
    X(transfer, gpu, "", "whose memory", nuna_numbered("gpu", row->outcome.request.gpu))           \
    X(transfer, peer, "", "of p2p, where to",                                                      \
      nuna_if(row->outcome.request.direction == NUNA_HOST_P2P,                                     \
              nuna_numbered("gpu", row->outcome.request.peer)))                                    \
    X(transfer, background, "", "`yes`: native traffic without an end",                            \
      nuna_text(row->outcome.request.background ? "yes" : "no"))                                   \
    X(transfer, engine, "", "the one that carried it out: `native` where mma fell back",           \
      nuna_text(row->outcome.engine))                                                              \
    X(transfer, status, "", "`ok` or `incomplete`", nuna_text(row->good ? "ok" : "incomplete"))    \
    X(transfer, bytes, "bytes", "moved; of a background, until the run's end",                     \
      nuna_count(row->outcome.bytes))                                                              \
    X(transfer, chunks, "", "of a transfer in chunks", nuna_count(row->outcome.chunks))            \
    X(transfer, start_ns, "ns", "its start, or the end of its predecessor in the stream",          \
      nuna_ns(row->outcome.begin))                                                                 \
    X(transfer, time_ns, "ns", "from there until the application goes on",                         \
      nuna_ns(row->outcome.time))                                                                  \
    X(transfer, bandwidth_GBps, "GB/s", "bytes / time",                                            \
      nuna_decimal(row->good ? nuna_host_bandwidth(row->outcome.bytes, row->outcome.time) : 0, 3)) \
    X(transfer, cpu_cores, "", "of the whole run: cores that launch and wait",                     \
      nuna_decimal(row->millicores, 3))
NUNA_COLUMNS(transfer, TRANSFER_COLUMNS)
const struct nuna_table nuna_host_summary_table =
    NUNA_TABLE(transfer, "host/summary.csv", "one row per transfer, then one per background", 0);

bool nuna_host_report_summary_head(FILE *out, struct nuna_csv *ret_csv)
{
    return nuna_csv_begin(ret_csv, out, &nuna_host_summary_table, true);
}

bool nuna_host_report_summary(const struct nuna_csv *csv, struct nuna_host_view view,
                              nuna_time elapsed)
{
    struct transfer row = {.millicores = nuna_host_cpu_millicores(view, elapsed)};
    bool ok = true;
    for (; ok && row.index < view.transfers; row.index++) {
        row.outcome = nuna_host_outcome(view, row.index);
        row.good = row.outcome.complete || row.outcome.request.background;
        ok = nuna_csv_row(csv, &row);
    }
    return ok;
}

/* ---- paths.csv ---- */

struct path {
    uint32_t transfer, gpu;
    const struct nuna_host_outcome *outcome;
};

#define PATH_COLUMNS(X)                                                                            \
    X(path, transfer, "", "its number", nuna_count(row->transfer))                                 \
    X(path, gpu, "", "whose link", nuna_numbered("gpu", row->gpu))                                 \
    X(path, kind, "", "`direct` or `relay`",                                                       \
      nuna_text(row->gpu == row->outcome->request.gpu ? "direct" : "relay"))                       \
    X(path, bytes, "bytes", "carried", nuna_count(row->outcome->path_bytes[row->gpu]))             \
    X(path, share, "", "as a part of the transfer",                                                \
      nuna_share(row->outcome->path_bytes[row->gpu], row->outcome->bytes))
NUNA_COLUMNS(path, PATH_COLUMNS)
const struct nuna_table nuna_host_paths_table = NUNA_TABLE(
    path, "host/paths.csv", "one row per transfer and PCIe link that carried a part of it", 0);

bool nuna_host_report_paths(FILE *out, struct nuna_host_view view)
{
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_host_paths_table, true);
    for (uint32_t t = 0; ok && t < view.transfers; t++) {
        const struct nuna_host_outcome outcome = nuna_host_outcome(view, t);
        for (uint32_t g = 0; ok && outcome.complete && g < view.gpu_count; g++) {
            const struct path row = {t, g, &outcome};
            if (outcome.path_bytes[g] > 0)
                ok = nuna_csv_row(&csv, &row);
        }
    }
    return ok;
}

/* ---- links.csv ---- */

struct use {
    const struct nuna_host_resource *resource;
    nuna_time busy, elapsed;
};

#define USE_COLUMNS(X)                                                                             \
    X(use, kind, "", "resource: see above", nuna_text(row->resource->kind))                        \
    X(use, name, "", "whose it is", nuna_text(row->resource->name))                                \
    X(use, lanes, "", "how many there are: a GPU's ports; else 1",                                 \
      nuna_count(row->resource->lanes))                                                            \
    X(use, bytes, "bytes", "served; between GPUs without requests and acknowledgements",           \
      nuna_count(row->resource->bytes))                                                            \
    X(use, busy_ns, "ns", "busy time, summed over the lanes", nuna_ns(row->busy))                  \
    X(use, utilisation, "", "as a part of lanes times the end of the last transfer",               \
      nuna_share(row->busy, (unsigned __int128)row->elapsed * row->resource->lanes))
NUNA_COLUMNS(use, USE_COLUMNS)
const struct nuna_table nuna_host_links_table =
    NUNA_TABLE(use, "host/links.csv", "one row per resource", 0);

struct context {
    struct nuna_csv csv;
    nuna_time elapsed, interval;
    struct nuna_host_resource *best;
    uint64_t best_share;
};

static bool print_link(void *pointer, const struct nuna_host_resource *resource)
{
    const struct context *context = pointer;
    /* Background traffic has booked links beyond the end. */
    nuna_time most = context->elapsed * resource->lanes;
    const struct use row = {resource, resource->busy < most ? resource->busy : most,
                            context->elapsed};
    return nuna_csv_row(&context->csv, &row);
}

bool nuna_host_report_links(FILE *out, struct nuna_host_view view, nuna_time elapsed)
{
    struct context context = {.elapsed = elapsed};
    return nuna_csv_begin(&context.csv, out, &nuna_host_links_table, true) &&
           nuna_host_visit_all(view, print_link, &context);
}

static bool keep_busiest(void *pointer, const struct nuna_host_resource *resource)
{
    struct context *context = pointer;
    uint64_t share =
        nuna_millionths(resource->busy, (unsigned __int128)context->elapsed * resource->lanes);
    if (share > context->best_share) {
        context->best_share = share;
        *context->best = *resource;
    }
    return true;
}

uint64_t nuna_host_busiest(struct nuna_host_view view, nuna_time elapsed,
                           struct nuna_host_resource *ret_resource)
{
    struct context context = {.elapsed = elapsed, .best = ret_resource};
    nuna_host_visit_all(view, keep_busiest, &context);
    return context.best_share < 1000000 ? context.best_share : 1000000;
}

/* ---- utilisation.csv ---- */

struct bin {
    const struct nuna_host_resource *resource;
    nuna_time from, to;
    uint64_t share; /* in millionths */
};

#define BIN_COLUMNS(X)                                                                             \
    X(bin, kind, "", "as in links.csv", nuna_text(row->resource->kind))                            \
    X(bin, name, "", "as in links.csv", nuna_text(row->resource->name))                            \
    X(bin, from_ns, "ns",                                                                          \
      "begin of an interval (`host.interval`, doubled as often as the run needs; at most 256 of "  \
      "them)",                                                                                     \
      nuna_ns(row->from))                                                                          \
    X(bin, to_ns, "ns", "its end", nuna_ns(row->to))                                               \
    X(bin, utilisation, "", "busy part of it", nuna_decimal(row->share, 6))
NUNA_COLUMNS(bin, BIN_COLUMNS)
const struct nuna_table nuna_host_utilisation_table = NUNA_TABLE(
    bin, "host/utilisation.csv", "one row per resource that was used and interval of time", 0);

static bool find_interval(void *pointer, const struct nuna_host_resource *resource)
{
    struct context *context = pointer;
    if (resource->timeline->interval > context->interval)
        context->interval = resource->timeline->interval;
    return true;
}

static bool print_timeline(void *pointer, const struct nuna_host_resource *resource)
{
    const struct context *context = pointer;
    struct nuna_timeline timeline = *resource->timeline;
    if (resource->busy == 0)
        return true;
    nuna_timeline_widen(&timeline, context->interval);
    for (uint32_t i = 0; i < NUNA_TIMELINE_BINS; i++) {
        struct bin row = {.resource = resource, .from = i * timeline.interval};
        if (row.from >= context->elapsed)
            break;
        row.to = row.from + timeline.interval;
        row.to = row.to < context->elapsed ? row.to : context->elapsed;
        row.share = nuna_millionths(timeline.busy[i],
                                    (unsigned __int128)(row.to - row.from) * resource->lanes);
        row.share = row.share < 1000000 ? row.share : 1000000;
        if (!nuna_csv_row(&context->csv, &row))
            return false;
    }
    return true;
}

bool nuna_host_report_utilisation(FILE *out, struct nuna_host_view view, nuna_time elapsed)
{
    struct context context = {.elapsed = elapsed};
    nuna_host_visit_all(view, find_interval, &context);
    return nuna_csv_begin(&context.csv, out, &nuna_host_utilisation_table, true) &&
           nuna_host_visit_all(view, print_timeline, &context);
}
