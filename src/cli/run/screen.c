#include "cli/run/screen.h"
#include "cli/common/messages.h"
#include "core/units.h"
#include <inttypes.h>
#include <string.h>

static const char *quantity(int64_t value, enum nuna_quantity kind, char *buffer)
{
    return nuna_units_format(value, kind, "", buffer, 48);
}

void nuna_print_setup(const struct nuna_run_info *info, const struct nuna_params *params)
{
    char a[48], b[48];
    const struct nuna_plan *plan = info->plan;
    printf("plan      %s, %u GPU%s, %zu threadblock%s (%s), proved\n", plan->collective_name,
           plan->gpu_count, nuna_plural(plan->gpu_count), plan->threadblock_count,
           nuna_plural((int64_t)plan->threadblock_count), plan->source);
    printf("size      %s: the larger of one GPU's input and output buffer\n",
           quantity((int64_t)info->size, NUNA_Q_SIZE, a));
    if (params->noc.fabric == NUNA_FABRIC_MESH)
        printf("GPU       %" PRId64 " die%s, mesh %" PRId64 "x%" PRId64 ", %" PRId64
               " HBM stack%s, %" PRId64 " port%s of %s\n",
               params->noc.dies, nuna_plural(params->noc.dies), params->noc.columns,
               params->noc.rows, params->hbm.stacks, nuna_plural(params->hbm.stacks),
               params->scaleup.ports, nuna_plural(params->scaleup.ports),
               quantity(params->scaleup.port_rate, NUNA_Q_RATE, a));
    else
        printf("GPU       uniform fabric %s, %" PRId64 " HBM stack%s, %" PRId64 " port%s of %s\n",
               quantity(params->noc.uniform_latency, NUNA_Q_TIME, b), params->hbm.stacks,
               nuna_plural(params->hbm.stacks), params->scaleup.ports,
               nuna_plural(params->scaleup.ports),
               quantity(params->scaleup.port_rate, NUNA_Q_RATE, a));
    printf("policy    %s\n", info->policy);
}

static void print_domains(const struct nuna_run_info *info)
{
    if (info->nar_domains > 1)
        printf("domains   %u\n", info->nar_domains);
}

static void print_stores(const struct nuna_result *result)
{
    char mean[48], p50[48], p99[48], max[48];
    printf("stores    %" PRIu64 ", one-way latency mean %s, p50 %s, p99 %s, max %s, skew %.2f\n",
           result->stores, nuna_duration_text(nuna_latency_mean(result->latency), mean),
           nuna_duration_text(nuna_latency_quantile(result->latency, 500), p50),
           nuna_duration_text(nuna_latency_quantile(result->latency, 990), p99),
           nuna_duration_text(result->latency->max, max), nuna_latency_skew(result->latency));
    printf("bytes     %" PRIu64 " delivered of %" PRIu64 " requested\n", result->bytes_delivered,
           result->bytes_requested);
}

static void print_translation(const struct nuna_translation_result *t)
{
    char mean[48], max[48];
    if (t->requests == 0)
        return;
    double share = 100.0 / (double)t->requests;
    printf("translated %" PRIu64
           ", mean %s, max %s; %.1f %% hit the L1 TLB, %.1f %% joined a miss; "
           "%" PRIu64 " walks\n",
           t->requests, nuna_duration_text(t->latency_sum / t->requests, mean),
           nuna_duration_text(t->latency_max, max), share * (double)t->l1_hits,
           share * (double)t->l1_merged, t->walks);
}

static void print_binding(const struct nuna_result *result, const struct nuna_breakdown *breakdown)
{
    const struct nuna_resource *r = &breakdown->binding;
    if (r->kind == NUNA_RESOURCE_KINDS || result->drained == 0)
        return;
    char wait[48];
    double share = 100.0 * (double)r->busy / (double)result->drained;
    /* Channels and ports name themselves. */
    bool named = r->kind == NUNA_RESOURCE_HBM_CHANNEL || r->kind == NUNA_RESOURCE_PORT;
    char kind[32] = "";
    if (!named)
        snprintf(kind, sizeof kind, "%s ", nuna_resource_kind_name(r->kind));
    for (char *c = kind; *c; c++)
        if (*c == '_')
            *c = ' ';
    printf("binding   %s%s%s of GPU %u, %.1f %% busy, longest wait %s\n",
           share < 50 ? "latency; the busiest resource is " : "", kind, r->name, r->gpu, share,
           nuna_duration_text(r->max_wait, wait));
}

static void print_path(const struct nuna_result *result, const struct nuna_breakdown *breakdown)
{
    if (result->time == 0)
        return;
    printf("\ncritical path, %u operations:\n", breakdown->path_ops);
    for (int p = 0; p < NUNA_PATH_PARTS; p++) {
        if (p == NUNA_PATH_TRANSLATION && result->translation.requests == 0)
            continue;
        double share = (double)breakdown->path[p] / (double)result->time;
        char bar[41];
        int length = (int)(share * 40 + 0.5);
        memset(bar, '#', (size_t)length);
        bar[length] = '\0';
        printf("  %-22s %14.3f ns %6.1f %%  %s\n", nuna_path_part_name((enum nuna_path_part)p),
               (double)breakdown->path[p] / 1e3, 100 * share, bar);
    }
}

void nuna_print_result(const struct nuna_run_info *info, const struct nuna_result *result,
                       const struct nuna_breakdown *breakdown, uint32_t threads)
{
    char text[48];
    if (result->status == NUNA_SIM_COMPLETE) {
        printf("\ntime      %s, algorithm bandwidth %.3f GB/s, bus bandwidth %.3f GB/s\n",
               nuna_duration_text(result->time, text),
               (double)nuna_algorithm_bandwidth(info->size, result->time) / 1e3,
               (double)nuna_bus_bandwidth(info->plan, info->size, result->time) / 1e3);
    } else {
        printf("\nincomplete after %s of simulated time\n", nuna_duration_text(result->time, text));
    }
    print_domains(info);
    print_stores(result);
    print_translation(&result->translation);
    if (result->status == NUNA_SIM_COMPLETE) {
        print_binding(result, breakdown);
        print_path(result, breakdown);
    }
    uint32_t gpus = info->plan->gpu_count;
    uint64_t events = result->events / gpus * result->simulated_gpus +
                      result->events % gpus * result->simulated_gpus / gpus;
    double rate = nuna_events_per_s(info, result);
    if (result->approximate)
        printf("\nfolded    %u of %u GPUs stands for all, APPROXIMATELY: they are not alike\n",
               result->simulated_gpus, gpus);
    else if (result->simulated_gpus < gpus)
        printf("\nfolded    %u of %u GPUs stand%s for all: they are alike, exactly\n",
               result->simulated_gpus, gpus, result->simulated_gpus == 1 ? "s" : "");
    else if (result->unfolded)
        printf("\nfolded    none of %u GPUs stands for others: %s\n", gpus, result->unfolded);
    bool said = result->simulated_gpus < gpus || result->unfolded;
    printf("%ssimulated %" PRIu64 " events in %.3f s, %.1f million/s on %u thread%s; peak memory "
           "%.1f MiB\n",
           said ? "" : "\n", events, info->wall_s, rate / 1e6, threads, threads == 1 ? "" : "s",
           (double)info->peak_rss_bytes / (1 << 20));
}
