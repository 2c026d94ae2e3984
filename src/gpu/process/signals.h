/* Flags out and in, and what orders them behind data: acknowledgements, fences. */
#ifndef NUNA_GPU_PROCESS_SIGNALS_H
#define NUNA_GPU_PROCESS_SIGNALS_H

#include "gpu/gpu.h"

/* A SIGNAL, or (count 0) a FENCE, that waits for acknowledgements. */
struct nuna_held_signal {
    const uint32_t *channels;
    uint32_t count;
};

struct nuna_signals {
    struct nuna_held_signal *held; /* [threadblock of the plan] */
};

/* False on lack of memory; destroy either way. */
bool nuna_signals_create(struct nuna_gpu *gpu);
void nuna_signals_destroy(struct nuna_gpu *gpu);

/* Operation `op` of a threadblock: raises flags at the far end of channels of this GPU, `ordered`
 * when all its earlier stores are acknowledged; or waits for that only. True: done at once. */
bool nuna_signals_signal(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                         uint32_t count, bool ordered);
bool nuna_signals_fence(struct nuna_gpu *gpu, uint32_t tb, uint32_t op);
/* Raises flags: packets that the threadblock's unit is to store. */
void nuna_signals_raise(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                        uint32_t count);

/* A remote store of the threadblock is acknowledged. True: it was the last one that something of
 * its waited for. */
bool nuna_signals_acked(struct nuna_gpu *gpu, uint32_t tb);
/* What a threadblock of the plan held is let go. */
void nuna_signals_release(struct nuna_gpu *gpu, uint32_t tb);

/* A flag is written here: its flight ends. */
void nuna_signals_landed(struct nuna_gpu *gpu, uint32_t handle);

#endif
