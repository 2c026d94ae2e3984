/* One simulation: everything hangs off struct nuna_sim, and several can live in one process. */
#ifndef NUNA_POD_SIM_H
#define NUNA_POD_SIM_H

#include "collectives/plan/plan.h"
#include "core/error.h"
#include "core/latency.h"
#include "core/params.h"
#include <signal.h>

struct nuna_host_plan;
struct nuna_sim;
struct nuna_transfers;

/* Called between windows by one thread. */
struct nuna_progress {
    nuna_time now;
    uint64_t bytes_delivered, bytes_requested, events;
};

/* Simulating few GPUs that stand for all: pod/fold.h. */
enum nuna_fold_mode {
    NUNA_FOLD_OFF,
    NUNA_FOLD_AUTO,   /* where it changes nothing, which is proved for the given input */
    NUNA_FOLD_APPROX, /* one GPU stands for all, be they alike or not */
};

struct nuna_sim_options {
    uint64_t size;    /* bytes: the larger of one GPU's input and output buffer */
    uint32_t threads; /* >= 1 */
    /* NAR granularity, a divisor of the ports; used by policies that know domains. */
    uint32_t domains;
    enum nuna_fold_mode fold;
    const struct nuna_host_plan
        *transfers; /* host transfers beside the collective, which then starts
                       at collective.start and is not folded; NULL: none */
    bool reference; /* the plain kernel (core/kernel.h); needs threads == 1 and NUNA_FOLD_OFF */
    const volatile sig_atomic_t *stop; /* set by a signal handler; may be NULL */
    void (*progress)(void *context, const struct nuna_progress *progress); /* may be NULL */
    void *progress_context;
};

/* Components of a collective's critical path, in ps. */
enum nuna_path_part {
    NUNA_PATH_ISSUE, /* waiting for the CU: issue slots, the outstanding limit, other threadblocks
                      */
    NUNA_PATH_LOAD_NOC,    /* local load: request to the stack and data back */
    NUNA_PATH_LOAD_HBM,    /* local load: memory */
    NUNA_PATH_STORE_NOC,   /* CU to I/O port */
    NUNA_PATH_PORT,        /* port queue, serialisation, first link, switch */
    NUNA_PATH_SWITCH,      /* switch output queue, serialisation, second link */
    NUNA_PATH_TRANSLATION, /* of the address, at the destination */
    NUNA_PATH_REMOTE_NOC,  /* destination's port to its stack */
    NUNA_PATH_REMOTE_HBM,  /* memory at the destination (or local memory, for local stores) */
    NUNA_PATH_ACK,         /* acknowledgement back to the CU */
    NUNA_PATH_SYNC,        /* barriers, semaphores, and what has no better name */
    NUNA_PATH_PARTS,
};
const char *nuna_path_part_name(enum nuna_path_part part);

enum nuna_sim_status {
    NUNA_SIM_COMPLETE,
    NUNA_SIM_DEADLOCK,
    NUNA_SIM_INTERRUPTED,
};

/* Kinds of resource, for links.csv and the binding resource. */
enum nuna_resource_kind {
    NUNA_RESOURCE_MESH_LINK,
    NUNA_RESOURCE_INJECTION,
    NUNA_RESOURCE_EJECTION,
    NUNA_RESOURCE_HBM_CHANNEL,
    NUNA_RESOURCE_PORT,
    NUNA_RESOURCE_SWITCH_OUTPUT,
    NUNA_RESOURCE_KINDS,
};
const char *nuna_resource_kind_name(enum nuna_resource_kind kind);

struct nuna_resource {
    enum nuna_resource_kind kind;
    uint32_t gpu;
    char name[64]; /* "(3,2)->(4,2)", "stack 4 channel 3", "port 7" */
    uint64_t bytes;
    nuna_time busy, max_wait;
};

/* Reverse translation, over all GPUs; zero when it is off. */
struct nuna_translation_result {
    uint64_t requests, l1_hits, l1_merged, walks;
    uint64_t latency_sum; /* ps */
    nuna_time latency_max;
    uint64_t live_pages;     /* most pages of one GPU between their first and last request */
    uint64_t ahead_requests; /* sent by the mitigations */
};

struct nuna_result {
    enum nuna_sim_status status;
    /* Start to the end of the last threadblock, or to the last store or flag that landed later; of
     * what ran, when incomplete. */
    nuna_time time;
    nuna_time drained; /* last event: acknowledgements after the end included */
    uint64_t stores;   /* remote data stores landed */
    const struct nuna_latency
        *latency; /* one-way: from the CU's issue to being written; owned by the sim */
    uint64_t bytes_requested, bytes_delivered;
    uint64_t events;         /* of all GPUs; simulated ones are events / (gpus / simulated_gpus) */
    uint32_t simulated_gpus; /* representatives, or all */
    bool approximate;        /* folded although the GPUs are not alike */
    const char *unfolded;    /* why a run that was to fold did not even try; or NULL */
    uint64_t peak_flights;   /* largest number of lines in flight in one GPU */
    nuna_time path[NUNA_PATH_PARTS]; /* sums to `time`; zero unless complete */
    uint32_t path_ops;               /* operations on the critical path */
    struct nuna_resource binding;    /* busiest resource */
    struct nuna_translation_result translation;
    char waiters[1024]; /* deadlock: who waits for what */
};

/* Refuses what no machine could simulate: page tables beyond all memory. */
bool nuna_sim_check(const struct nuna_params *params, const struct nuna_plan *plan, uint64_t size,
                    struct nuna_error *err);

/* Builds the pod. `params` and `plan` must outlive the simulation; plan->gpu_count is the number of
 * GPUs. The plan must have passed nuna_plan_check. */
struct nuna_sim *nuna_sim_create(const struct nuna_params *params, const struct nuna_plan *plan,
                                 const struct nuna_sim_options *options, struct nuna_error *err);
void nuna_sim_destroy(struct nuna_sim *sim);

/* Runs to the end, once. False only on internal failure (memory, threads): a deadlock or an
 * interruption is a result. */
bool nuna_sim_run(struct nuna_sim *sim, struct nuna_result *ret_result, struct nuna_error *err);

/* The host transfers, or NULL. */
const struct nuna_transfers *nuna_sim_transfers(const struct nuna_sim *sim);

/* Calls `visit` for every resource, GPU by GPU, kind by kind, in a fixed order; stops early when it
 * returns false. */
bool nuna_sim_visit_resources(const struct nuna_sim *sim,
                              bool (*visit)(void *context, const struct nuna_resource *resource),
                              void *context);

#endif
