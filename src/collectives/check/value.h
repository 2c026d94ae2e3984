/* Values of the symbolic run and their fingerprints (slots.h). */
#ifndef NUNA_COLLECTIVES_CHECK_VALUE_H
#define NUNA_COLLECTIVES_CHECK_VALUE_H

#include "core/types.h"

struct nuna_print {
    uint64_t low, high;
};

struct nuna_print nuna_leaf_print(uint32_t leaf);

/* A sum of values; its number is slots.count + its place in the list. */
struct nuna_sum {
    struct nuna_print print;
    uint32_t term_at, term_count; /* terms[term_at ..], numbers of values */
};

#endif
