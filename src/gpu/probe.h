/* What is measured at one GPU beside the queues' own counts: latencies, deliveries, and where the
 * time of each operation's last line went. */
#ifndef NUNA_GPU_PROBE_H
#define NUNA_GPU_PROBE_H

#include "core/latency.h"
#include "gpu/gpu.h"

/* The last line of an operation (or the flag that ended a wait): where its time went. Indexed by
 * operation. */
struct nuna_op_trace {
    nuna_time start; /* issue of the store */
    struct nuna_load_stamps load;
    struct nuna_store_stamps store;
    uint32_t acked;       /* since the issue of the store; 0: not */
    uint32_t translation; /* of the store */
    bool has_load, has_store;
};

/* The last store or flag that landed after the GPU's own last threadblock had ended, and so maybe
 * after all: nobody waited for it. */
struct nuna_straggler {
    nuna_time landed; /* 0: none */
    struct nuna_op_trace trace;
};

struct nuna_probe {
    struct nuna_op_trace *ops;      /* the pod's, by operation */
    struct nuna_op_trace *channels; /* of this GPU's channels: the last flag */
    struct nuna_latency latency;    /* of remote stores that landed here */
    uint64_t bytes_delivered;
    uint64_t stores_out;          /* remote stores issued, counted at each GPU that they go to */
    uint64_t flags_out, flags_in; /* sent and landed, but those of connections */
    struct nuna_straggler straggler;
};

/* `ops` has an entry for each operation of the plan; all GPUs share it, each writes its own. False
 * on lack of memory; destroy either way. */
bool nuna_probe_create(struct nuna_gpu *gpu, struct nuna_op_trace *ops);
void nuna_probe_destroy(struct nuna_gpu *gpu);

/* Remote stores are issued, or one packet becomes so many more of them. */
void nuna_probe_stores_out(struct nuna_gpu *gpu, uint32_t count);
void nuna_probe_flags_out(struct nuna_gpu *gpu, uint32_t op, uint32_t count);
/* Another GPU's store (or flag) has landed here. */
void nuna_probe_store_landed(struct nuna_gpu *gpu, struct nuna_flight *visitor);
void nuna_probe_flag_landed(struct nuna_gpu *gpu, struct nuna_flight *visitor);
/* Data from another GPU's memory have come. */
void nuna_probe_fetched(struct nuna_gpu *gpu, uint32_t bytes);
/* The flight was the last of the operation: `stored`, and that is done, or only issued. */
void nuna_probe_op_over(struct nuna_gpu *gpu, uint32_t op, struct nuna_flight *flight, bool stored);
/* The acknowledgement was the last one that the operation waited for; of `waiting`, or, NULL, of a
 * store whose data had come to the CU before the operation began. */
void nuna_probe_op_acked(struct nuna_gpu *gpu, uint32_t op, struct nuna_flight *answer,
                         struct nuna_flight *waiting);
/* A blocked WAIT is over, by a flag on one of this GPU's channels. */
void nuna_probe_waited(struct nuna_gpu *gpu, uint32_t op, uint32_t channel);

#endif
