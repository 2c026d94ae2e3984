#include "placement/turn.h"
#include <stdlib.h>

bool nuna_works_in_turn(const struct nuna_workload *workload, struct nuna_turn *ret_turns)
{
    uint32_t *next = calloc((size_t)workload->gpu_count * 2 + 1, sizeof *next);
    if (!next)
        return false;
    uint32_t *end = next + workload->gpu_count, at = 0;
    for (uint32_t w = workload->work_count; w-- > 0;)
        next[workload->works[w].gpu] = w;
    for (uint32_t w = 0; w < workload->work_count; w++)
        end[workload->works[w].gpu] = w + 1;
    for (uint32_t round = 0; at < workload->work_count; round++)
        for (uint32_t g = 0; g < workload->gpu_count; g++)
            if (next[g] < end[g])
                ret_turns[at++] = (struct nuna_turn){next[g]++, round};
    free(next);
    return true;
}
