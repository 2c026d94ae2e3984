/* One GPU of a simulation: what all its parts share, and the parts. A part's state is its own:
 * others call the functions of its header (tests/check/parts.sh sees to it). */
#ifndef NUNA_GPU_GPU_H
#define NUNA_GPU_GPU_H

#include "collectives/exec/exec.h"
#include "core/kernel.h"
#include "gpu/flight.h"
#include "gpu/hbm.h"
#include "gpu/spec.h"
#include "noc/mesh.h"

struct nuna_gpu {
    const struct nuna_gpu_spec *spec;
    uint32_t index;       /* of the GPU simulated; when folded it stands for others, too */
    const uint16_t *seen; /* [GPU]: who it is to each GPU that another process stands for; NULL
                             when nothing is folded */
    struct nuna_lp *lp;
    struct nuna_slab_pool flights; /* gpu/flight.h */
    struct nuna_exec exec;         /* of its part of the plan */
    /* Queues: its network, its stacks, its side of the scale-up network. */
    struct nuna_noc noc;
    struct nuna_hbm hbm;
    struct nuna_scaleup scaleup;
    /* Parts. */
    struct nuna_cus *cus;
    struct nuna_arrivals *arrivals;
    struct nuna_probe *probe;
    struct nuna_movers *movers;
    struct nuna_signals *signals;
    struct nuna_proxy *proxy;             /* NULL: no channel goes through one */
    struct nuna_background *background;   /* NULL when there is none, */
    struct nuna_translation *translation; /* likewise; with its counts and requests */
    struct nuna_translation_counts *translation_counts;
    struct nuna_pretranslation *pretranslation;
    struct nuna_host_gpu *host; /* NULL without host transfers */
};

#endif
