#include "collectives/check/check.h"
#include "collectives/check/limits.h"
#include "collectives/check/promise.h"
#include "collectives/check/races.h"
#include "collectives/check/static.h"
#include "collectives/check/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Extra runs, one for each threadblock held back, may execute this many operations together. Small
 * plans are covered fully, of large ones (which generators make regular) a spread of threadblocks.
 */
#define EXTRA_STEPS_MAX 6000000u

static void count_work(const struct nuna_plan *plan, struct nuna_plan_verdict *verdict)
{
    for (size_t i = 0; i < plan->op_count; i++) {
        if (plan->ops[i].kind == NUNA_OP_PUT)
            verdict->puts++;
        else if (plan->ops[i].kind == NUNA_OP_FIFO && (plan->ops[i].flags & NUNA_OP_SENDS))
            verdict->messages++;
        else if (plan->ops[i].kind == NUNA_OP_SIGNAL)
            verdict->signals += plan->ops[i].id_count;
    }
}

static bool run_one(const struct nuna_slots *slots, struct nuna_trial *trial,
                    struct nuna_schedule schedule, struct nuna_error *err)
{
    return nuna_trial_run(trial, &schedule, err) && nuna_check_promise(slots, trial, err);
}

/* A missing wait, signal or barrier shows when the careless threadblock runs too early. */
static bool run_all(const struct nuna_slots *slots, struct nuna_trial *trial,
                    struct nuna_plan_verdict *verdict, struct nuna_error *err)
{
    for (int i = 0; i < 4; i++) {
        struct nuna_schedule schedule = {
            .lazy = i < 2, .descending = i % 2 == 1, .starved = NUNA_NONE, .turns = 1};
        if (!run_one(slots, trial, schedule, err))
            return false;
    }
    verdict->operations = nuna_trial_steps(trial);

    uint64_t runs = EXTRA_STEPS_MAX / (2 * verdict->operations + 1);
    uint64_t threadblocks = slots->plan->threadblock_count;
    uint64_t held = runs < threadblocks ? runs : threadblocks;
    for (uint64_t i = 0; i < held; i++) {
        uint32_t starved = (uint32_t)(i * threadblocks / held);
        for (int lazy = 0; lazy < 2; lazy++) {
            struct nuna_schedule schedule = {.lazy = lazy == 1, .starved = starved, .turns = 1};
            if (!run_one(slots, trial, schedule, err))
                return false;
        }
    }
    return true;
}

/* Right in one of a few orders; `err` says why not in the first. */
static bool right_in_some_order(const struct nuna_slots *slots, struct nuna_trial *trial,
                                struct nuna_error *err)
{
    struct nuna_error why;
    for (int i = 0; i < 4; i++) {
        struct nuna_schedule schedule = {
            .lazy = i >= 2, .descending = i % 2 == 1, .starved = NUNA_NONE, .turns = 1};
        if (run_one(slots, trial, schedule, i == 0 ? err : &why))
            return true;
        if ((i == 0 ? err : &why)->code != NUNA_EXIT_BAD_INPUT)
            break;
    }
    return false;
}

/* Messages and dependencies order a two-sided plan: if they order all accesses, one run speaks for
 * all. If not, runs with one threadblock late show whether the result can suffer. */
static bool run_two_sided(const struct nuna_slots *slots, struct nuna_trial *trial,
                          struct nuna_plan_verdict *verdict, struct nuna_error *err)
{
    bool checked;
    if (!nuna_check_races(slots, verdict->races, sizeof verdict->races, &checked, err) ||
        !right_in_some_order(slots, trial, err))
        return false;
    verdict->operations = nuna_trial_steps(trial);
    if (checked && verdict->races[0] == '\0')
        return true;
    uint64_t runs = EXTRA_STEPS_MAX / (verdict->operations + 1);
    uint64_t threadblocks = slots->plan->threadblock_count;
    uint64_t held = runs < threadblocks ? runs : threadblocks;
    for (uint64_t i = 0; i < held; i++) {
        struct nuna_error why;
        struct nuna_schedule schedule = {.starved = (uint32_t)(i * threadblocks / held),
                                         .turns = 1};
        if (run_one(slots, trial, schedule, &why))
            continue;
        if (why.code != NUNA_EXIT_BAD_INPUT) {
            *err = why;
            return false;
        }
        size_t used = strlen(verdict->races);
        snprintf(verdict->races + used, sizeof verdict->races - used,
                 "when GPU %u threadblock %u is late: %.500s\n", slots->tb_gpu[schedule.starved],
                 nuna_check_local_tb(slots, schedule.starved), why.message);
        break;
    }
    return true;
}

bool nuna_plan_check(const struct nuna_plan *plan, const struct nuna_params *params,
                     const uint64_t *size, struct nuna_plan_verdict *ret_verdict,
                     struct nuna_error *err)
{
    struct nuna_slots slots;
    *ret_verdict = (struct nuna_plan_verdict){.largest_size = UINT64_MAX};
    if (!nuna_check_static(plan, err) || !nuna_slots_init(&slots, plan, err))
        return false;
    struct nuna_trial *trial = nuna_trial_new(&slots, err);
    bool two_sided = plan->chunks_per_loop != 0;
    bool good = trial != NULL &&
                (two_sided ? run_two_sided : run_all)(&slots, trial, ret_verdict, err) &&
                nuna_check_limits(plan, trial, params, size, ret_verdict, err);
    if (good) {
        count_work(plan, ret_verdict);
        ret_verdict->nothing_to_prove = plan->collective == NUNA_COLLECTIVE_OTHER;
        ret_verdict->proved = !ret_verdict->nothing_to_prove;
    }
    nuna_trial_free(trial);
    nuna_slots_free(&slots);
    return good;
}
