/* What the GPUs of a pod have in common: constant during a run. */
#ifndef NUNA_GPU_SPEC_H
#define NUNA_GPU_SPEC_H

#include "core/group.h"
#include "gpu/address_map.h"
#include "gpu/image.h"
#include "gpu/topology.h"
#include "mmu/link_mmu.h"
#include "scaleup/clos.h"

struct nuna_gpu_spec {
    const struct nuna_params *params;
    const struct nuna_plan *plan;
    uint32_t gpu_count, gpus_per_node;
    struct nuna_shape shape;
    struct nuna_noc_shape noc;
    struct nuna_topology topology;
    struct nuna_clos clos;
    struct nuna_address_map map;
    struct nuna_group group; /* relabellings that leave the pod's structure as it is */
    const struct nuna_layout *layout;
    struct nuna_frame *const
        *pages;               /* [GPU]: page tables; NULL: every page has its default frame */
    uint32_t domains;         /* granularity of the placement; 1: it knows none */
    const uint32_t *process;  /* [GPU]: the logical process that simulates it */
    const uint32_t *op_first; /* [GPU]: where its operations begin in plan->ops */
    enum nuna_translation_mode translation;
    struct nuna_mmu_shape mmu;
    enum nuna_translate_ahead prefetch;
    uint64_t prefetch_distance; /* bytes */
    uint32_t flit_bytes, control_bytes;
    uint32_t move_ends; /* most of any operation */
    bool straight_in;   /* from the switch into the mesh, without an event at the port */
    uint32_t max_outstanding;
    nuna_time issue_interval;
    uint64_t reduce_rate;
    nuna_time start; /* of the collective */
};

/* The group difference of two GPUs of the pod. */
static inline uint32_t nuna_spec_rel(const struct nuna_gpu_spec *spec, uint32_t source,
                                     uint32_t dest)
{
    return nuna_group_difference(&spec->group, source, dest);
}

/* Whether accesses from one GPU to the other carry network physical addresses. */
static inline bool nuna_spec_npa(const struct nuna_gpu_spec *spec, uint32_t source, uint32_t dest)
{
    return spec->translation != NUNA_TRANSLATION_OFF &&
           source / spec->gpus_per_node != dest / spec->gpus_per_node;
}

/* Where a position in a GPU's memory is. */
static inline struct nuna_location nuna_spec_locate(const struct nuna_gpu_spec *spec, uint32_t gpu,
                                                    uint64_t position)
{
    return nuna_address_locate(&spec->map, spec->pages ? spec->pages[gpu] : NULL, position);
}

/* Pages of a GPU's image: each domain's flags begin on a page of their own. */
static inline uint64_t nuna_spec_pages(const struct nuna_gpu_spec *spec, uint32_t gpu)
{
    uint64_t page = spec->map.page_size;
    return (spec->layout->gpus[gpu].end + spec->domains * page) / page + 1;
}

/* An operation of `from`'s, as the same one of `to`'s: GPUs that one process stands for have the
 * same operations. */
static inline uint32_t nuna_spec_op(const struct nuna_gpu_spec *spec, uint32_t op, uint32_t from,
                                    uint32_t to)
{
    return op - spec->op_first[from] + spec->op_first[to];
}

/* Whether a flag of the operation is a delivery. What a connection's receiver gives back is none:
 * the last slots are free, but nobody is to use them. */
static inline bool nuna_spec_flag_counts(const struct nuna_gpu_spec *spec, uint32_t op)
{
    return spec->plan->ops[op].kind != NUNA_OP_FIFO;
}

static inline uint16_t nuna_spec_stack_router(const struct nuna_gpu_spec *spec, uint16_t from,
                                              uint32_t channel)
{
    return nuna_topology_stack_router(&spec->topology, from,
                                      channel / spec->topology.channels_per_stack);
}

#endif
