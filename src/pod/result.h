/* A finished simulation, to be read: all that reports (pod/report/) know of it. */
#ifndef NUNA_POD_RESULT_H
#define NUNA_POD_RESULT_H

#include "collectives/plan/plan.h"
#include "core/latency.h"
#include "core/params.h"
#include "core/server.h"

struct nuna_address_map;
struct nuna_layout;
struct nuna_mmu;
struct nuna_noc_shape;
struct nuna_op_log;
struct nuna_placement;
struct nuna_sim;
struct nuna_topology;
struct nuna_translation_counts;

enum nuna_sim_status {
    NUNA_SIM_COMPLETE,
    NUNA_SIM_DEADLOCK,
    NUNA_SIM_INTERRUPTED,
};

/* Reverse translation, over all GPUs; zero when it is off. */
struct nuna_translation_result {
    uint64_t requests, l1_hits, l1_merged, walks;
    uint64_t latency_sum; /* ps */
    nuna_time latency_max;
    uint64_t live_pages;     /* most pages of one GPU between their first and last request */
    uint64_t ahead_requests; /* sent by the mitigations */
};

/* Sums over the pod. */
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
    struct nuna_translation_result translation;
    char waiters[1024]; /* deadlock: who waits for what */
};

const char *nuna_status_name(enum nuna_sim_status status);    /* "ok" or "incomplete" */
const char *nuna_exactness(const struct nuna_result *result); /* "exact" or "approx" */

/* Valid as long as the simulation; folded GPUs are shown unfolded. */
struct nuna_view {
    const struct nuna_result *result;
    const struct nuna_params *params;
    const struct nuna_plan *plan;
    nuna_time origin; /* when the collective started */

    const struct nuna_noc_shape *noc;
    const struct nuna_topology *topology;
    const struct nuna_address_map *map;
    const struct nuna_layout *layout;
    const struct nuna_placement *placement;
    uint32_t domains; /* granularity of the placement; 1 for policies without domains */

    const struct nuna_op_log *log; /* [op]: end and cause */
    const struct nuna_sim *sim;    /* for the functions below: not to be looked into */
};
struct nuna_view nuna_view_of(const struct nuna_sim *sim, const struct nuna_result *result);

/* Where the time of an operation's last line went, or of the flag that ended a wait: the moments at
 * which it passed from one part to the next. */
struct nuna_op_times {
    bool has_load, has_store;
    nuna_time load_issued, load_at_memory, load_read, load_back;
    nuna_time issued; /* the store */
    nuna_time at_port, at_switch, at_peer, translated, at_memory, landed;
    nuna_time acked; /* 0: not */
};
struct nuna_op_times nuna_view_op(const struct nuna_view *view, uint32_t op);

/* The last store or flag that landed at a GPU after the GPU's own last threadblock had ended; 0:
 * none. */
nuna_time nuna_view_straggler(const struct nuna_view *view, uint32_t gpu,
                              struct nuna_op_times *ret_times);

/* The queues of one GPU, with their rates. */
struct nuna_gpu_servers {
    const struct nuna_server *mesh_link, *injection, *ejection; /* NULL: the uniform fabric */
    const struct nuna_server *channel;                          /* [channel] of all stacks */
    const struct nuna_server *port, *switch_output;             /* [port] */
    uint32_t channels, ports;
    const struct nuna_rate *mesh_rate, *injection_rate, *ejection_rate, *channel_rate, *port_rate;
};
struct nuna_gpu_servers nuna_view_servers(const struct nuna_view *view, uint32_t gpu);

/* Reverse translation at one GPU; NULL when it is off, and the MMU also when it is ideal. */
const struct nuna_translation_counts *nuna_view_translation(const struct nuna_view *view,
                                                            uint32_t gpu);
const struct nuna_mmu *nuna_view_mmu(const struct nuna_view *view, uint32_t gpu);

/* The difference of two GPUs in the pod's relabelling group (core/group.h). */
uint32_t nuna_view_rel(const struct nuna_view *view, uint32_t source, uint32_t dest);

#endif
