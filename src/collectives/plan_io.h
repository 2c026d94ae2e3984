/* Plans in and out. All functions return NULL or false with `err` filled on failure. */
#ifndef NUNA_COLLECTIVES_PLAN_IO_H
#define NUNA_COLLECTIVES_PLAN_IO_H

#include "collectives/plan_json_doc.h"
#include "collectives/plan_shape.h"
#include <stdio.h>

/* Reads a plan file; the format is told from the content. Errors: `file: json.path: what is wrong,
 * what was expected`, or `file:line:column: ...` for malformed JSON. Free with nuna_plan_destroy.
 */
struct nuna_plan *nuna_plan_read(const char *path, struct nuna_error *err);
/* The same from memory; frees the text in any case. */
struct nuna_plan *nuna_plan_parse(struct nuna_json_text *text, struct nuna_error *err);

enum nuna_algorithm {
    NUNA_ALLPAIRS,
    NUNA_RING,
    NUNA_DOUBLING, /* recursive doubling and halving, by distances, so for any number of GPUs */
    NUNA_TWO_STEP, /* two rounds over about the square root of the GPUs */
    NUNA_TREE,     /* double binary tree: the channels take turns */
};

struct nuna_plan_spec {
    enum nuna_collective collective; /* not OTHER */
    enum nuna_algorithm algorithm;
    uint32_t gpus;     /* 1 .. 4096 */
    uint32_t channels; /* threadblocks per peer (all-pairs), rings (ring); 1 .. 1024 */
};

/* Generates a plan. All-pairs plans list peers in relative order (own rank + 1, + 2, ...), and
 * every GPU's list of threadblocks is the same but for that relabelling. Refuses specs whose plan
 * would need absurd memory. */
struct nuna_plan *nuna_plan_generate(const struct nuna_plan_spec *spec, struct nuna_error *err);

/* What a plan may do otherwise. All zero is what nuna_plan_generate does. */
struct nuna_plan_variant {
    uint32_t gpus_per_node; /* a divisor: the relative order of all-pairs plans is by nodes
                               (core/group.h) */
    bool own_apart; /* all-to-all: the GPU's own block is copied by threadblocks of its own, not by
                       those of the first peer between signal and wait */
};

struct nuna_plan *nuna_plan_generate_variant(const struct nuna_plan_spec *spec,
                                             const struct nuna_plan_variant *variant,
                                             struct nuna_error *err);

/* "allgather,channels=8,algorithm=ring" (what follows "builtin:"; further gpus=, gpus_per_node=,
 * instances=, which multiplies the channels, and own=apart); `gpus` and `channels` are the defaults
 * for what the text does not say. */
struct nuna_plan *nuna_plan_builtin(const char *text, uint32_t gpus, uint32_t channels,
                                    struct nuna_error *err);

/* Writes MSCCL++ JSON version 2. False when writing failed, or, with errno EINVAL, when the plan
 * has other operations than generated ones have. */
bool nuna_plan_write_json(const struct nuna_plan *plan, FILE *out);

/* Writes MSCCL XML: puts and their signals and waits become sends and receives, barriers become
 * dependencies, and a threadblock that talks to several peers becomes several. False when writing
 * failed, or, with errno EINVAL, when the plan cannot be expressed so: a signal has no data or goes
 * to another peer than its data, a put has more chunks than a message may have, or there are other
 * operations than generated plans have. */
bool nuna_plan_write_xml(const struct nuna_plan *plan, FILE *out);

/* What the checker found. */
struct nuna_plan_verdict {
    bool proved;           /* the collective's postcondition holds */
    bool nothing_to_prove; /* collective OTHER: completes, result unchecked */
    uint64_t operations;   /* executed symbolically */
    uint64_t signals, puts, messages;
    /* Messages up to this size get through the connections' slots, larger ones do not. */
    uint64_t largest_size;
    char limit[512]; /* why; empty where there is no such limit */
    /* Two-sided plans: accesses that nothing orders, a line each. The result is right if they
     * happen to come in the order that the plan's author had in mind. */
    char races[1536];
};

/* Static check: ranges, ids, signals against waits, completion (no deadlock), and the collective's
 * postcondition by symbolic execution over chunks, and whether slots of connections limit the size.
 * With `size` the plan must finish at that size, and the size be within the plan's window; without,
 * at any. `params` has the slots' number and size. Returns false with a located reason (who waits
 * for whom; which chunk of which GPU lacks whose contribution) when the plan is wrong. A plan that
 * can only deadlock fails with code NUNA_EXIT_BAD_INPUT, as every wrong plan does. */
bool nuna_plan_check(const struct nuna_plan *plan, const struct nuna_params *params,
                     const uint64_t *size, struct nuna_plan_verdict *ret_verdict,
                     struct nuna_error *err);

#endif
