/* What the size of a message decides: how many FIFO operations a step makes, how often a loop
 * turns. */
#include "collectives/check/limits.h"
#include "collectives/plan/shape.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Semaphores' initial values are small: if so many turns work, more do. */
#define TURNS_MAX 96u

/* MSCCL++ counts a pipeline's turns with 16 bits. */
#define TURNS_COUNTED UINT16_MAX

static bool finishes(struct nuna_trial *trial, uint32_t chunks, uint32_t operations,
                     struct nuna_error *err)
{
    struct nuna_schedule schedule = {
        .starved = NUNA_NONE, .turns = 1, .chunks_per_message = chunks, .operations = operations};
    return nuna_trial_run(trial, &schedule, err);
}

/* The least number of chunks in a message with which the plan finishes; 0: none. More chunks in a
 * message mean fewer messages: what finishes with some finishes with more. */
static uint32_t least_chunks(struct nuna_trial *trial, uint32_t operations, struct nuna_error *why)
{
    struct nuna_error err;
    uint32_t low = 1, high = NUNA_CHUNKS_PER_MESSAGE_MAX;
    if (finishes(trial, 1, operations, why))
        return 1;
    if (!finishes(trial, high, operations, &err))
        return 0;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (finishes(trial, middle, operations, &err))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static uint32_t longest_message(const struct nuna_plan *plan)
{
    uint32_t most = 0;
    for (size_t i = 0; i < plan->op_count; i++) {
        const struct nuna_op *op = &plan->ops[i];
        if (op->kind == NUNA_OP_FIFO && nuna_lane_range(plan, op, 0, 0)->count > most)
            most = nuna_lane_range(plan, op, 0, 0)->count;
    }
    return most;
}

static const char *size_text(uint64_t size, char *text, size_t room)
{
    if (size > INT64_MAX)
        size = INT64_MAX;
    if (size % 1048576 == 0 && size > 0)
        snprintf(text, room, "%" PRIu64 "MiB", size / 1048576);
    else if (size % 1024 == 0 && size > 0)
        snprintf(text, room, "%" PRIu64 "KiB", size / 1024);
    else
        nuna_units_format((int64_t)size, NUNA_Q_SIZE, "", text, room);
    return text;
}

/* The list of waiting threadblocks, as report_deadlock wrote it, behind its first line. */
static const char *waiters_of(const struct nuna_error *err)
{
    const char *list = strchr(err->message, '\n');
    return list == NULL ? "" : list;
}

static bool check_fifos(const struct nuna_plan *plan, struct nuna_trial *trial,
                        const struct nuna_params *params, const uint64_t *size,
                        struct nuna_plan_verdict *verdict, struct nuna_error *err)
{
    uint32_t operations = nuna_shape_operations(plan, params);
    uint64_t window = nuna_shape_window(plan, params);
    struct nuna_error why = {.code = NUNA_EXIT_BAD_INPUT};
    uint32_t needed = least_chunks(trial, operations, &why);
    if (needed == 1)
        return true;
    if (why.code != NUNA_EXIT_BAD_INPUT || needed == 0) {
        *err = why;
        return false;
    }
    char largest[32], asked[32];
    uint32_t most = longest_message(plan);
    verdict->largest_size = nuna_shape_largest_size(plan, needed, window);
    size_text(verdict->largest_size, largest, sizeof largest);
    snprintf(
        verdict->limit, sizeof verdict->limit,
        "completes up to %s, deadlocks above: there fewer than %u chunks fit one FIFO operation, "
        "a step of %u chunks takes more operations than the %u that a connection holds, and "
        "nobody receives yet",
        largest, needed, most, operations);
    if (size == NULL || *size <= verdict->largest_size)
        return true;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: deadlock at %s; the plan %s:%.900s",
                     plan->source, size_text(*size, asked, sizeof asked), verdict->limit,
                     waiters_of(&why));
}

static bool few_turns(const struct nuna_plan *plan, uint32_t gpu, uint32_t tb, size_t op,
                      uint64_t turns, struct nuna_error *err)
{
    return turns <= TURNS_COUNTED ||
           nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "%s: gpus[%u].threadblocks[%u].ops[%u].iter_context: %" PRIu64
                     " turns at this size, expected at most %u, as MSCCL++ counts them with 16 "
                     "bits: unit_size is too small, or num_chunks too large",
                     plan->source, gpu, tb, plan->ops[op].step, turns, TURNS_COUNTED);
}

/* The turns of the longest loop. */
static bool count_turns(const struct nuna_plan *plan, const struct nuna_params *params,
                        const uint64_t *size, uint64_t *ret_turns, struct nuna_error *err)
{
    struct nuna_shape shape;
    nuna_shape_init(&shape, plan, size == NULL ? 0 : *size, params);
    *ret_turns = 0;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            for (size_t o = tb->op_at; o < (size_t)tb->op_at + tb->op_count; o++) {
                if (plan->ops[o].kind != NUNA_OP_LOOP)
                    continue;
                uint64_t here = size == NULL ? TURNS_MAX : nuna_shape_turns(&shape, &plan->ops[o]);
                if (!few_turns(plan, g, t, o, here, err))
                    return false;
                *ret_turns = here > *ret_turns ? here : *ret_turns;
            }
        }
    return true;
}

static bool check_loops(const struct nuna_plan *plan, struct nuna_trial *trial,
                        const struct nuna_params *params, const uint64_t *size,
                        struct nuna_error *err)
{
    uint64_t turns;
    if (!count_turns(plan, params, size, &turns, err))
        return false;
    if (turns <= 1)
        return true;
    struct nuna_schedule schedule = {.starved = NUNA_NONE,
                                     .turns = turns < TURNS_MAX ? (uint32_t)turns : TURNS_MAX};
    return nuna_trial_run(trial, &schedule, err);
}

static bool check_window(const struct nuna_plan *plan, uint64_t size, struct nuna_error *err)
{
    char asked[32], least[32], most[32];
    if (size >= plan->min_size && size <= plan->max_size)
        return true;
    return nuna_fail(
        err, NUNA_EXIT_BAD_INPUT, "%s: the plan is for messages of %s to %s, but the size is %s",
        plan->source, size_text(plan->min_size, least, sizeof least),
        plan->max_size == UINT64_MAX ? "any size" : size_text(plan->max_size, most, sizeof most),
        size_text(size, asked, sizeof asked));
}

bool nuna_check_limits(const struct nuna_plan *plan, struct nuna_trial *trial,
                       const struct nuna_params *params, const uint64_t *size,
                       struct nuna_plan_verdict *verdict, struct nuna_error *err)
{
    if (size != NULL && !check_window(plan, *size, err))
        return false;
    return (plan->chunks_per_loop == 0 || check_fifos(plan, trial, params, size, verdict, err)) &&
           check_loops(plan, trial, params, size, err);
}
