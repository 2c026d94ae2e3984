/* Packets that have come, and who waits for them. A place is a chunk of scratch, or a slot of a
 * connection. */
#ifndef NUNA_GPU_ARRIVALS_H
#define NUNA_GPU_ARRIVALS_H

#include "gpu/gpu.h"

struct nuna_arrival {
    uint64_t bytes;  /* so far, on the wire */
    uint64_t taken;  /* slots: by messages that are through */
    uint32_t waiter; /* first threadblock that waits for more, through `next` */
};

struct nuna_arrivals {
    struct nuna_arrival *places; /* scratch chunks, then slots of connections */
    uint32_t count;
};

/* False on lack of memory; destroy either way. */
bool nuna_arrivals_create(struct nuna_gpu *gpu);
void nuna_arrivals_destroy(struct nuna_gpu *gpu);

/* The place of a slot that GPU `at` receives in. */
uint32_t nuna_arrivals_slot(const struct nuna_gpu_spec *spec, uint32_t at, uint32_t channel,
                            uint32_t slot);

/* Packets have landed. Returns the first of those that waited for them, through `next`: they try
 * again. */
uint32_t nuna_arrivals_add(struct nuna_gpu *gpu, uint32_t place, uint32_t bytes);
/* What has come and is not taken yet. */
uint64_t nuna_arrivals_there(const struct nuna_gpu *gpu, uint32_t place);
void nuna_arrivals_take(struct nuna_gpu *gpu, uint32_t place, uint64_t bytes);
/* The threadblock waits for more. */
void nuna_arrivals_wait(struct nuna_gpu *gpu, uint32_t place, uint32_t tb);

/* The first place whose packets the operation's sources need and that has not all of them, or
 * NUNA_NONE. */
uint32_t nuna_arrivals_missing(const struct nuna_gpu *gpu, const struct nuna_op *op);

/* Whether nobody waits. */
bool nuna_arrivals_idle(const struct nuna_gpu *gpu);

#endif
