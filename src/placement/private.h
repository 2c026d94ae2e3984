/* What the policies share. Private to src/placement. */
#ifndef NUNA_PLACEMENT_PRIVATE_H
#define NUNA_PLACEMENT_PRIVATE_H

#include "placement/placement.h"

struct nuna_placing {
    const struct nuna_placement_spec *spec;
    const struct nuna_workload *workload;
    const struct nuna_domains *domains; /* NULL for policies that use none */
    struct nuna_placement *result;
};

/* The pages that a chunk lies on: table[first .. end - 1] of its GPU; none for an empty chunk. */
struct nuna_pages {
    struct nuna_frame *table;
    uint64_t first, end;
};
struct nuna_pages nuna_pages_of(const struct nuna_placing *placing, const struct nuna_chunk *chunk);

/* A page without a choice has this many domains. */
#define NUNA_FRAME_OPEN 0

/* One file per policy; each fills result->cu and, where it places memory, the pages. */
bool nuna_place_numa(const struct nuna_placing *placing);
bool nuna_place_nap(const struct nuna_placing *placing);

#endif
