/* Who does what: the part that carries out an operation, that takes an issue slot, that gets what
 * comes back to a compute unit. */
#ifndef NUNA_GPU_PROCESS_WORK_H
#define NUNA_GPU_PROCESS_WORK_H

#include "gpu/cu.h"

/* What the executor asks of a GPU. */
extern const struct nuna_machine nuna_work_machine;

/* A unit's issue event. */
void nuna_work_issue(struct nuna_gpu *gpu, struct nuna_cu *cu);
/* A packet reaches its unit: the data of a load, or the acknowledgement of a store. */
void nuna_work_back(struct nuna_gpu *gpu, uint32_t handle);
/* A store of packets has landed. */
void nuna_work_arrived(struct nuna_gpu *gpu, uint32_t place, uint32_t bytes);

#endif
