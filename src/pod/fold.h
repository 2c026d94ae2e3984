/* Symmetric folding: simulating a few GPUs of a pod that stand for all.
 *
 * The GPUs of a uniform pod may be relabelled (core/group.h) without changing its structure. When
 * such relabellings also leave the plan, the placement and the memory images as they are, and every
 * GPU is reached from a representative by one of them, then every GPU's state is its
 * representative's, relabelled, at all times: the model breaks ties by relative position only. So
 * the representatives' traffic to GPU d arrives at d's representative, as coming from whoever the
 * sender becomes when d is moved there. Exactness is proved for the given input by comparing every
 * GPU's part of it with its representative's.
 */
#ifndef NUNA_POD_FOLD_H
#define NUNA_POD_FOLD_H

#include "core/error.h"
#include "core/group.h"
#include "gpu/spec.h"
#include "placement/placement.h"

enum nuna_fold_mode {
    NUNA_FOLD_OFF,
    NUNA_FOLD_AUTO,   /* where it changes nothing, which is proved for the given input */
    NUNA_FOLD_APPROX, /* one GPU stands for all, be they alike or not */
};

struct nuna_fold {
    uint32_t gpu_count, lp_count; /* equal when nothing is folded */
    bool approximate;             /* folded although the symmetry is not exact */
    uint32_t *gpu;                /* [lp]: the representative */
    uint32_t *lp;                 /* [gpu]: of its representative */
    uint16_t *seen;     /* [lp][gpu]: who the representative becomes when `gpu` is moved onto its
                           own representative; NULL when nothing is folded */
    uint32_t *op_first; /* [gpu + 1]: where each GPU's operations begin in plan->ops */
};

/* Finds the fewest representatives that `mode` allows; with NUNA_FOLD_OFF, or when nothing folds
 * exactly, every GPU is its own. The placement and spec->layout must be complete. False on lack of
 * memory, or when an approximate folding is asked of GPUs whose plans differ in structure. Finish
 * either way. */
bool nuna_fold_init(struct nuna_fold *fold, const struct nuna_gpu_spec *spec,
                    const struct nuna_placement *placement, enum nuna_fold_mode mode,
                    struct nuna_error *err);
void nuna_fold_finish(struct nuna_fold *fold);

/* GPUs that each logical process stands for. */
static inline uint32_t nuna_fold_factor(const struct nuna_fold *fold)
{
    return fold->gpu_count / fold->lp_count;
}

/* An operation of `from`'s, as the same one of `to`'s. */
static inline uint32_t nuna_fold_op(const struct nuna_fold *fold, uint32_t op, uint32_t from,
                                    uint32_t to)
{
    return op - fold->op_first[from] + fold->op_first[to];
}

/* The GPU whose operation `op` is. */
uint32_t nuna_fold_op_gpu(const struct nuna_fold *fold, uint32_t op);

#endif
