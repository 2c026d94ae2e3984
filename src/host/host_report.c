#include "host/host_report.h"
#include <inttypes.h>

uint64_t nuna_host_bandwidth(uint64_t bytes, nuna_time time)
{
    return time ? (uint64_t)((unsigned __int128)bytes * 1000000 / time) : 0;
}

static void print_thousandths(FILE *out, uint64_t value)
{
    fprintf(out, "%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
}

static void print_millionths(FILE *out, uint64_t value)
{
    fprintf(out, "%" PRIu64 ".%06" PRIu64, value / 1000000, value % 1000000);
}

/* Part of a whole in millionths. */
static uint64_t share_of(uint64_t part, unsigned __int128 whole)
{
    return whole ? (uint64_t)((unsigned __int128)part * 1000000 / whole) : 0;
}

nuna_time nuna_host_elapsed(struct nuna_host_view view, nuna_time now)
{
    nuna_time elapsed = 0;
    for (uint32_t t = 0; t < view.host->transfer_count; t++) {
        struct nuna_host_outcome outcome;
        nuna_host_outcome(view.host, view.gpus, t, &outcome);
        if (!outcome.complete && !outcome.request.background)
            return now;
        nuna_time end = outcome.begin + outcome.time;
        if (!outcome.request.background && end > elapsed)
            elapsed = end;
    }
    return elapsed;
}

bool nuna_host_report_summary_head(FILE *out)
{
    fputs("transfer,direction,gpu,peer,background,engine,status,bytes,chunks,start_ns,time_ns,"
          "bandwidth_GBps,cpu_cores\n",
          out);
    return !ferror(out);
}

bool nuna_host_report_summary(FILE *out, struct nuna_host_view view, nuna_time elapsed)
{
    uint64_t cores = nuna_host_cpu_millicores(view.host, elapsed);
    for (uint32_t t = 0; t < view.host->transfer_count; t++) {
        struct nuna_host_outcome outcome;
        nuna_host_outcome(view.host, view.gpus, t, &outcome);
        const struct nuna_host_request *request = &outcome.request;
        bool good = outcome.complete || request->background;
        fprintf(out, "%u,%s,gpu%u,", t, nuna_host_direction_name(request->direction), request->gpu);
        if (request->direction == NUNA_HOST_P2P)
            fprintf(out, "gpu%u", request->peer);
        fprintf(out, ",%s,%s,%s,%" PRIu64 ",%" PRIu64 ",", request->background ? "yes" : "no",
                outcome.engine, good ? "ok" : "incomplete", outcome.bytes, outcome.chunks);
        print_thousandths(out, outcome.begin);
        fputc(',', out);
        print_thousandths(out, outcome.time);
        fputc(',', out);
        print_thousandths(out, good ? nuna_host_bandwidth(outcome.bytes, outcome.time) : 0);
        fputc(',', out);
        print_thousandths(out, cores);
        fputc('\n', out);
    }
    return !ferror(out);
}

bool nuna_host_report_paths(FILE *out, struct nuna_host_view view)
{
    fputs("transfer,gpu,kind,bytes,share\n", out);
    for (uint32_t t = 0; t < view.host->transfer_count; t++) {
        struct nuna_host_outcome outcome;
        nuna_host_outcome(view.host, view.gpus, t, &outcome);
        if (!outcome.complete)
            continue;
        for (uint32_t g = 0; g < view.host->shape->gpus; g++) {
            if (outcome.path_bytes[g] == 0)
                continue;
            fprintf(out, "%u,gpu%u,%s,%" PRIu64 ",", t, g,
                    g == outcome.request.gpu ? "direct" : "relay", outcome.path_bytes[g]);
            print_millionths(out, share_of(outcome.path_bytes[g], outcome.bytes));
            fputc('\n', out);
        }
    }
    return !ferror(out);
}

struct context {
    FILE *out;
    nuna_time elapsed, interval;
    struct nuna_host_resource *best;
    uint64_t best_share;
};

static uint64_t utilisation(const struct nuna_host_resource *resource, nuna_time elapsed)
{
    return share_of(resource->busy, (unsigned __int128)elapsed * resource->lanes);
}

static bool print_link(void *context, const struct nuna_host_resource *resource)
{
    struct context *links = context;
    struct nuna_host_resource cut = *resource;
    /* Background traffic has booked links beyond the end. */
    nuna_time most = links->elapsed * resource->lanes;
    cut.busy = cut.busy < most ? cut.busy : most;
    fprintf(links->out, "%s,%s,%u,%" PRIu64 ",", cut.kind, cut.name, cut.lanes, cut.bytes);
    print_thousandths(links->out, cut.busy);
    fputc(',', links->out);
    print_millionths(links->out, utilisation(&cut, links->elapsed));
    fputc('\n', links->out);
    return !ferror(links->out);
}

bool nuna_host_report_links(FILE *out, struct nuna_host_view view, nuna_time elapsed)
{
    struct context context = {.out = out, .elapsed = elapsed};
    fputs("kind,name,lanes,bytes,busy_ns,utilisation\n", out);
    return nuna_host_visit_all(view.host, view.gpus, print_link, &context) && !ferror(out);
}

static bool keep_busiest(void *context, const struct nuna_host_resource *resource)
{
    struct context *links = context;
    uint64_t share = utilisation(resource, links->elapsed);
    if (share > links->best_share) {
        links->best_share = share;
        *links->best = *resource;
    }
    return true;
}

uint64_t nuna_host_busiest(struct nuna_host_view view, nuna_time elapsed,
                           struct nuna_host_resource *ret_resource)
{
    struct context context = {.elapsed = elapsed, .best = ret_resource};
    nuna_host_visit_all(view.host, view.gpus, keep_busiest, &context);
    return context.best_share < 1000000 ? context.best_share : 1000000;
}

static bool find_interval(void *context, const struct nuna_host_resource *resource)
{
    struct context *links = context;
    if (resource->timeline->interval > links->interval)
        links->interval = resource->timeline->interval;
    return true;
}

static bool print_timeline(void *context, const struct nuna_host_resource *resource)
{
    const struct context *links = context;
    struct nuna_timeline timeline = *resource->timeline;
    if (resource->busy == 0)
        return true;
    nuna_timeline_widen(&timeline, links->interval);
    for (uint32_t i = 0; i < NUNA_TIMELINE_BINS; i++) {
        nuna_time from = i * timeline.interval, to = from + timeline.interval;
        if (from >= links->elapsed)
            break;
        to = to < links->elapsed ? to : links->elapsed;
        fprintf(links->out, "%s,%s,", resource->kind, resource->name);
        print_thousandths(links->out, from);
        fputc(',', links->out);
        print_thousandths(links->out, to);
        fputc(',', links->out);
        uint64_t share =
            share_of(timeline.busy[i], (unsigned __int128)(to - from) * resource->lanes);
        print_millionths(links->out, share < 1000000 ? share : 1000000);
        fputc('\n', links->out);
    }
    return !ferror(links->out);
}

bool nuna_host_report_timeline(FILE *out, struct nuna_host_view view, nuna_time elapsed)
{
    struct context context = {.out = out, .elapsed = elapsed};
    fputs("kind,name,from_ns,to_ns,utilisation\n", out);
    nuna_host_visit_all(view.host, view.gpus, find_interval, &context);
    return nuna_host_visit_all(view.host, view.gpus, print_timeline, &context) && !ferror(out);
}
