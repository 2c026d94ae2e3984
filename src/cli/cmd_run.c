#include "cli/cli.h"
#include "cli/host_options.h"
#include "cli/options.h"
#include "cli/output_dir.h"
#include "cli/run_report.h"
#include "collectives/plan_io.h"
#include "core/config.h"
#include "core/units.h"
#include "gpu/placement.h"
#include "pod/placement_report.h"
#include "pod/transfers.h"
#include "pod/translation_report.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct run_options {
    const char *config, *plan, *size, *gpus, *policy, *nar, *background, *threads, *fold, *out;
    struct nuna_opt_list set;
    struct nuna_host_options host; /* of its options, the transfers alone */
    bool quiet, show_placement, reference, help;
};

/* Everything a run holds, so that one function can let it go. */
struct run {
    struct run_options options;
    struct nuna_config *config;
    struct nuna_plan *plan;
    struct nuna_sim *sim;
    struct nuna_host_plan transfers;
    uint32_t threads;
    enum nuna_fold_mode fold;
    char out[4096], policy[32];
    struct nuna_run_info info;
};

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

static bool set_option(struct nuna_config *config, const char *key, const char *value,
                       const char *origin, struct nuna_error *err)
{
    return value == NULL || nuna_config_set(config, key, value, origin, err);
}

/* Shells expand a star: NAP-star stands for NAP*. */
static const char *policy_word(const char *text, char *buffer, size_t size)
{
    static const char spelt[] = "NAP-star";
    if (!text || strncmp(text, spelt, sizeof spelt - 1) != 0)
        return text;
    snprintf(buffer, size, "NAP*%s", text + sizeof spelt - 1);
    return buffer;
}

/* "gemm:size=1024". */
static bool set_background(struct nuna_config *config, const char *text, struct nuna_error *err)
{
    static const char prefix[] = "gemm:size=";
    if (!text)
        return true;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--background %.80s: expected gemm:size=N, N rows and columns", text);
    return nuna_config_set(config, "background.gemm_size", text + sizeof prefix - 1,
                           "--background gemm:size", err);
}

static bool read_config(struct run *run, struct nuna_error *err)
{
    char policy[64];
    const struct run_options *o = &run->options;
    run->config = nuna_config_create();
    if (!run->config)
        return nuna_fail_memory(err, "the configuration");
    if (o->config && !nuna_config_load(run->config, o->config, err))
        return false;
    return nuna_config_set_list(run->config, o->set.items, o->set.count, err) &&
           set_option(run->config, "collective.size", o->size, "--size", err) &&
           set_option(run->config, "pod.gpus", o->gpus, "--gpus", err) &&
           set_option(run->config, "placement.policy",
                      policy_word(o->policy, policy, sizeof policy), "--policy", err) &&
           set_option(run->config, "placement.nar_domains",
                      o->nar && strcmp(o->nar, "auto") == 0 ? "0" : o->nar, "--nar", err) &&
           set_background(run->config, o->background, err) && nuna_config_check(run->config, err);
}

static bool read_fold(struct run *run, struct nuna_error *err)
{
    static const char *const words[] = {
        [NUNA_FOLD_OFF] = "off", [NUNA_FOLD_AUTO] = "auto", [NUNA_FOLD_APPROX] = "approx"};
    if (run->options.reference && (run->options.fold || run->options.threads))
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--reference: runs on one thread and folds nothing; expected neither "
                         "--threads nor --fold beside it");
    run->fold = run->options.reference ? NUNA_FOLD_OFF : NUNA_FOLD_AUTO;
    if (!run->options.fold)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(run->options.fold, words[i]) == 0) {
            run->fold = (enum nuna_fold_mode)i;
            return true;
        }
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--fold %.80s: expected auto, off or approx",
                     run->options.fold);
}

/* A generated plan follows the pod's nodes, unless its text says otherwise. */
static struct nuna_plan *generate_plan(const char *text, const struct nuna_params *params,
                                       struct nuna_error *err)
{
    char by_node[320];
    bool nodes = params->pod.gpus_per_node > 1 && params->pod.gpus_per_node < params->pod.gpus;
    if (nodes && !strstr(text, ",gpus_per_node=") && strlen(text) < 256) {
        snprintf(by_node, sizeof by_node, "%s,gpus_per_node=%u", text,
                 (uint32_t)params->pod.gpus_per_node);
        text = by_node;
    }
    return nuna_plan_builtin(text, (uint32_t)params->pod.gpus,
                             (uint32_t)params->collective.channels, err);
}

