#include "placement/policy.h"
#include <stdio.h>

#define ROW(id, word, threadblocks, pages, routes)                                                 \
    [NUNA_POLICY_##id] = {word, &nuna_threadblocks_##threadblocks, &nuna_pages_##pages, routes},
static const struct nuna_policy_row policies[] = {NUNA_POLICIES(ROW)};
#undef ROW

const struct nuna_policy_row *nuna_policy_row(enum nuna_policy policy)
{
    return &policies[policy];
}

bool nuna_policy_routes(enum nuna_policy policy)
{
    return policies[policy].routes;
}

bool nuna_policy_chooses_stacks(enum nuna_policy policy)
{
    return policies[policy].pages->chooses_stacks;
}

bool nuna_policy_has_tables(enum nuna_policy policy)
{
    return nuna_policy_routes(policy) || nuna_policy_chooses_stacks(policy);
}

bool nuna_policy_uses_domains(enum nuna_policy policy)
{
    return nuna_policy_has_tables(policy) || policies[policy].threadblocks->by_domain;
}

char *nuna_policy_words(bool (*which)(enum nuna_policy policy), bool value, char *buffer,
                        size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t p = 0; p < NUNA_POLICY_COUNT && used < size; p++)
        if (which((enum nuna_policy)p) == value)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "",
                                     policies[p].word);
    return buffer;
}
