/* Host transfers as one logical process beside those of the GPUs: the machine's sockets and the CPU
 * threads that manage transfers. What wires it (host/host_sim.c alone, or the pod beside a
 * collective) gives it a process, hands its events and messages over, and gives every GPU its side
 * (host/gpu_side.h). */
#ifndef NUNA_HOST_HOST_H
#define NUNA_HOST_HOST_H

#include "host/gpu_side.h"
#include "host/host_side.h"
#include "host/transfer.h"

struct nuna_host_engine;
struct nuna_host_transfer;

/* The threads that serve one PCIe link and direction for one manager: one launches chunks, one
 * waits for their completion. */
struct nuna_host_worker {
    bool launching;       /* the transfer thread is busy */
    bool contended;       /* the last relayed chunk took much longer than the path needs alone */
    uint32_t outstanding; /* pulled and not yet retired */
    uint32_t awaited;     /* those of them that are launched */
    uint32_t next_stream;
    nuna_time busy_since; /* of the synchronisation thread */
    nuna_time last_done;
    nuna_time sync_busy, launch_busy; /* ps of CPU time */
};

struct nuna_host_slot {
    uint32_t transfer;
    bool used;
    uint64_t offset, bytes;
    nuna_time launched;
};

struct nuna_host {
    struct nuna_host_shape *shape;
    struct nuna_host_side side;
    struct nuna_lp *lp;
    struct nuna_host_transfer *transfers;
    uint32_t transfer_count;
    uint32_t unfinished;                     /* transfers that are no background */
    struct nuna_host_worker *workers;        /* [manager][direction][GPU] */
    struct nuna_host_slot *slots;            /* [worker][depth] */
    const struct nuna_host_engine **engines; /* [manager] */
    uint32_t manager_count;
};

/* What a run is to carry out. */
struct nuna_host_plan {
    struct nuna_host_request requests[NUNA_HOST_TRANSFERS_MAX];
    uint32_t request_count;
    struct nuna_host_paths paths;
};

/* Refuses what cannot be carried out on `gpus` GPUs: a relay that is a target, shares that do not
 * fit the paths. */
bool nuna_host_plan_check(const struct nuna_host_plan *plan, const struct nuna_params *params,
                          uint32_t gpus, struct nuna_error *err);

/* Fails: relays were asked for beside the native engine. */
bool nuna_host_relays_refuse_native(struct nuna_error *err);

/* Fills shape->managers; call it before the GPUs' sides are made. The plan must have passed the
 * check. False on lack of memory. */
bool nuna_host_init(struct nuna_host *host, struct nuna_host_shape *shape,
                    const struct nuna_host_plan *plan, struct nuna_lp *lp,
                    struct nuna_arena *arena);
void nuna_host_finish(struct nuna_host *host);

/* Slots a GPU needs room for. */
uint32_t nuna_host_slots_per_gpu(const struct nuna_host *host);

/* Schedules the starts; once, before the kernel runs. */
void nuna_host_begin(struct nuna_host *host);

/* The kernel's operations. */
void nuna_host_handle(struct nuna_host *host, struct nuna_event event);
uint32_t nuna_host_deliver(struct nuna_host *host, const struct nuna_message *message);

#endif