static bool read_plan(struct run *run, struct nuna_error *err)
{
    const struct nuna_params *params = nuna_config_params(run->config);
    const char *plan = run->options.plan;
    uint32_t gpus = (uint32_t)params->pod.gpus;
    if (!plan)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--plan is missing: expected a plan file, or builtin:allgather "
                         "(allreduce, reducescatter, alltoall)");
    run->plan = strncmp(plan, "builtin:", 8) == 0 ? generate_plan(plan + 8, params, err)
                                                  : nuna_plan_read(plan, err);
    if (!run->plan)
        return false;
    if (run->plan->gpu_count != gpus)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: the plan is for %u GPUs, but pod.gpus is %u (%s)", plan,
                         run->plan->gpu_count, gpus,
                         run->options.gpus                             ? "--gpus"
                         : nuna_config_is_set(run->config, "pod.gpus") ? "from the configuration"
                                                                       : "the default");
    uint64_t size = (uint64_t)params->collective.size;
    if (size < run->plan->min_size || size > run->plan->max_size)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: the plan is for messages of %" PRIu64 " to %" PRIu64
                         " bytes, but collective.size is %" PRIu64 " bytes",
                         plan, run->plan->min_size, run->plan->max_size, size);
    struct nuna_plan_verdict verdict;
    bool good = nuna_plan_check(run->plan, params, &size, &verdict, err);
    if (!run->options.quiet) {
        nuna_cli_warn(NULL, run->plan->warnings);
        nuna_cli_warn(run->plan->source, verdict.races);
    }
    return good;
}

