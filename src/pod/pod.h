/* What a pod is made of: what its GPUs have in common, the placement, the folding. Constant during
 * a run. Private to src/pod. */
#ifndef NUNA_POD_POD_H
#define NUNA_POD_POD_H

#include "gpu/spec.h"
#include "placement/layout.h"
#include "placement/placement.h"
#include "pod/fold.h"

struct nuna_pod {
    struct nuna_gpu_spec spec; /* points to the rest */
    struct nuna_layout layout;
    struct nuna_placement placement;
    struct nuna_fold fold;
};

#endif
