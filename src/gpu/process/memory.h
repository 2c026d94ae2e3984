/* Memory stacks: accesses that reach them, and who hears that they are done. */
#ifndef NUNA_GPU_PROCESS_MEMORY_H
#define NUNA_GPU_PROCESS_MEMORY_H

#include "gpu/gpu.h"

/* A packet has reached its stack: a load's request, or a store. */
void nuna_memory_reach(struct nuna_gpu *gpu, uint32_t handle);
/* Its access is done: data to the CU, or the acknowledgement of a store to whoever stored. */
void nuna_memory_done(struct nuna_gpu *gpu, uint32_t handle);

#endif
