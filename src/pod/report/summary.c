#include "pod/report/summary.h"
#include <inttypes.h>
#include <string.h>

uint64_t nuna_algorithm_bandwidth(uint64_t size, nuna_time time)
{
    return time ? (uint64_t)((unsigned __int128)size * 1000000 / time) : 0;
}

uint64_t nuna_bus_bandwidth(const struct nuna_plan *plan, uint64_t size, nuna_time time)
{
    if (time == 0)
        return 0;
    unsigned __int128 scaled = (unsigned __int128)size * 1000000;
    if (plan->collective != NUNA_COLLECTIVE_OTHER) {
        scaled = scaled * (plan->gpu_count - 1) / plan->gpu_count;
        if (plan->collective == NUNA_ALLREDUCE)
            scaled *= 2;
    }
    return (uint64_t)(scaled / time);
}

const char *nuna_status_name(enum nuna_sim_status status)
{
    return status == NUNA_SIM_COMPLETE ? "ok" : "incomplete";
}

static void print_thousandths(FILE *out, uint64_t value)
{
    fprintf(out, "%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
}

/* A text field: quoted when it holds what CSV gives a meaning to. */
static void print_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

const char *nuna_approx_flag(const struct nuna_result *result)
{
    return result->approximate ? ",approx" : "";
}

const char *nuna_approx_title(const struct nuna_result *result)
{
    return result->approximate ? ",exactness" : "";
}

double nuna_events_per_s(const struct nuna_run_info *info, const struct nuna_result *result)
{
    double simulated =
        (double)result->events * result->simulated_gpus / (double)info->plan->gpu_count;
    return info->wall_s > 0 ? simulated / info->wall_s : 0;
}

static void print_names(FILE *out, const struct nuna_run_info *info)
{
    print_text(out, info->config);
    fputc(',', out);
    print_text(out, info->plan->source);
    fputc(',', out);
    print_text(out, info->plan->collective_name);
    fprintf(out, ",%u,%" PRIu64 ",", info->plan->gpu_count, info->size);
    print_text(out, info->policy);
    fprintf(out, ",%u,%" PRIu64 ",", info->nar_domains, info->seed);
}

static void print_times(FILE *out, const struct nuna_run_info *info,
                        const struct nuna_result *result)
{
    bool complete = result->status == NUNA_SIM_COMPLETE;
    uint64_t bus = nuna_bus_bandwidth(info->plan, info->size, result->time);
    const uint64_t values[] = {
        result->time,
        complete ? nuna_algorithm_bandwidth(info->size, result->time) : 0,
        complete ? bus : 0,
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        print_thousandths(out, values[i]);
        fputc(',', out);
    }
    fprintf(out, "%" PRIu64 ",", result->stores);
    const nuna_time latencies[] = {
        nuna_latency_mean(result->latency),
        nuna_latency_quantile(result->latency, 500),
        nuna_latency_quantile(result->latency, 990),
        result->latency->max,
    };
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
        print_thousandths(out, latencies[i]);
        fputc(',', out);
    }
}

static void print_translation(FILE *out, const struct nuna_translation_result *t)
{
    uint64_t mean = t->requests ? (t->latency_sum + t->requests / 2) / t->requests : 0;
    fprintf(out, ",%" PRIu64 ",", t->requests);
    print_thousandths(out, mean);
    fputc(',', out);
    print_thousandths(out, t->latency_max);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, t->l1_hits,
            t->l1_merged, t->walks, t->live_pages, t->ahead_requests);
}

bool nuna_report_summary(FILE *out, const struct nuna_run_info *info,
                         const struct nuna_result *result, const struct nuna_breakdown *breakdown)
{
    fputs("config,plan,collective,gpus,size_bytes,policy,nar_domains,seed,status,time_ns,"
          "algbw_GBps,busbw_GBps,stores,store_mean_ns,store_p50_ns,store_p99_ns,store_max_ns,"
          "bytes_requested,bytes_delivered,events,wall_s,events_per_s,peak_rss_bytes,"
          "store_sd_ns,store_skew",
          out);
    for (int p = 0; p < NUNA_PATH_PARTS; p++) {
        fputs(",path_", out);
        for (const char *c = nuna_path_part_name((enum nuna_path_part)p); *c; c++)
            if (*c != ',')
                fputc(*c == ' ' || *c == '-' ? '_' : *c, out);
        fputs("_ns", out);
    }
    fputs(",translated,translation_mean_ns,translation_max_ns,translation_l1_hits,"
          "translation_l1_mshr_hits,translation_walks,translation_live_pages,translation_ahead"
          ",exactness,simulated_gpus\n",
          out);
    print_names(out, info);
    fprintf(out, "%s,", nuna_status_name(result->status));
    print_times(out, info, result);
    double rate = nuna_events_per_s(info, result);
    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%.0f,%" PRIu64, result->bytes_requested,
            result->bytes_delivered, result->events, info->wall_s, rate, info->peak_rss_bytes);
    fprintf(out, ",%.3f,%.4f", nuna_latency_sd(result->latency) / 1e3,
            nuna_latency_skew(result->latency));
    for (int p = 0; p < NUNA_PATH_PARTS; p++) {
        fputc(',', out);
        print_thousandths(out, breakdown->path[p]);
    }
    print_translation(out, &result->translation);
    fprintf(out, ",%s,%u\n", result->approximate ? "approx" : "exact", result->simulated_gpus);
    return !ferror(out);
}

struct links_context {
    FILE *out;
    const char *flag;
    nuna_time elapsed;
};

static bool print_link(void *context, const struct nuna_resource *resource)
{
    const struct links_context *links = context;
    fprintf(links->out, "%u,%s,%s,%" PRIu64 ",", resource->gpu,
            nuna_resource_kind_name(resource->kind), resource->name, resource->bytes);
    /* A run that was stopped has booked its queues beyond its last moment. */
    nuna_time busy = resource->busy < links->elapsed ? resource->busy : links->elapsed;
    print_thousandths(links->out, busy);
    /* In millionths. */
    uint64_t share =
        links->elapsed ? (uint64_t)((unsigned __int128)busy * 1000000 / links->elapsed) : 0;
    fprintf(links->out, ",%" PRIu64 ".%06" PRIu64 ",", share / 1000000, share % 1000000);
    print_thousandths(links->out, resource->max_wait);
    fprintf(links->out, "%s\n", links->flag);
    return !ferror(links->out);
}

bool nuna_report_links(FILE *out, const struct nuna_view *view)
{
    const struct nuna_result *result = view->result;
    fprintf(out, "gpu,kind,name,bytes,busy_ns,utilisation,max_queue_ns%s\n",
            nuna_approx_title(result));
    struct links_context context = {
        .out = out, .flag = nuna_approx_flag(result), .elapsed = result->drained};
    return nuna_visit_resources(view, print_link, &context) && !ferror(out);
}

bool nuna_report_latency(FILE *out, const struct nuna_result *result)
{
    const struct nuna_latency *latency = result->latency;
    fprintf(out, "from_ns,to_ns,stores%s\n", nuna_approx_title(result));
    for (uint32_t bin = 0; bin + 1 < NUNA_LATENCY_BINS; bin++) {
        if (latency->bins[bin] == 0)
            continue;
        print_thousandths(out, nuna_latency_bin_start(bin));
        fputc(',', out);
        print_thousandths(out, nuna_latency_bin_start(bin + 1));
        fprintf(out, ",%" PRIu64 "%s\n", latency->bins[bin], nuna_approx_flag(result));
    }
    return !ferror(out);
}
