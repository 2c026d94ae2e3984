/* Reverse translation at one GPU: where requests of other nodes meet its link MMU. */
#ifndef NUNA_GPU_TRANSLATE_TRANSLATION_H
#define NUNA_GPU_TRANSLATE_TRANSLATION_H

#include "gpu/gpu.h"

struct nuna_translation {
    struct nuna_mmu mmu; /* FULL only */
};

/* Fills the GPUs' common part; after the topology. */
void nuna_translation_shape(struct nuna_gpu_spec *spec);

/* With its counts. Without translation it does nothing. False on lack of memory; destroy either
 * way. */
bool nuna_translation_create(struct nuna_gpu *gpu);
void nuna_translation_destroy(struct nuna_gpu *gpu);

/* A store, flag or request that needs translation is in at its port at `in`. */
void nuna_translation_arrive(struct nuna_gpu *gpu, uint32_t handle, nuna_time in);
/* Something that needs none is. True: it is held back, behind what waits at the port. */
bool nuna_translation_holds(struct nuna_gpu *gpu, uint32_t handle, nuna_time in);
/* An event of kind NUNA_EV_TRANSLATION, by its body. */
void nuna_translation_event(struct nuna_gpu *gpu, uint64_t body);

#endif
