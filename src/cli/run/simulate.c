/* One simulation, or one per granularity of the routing domains. */
#include "cli/run/simulate.h"
#include "cli/common/signals.h"
#include "placement/domains.h"
#include "placement/policy.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t peak_rss(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

struct progress_line {
    double started, shown;
};

static void show_progress(void *context, const struct nuna_progress *progress)
{
    struct progress_line *line = context;
    double now = now_s();
    if (now - line->shown < 0.2)
        return;
    line->shown = now;
    double elapsed = now - line->started;
    double share = progress->bytes_requested
                       ? (double)progress->bytes_delivered / (double)progress->bytes_requested
                       : 0;
    char eta[32] = "?";
    if (share > 0.001)
        snprintf(eta, sizeof eta, "%.0f s", elapsed * (1 - share) / share);
    fprintf(
        stderr, "\r%5.1f %% of the bytes, %.3f us simulated, %.1f million events/s, ETA %s \033[K",
        100 * share, (double)progress->now / 1e6, (double)progress->events / elapsed / 1e6, eta);
}

/* One simulation; the caller keeps or destroys run->sim. */
static bool simulate_once(struct nuna_run *run, uint32_t domains, struct nuna_result *result,
                          struct nuna_error *err)
{
    struct progress_line line = {.started = now_s()};
    bool progress = !run->options.quiet && isatty(STDERR_FILENO);
    const struct nuna_sim_options options = {
        .size = run->info.size,
        .threads = run->threads,
        .domains = domains,
        .fold = run->fold,
        .reference = run->options.reference,
        .transfers = run->transfers.request_count > 0 ? &run->transfers : NULL,
        .stop = nuna_stop_flag(),
        .progress = progress ? show_progress : NULL,
        .progress_context = &line,
    };
    run->sim = nuna_sim_create(nuna_config_params(run->config), run->plan, &options, err);
    if (!run->sim)
        return false;
    double started = now_s();
    bool ran = nuna_sim_run(run->sim, result, err);
    run->info.wall_s += now_s() - started;
    run->info.nar_domains = domains;
    if (line.shown > 0)
        fprintf(stderr, "\r\033[K");
    return ran;
}

/* Tries every granularity and keeps the fastest, the coarsest at ties. */
static bool simulate_all(struct nuna_run *run, const uint32_t *domains, uint32_t count,
                         struct nuna_result *result, struct nuna_error *err)
{
    struct nuna_sim *best = NULL;
    uint32_t best_domains = 0;
    bool approximate = false; /* any of them: then the choice is, too */
    for (uint32_t i = 0; i < count; i++) {
        struct nuna_result tried;
        if (!simulate_once(run, domains[i], &tried, err)) {
            nuna_sim_destroy(best);
            return false;
        }
        bool stop = tried.status != NUNA_SIM_COMPLETE;
        approximate = approximate || tried.approximate;
        if (!run->options.quiet && !stop)
            printf("%s%u domains: %.3f us", i ? ", " : "tried     ", domains[i],
                   (double)tried.time / 1e6);
        if (!best || stop || tried.time < result->time) {
            nuna_sim_destroy(best);
            best = run->sim;
            best_domains = domains[i];
            *result = tried;
        } else {
            nuna_sim_destroy(run->sim);
        }
        run->sim = NULL;
        if (stop)
            break;
    }
    if (!run->options.quiet)
        printf("\n");
    run->sim = best;
    run->info.nar_domains = best_domains;
    result->approximate = approximate;
    return true;
}

bool nuna_run_simulate(struct nuna_run *run, struct nuna_result *result, struct nuna_error *err)
{
    const struct nuna_params *params = nuna_config_params(run->config);
    uint32_t domains[256], count = 1;
    domains[0] = (uint32_t)params->placement.nar_domains;
    if (!nuna_policy_uses_domains((enum nuna_policy)params->placement.policy))
        domains[0] = 1;
    else if (domains[0] == 0)
        count = nuna_domains_granularities((uint32_t)params->scaleup.ports,
                                           (uint32_t)params->hbm.stacks, domains);
    bool ran = count > 1 ? simulate_all(run, domains, count, result, err)
                         : simulate_once(run, domains[0], result, err);
    run->info.peak_rss_bytes = peak_rss();
    if (!ran)
        return false;
    const struct nuna_view view = nuna_view_of(run->sim, result);
    return nuna_breakdown_make(&view, &run->breakdown, err);
}
