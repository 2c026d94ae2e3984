/* One GPU as a logical process: makes the parts, and takes each event to its part. */
#ifndef NUNA_GPU_PROCESS_PROCESS_H
#define NUNA_GPU_PROCESS_PROCESS_H

#include "gpu/gpu.h"

struct nuna_op_trace;

/* What a GPU is made of beside the spec. */
struct nuna_gpu_site {
    uint32_t index;       /* of the GPU */
    const uint16_t *seen; /* struct nuna_gpu */
    struct nuna_lp *lp;
    struct nuna_arena *arena;
    const uint32_t *tb_cu; /* [threadblock of its part of the plan]: its CU */
    /* By operation of the plan, shared by all GPUs: each writes its own. */
    struct nuna_op_log *log;
    struct nuna_op_trace *trace;
};

/* False on lack of memory; finish either way. */
bool nuna_gpu_init(struct nuna_gpu *gpu, const struct nuna_gpu_spec *spec,
                   const struct nuna_gpu_site *site);
void nuna_gpu_finish(struct nuna_gpu *gpu);

/* Before the run: what begins at time 0, and, at spec->start, the collective. */
void nuna_gpu_start(struct nuna_gpu *gpu);

/* Whether nothing is under way: no record is out, no part is busy, nobody waits. So it is when a
 * run has drained and its threadblocks are through. */
bool nuna_gpu_idle(struct nuna_gpu *gpu);

/* The kernel's operations on one logical process. */
void nuna_gpu_run(struct nuna_gpu *gpu, nuna_time end);
void nuna_gpu_expect(const struct nuna_gpu *gpu, const struct nuna_message *message);
uint32_t nuna_gpu_deliver(struct nuna_gpu *gpu, const struct nuna_message *message);

#endif
