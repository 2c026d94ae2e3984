#include "cli/run/cmd_run.h"
#include "cli/common/messages.h"
#include "cli/common/signals.h"
#include "cli/host/screen.h"
#include "cli/run/inputs.h"
#include "cli/run/outputs.h"
#include "cli/run/screen.h"
#include "cli/run/simulate.h"
#include "pod/report/placement.h"
#include <stdio.h>

static int finish_status(const struct nuna_run *run, const struct nuna_result *result)
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

static int run_whole(struct nuna_run *run)
{
    struct nuna_error err;
    struct nuna_result result;
    nuna_catch_signals();
    if (!nuna_run_prepare(run, &err))
        return nuna_cli_report(&err);
    if (*nuna_stop_flag()) {
        nuna_fail(&err, NUNA_EXIT_INCOMPLETE, "interrupted before the simulation began");
        return nuna_cli_report(&err);
    }
    if (!run->options.quiet)
        nuna_print_setup(&run->info, nuna_config_params(run->config));
    fflush(stdout);
    if (!nuna_run_simulate(run, &result, &err))
        return nuna_cli_report(&err);
    bool mesh = nuna_config_params(run->config)->noc.fabric == NUNA_FABRIC_MESH;
    if (run->options.show_placement && !run->options.quiet && !mesh)
        printf("placement: the uniform fabric has no places to draw\n");
    else if (run->options.show_placement && !run->options.quiet) {
        const struct nuna_view view = nuna_view_of(run->sim, &result);
        nuna_draw_placement(stdout, &view, 0);
    }
    if (!run->options.quiet)
        nuna_print_result(&run->info, &result, &run->breakdown,
                          run->threads < result.simulated_gpus ? run->threads
                                                               : result.simulated_gpus);
    if (!run->options.quiet && run->transfers.request_count > 0) {
        printf("\n");
        const struct nuna_host_view transfers = nuna_sim_transfers(run->sim);
        nuna_print_transfers(transfers, nuna_host_elapsed(transfers, result.drained));
        printf("\n");
    }
    if (!nuna_run_write(run, &result, &err))
        return nuna_cli_report(&err);
    return finish_status(run, &result);
}

static int run_and_let_go(struct nuna_call *call)
{
    struct nuna_run *run = call->state;
    int code = run_whole(run);
    nuna_sim_destroy(run->sim);
    nuna_plan_destroy(run->plan);
    nuna_config_destroy(run->config);
    return code;
}

#define AT(member) offsetof(struct nuna_run, options.member)
static const struct nuna_opt options[] = {
    NUNA_OPT_CONFIG(struct nuna_run, options.config),
    {"plan", "PLAN", "plan file, or builtin:NAME, one of:" NUNA_LISTED_WORDS(NUNA_COLLECTIVES),
     NUNA_OPT_VALUE, AT(plan), NUNA_VALUES_FILE, NULL},
    {"size", "SIZE", "larger of one GPU's input and output buffer, such as 1MB", NUNA_OPT_VALUE,
     AT(size), NUNA_VALUES_FREE, NULL},
    {"gpus", "N", "GPUs in the pod (a plan file must be for as many)", NUNA_OPT_VALUE, AT(gpus),
     NUNA_VALUES_FREE, NULL},
    {"policy", "NAME", "one of:" NUNA_LISTED_WORDS(NUNA_POLICIES) "; NAP-star stands for NAP*",
     NUNA_OPT_VALUE, AT(policy), NUNA_VALUES_KEYWORD, "placement.policy"},
    {"nar", "DOMAINS", "NAR granularity, a divisor of the ports, or auto: try all", NUNA_OPT_VALUE,
     AT(nar), NUNA_VALUES_WORDS, "auto"},
    NUNA_OPT_THREADS(struct nuna_run, options.threads),
    {"fold", "MODE",
     "auto (default): one GPU stands for all where they are provably alike; off; approx: even "
     "where they are not",
     NUNA_OPT_VALUE, AT(fold), NUNA_VALUES_WORDS, "auto|off|approx"},
    {"reference", NULL,
     "simulates the plain, slow way: a heap, one event at a time; never changes a result",
     NUNA_OPT_FLAG, AT(reference), NUNA_VALUES_FREE, NULL},
    NUNA_OPT_SET(struct nuna_run, options.set),
    {"background", "gemm:size=N", "runs a tiled N x N matrix multiplication beside the collective",
     NUNA_OPT_VALUE, AT(background), NUNA_VALUES_FREE, NULL},
    {"transfer", "TRANSFER",
     "copies between host and GPU memory meanwhile, as nunasim host does; may repeat",
     NUNA_OPT_LIST, AT(host.transfers), NUNA_VALUES_FREE, NULL},
    {"show-placement", NULL, "draws threadblocks, pages and domains of GPU 0 on its die",
     NUNA_OPT_FLAG, AT(show_placement), NUNA_VALUES_FREE, NULL},
    {"out", "DIR", "output folder (default: out/, named after the inputs)", NUNA_OPT_VALUE, AT(out),
     NUNA_VALUES_FOLDER, NULL},
    NUNA_OPT_QUIET(struct nuna_run, options.quiet),
};
#undef AT

const struct nuna_verb nuna_verb_run = {
    .name = "run",
    .summary = "simulate a plan on a pod; what a command that starts with -- does",
    .synopsis = "--config FILE --plan PLAN [options]",
    .about =
        "Simulates one collective plan on one pod, flit by flit, and says how long it takes and\n"
        "where the time goes.",
    .notes = "PLAN is an MSCCL++ JSON file (version 2), or builtin:COLLECTIVE with options by\n"
             "commas: builtin:allgather,channels=8,algorithm=ring.\n"
             "Keys for --set: nunasim params. Files written: docs/output.md.",
    .options = {options, sizeof options / sizeof options[0]},
    .state_size = sizeof(struct nuna_run),
    .run = run_and_let_go,
};
