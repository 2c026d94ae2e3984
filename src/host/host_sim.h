/* Host transfers alone: a kernel with one process per GPU and one for the host. */
#ifndef NUNA_HOST_HOST_SIM_H
#define NUNA_HOST_HOST_SIM_H

#include "host/host.h"
#include "host/result.h"
#include <signal.h>

struct nuna_host_sim;

enum nuna_host_status {
    NUNA_HOST_COMPLETE,
    NUNA_HOST_INTERRUPTED,
    NUNA_HOST_STUCK, /* nothing is left to happen and a transfer is not done */
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

/* What came of it; valid as long as the simulation. */
struct nuna_host_view nuna_host_sim_view(const struct nuna_host_sim *sim);

#endif
