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
#include <stdlib.h>

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
        nuna_print_transfers(nuna_run_transfers(run),
                             nuna_host_elapsed(nuna_run_transfers(run), result.drained));
        printf("\n");
    }
    if (!nuna_run_write(run, &result, &err))
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
    struct nuna_run *run = calloc(1, sizeof *run);
    struct nuna_error err;
    if (!run) {
        nuna_fail_memory(&err, "the run");
        return nuna_cli_report(&err);
    }
    struct nuna_run_options *o = &run->options;
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
