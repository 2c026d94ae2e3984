#include "cli/host/cmd_host.h"
#include "cli/common/messages.h"
#include "cli/common/output_dir.h"
#include "cli/common/signals.h"
#include "cli/host/options.h"
#include "cli/host/screen.h"
#include "core/units.h"
#include "host/host_sim.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Everything a run holds. */
struct host_run {
    const char *config_path, *out, *threads, *sweep;
    struct nuna_opt_list set;
    struct nuna_host_options host;
    bool quiet;
    struct nuna_config *config;
    struct nuna_host_plan plan;
    uint32_t thread_count;
    uint64_t sweep_from, sweep_to;
};

/* "1KB:8GB". */
static bool read_sweep(struct host_run *run, struct nuna_error *err)
{
    if (!run->sweep)
        return true;
    char first[64];
    struct nuna_error why;
    int64_t from = 0, to = 0;
    const char *colon = strchr(run->sweep, ':');
    snprintf(first, sizeof first, "%.*s", colon ? (int)(colon - run->sweep) : 0, run->sweep);
    if (!colon || !nuna_units_parse(first, NUNA_Q_SIZE, "", &from, &why) ||
        !nuna_units_parse(colon + 1, NUNA_Q_SIZE, "", &to, &why) || from < 1 || to < from ||
        to > 16ll << 40)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--sweep-size %.80s: expected FROM:TO, such as 1KB:8GB, from 1B to 16TiB",
                         run->sweep);
    run->sweep_from = (uint64_t)from;
    run->sweep_to = (uint64_t)to;
    return true;
}

static void set_sizes(struct host_run *run, uint64_t bytes)
{
    for (uint32_t i = 0; i < run->plan.request_count; i++)
        if (!run->plan.requests[i].background)
            run->plan.requests[i].bytes = bytes;
}

