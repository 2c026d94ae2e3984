/* The thread that drives port channels: takes requests in order, starts each a latency after the
 * one before, and lets a copy engine move the data. A signal follows the data of all earlier
 * requests. Source: MSCCL++ (docs/plan-formats.md). */
#ifndef NUNA_GPU_PROCESS_PROXY_H
#define NUNA_GPU_PROCESS_PROXY_H

#include "gpu/cu.h"

/* Where no channel goes through a proxy it does nothing. False on lack of memory; destroy either
 * way. */
bool nuna_proxy_create(struct nuna_gpu *gpu);
void nuna_proxy_destroy(struct nuna_gpu *gpu);

/* Requests of a threadblock of the plan. Each is true when the block goes on at once. */
bool nuna_proxy_move(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const struct nuna_move *move);
bool nuna_proxy_signal(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                       uint32_t count);
bool nuna_proxy_flush(struct nuna_gpu *gpu, uint32_t tb, uint32_t op);
/* The packets that a block awaits may be there. */
void nuna_proxy_retry(struct nuna_gpu *gpu, uint32_t tb);

/* An event of kind NUNA_EV_PROXY: it takes its next request. */
void nuna_proxy_event(struct nuna_gpu *gpu);
/* Its move has issued its last store, or its stores are all acknowledged. */
void nuna_proxy_moved(struct nuna_gpu *gpu);
void nuna_proxy_acked(struct nuna_gpu *gpu);

/* No request is left. */
bool nuna_proxy_idle(const struct nuna_gpu *gpu);
/* What its threadblock, NUNA_TB_PROXY, runs on. */
struct nuna_cu *nuna_proxy_engine(struct nuna_gpu *gpu);

#endif
