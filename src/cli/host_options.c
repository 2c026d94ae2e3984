#include "cli/host_options.h"
#include "core/units.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool relays_are_named(const char *text)
{
    return strpbrk(text, ",g") != NULL;
}

bool nuna_host_options_apply(const struct nuna_host_options *options, struct nuna_config *config,
                             struct nuna_error *err)
{
    const struct {
        const char *key, *value, *origin;
    } keys[] = {
        {"host.engine", options->engine, "--engine"},
        {"host.relays",
         options->relays && !relays_are_named(options->relays) ? options->relays : NULL,
         "--relays"},
        {"host.chunk_size", options->chunk, "--chunk"},
        {"host.queue_depth", options->depth, "--depth"},
        {"host.buffer", options->buffer, "--buffer"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].value &&
            !nuna_config_set(config, keys[i].key, keys[i].value, keys[i].origin, err))
            return false;
    return true;
}

static bool read_requests(const struct nuna_opt_list *list, const char *option, bool background,
                          uint32_t gpus, struct nuna_host_plan *plan, struct nuna_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (plan->request_count == NUNA_HOST_TRANSFERS_MAX)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: more than %u transfers in all, expected fewer", option,
                             NUNA_HOST_TRANSFERS_MAX);
        if (!nuna_host_request_parse(option, list->items[i], background, gpus,
                                     &plan->requests[plan->request_count], err))
            return false;
        plan->request_count++;
    }
    return true;
}

bool nuna_host_options_plan(const struct nuna_host_options *options,
                            const struct nuna_params *params, uint32_t gpus,
                            struct nuna_host_plan *ret_plan, struct nuna_error *err)
{
    memset(ret_plan, 0, sizeof *ret_plan);
    if (options->transfers.count == 0)
        return true;
    if (!nuna_host_shape_check(params, gpus, err))
        return false;
    if (options->relays && !relays_are_named(options->relays) && params->host.relays >= gpus)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--relays %.40s: expected at most %u, the GPUs without the target",
                         options->relays, gpus - 1);
    if (options->relays && !relays_are_named(options->relays) && params->host.relays > 0 &&
        params->host.engine == NUNA_HOST_NATIVE)
        return nuna_host_relays_refuse_native(err);
    return read_requests(&options->transfers, "--transfer", false, gpus, ret_plan, err) &&
           read_requests(&options->backgrounds, "--background", true, gpus, ret_plan, err) &&
           (!options->relays || !relays_are_named(options->relays) ||
            nuna_host_relays_parse(options->relays, gpus, &ret_plan->paths, err)) &&
           (!options->ratios || nuna_host_shares_parse(options->ratios, &ret_plan->paths, err)) &&
           nuna_host_plan_check(ret_plan, params, gpus, err);
}

/* ---- what a person reads ---- */

/* A time in the unit that suits it, three decimals. */
static const char *duration(nuna_time ps, char *buffer, size_t size)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ps / 1e3;
    unsigned unit = 0;
    for (; value >= 1000 && unit < 3; unit++)
        value /= 1000;
    snprintf(buffer, size, "%.3f %s", value, units[unit]);
    return buffer;
}

static void name_transfer(const struct nuna_host_request *request, char *buffer, size_t size)
{
    if (request->direction == NUNA_HOST_P2P)
        snprintf(buffer, size, "p2p gpu%u->gpu%u", request->gpu, request->peer);
    else
        snprintf(buffer, size, "%s gpu%u", nuna_host_direction_name(request->direction),
                 request->gpu);
}

static void print_outcome(const struct nuna_host_outcome *outcome, uint32_t gpus)
{
    char name[48], time[48], size[48];
    name_transfer(&outcome->request, name, sizeof name);
    printf("%-18s %-10s %12s %14s %12.3f  ", name,
           outcome->request.background ? "background" : outcome->engine,
           outcome->request.background
               ? "-"
               : nuna_units_format((int64_t)outcome->bytes, NUNA_Q_SIZE, "", size, sizeof size),
           duration(outcome->time, time, sizeof time),
           (double)nuna_host_bandwidth(outcome->bytes, outcome->time) / 1e3);
    for (uint32_t g = 0; outcome->complete && g < gpus; g++)
        if (outcome->path_bytes[g] > 0 && outcome->request.direction != NUNA_HOST_P2P)
            printf(" gpu%u %.1f %%", g,
                   100 * (double)outcome->path_bytes[g] / (double)outcome->bytes);
    printf("\n");
}

void nuna_print_transfers(struct nuna_host_view view, nuna_time elapsed)
{
    printf("%-18s %-10s %12s %14s %12s   %s\n", "transfer", "engine", "bytes", "time", "GB/s",
           "by PCIe link of");
    for (uint32_t t = 0; t < view.host->transfer_count; t++) {
        struct nuna_host_outcome outcome;
        nuna_host_outcome(view.host, view.gpus, t, &outcome);
        print_outcome(&outcome, view.host->shape->gpus);
    }
    struct nuna_host_resource busiest = {.kind = ""};
    uint64_t share = nuna_host_busiest(view, elapsed, &busiest);
    if (share > 0)
        printf("\nbinding   %s of %s, %.1f %% busy\n", busiest.kind, busiest.name,
               (double)share / 1e4);
    uint64_t cores = nuna_host_cpu_millicores(view.host, elapsed);
    if (cores > 0)
        printf("CPU       %.1f cores busy with launching and waiting\n", (double)cores / 1e3);
}

void nuna_print_sweep_head(const struct nuna_host_plan *plan)
{
    printf("%12s", "size");
    for (uint32_t i = 0; i < plan->request_count; i++) {
        char name[48];
        name_transfer(&plan->requests[i], name, sizeof name);
        printf(" %18s", name);
    }
    printf("   GB/s\n");
}

void nuna_print_sweep_row(struct nuna_host_view view, uint64_t bytes)
{
    char size[48];
    printf("%12s", nuna_units_format((int64_t)bytes, NUNA_Q_SIZE, "", size, sizeof size));
    for (uint32_t t = 0; t < view.host->transfer_count; t++) {
        struct nuna_host_outcome outcome;
        nuna_host_outcome(view.host, view.gpus, t, &outcome);
        printf(" %18.3f", (double)nuna_host_bandwidth(outcome.bytes, outcome.time) / 1e3);
    }
    printf("\n");
}
