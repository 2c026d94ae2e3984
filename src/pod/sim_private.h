/* The insides of a simulation. Private to src/pod. */
#ifndef NUNA_POD_SIM_PRIVATE_H
#define NUNA_POD_SIM_PRIVATE_H

#include "gpu/gpu.h"
#include "gpu/probe.h"
#include "pod/options.h"
#include "pod/pod.h"
#include "pod/transfers.h"

struct nuna_sim {
    struct nuna_pod pod;
    struct nuna_sim_options options;
    struct nuna_kernel *kernel;
    struct nuna_gpu *gpus; /* [lp]: one per GPU, or per representative */
    struct nuna_op_log *log;
    struct nuna_op_trace *trace;
    struct nuna_latency latency;
    struct nuna_transfers *transfers; /* NULL: none */
    uint64_t bytes_requested;
    const char *unfolded; /* struct nuna_result */
};

/* The logical process whose state is GPU `gpu`'s. */
static inline struct nuna_gpu *nuna_sim_gpu(const struct nuna_sim *sim, uint32_t gpu)
{
    return &sim->gpus[sim->pod.fold.lp[gpu]];
}

#endif
