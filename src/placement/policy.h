/* The policies by name: what each is made of (core/variant_table.h). */
#ifndef NUNA_PLACEMENT_POLICY_H
#define NUNA_PLACEMENT_POLICY_H

#include "placement/rule.h"

struct nuna_policy_row {
    const char *word;
    const struct nuna_threadblock_rule *threadblocks;
    const struct nuna_page_rule *pages;
    bool routes;
};

/* The row of a policy; static storage. */
const struct nuna_policy_row *nuna_policy_row(enum nuna_policy policy);

bool nuna_policy_routes(enum nuna_policy policy);         /* NAR */
bool nuna_policy_chooses_stacks(enum nuna_policy policy); /* else pages go round-robin */
bool nuna_policy_has_tables(enum nuna_policy policy);     /* page tables: either of these */
bool nuna_policy_uses_domains(enum nuna_policy policy);   /* NAR, or placement by domains */

/* The words of all policies of which `which` is `value`: "UA, NUMA, NAP*"; returns `buffer`. */
char *nuna_policy_words(bool (*which)(enum nuna_policy policy), bool value, char *buffer,
                        size_t size);

#endif