static bool prepare(struct host_run *run, struct nuna_error *err)
{
    run->config = nuna_options_config(run->config_path, &run->set, err);
    if (!run->config || !nuna_host_options_apply(&run->host, run->config, err) ||
        !nuna_config_check(run->config, err) ||
        !nuna_options_threads(run->threads, &run->thread_count, err) || !read_sweep(run, err))
        return false;
    const struct nuna_params *params = nuna_config_params(run->config);
    if (run->host.transfers.count == 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--transfer is missing: expected one such as h2d:1GB:gpu0");
    if (!nuna_host_options_plan(&run->host, params, (uint32_t)params->pod.gpus, &run->plan, err))
        return false;
    /* What a size is checked for, smaller ones need not meet: they may fall back. */
    if (run->sweep) {
        set_sizes(run, run->sweep_to);
        if (!nuna_host_plan_check(&run->plan, params, (uint32_t)params->pod.gpus, err))
            return false;
    }
    return !run->out || nuna_output_prepare(run->out, err);
}

static void print_head(const struct host_run *run)
{
    const struct nuna_params *p = nuna_config_params(run->config);
    char pcie[48], port[48], chunk[48], engine[32], buffer[32];
    printf("server    %" PRId64 " GPU%s on %" PRId64 " socket%s, %s a PCIe link, %" PRId64
           " port%s of %s\n",
           p->pod.gpus, nuna_plural(p->pod.gpus), p->host.sockets, nuna_plural(p->host.sockets),
           nuna_units_format(p->host.pcie_rate, NUNA_Q_RATE, "", pcie, sizeof pcie),
           p->scaleup.ports, nuna_plural(p->scaleup.ports),
           nuna_units_format(p->scaleup.port_rate, NUNA_Q_RATE, "", port, sizeof port));
    printf("engine    %s, chunks of %s, %" PRId64 " outstanding on a link; host buffer: %s\n\n",
           nuna_params_format(p, "host.engine", engine, sizeof engine),
           nuna_units_format(p->host.chunk_size, NUNA_Q_SIZE, "", chunk, sizeof chunk),
           p->host.queue_depth, nuna_params_format(p, "host.buffer", buffer, sizeof buffer));
}

struct progress_line {
    time_t shown; /* a second at a time */
};

static void show_progress(void *context, nuna_time now, uint64_t bytes, uint64_t requested)
{
    struct progress_line *line = context;
    time_t second = time(NULL);
    if (second == line->shown)
        return;
    line->shown = second;
    fprintf(stderr, "\r%5.1f %% of the bytes, %.3f ms simulated \033[K",
            100 * (double)bytes / (double)requested, (double)now / 1e9);
}

static int simulate(struct host_run *run, struct nuna_host_sim **ret_sim, nuna_time *ret_elapsed)
{
    struct nuna_error err;
    enum nuna_host_status status;
    *ret_sim =
        nuna_host_sim_create(nuna_config_params(run->config), &run->plan, run->thread_count, &err);
    if (!*ret_sim)
        return nuna_cli_report(&err);
    struct progress_line line = {.shown = time(NULL)};
    const time_t started = line.shown;
    const struct nuna_host_progress progress = {show_progress, &line};
    bool watched = !run->quiet && isatty(STDERR_FILENO);
    bool ran =
        nuna_host_sim_run(*ret_sim, nuna_stop_flag(), watched ? &progress : NULL, &status, &err);
    if (line.shown != started)
        fprintf(stderr, "\r\033[K");
    if (!ran)
        return nuna_cli_report(&err);
    *ret_elapsed = nuna_host_elapsed(nuna_host_sim_view(*ret_sim), nuna_host_sim_now(*ret_sim));
    if (status == NUNA_HOST_COMPLETE)
        return NUNA_EXIT_OK;
    nuna_fail(&err, NUNA_EXIT_INCOMPLETE,
              status == NUNA_HOST_INTERRUPTED
                  ? "interrupted%s"
                  : "nothing is left to happen, but a transfer is not done%s",
              run->out ? "; summary.csv holds what ran, with status=incomplete" : "");
    return nuna_cli_report(&err);
}

static bool write_file(const struct host_run *run, const char *name,
                       const struct nuna_host_sim *sim, nuna_time elapsed, struct nuna_error *err)
{
    struct nuna_output_file file;
    struct nuna_csv csv;
    struct nuna_host_view view = nuna_host_sim_view(sim);
    bool written;
    if (!nuna_output_open(run->out, name, &file, err))
        return false;
    if (strcmp(name, "config.yaml") == 0)
        written = nuna_config_write_effective(run->config, file.stream);
    else if (strcmp(name, "paths.csv") == 0)
        written = nuna_host_report_paths(file.stream, view);
    else if (strcmp(name, "links.csv") == 0)
        written = nuna_host_report_links(file.stream, view, elapsed);
    else if (strcmp(name, "utilisation.csv") == 0)
        written = nuna_host_report_utilisation(file.stream, view, elapsed);
    else
        written = nuna_host_report_summary_head(file.stream, &csv) &&
                  nuna_host_report_summary(&csv, view, elapsed);
    return nuna_output_close(&file, written, err);
}

static int run_once(struct host_run *run)
{
    static const char *const names[] = {"config.yaml", "links.csv", "paths.csv", "utilisation.csv",
                                        "summary.csv"};
    struct nuna_error err;
    struct nuna_host_sim *sim = NULL;
    nuna_time elapsed = 0;
    int code = simulate(run, &sim, &elapsed);
    if (code != NUNA_EXIT_OK && code != NUNA_EXIT_INCOMPLETE) {
        nuna_host_sim_destroy(sim);
        return code;
    }
    if (!run->quiet && code == NUNA_EXIT_OK)
        nuna_print_transfers(nuna_host_sim_view(sim), elapsed);
    bool written = true;
    for (size_t i = 0; run->out && written && i < sizeof names / sizeof names[0]; i++)
        written = write_file(run, names[i], sim, elapsed, &err);
    if (!run->quiet && code == NUNA_EXIT_OK) {
        printf("\nsimulated %" PRIu64 " events\n", nuna_host_sim_events(sim));
        if (run->out && written)
            printf(
                "output    %s/: summary.csv, paths.csv, links.csv, utilisation.csv, config.yaml\n",
                run->out);
    }
    nuna_host_sim_destroy(sim);
    return written ? code : nuna_cli_report(&err);
}

static int sweep_size(struct host_run *run, uint64_t bytes, const struct nuna_csv *csv)
{
    struct nuna_host_sim *sim = NULL;
    nuna_time elapsed = 0;
    set_sizes(run, bytes);
    int code = simulate(run, &sim, &elapsed);
    if ((code == NUNA_EXIT_OK || code == NUNA_EXIT_INCOMPLETE) && run->out)
        nuna_host_report_summary(csv, nuna_host_sim_view(sim), elapsed);
    if (code == NUNA_EXIT_OK && !run->quiet)
        nuna_print_sweep_row(nuna_host_sim_view(sim), bytes);
    nuna_host_sim_destroy(sim);
    return code;
}

/* Doubles the size from first to last; the last is always among them. */
static int run_sweep(struct host_run *run)
{
    struct nuna_error err;
    struct nuna_output_file summary, config;
    struct nuna_csv csv;
    int code = NUNA_EXIT_OK;
    if (run->out) {
        if (!nuna_output_open(run->out, "summary.csv", &summary, &err))
            return nuna_cli_report(&err);
        nuna_host_report_summary_head(summary.stream, &csv);
    }
    if (!run->quiet)
        nuna_print_sweep_head(&run->plan);
    for (uint64_t bytes = run->sweep_from;; bytes *= 2) {
        uint64_t size = bytes < run->sweep_to ? bytes : run->sweep_to;
        code = sweep_size(run, size, &csv);
        if (code != NUNA_EXIT_OK || size == run->sweep_to)
            break;
    }
    if (!run->out)
        return code;
    bool ran = code == NUNA_EXIT_OK || code == NUNA_EXIT_INCOMPLETE;
    bool written = nuna_output_close(&summary, ran && !ferror(summary.stream), &err);
    if (!ran)
        return code; /* told already, and nothing half-written */
    static const char *const single[] = {"links.csv", "paths.csv", "utilisation.csv"};
    written =
        written && nuna_output_remove(run->out, single, sizeof single / sizeof single[0], &err) &&
        nuna_output_open(run->out, "config.yaml", &config, &err) &&
        nuna_output_close(&config, nuna_config_write_effective(run->config, config.stream), &err);
    if (!written)
        return nuna_cli_report(&err);
    if (!run->quiet && code == NUNA_EXIT_OK)
        printf("output    %s/: summary.csv, config.yaml\n", run->out);
    return code;
}

static int run_whole(struct host_run *run)
{
    struct nuna_error err;
    nuna_catch_signals();
    if (!prepare(run, &err))
        return nuna_cli_report(&err);
    if (!run->quiet)
        print_head(run);
    fflush(stdout);
    return run->sweep ? run_sweep(run) : run_once(run);
}

static int run_and_let_go(struct nuna_call *call)
{
    struct host_run *run = call->state;
    int code = run_whole(run);
    nuna_config_destroy(run->config);
    return code;
}

#define AT(member) offsetof(struct host_run, member)
static const struct nuna_opt options[] = {
    NUNA_OPT_CONFIG(struct host_run, config_path),
    {"transfer", "TRANSFER", "what to copy; may repeat, all run side by side", NUNA_OPT_LIST,
     AT(host.transfers), NUNA_VALUES_FREE, NULL},
    {"background", "TRANSFER", "native traffic until the last transfer ends: h2d:gpu3; may repeat",
     NUNA_OPT_LIST, AT(host.backgrounds), NUNA_VALUES_FREE, NULL},
    {"engine", "E", "native, static or mma (key host.engine)", NUNA_OPT_VALUE, AT(host.engine),
     NUNA_VALUES_KEYWORD, "host.engine"},
    {"relays", "N|GPUS", "how many GPUs relay (key host.relays), or which: gpu1,gpu4",
     NUNA_OPT_VALUE, AT(host.relays), NUNA_VALUES_FREE, NULL},
    {"ratios", "A:B:...", "static: share of each path, the target's own link first", NUNA_OPT_VALUE,
     AT(host.ratios), NUNA_VALUES_FREE, NULL},
    {"chunk", "SIZE", "chunk size (key host.chunk_size)", NUNA_OPT_VALUE, AT(host.chunk),
     NUNA_VALUES_FREE, NULL},
    {"depth", "N", "chunks outstanding on a link (key host.queue_depth)", NUNA_OPT_VALUE,
     AT(host.depth), NUNA_VALUES_FREE, NULL},
    {"buffer", "WHERE", "target, other, interleaved or each (key host.buffer)", NUNA_OPT_VALUE,
     AT(host.buffer), NUNA_VALUES_KEYWORD, "host.buffer"},
    {"sweep-size", "FROM:TO", "one run per size, doubling, in place of the transfers' sizes",
     NUNA_OPT_VALUE, AT(sweep), NUNA_VALUES_FREE, NULL},
    NUNA_OPT_SET(struct host_run, set),
    NUNA_OPT_THREADS(struct host_run, threads),
    {"out", "DIR", "output folder (default: no files)", NUNA_OPT_VALUE, AT(out), NUNA_VALUES_FOLDER,
     NULL},
    NUNA_OPT_QUIET(struct host_run, quiet),
};
#undef AT

const struct nuna_verb nuna_verb_host = {
    .name = "host",
    .summary = "copy between host and GPU memory, relayed by other GPUs or not",
    .synopsis = "host --config FILE --transfer h2d:SIZE:GPU [options]",
    .about = "Copies between host and GPU memory, over the GPU's own PCIe link or relayed by other "
             "GPUs.",
    .notes = "A transfer is h2d:1GB:gpu0, d2h:64MB:gpu3 or p2p:1GB:gpu0:gpu1 (from GPU to GPU,\n"
             "native), with ,start=1ms behind it if it starts later, and ,stream=1 if it takes\n"
             "turns with other transfers of that stream of its GPU.\n"
             "Keys for --set: nunasim params, section host. Model: docs/host.md. Files written:\n"
             "docs/output.md.",
    .options = {options, sizeof options / sizeof options[0]},
    .state_size = sizeof(struct host_run),
    .run = run_and_let_go,
};
