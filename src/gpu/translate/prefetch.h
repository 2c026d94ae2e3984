/* Prefetching: requests for pages from the collective's own threadblocks, whose strides the plan
 * knows. Each takes an issue slot of the threadblock's unit. Source: reverse translation (arXiv
 * 2604.02473) section 6. */
#ifndef NUNA_GPU_TRANSLATE_PREFETCH_H
#define NUNA_GPU_TRANSLATE_PREFETCH_H

#include "gpu/gpu.h"

/* Before the line that a threadblock is about to load: requests for the pages that its stores come
 * to within the distance. */
void nuna_prefetch_pages(struct nuna_gpu *gpu, uint32_t tb);
/* The same of any stretch of a GPU's memory that ends at `end`: the access has come to `reached`;
 * `*ahead` is the first position that no request covers. */
void nuna_prefetch_stretch(struct nuna_gpu *gpu, uint32_t tb, uint32_t dest, uint64_t end,
                           uint64_t reached, uint64_t *ahead);
/* A transfer begins (of a request to the proxy: its lane `lane`): requests for the flags that the
 * threadblock, or the proxy, raises next. */
void nuna_prefetch_flags(struct nuna_gpu *gpu, uint32_t tb, uint32_t lane);

#endif
