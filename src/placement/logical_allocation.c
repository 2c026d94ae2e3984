#include "placement/logical_allocation.h"
#include "placement/turn.h"
#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX

/* The group that shares most of the threadblock's chunks. `shared` is zero outside this function.
 */
static uint32_t best_group(const struct nuna_workload *workload, const struct nuna_work *work,
                           const uint32_t *group_of, uint32_t *shared)
{
    uint32_t best = NO_GROUP;
    for (uint32_t i = 0; i < work->access_count; i++) {
        uint32_t group = group_of[workload->accesses[work->access_at + i].chunk];
        if (group == NO_GROUP)
            continue;
        shared[group]++;
        if (best == NO_GROUP || shared[group] > shared[best] ||
            (shared[group] == shared[best] && group < best))
            best = group;
    }
    for (uint32_t i = 0; i < work->access_count; i++) {
        uint32_t group = group_of[workload->accesses[work->access_at + i].chunk];
        if (group != NO_GROUP)
            shared[group] = 0;
    }
    return best;
}

/* Stable counting sort by decreasing size. */
static bool order_groups(const uint32_t *size, uint32_t groups, uint32_t most, uint32_t *ret_order)
{
    uint32_t *place = calloc((size_t)most + 2, sizeof *place);
    if (!place)
        return false;
    for (uint32_t g = 0; g < groups; g++)
        place[most - size[g] + 1]++;
    for (uint32_t s = 0; s <= most; s++)
        place[s + 1] += place[s];
    for (uint32_t g = 0; g < groups; g++)
        ret_order[place[most - size[g]]++] = g;
    free(place);
    return true;
}

/* Numbers the groups anew by their first threadblock in the plan's order and counts their members;
 * returns the most of any. `number` has room for all. */
static uint32_t number_groups(const struct nuna_workload *workload, uint32_t *group,
                              uint32_t *number, uint32_t *size)
{
    uint32_t next = 0, most = 0;
    memset(number, 0xff, ((size_t)workload->work_count + 1) * sizeof *number);
    for (uint32_t w = 0; w < workload->work_count; w++) {
        if (number[group[w]] == NO_GROUP)
            number[group[w]] = next++;
        group[w] = number[group[w]];
        size[group[w]]++;
        most = size[group[w]] > most ? size[group[w]] : most;
    }
    return most;
}

uint32_t nuna_logical_allocation(const struct nuna_workload *workload, uint32_t *ret_group,
                                 uint32_t *ret_order)
{
    size_t works = (size_t)workload->work_count + 1;
    uint32_t *group_of = malloc(((size_t)workload->chunk_count + 1) * sizeof *group_of);
    uint32_t *shared = calloc(works, sizeof *shared);
    uint32_t *size = calloc(works, sizeof *size);
    uint32_t *number = calloc(works, sizeof *number);
    struct nuna_turn *turn = calloc(works, sizeof *turn);
    uint32_t groups = 0;
    bool ok = group_of && shared && size && number && turn && nuna_works_in_turn(workload, turn);
    if (ok)
        memset(group_of, 0xff, ((size_t)workload->chunk_count + 1) * sizeof *group_of);
    for (uint32_t k = 0; ok && k < workload->work_count; k++) {
        const struct nuna_work *work = &workload->works[turn[k].work];
        uint32_t group = best_group(workload, work, group_of, shared);
        if (group == NO_GROUP)
            group = groups++;
        for (uint32_t i = 0; i < work->access_count; i++) {
            uint32_t *of = &group_of[workload->accesses[work->access_at + i].chunk];
            *of = *of == NO_GROUP ? group : *of;
        }
        ret_group[turn[k].work] = group;
    }
    ok = ok &&
         order_groups(size, groups, number_groups(workload, ret_group, number, size), ret_order);
    free(group_of);
    free(shared);
    free(size);
    free(number);
    free(turn);
    return ok ? groups : UINT32_MAX;
}