/* The part of a path after the last slash and before the last dot. */
static void stem(const char *path, char *buffer, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(buffer, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(buffer, '.');
    if (dot && dot != buffer)
        *dot = '\0';
    for (char *c = buffer; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_' || *c == '.'))
            *c = '-';
}

/* The default folder names what was run; a hash of all inputs keeps runs that differ apart. */
static bool name_output(struct run *run, struct nuna_error *err)
{
    if (run->options.out) {
        snprintf(run->out, sizeof run->out, "%s", run->options.out);
        return true;
    }
    char *text = NULL, size[48], config[128], plan[128];
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return nuna_fail_memory(err, "the output folder's name");
    nuna_config_write_effective(run->config, memory);
    fputs(run->plan->source, memory);
    if (run->fold == NUNA_FOLD_APPROX)
        fputs(" approx", memory);
    for (size_t i = 0; i < run->options.host.transfers.count; i++)
        fprintf(memory, " %s", run->options.host.transfers.items[i]);
    fclose(memory);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    free(text);
    stem(run->info.config, config, sizeof config);
    stem(run->plan->source, plan, sizeof plan);
    nuna_units_format((int64_t)run->info.size, NUNA_Q_SIZE, "", size, sizeof size);
    snprintf(run->out, sizeof run->out, "out/%s-%s-%ugpu-%s-%s-%08x", config, plan,
             run->plan->gpu_count, size, run->info.policy, hash);
    return true;
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

static bool write_csv(struct run *run, const char *name, const struct nuna_result *result,
                      struct nuna_error *err)
{
    struct nuna_output_file file;
    if (!nuna_output_open(run->out, name, &file, err))
        return false;
    bool written;
    if (strcmp(name, "config.yaml") == 0)
        written = nuna_config_write_effective(run->config, file.stream);
    else if (strcmp(name, "links.csv") == 0)
        written = nuna_report_links(file.stream, run->sim, result);
    else if (strcmp(name, "store_latency.csv") == 0)
        written = nuna_report_latency(file.stream, result);
    else if (strcmp(name, "placement.csv") == 0)
        written = nuna_report_placement(file.stream, run->sim);
    else if (strcmp(name, "translation.csv") == 0)
        written = nuna_report_translation(file.stream, run->sim, result);
    else if (strcmp(name, "tlb.csv") == 0)
        written = nuna_report_tlb(file.stream, run->sim, result);
    else if (strcmp(name, "round_trip.csv") == 0)
        written = nuna_report_round_trip(file.stream, run->sim, result);
    else if (strcmp(name, "translation_trace.csv") == 0)
        written = nuna_report_translation_trace(file.stream, run->sim);
    else
        written = nuna_report_summary(file.stream, &run->info, result);
    return nuna_output_close(&file, written, err);
}

static bool write_translation(struct run *run, const struct nuna_result *result,
                              struct nuna_error *err)
{
    const struct nuna_params *params = nuna_config_params(run->config);
    static const char *const names[] = {"translation.csv", "tlb.csv", "round_trip.csv",
                                        "translation_trace.csv"};
    if (params->translation.mode == NUNA_TRANSLATION_OFF)
        return true;
    size_t count = params->translation.trace > 0 ? 4 : 3;
    for (size_t i = 0; i < count; i++)
        if (!write_csv(run, names[i], result, err))
            return false;
    if (!run->options.quiet)
        printf("          translation.csv, tlb.csv, round_trip.csv%s\n",
               count == 4 ? ", translation_trace.csv" : "");
    return true;
}

static struct nuna_host_view transfers_view(const struct run *run)
{
    const struct nuna_transfers *transfers = nuna_sim_transfers(run->sim);
    return (struct nuna_host_view){&transfers->host, transfers->gpus};
}

static bool write_transfers(const struct run *run, const struct nuna_result *result,
                            struct nuna_error *err)
{
    struct nuna_output_file file;
    if (run->transfers.request_count == 0)
        return true;
    struct nuna_host_view view = transfers_view(run);
    nuna_time elapsed = nuna_host_elapsed(view, result->drained);
    if (!nuna_output_open(run->out, "transfers.csv", &file, err) ||
        !nuna_output_close(&file,
                           nuna_host_report_summary_head(file.stream) &&
                               nuna_host_report_summary(file.stream, view, elapsed),
                           err) ||
        !nuna_output_open(run->out, "host_links.csv", &file, err) ||
        !nuna_output_close(&file, nuna_host_report_links(file.stream, view, elapsed), err))
        return false;
    if (!run->options.quiet)
        printf("          transfers.csv, host_links.csv\n");
    return true;
}

static bool write_outputs(struct run *run, const struct nuna_result *result, struct nuna_error *err)
{
    static const char *const names[] = {"config.yaml", "links.csv", "placement.csv",
                                        "store_latency.csv", "summary.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!write_csv(run, names[i], result, err))
            return false;
    if (!run->options.quiet)
        printf("output    %s/: summary.csv, links.csv, store_latency.csv, placement.csv, "
               "config.yaml\n",
               run->out);
    return write_translation(run, result, err) && write_transfers(run, result, err);
}

/* One simulation; the caller keeps or destroys run->sim. */
static bool simulate_once(struct run *run, uint32_t domains, struct nuna_result *result,
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
static bool simulate_all(struct run *run, const uint32_t *domains, uint32_t count,
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

static bool simulate(struct run *run, struct nuna_result *result, struct nuna_error *err)
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
    return ran;
}

static int finish_status(const struct run *run, const struct nuna_result *result)
{
    struct nuna_error err;
    if (result->status == NUNA_SIM_COMPLETE)
        return NUNA_EXIT_OK;
    if (result->status == NUNA_SIM_INTERRUPTED)
        nuna_fail(&err, NUNA_EXIT_INCOMPLETE,
                  "interrupted; %s/summary.csv holds what ran, with status=incomplete", run->out);
    else
        nuna_fail(&err, NUNA_EXIT_INCOMPLETE, "deadlock: nothing is left to happen, but%s",
                  result->waiters);
    return nuna_cli_report(&err);
}

static bool prepare(struct run *run, struct nuna_error *err)
{
    if (!read_config(run, err) || !nuna_options_threads(run->options.threads, &run->threads, err) ||
        !read_fold(run, err) || !read_plan(run, err))
        return false;
    const struct nuna_params *params = nuna_config_params(run->config);
    run->info.config = run->options.config ? run->options.config : "defaults";
    run->info.plan = run->plan;
    run->info.policy =
        nuna_params_format(params, "placement.policy", run->policy, sizeof run->policy);
    run->info.nar_domains = 1;
    if (run->options.nar && !nuna_policy_uses_domains((enum nuna_policy)params->placement.policy))
        return nuna_fail(
            err, NUNA_EXIT_BAD_INPUT,
            "--nar %.40s: policy %s knows no routing domains, expected one with +NAR, NAP or NAP*",
            run->options.nar, run->policy);
    run->info.size = (uint64_t)params->collective.size;
    if (params->translation.mode != NUNA_TRANSLATION_OFF && params->translation.trace > 0 &&
        run->fold == NUNA_FOLD_APPROX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--fold approx: a trace (translation.trace) is of one GPU among all, "
                         "expected auto or off");
    if (run->options.host.transfers.count > 0 && run->fold == NUNA_FOLD_APPROX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--fold approx: GPUs differ beside host transfers, expected auto or off");
    if (!nuna_host_options_plan(&run->options.host, params, run->plan->gpu_count, &run->transfers,
                                err))
        return false;
    return nuna_sim_check(params, run->plan, run->info.size, err) && name_output(run, err) &&
           nuna_output_prepare(run->out, err);
}

static int run_whole(struct run *run)
{
    struct nuna_error err;
    struct nuna_result result;
    nuna_catch_signals();
    if (!prepare(run, &err))
        return nuna_cli_report(&err);
    if (*nuna_stop_flag()) {
        nuna_fail(&err, NUNA_EXIT_INCOMPLETE, "interrupted before the simulation began");
        return nuna_cli_report(&err);
    }
    if (!run->options.quiet)
        nuna_print_setup(&run->info, nuna_config_params(run->config));
    fflush(stdout);
    if (!simulate(run, &result, &err))
        return nuna_cli_report(&err);
    bool mesh = nuna_config_params(run->config)->noc.fabric == NUNA_FABRIC_MESH;
    if (run->options.show_placement && !run->options.quiet && !mesh)
        printf("placement: the uniform fabric has no places to draw\n");
    else if (run->options.show_placement && !run->options.quiet)
        nuna_draw_placement(stdout, run->sim, 0);
    if (!run->options.quiet)
        nuna_print_result(&run->info, &result,
                          run->threads < result.simulated_gpus ? run->threads
                                                               : result.simulated_gpus);
    if (!run->options.quiet && run->transfers.request_count > 0) {
        printf("\n");
        nuna_print_transfers(transfers_view(run),
                             nuna_host_elapsed(transfers_view(run), result.drained));
        printf("\n");
    }
    if (!write_outputs(run, &result, &err))
        return nuna_cli_report(&err);
    return finish_status(run, &result);
}

static int help(const struct nuna_opt *opts, size_t count)
{
    printf(
        "usage: nunasim --config FILE --plan PLAN [options]\n\n"
        "Simulates one collective plan on one pod, flit by flit, and says how long it takes and\n"
        "where the time goes.\n\n");
    nuna_options_help(opts, count);
    printf("\nPLAN is an MSCCL++ JSON file (version 2), or builtin:COLLECTIVE with options by\n"
           "commas: builtin:allgather,channels=8,algorithm=ring.\n"
           "Keys for --set: nunasim params. Files written: docs/output.md.\n");
    return NUNA_EXIT_OK;
}

int nuna_cmd_run(int argc, char **argv)
{
    struct run *run = calloc(1, sizeof *run);
    struct nuna_error err;
    if (!run) {
        nuna_fail_memory(&err, "the run");
        return nuna_cli_report(&err);
    }
    struct run_options *o = &run->options;
    const struct nuna_opt opts[] = {
        {"config", "FILE", "YAML configuration of the pod (default: all defaults)", NUNA_OPT_VALUE,
         &o->config},
        {"plan", "PLAN", "plan file, or builtin:allgather, allreduce, reducescatter, alltoall",
         NUNA_OPT_VALUE, &o->plan},
        {"size", "SIZE", "larger of one GPU's input and output buffer, such as 1MB", NUNA_OPT_VALUE,
         &o->size},
        {"gpus", "N", "GPUs in the pod (a plan file must be for as many)", NUNA_OPT_VALUE,
         &o->gpus},
        {"policy", "NAME", "UA, NUMA, NAP, NAP* (or NAP-star), each alone or with +NAR",
         NUNA_OPT_VALUE, &o->policy},
        {"nar", "DOMAINS", "NAR granularity, a divisor of the ports, or auto: try all",
         NUNA_OPT_VALUE, &o->nar},
        {"threads", "T", "threads to simulate with (default 1); never changes a result",
         NUNA_OPT_VALUE, &o->threads},
        {"fold", "MODE",
         "auto (default): one GPU stands for all where they are provably alike; off; approx: even "
         "where they are not",
         NUNA_OPT_VALUE, &o->fold},
        {"reference", NULL,
         "simulates the plain, slow way: a heap, one event at a time; never changes a result",
         NUNA_OPT_FLAG, &o->reference},
        {"set", "KEY=VALUE", "overrides any configuration key; may repeat", NUNA_OPT_LIST, &o->set},
        {"background", "gemm:size=N",
         "runs a tiled N x N matrix multiplication beside the collective", NUNA_OPT_VALUE,
         &o->background},
        {"transfer", "TRANSFER",
         "copies between host and GPU memory meanwhile, as nunasim host does; may repeat",
         NUNA_OPT_LIST, &o->host.transfers},
        {"show-placement", NULL, "draws threadblocks, pages and domains of GPU 0 on its die",
         NUNA_OPT_FLAG, &o->show_placement},
        {"out", "DIR", "output folder (default: out/, named after the inputs)", NUNA_OPT_VALUE,
         &o->out},
        {"quiet", NULL, "prints nothing but errors", NUNA_OPT_FLAG, &o->quiet},
        {"help", NULL, "this text", NUNA_OPT_FLAG, &o->help},
    };
    const size_t count = sizeof opts / sizeof opts[0];
    size_t args = 0;
    int code;
    if (!nuna_options_parse(argc, argv, opts, count, NULL, 0, &args, &err))
        code = nuna_cli_report(&err);
    else
        code = o->help ? help(opts, count) : run_whole(run);
    nuna_sim_destroy(run->sim);
    nuna_plan_destroy(run->plan);
    nuna_config_destroy(run->config);
    free(run);
    return code;
}
