/* What a parameter's word chooses between, one row a variant: X(id, word, ...). This layer knows
 * the words, and gives each variant an enumerator; what follows in a row are names of the layer
 * that has the variant. */
#ifndef NUNA_CORE_VARIANT_TABLE_H
#define NUNA_CORE_VARIANT_TABLE_H

/* placement.policy: X(id, word, rule for threadblocks, rule for pages, routes).
 * The rules are those of placement/rule.h, one file each; `routes` is NAR: remote stores to a page
 * take the ports of its domain only. */
#define NUNA_POLICIES(X)                                                                           \
    X(UA, "UA", ua, round_robin, false)                                                            \
    X(UA_NAR, "UA+NAR", ua, round_robin, true)                                                     \
    X(NUMA, "NUMA", numa, round_robin, false)                                                      \
    X(NUMA_NAR, "NUMA+NAR", numa, round_robin, true)                                               \
    X(NAP, "NAP", nap, near, false)                                                                \
    X(NAP_NAR, "NAP+NAR", nap, near, true)                                                         \
    X(NAP_STAR, "NAP*", nap, round_robin, false)                                                   \
    X(NAP_STAR_NAR, "NAP*+NAR", nap, round_robin, true)

/* translation.l1_policy, l2_policy: X(id, word, renews, victim). `renews`: a hit counts as a use,
 * so that the entry is younger; `victim`: who goes, a function of mmu/cache.c. */
#define NUNA_REPLACEMENTS(X)                                                                       \
    X(LRU, "LRU", true, oldest)                                                                    \
    X(FIFO, "FIFO", false, oldest)                                                                 \
    X(RANDOM, "random", false, any)

/* The words of a table, as a parameter has them: "UA|UA+NAR|...". */
#define NUNA_BARRED_WORD(id, word, ...) "|" word
#define NUNA_WORDS(table)               (&("" table(NUNA_BARRED_WORD))[1])

/* The same in a sentence, after a colon: " UA UA+NAR ...". */
#define NUNA_SPACED_WORD(id, word, ...) " " word
#define NUNA_LISTED_WORDS(table)        table(NUNA_SPACED_WORD)

#endif
