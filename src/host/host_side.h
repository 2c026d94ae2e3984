/* The host's side of a piece: the sockets' memory, the links between them, and the PCIe links
 * towards the GPUs. Source: arXiv 2512.16056 (MMA), figure 1 and section 5.1.1; for DMA across
 * sockets see docs/host.md. Private to src/host. */
#ifndef NUNA_HOST_HOST_SIDE_H
#define NUNA_HOST_HOST_SIDE_H

#include "core/kernel.h"
#include "host/link.h"
#include "host/piece.h"
#include "host/shape.h"

struct nuna_host_side {
    const struct nuna_host_shape *shape;
    struct nuna_lp *lp;
    struct nuna_slab_pool pieces;
    struct nuna_link *dram;                     /* [socket] */
    struct nuna_link *socket_link;              /* [from][to] */
    struct nuna_link *far_read, *far_write;     /* [socket of the GPU]: DMA across sockets */
    struct nuna_link *far_gpu_in, *far_gpu_out; /* [GPU]: the same, one root port */
    struct nuna_link *pcie_down;                /* [GPU] */
};

bool nuna_host_side_init(struct nuna_host_side *side, const struct nuna_host_shape *shape,
                         struct nuna_lp *lp, struct nuna_arena *arena);
void nuna_host_side_finish(struct nuna_host_side *side);

/* A piece has come from its GPU, or leaves a resource. */
void nuna_host_side_advance(struct nuna_host_side *side, uint32_t handle);

/* A message from the host's process to a GPU's, to be filled. */
struct nuna_message *nuna_host_message_to(struct nuna_lp *lp, const struct nuna_host_shape *shape,
                                          uint32_t gpu, uint32_t kind, nuna_time time);

#endif
