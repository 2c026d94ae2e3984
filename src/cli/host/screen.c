#include "cli/host/screen.h"
#include "cli/common/messages.h"
#include "core/units.h"
#include <stdio.h>

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
           nuna_duration_text(outcome->time, time),
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
    for (uint32_t t = 0; t < view.transfers; t++) {
        const struct nuna_host_outcome outcome = nuna_host_outcome(view, t);
        print_outcome(&outcome, view.gpu_count);
    }
    struct nuna_host_resource busiest = {.kind = ""};
    uint64_t share = nuna_host_busiest(view, elapsed, &busiest);
    if (share > 0)
        printf("\nbinding   %s of %s, %.1f %% busy\n", busiest.kind, busiest.name,
               (double)share / 1e4);
    uint64_t cores = nuna_host_cpu_millicores(view, elapsed);
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
    for (uint32_t t = 0; t < view.transfers; t++) {
        const struct nuna_host_outcome outcome = nuna_host_outcome(view, t);
        printf(" %18.3f", (double)nuna_host_bandwidth(outcome.bytes, outcome.time) / 1e3);
    }
    printf("\n");
}
