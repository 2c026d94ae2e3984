/* Host transfers alone: a kernel with one process per GPU and one for the host. */
#ifndef NUNA_HOST_HOST_SIM_H
#define NUNA_HOST_HOST_SIM_H

#include "host/host.h"
#include <signal.h>

struct nuna_host_sim;

enum nuna_host_status {
    NUNA_HOST_COMPLETE,
    NUNA_HOST_INTERRUPTED,
    NUNA_HOST_STUCK, /* nothing is left to happen and a transfer is not done */
};

/* Resources of the server, for links.csv. */
struct nuna_host_resource {
    const char *kind; /* "dram", "pcie_down", ... */
    char name[48];    /* "socket 0", "gpu3" */
    uint64_t bytes;   /* of transfers, both ways where they share it */
    nuna_time busy;   /* sum over its `lanes` */
    uint32_t lanes;   /* ports of a GPU; else 1 */
    const struct nuna_timeline *timeline;
};

/* Builds the server of params->pod.gpus GPUs. `params` must outlive it. NULL on lack of memory. */
struct nuna_host_sim *nuna_host_sim_create(const struct nuna_params *params,
                                           const struct nuna_host_plan *plan, uint32_t threads,
                                           struct nuna_error *err);
void nuna_host_sim_destroy(struct nuna_host_sim *sim);

/* Called between windows by one thread; bytes are those of transfers that are no background. */
struct nuna_host_progress {
    void (*call)(void *context, nuna_time now, uint64_t bytes, uint64_t bytes_requested);
    void *context;
};

/* Runs to the end of the last transfer that is no background; once. `stop` and `progress` may be
 * NULL. False on internal failure. */
bool nuna_host_sim_run(struct nuna_host_sim *sim, const volatile sig_atomic_t *stop,
                       const struct nuna_host_progress *progress, enum nuna_host_status *ret_status,
                       struct nuna_error *err);

nuna_time nuna_host_sim_now(const struct nuna_host_sim *sim); /* last event */
uint64_t nuna_host_sim_events(const struct nuna_host_sim *sim);

/* The parts, for reports. */
const struct nuna_host *nuna_host_sim_host(const struct nuna_host_sim *sim);
const struct nuna_host_gpu *nuna_host_sim_gpu_sides(const struct nuna_host_sim *sim); /* [GPU] */

/* Calls `visit` for every resource in a fixed order; stops early when it returns false. */
typedef bool nuna_host_visit(void *context, const struct nuna_host_resource *resource);
bool nuna_host_visit_all(const struct nuna_host *host, const struct nuna_host_gpu *gpus,
                         nuna_host_visit *visit, void *context);

#endif
