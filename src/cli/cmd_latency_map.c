#include "cli/cmd_latency_map.h"
#include "cli/common/messages.h"
#include "cli/common/options.h"
#include "cli/common/output_dir.h"
#include "core/config.h"
#include "pod/report/latency_map.h"
#include <inttypes.h>
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
    fputs("cu,stack,atomic_ns\n", file.stream);
    for (uint32_t cu = 0; cu < map->cus; cu++)
        for (uint32_t s = 0; s < map->stacks; s++) {
            nuna_time time = map->by_cu_stack[(size_t)cu * map->stacks + s];
            fprintf(file.stream, "%u,%u,%" PRIu64 ".%03" PRIu64 "\n", cu, s, time / 1000,
                    time % 1000);
        }
    return nuna_output_close(&file, !ferror(file.stream), err);
}

static int map_whole(const char *path, const struct nuna_opt_list *set, const char *out)
{
    struct nuna_error err;
    struct nuna_latency_map map = {0};
    struct nuna_config *config = nuna_options_config(path, set, &err);
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

int nuna_cmd_latency_map(int argc, char **argv)
{
    const char *config = NULL, *out = NULL;
    struct nuna_opt_list set = {.count = 0};
    bool help = false;
    const struct nuna_opt opts[] = {
        {"config", "FILE", "YAML configuration (default: all defaults)", NUNA_OPT_VALUE, &config},
        {"set", "KEY=VALUE", "overrides any configuration key; may repeat", NUNA_OPT_LIST, &set},
        {"out", "DIR", "writes latency_map.csv there", NUNA_OPT_VALUE, &out},
        {"help", NULL, "this text", NUNA_OPT_FLAG, &help},
    };
    const size_t count = sizeof opts / sizeof opts[0];
    struct nuna_error err;
    size_t args = 0;
    if (!nuna_options_parse(argc, argv, opts, count, NULL, 0, &args, &err))
        return nuna_cli_report(&err);
    if (help) {
        printf(
            "usage: nunasim latency-map --config FILE [options]\n\n"
            "Uncontended latency of a remote store over all places on the die, from the topology.\n\n");
        nuna_options_help(opts, count);
        return NUNA_EXIT_OK;
    }
    return map_whole(config, &set, out);
}
