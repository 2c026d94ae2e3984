/* The ways of a packet across the die, from now on: what its size on the mesh is, and where it gets
 * on and off. */
#ifndef NUNA_GPU_DIE_H
#define NUNA_GPU_DIE_H

#include "gpu/gpu.h"

/* A store, or the request of a load, from a CU's router to a stack. */
static inline void nuna_die_cu_to_memory(struct nuna_gpu *gpu, uint16_t cu, uint32_t channel,
                                         uint32_t bytes, uint32_t handle)
{
    nuna_noc_send(&gpu->noc, gpu->lp, cu, NUNA_AT_CU,
                  nuna_spec_stack_router(gpu->spec, cu, channel), NUNA_AT_MEMORY, bytes, handle);
}

static inline void nuna_die_memory_to_cu(struct nuna_gpu *gpu, uint16_t cu, uint32_t channel,
                                         uint32_t bytes, uint32_t handle)
{
    nuna_noc_send(&gpu->noc, gpu->lp, nuna_spec_stack_router(gpu->spec, cu, channel),
                  NUNA_AT_MEMORY, cu, NUNA_AT_CU, bytes, handle);
}

static inline void nuna_die_cu_to_port(struct nuna_gpu *gpu, uint16_t cu, uint32_t port,
                                       uint32_t bytes, uint32_t handle)
{
    nuna_noc_send(&gpu->noc, gpu->lp, cu, NUNA_AT_CU, gpu->spec->topology.port_router[port],
                  NUNA_AT_PORT, bytes, handle);
}

/* At `time`, when it is in at the port. */
static inline void nuna_die_port_to_cu(struct nuna_gpu *gpu, nuna_time time, uint32_t port,
                                       uint16_t cu, uint32_t bytes, uint32_t handle)
{
    nuna_noc_send_at(&gpu->noc, gpu->lp, time, gpu->spec->topology.port_router[port], NUNA_AT_PORT,
                     cu, NUNA_AT_CU, bytes, handle);
}

/* Likewise. */
static inline void nuna_die_port_to_memory(struct nuna_gpu *gpu, nuna_time time, uint32_t port,
                                           uint32_t channel, uint32_t bytes, uint32_t handle)
{
    uint16_t router = gpu->spec->topology.port_router[port];
    nuna_noc_send_at(&gpu->noc, gpu->lp, time, router, NUNA_AT_PORT,
                     nuna_spec_stack_router(gpu->spec, router, channel), NUNA_AT_MEMORY, bytes,
                     handle);
}

static inline void nuna_die_memory_to_port(struct nuna_gpu *gpu, uint32_t channel, uint32_t port,
                                           uint32_t bytes, uint32_t handle)
{
    uint16_t router = gpu->spec->topology.port_router[port];
    nuna_noc_send(&gpu->noc, gpu->lp, nuna_spec_stack_router(gpu->spec, router, channel),
                  NUNA_AT_MEMORY, router, NUNA_AT_PORT, bytes, handle);
}

#endif
