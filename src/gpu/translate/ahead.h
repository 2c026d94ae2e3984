/* A request that only translates a page of another GPU, sent ahead of the accesses to it: through
 * the same ports, links and MMU as they go, and nobody waits for it. */
#ifndef NUNA_GPU_TRANSLATE_AHEAD_H
#define NUNA_GPU_TRANSLATE_AHEAD_H

#include "gpu/gpu.h"

struct nuna_ahead {
    uint32_t page;
    uint16_t dest, from;  /* GPU; router */
    uint8_t port, kind;   /* kind of flight */
    uint32_t use, serial; /* the access that it is for, among all; its place as listed */
};

/* Calls `visit` for each request that a page is worth: one for the L2, or one per port that the
 * lines from `position` on (`bytes` of them, all in the page) go through. */
void nuna_ahead_each_port(const struct nuna_gpu_spec *spec, uint32_t dest, uint64_t position,
                          uint64_t bytes, enum nuna_translate_ahead into,
                          void (*visit)(void *context, const struct nuna_ahead *ahead),
                          void *context);

/* Sends it now. */
void nuna_ahead_send(struct nuna_gpu *gpu, const struct nuna_ahead *ahead);

#endif
