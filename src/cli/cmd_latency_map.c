#include "cli/cmd_latency_map.h"
#include "cli/common/messages.h"
#include "cli/common/output_dir.h"
#include "core/config.h"
#include "pod/report/latency_map.h"
#include <stdio.h>
#include <string.h>

static void print_spread(const char *name, const struct nuna_spread *spread)
{
    double best = (double)spread->best;
    printf("  %-12s %10.3f %10.3f %10.3f    %8.2fx %8.2fx\n", name, best / 1e3,
           (double)spread->mean / 1e3, (double)spread->worst / 1e3, (double)spread->mean / best,
           (double)spread->worst / best);
}

static bool write_map(const char *dir, const struct nuna_latency_map *map, struct nuna_error *err)
{
    struct nuna_output_file file;
    if (!nuna_output_prepare(dir, err) || !nuna_output_open(dir, "latency_map.csv", &file, err))
        return false;
    return nuna_output_close(&file, nuna_report_latency_map(file.stream, map), err);
}

struct map_options {
    const char *config, *out;
    struct nuna_opt_list set;
};

static int run(struct nuna_call *call)
{
    const struct map_options *o = call->state;
    const char *out = o->out;
    struct nuna_error err;
    struct nuna_latency_map map = {0};
    struct nuna_config *config = nuna_options_config(o->config, &o->set, &err);
    bool done = config && nuna_config_check(config, &err) &&
                nuna_latency_map_make(nuna_config_params(config), &map, &err);
    if (done) {
        printf("one store from GPU to GPU, uncontended, over every CU, port and stack:\n\n"
               "  %-12s %10s %10s %10s    %9s %9s\n",
               "", "best ns", "mean ns", "worst ns", "mean", "worst");
        print_spread("NoC part", &map.noc);
        print_spread("transfer", &map.transfer);
        printf("\nNoC part: CU to port, port to stack, memory access. Ratios are to the best.\n");
        printf(
            "\nround trip of a remote atomic, slowest minus fastest: %.3f ns over a CU's addresses, "
            "%.3f ns over an\naddress's CUs (means)\n",
            (double)map.atomic.over_addresses / 1e3, (double)map.atomic.over_cus / 1e3);
        done = !out || write_map(out, &map, &err);
        if (done && out)
            printf("output    %s/latency_map.csv: per CU and stack, mean over the ports\n", out);
    }
    nuna_latency_map_finish(&map);
    nuna_config_destroy(config);
    return done ? NUNA_EXIT_OK : nuna_cli_report(&err);
}

#define AT(member) offsetof(struct map_options, member)
static const struct nuna_opt options[] = {
    NUNA_OPT_CONFIG(struct map_options, config),
    NUNA_OPT_SET(struct map_options, set),
    {"out", "DIR", "writes latency_map.csv there", NUNA_OPT_VALUE, AT(out), NUNA_VALUES_FOLDER,
     NULL},
};
#undef AT

const struct nuna_verb nuna_verb_latency_map = {
    .name = "latency-map",
    .summary = "latencies across one GPU, from the configuration",
    .synopsis = "latency-map --config FILE [options]",
    .about = "Uncontended latency of a remote store over all places on the die, from the topology.",
    .options = {options, sizeof options / sizeof options[0]},
    .state_size = sizeof(struct map_options),
    .run = run,
};
