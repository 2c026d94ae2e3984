/* What each collective is: everything that depends on it is a field of its row. */
#ifndef NUNA_COLLECTIVES_PLAN_COLLECTIVE_H
#define NUNA_COLLECTIVES_PLAN_COLLECTIVE_H

#include "core/types.h"
#include "core/variant_table.h"

/* X(id, word, fields of struct nuna_collective_rule ...), one row a collective. The words that
 * users write are the second. */
#define NUNA_COLLECTIVES(X)                                                                        \
    X(ALLGATHER, "allgather", .own_input = true, .promise = gathered, .passes = 1,                 \
      .chunks = "output chunks of every GPU's input chunks")                                       \
    X(ALLREDUCE, "allreduce", .reduces = true, .grouped = true, .promise = summed, .passes = 2,    \
      .chunks = "as many input as output chunks")                                                  \
    X(REDUCESCATTER, "reducescatter", .own_output = true, .reduces = true, .promise = own_summed,  \
      .passes = 1, .chunks = "input chunks for every GPU's output chunks")                         \
    X(ALLTOALL, "alltoall", .personal = true, .promise = exchanged, .passes = 1,                   \
      .chunks = "as many input as output chunks, a multiple of the GPUs")

enum nuna_collective {
#define NUNA_COLLECTIVE_ID(id, ...) NUNA_##id,
    NUNA_COLLECTIVES(NUNA_COLLECTIVE_ID)
#undef NUNA_COLLECTIVE_ID
        NUNA_COLLECTIVE_OTHER, /* runs, but there is no postcondition to prove */
};

/* A chunk of a GPU's input. */
struct nuna_contribution {
    uint32_t gpu, chunk;
};

struct nuna_collective_rule {
    const char *name;
    bool own_input;  /* a GPU's input is its own block, 1 / N of the message; else all of it */
    bool own_output; /* likewise its output */
    bool reduces;    /* an output chunk adds up contributions of all GPUs; else it is one */
    bool personal; /* every GPU has another block for every other; its length goes by their distance
                    */
    bool grouped;  /* chunk groups of a plan cut the message before the ranks do */
    uint32_t passes;    /* how often bus bandwidth counts a byte */
    const char *chunks; /* the proportion of input and output chunks that it needs, in words */
    /* Term `term` (0 unless it reduces: the GPU) of what chunk `chunk` of a GPU's output should
     * hold, where each rank's block has `block` chunks. NULL: nothing is promised. */
    struct nuna_contribution (*promise)(uint32_t gpu, uint32_t chunk, uint32_t term,
                                        uint32_t block);
};

/* The row; of OTHER one that is empty but for its name. */
const struct nuna_collective_rule *nuna_collective_rule(enum nuna_collective collective);

const char *nuna_collective_name(enum nuna_collective collective); /* "allgather"; "other" */
/* "all_gather" and "reduce-scatter" are common spellings, and understood. */
bool nuna_collective_parse(const char *name, enum nuna_collective *ret);

/* The place of a word in a list, dashes and underscores left out; `count` when it is not there. */
size_t nuna_word_place(const char *word, const char *const *list, size_t count);

#endif
