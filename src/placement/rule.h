/* What a policy is made of: a rule for threadblocks, a rule for pages, and whether traffic is
 * routed. Each rule is a file of its own; core/variant_table.h has a row for each policy. A rule is
 * a pure function of what struct nuna_placing shows. */
#ifndef NUNA_PLACEMENT_RULE_H
#define NUNA_PLACEMENT_RULE_H

#include "gpu/address_map.h"
#include "gpu/topology.h"
#include "placement/domains.h"
#include "placement/turn.h"
#include "placement/workload.h"

struct nuna_placement_spec {
    const struct nuna_topology *topology;
    const struct nuna_address_map *map;
    enum nuna_policy policy;
    uint32_t domains; /* granularity; 1 for policies that know no domains */
    enum nuna_numa_near numa_near;
    uint64_t cu_budget;    /* R_max of a CU, requests */
    uint64_t stack_budget; /* R_max of a stack, bytes: bandwidth-delay product */
    uint32_t line_bytes;
};

struct nuna_placement {
    uint32_t *cu;     /* [work] */
    uint32_t *domain; /* [work]: the domain its remote stores and flags go through */
    uint32_t
        *domain_stack; /* [domain]: stack nearest to its ports; NULL for policies without domains */
    struct nuna_frame **pages; /* [gpu][page], or NULL as a whole: default frames */
    uint32_t gpu_count;
};

struct nuna_placing {
    const struct nuna_placement_spec *spec;
    const struct nuna_workload *workload;
    const struct nuna_domains *domains; /* NULL for policies that use none */
    bool routes;                        /* NAR */
    struct nuna_turn *turns;            /* the threadblocks in turn */
    /* [workload->work_count]: the order in which pages are placed; in turn, too, unless the rule
     * for threadblocks writes another */
    struct nuna_turn *order;
    struct nuna_placement *result;
};

/* Fills result->cu, within each GPU's CUs. One by domains also fills result->domain; with another,
 * a threadblock has the domain nearest to its CU. False on lack of memory. */
struct nuna_threadblock_rule {
    bool (*place)(const struct nuna_placing *placing);
    bool by_domain;
};

/* Gives frames to pages that are open, after the threadblocks; pages that stay open get their
 * default frame. Not asked where there are no page tables: when it chooses no stacks and nothing is
 * routed. False on lack of memory. */
struct nuna_page_rule {
    bool (*place)(const struct nuna_placing *placing);
    bool chooses_stacks;
};

/* nuna_threadblocks_X, nuna_pages_Y: the rules that the policies name, and no others. */
#define NUNA_ANNOUNCE_RULES(id, word, threadblocks, pages, routes)                                 \
    extern const struct nuna_threadblock_rule nuna_threadblocks_##threadblocks;                    \
    extern const struct nuna_page_rule nuna_pages_##pages;
NUNA_POLICIES(NUNA_ANNOUNCE_RULES)
#undef NUNA_ANNOUNCE_RULES

/* A page without a choice has this many domains. */
#define NUNA_FRAME_OPEN 0

/* The pages that a chunk lies on: table[first .. end - 1] of its GPU; none for an empty chunk. */
struct nuna_pages {
    struct nuna_frame *table;
    uint64_t first, end;
};

static inline struct nuna_pages nuna_pages_of(const struct nuna_placing *placing,
                                              const struct nuna_chunk *chunk)
{
    uint64_t page_size = placing->spec->map->page_size;
    uint64_t first = chunk->position / page_size;
    uint64_t end = chunk->bytes ? (chunk->position + chunk->bytes - 1) / page_size + 1 : first;
    return (struct nuna_pages){placing->result->pages[chunk->gpu], first, end};
}

/* The first of `count` places, in the given order, that has `due` of its budget left. When none
 * has, all get another budget: what does not fit side by side is stacked up evenly. More than a
 * budget counts as one. */
static inline uint32_t nuna_first_fit(int64_t *left, const uint32_t *order, uint32_t count,
                                      uint64_t due, uint64_t budget)
{
    int64_t take = (int64_t)(due < budget ? due : budget);
    for (;;) {
        for (uint32_t i = 0; i < count; i++)
            if (left[order[i]] >= take) {
                left[order[i]] -= take;
                return order[i];
            }
        for (uint32_t i = 0; i < count; i++)
            left[i] += (int64_t)budget;
    }
}

#endif
