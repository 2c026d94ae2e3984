/* Host transfers beside a collective: one more logical process, the host's, and a side of each GPU
 * that shares its ports and switch outputs with the collective. On the die they stay apart: copies
 * use the memory of shape.h's server, not the mesh and the stacks' channels. */
#ifndef NUNA_POD_TRANSFERS_H
#define NUNA_POD_TRANSFERS_H

#include "gpu/gpu.h"
#include "host/host.h"
#include "pod/pod.h"

struct nuna_transfers {
    struct nuna_host_shape shape;
    struct nuna_host host;
    struct nuna_host_gpu *gpus; /* [GPU] */
};

/* The kernel's lookahead with a host beside the GPUs. */
nuna_time nuna_transfers_lookahead(const struct nuna_pod *pod);

/* `kernel` has a process more than GPUs, the last one; `gpus` are unfolded, by GPU, and get their
 * host sides. NULL on lack of memory. */
struct nuna_transfers *nuna_transfers_create(const struct nuna_pod *pod,
                                             const struct nuna_host_plan *plan,
                                             struct nuna_kernel *kernel, struct nuna_gpu *gpus);
void nuna_transfers_destroy(struct nuna_transfers *transfers);

void nuna_transfers_run(struct nuna_transfers *transfers, nuna_time end);

#endif
