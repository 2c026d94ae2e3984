/* Algorithms in which every GPU does the same in stages, seen from its own rank r.
 *
 * All-gather: in a stage r sends to r + o the blocks r - x for the x of a list; who got a block
 * from distance x in one stage passes it on in later ones. Recursive doubling: o = 1, 2, 4, ...,
 * and all that is there; two-step, with N = A * B: o = 1 .. A - 1 with the own block, then o = A,
 * 2A, ... with the A blocks of the first step. Each block reaches each GPU once, for any N, along a
 * tree.
 *
 * Reduce-scatter sends along the same trees backwards, stages in reverse order, and adds up on the
 * way: r sends to r - o its partial sums of the blocks r - o - x. All-reduce is one after the
 * other.
 *
 * All-to-all: the block for distance d hops by the offsets that add up to d: powers of two, or d
 * mod A and then the rest. */
#ifndef NUNA_COLLECTIVES_GENERATE_STAGED_H
#define NUNA_COLLECTIVES_GENERATE_STAGED_H

#include "collectives/generate/generator.h"

#define NUNA_STAGES_MAX 16 /* log2 of 4096 GPUs, and one to spare */

struct nuna_send {
    uint32_t offset;
    uint32_t *items; /* distances */
    uint32_t count;
    uint32_t slot; /* first of its scratch slots */
};

struct nuna_stage {
    struct nuna_send *sends;
    uint32_t count;
};

struct nuna_staged {
    struct nuna_stage stages[NUNA_STAGES_MAX];
    uint32_t count;
    uint32_t most;  /* sends of a stage */
    uint32_t slots; /* of scratch, for each channel */
    bool no_memory;
};

/* Another send of the stage that is being made, `staged->count`, with room for so many items; NULL
 * with no_memory set. */
struct nuna_send *nuna_staged_send(struct nuna_staged *staged, uint32_t offset, uint32_t room);

/* Makes the stages of an algorithm: all of `staged->stages`, and their count. */
typedef void nuna_stages(struct nuna_staged *staged, uint32_t gpus);

/* For a struct nuna_generator: prepare with the stages of collectives whose blocks go to all, and
 * of those that have a block for each; write for every GPU; let go. */
bool nuna_staged_prepare(struct gen *gen, nuna_stages *gather, nuna_stages *exchange,
                         struct nuna_error *err);
void nuna_staged_gpu(struct gen *gen);
void nuna_staged_free(struct gen *gen);

#endif
