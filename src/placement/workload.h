/* What a compiler knows of a plan, and all that a placement sees of it: for each threadblock, in
 * the plan's order, the chunks that it touches. A chunk is a run of bytes in one GPU's memory. */
#ifndef NUNA_PLACEMENT_WORKLOAD_H
#define NUNA_PLACEMENT_WORKLOAD_H

#include "collectives/plan/plan.h"
#include "placement/layout.h"

enum nuna_access_kind {
    NUNA_ACCESS_LOAD,         /* of the threadblock's own GPU's memory */
    NUNA_ACCESS_STORE,        /* likewise */
    NUNA_ACCESS_REMOTE_STORE, /* to another GPU's memory */
};

struct nuna_chunk {
    uint32_t gpu;
    uint64_t position, bytes; /* in that GPU's image */
};

struct nuna_access {
    uint32_t chunk; /* index into nuna_workload.chunks */
    uint8_t kind;   /* enum nuna_access_kind */
};

struct nuna_work {
    uint32_t gpu;
    uint32_t access_at, access_count; /* accesses[access_at ..] */
};

struct nuna_workload {
    uint32_t gpu_count;
    uint64_t *image_bytes;   /* [gpu] */
    struct nuna_work *works; /* one per threadblock, GPU by GPU */
    struct nuna_access *accesses;
    struct nuna_chunk *chunks;
    uint32_t work_count, access_count, chunk_count;
};

/* One entry per threadblock of the plan, in its order, each chunk once. Room for the flags is part
 * of each image. False on lack of memory; finish either way. */
bool nuna_workload_init(struct nuna_workload *workload, const struct nuna_plan *plan,
                        const struct nuna_layout *layout, uint64_t page_size, uint32_t domains);
void nuna_workload_finish(struct nuna_workload *workload);

#endif
