/* The plan checker against plans with one fault each. */
#include "collectives/check/check.h"
#include "collectives/generate/generate.h"

#include "default_shape.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct sample {
    enum nuna_collective collective;
    enum nuna_algorithm algorithm;
    uint32_t gpus, channels;
};

static const struct sample samples[] = {
    {NUNA_ALLGATHER, NUNA_ALLPAIRS, 3, 2},     {NUNA_ALLREDUCE, NUNA_ALLPAIRS, 3, 2},
    {NUNA_REDUCESCATTER, NUNA_ALLPAIRS, 3, 2}, {NUNA_ALLTOALL, NUNA_ALLPAIRS, 3, 2},
    {NUNA_ALLGATHER, NUNA_RING, 4, 2},         {NUNA_ALLREDUCE, NUNA_RING, 4, 2},
    {NUNA_REDUCESCATTER, NUNA_RING, 4, 2},     {NUNA_ALLREDUCE, NUNA_ALLPAIRS, 2, 1},
    {NUNA_ALLREDUCE, NUNA_RING, 2, 1},
};
#define SAMPLES (sizeof samples / sizeof samples[0])

static struct nuna_plan *generate(const struct sample *sample)
{
    struct nuna_error err;
    struct nuna_plan_spec spec = {sample->collective, sample->algorithm, sample->gpus,
                                  sample->channels};
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert(plan != NULL, "%s", err.message);
    return plan;
}

static bool accepted(const struct nuna_plan *plan)
{
    struct nuna_error err;
    struct nuna_plan_verdict verdict;
    return check_plan(plan, &verdict, &err);
}

static const char *refusal(const struct nuna_plan *plan)
{
    static _Thread_local struct nuna_error err;
    struct nuna_plan_verdict verdict;
    cr_assert(!check_plan(plan, &verdict, &err), "the plan was accepted");
    cr_assert_eq(err.code, NUNA_EXIT_BAD_INPUT);
    return err.message;
}

static uint32_t gpu_of(const struct nuna_plan *plan, size_t op)
{
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        const struct nuna_plan_gpu *g = &plan->gpus[gpu];
        const struct nuna_threadblock *last = &plan->threadblocks[g->tb_at + g->tb_count - 1];
        if (op < last->op_at + last->op_count)
            return gpu;
    }
    cr_assert(false, "no such operation");
    return 0;
}

static void expect_refused(const struct nuna_plan *plan, size_t op, const char *mutation)
{
    cr_expect(!accepted(plan), "%s: op %zu (kind %u): %s was accepted", plan->source, op,
              plan->ops[op].kind, mutation);
}

Test(plan_check, every_operation_but_nop_is_needed)
{
    for (size_t s = 0; s < SAMPLES; s++) {
        struct nuna_plan *plan = generate(&samples[s]);
        cr_assert(accepted(plan));
        for (size_t i = 0; i < plan->op_count; i++) {
            uint8_t kind = plan->ops[i].kind;
            plan->ops[i].kind = NUNA_OP_NOP;
            /* Every operation here is taken to be finished by the whole block before the next
             * starts, so a meeting of the block changes nothing. */
            if (kind == NUNA_OP_NOP)
                cr_expect(accepted(plan));
            else
                expect_refused(plan, i, "dropping it");
            plan->ops[i].kind = kind;
        }
        nuna_plan_destroy(plan);
    }
}

Test(plan_check, every_signal_and_wait_needs_its_ordering)
{
    for (size_t s = 0; s < SAMPLES; s++) {
        struct nuna_plan *plan = generate(&samples[s]);
        for (size_t i = 0; i < plan->op_count; i++) {
            if (plan->ops[i].kind != NUNA_OP_SIGNAL && plan->ops[i].kind != NUNA_OP_WAIT)
                continue;
            plan->ops[i].relaxed = 1;
            /* A later wait on the same channel brings what a relaxed one left unseen. It is
             * harmless where nothing is read in between. */
            bool again = false;
            uint32_t id = plan->ids[plan->ops[i].id_at];
            for (size_t j = i + 1; j < plan->op_count && gpu_of(plan, j) == gpu_of(plan, i); j++)
                again |= plan->ops[j].kind == NUNA_OP_WAIT && plan->ids[plan->ops[j].id_at] == id;
            if (!again || plan->ops[i].kind == NUNA_OP_SIGNAL)
                expect_refused(plan, i, "relaxing it");
            plan->ops[i].relaxed = 0;
        }
        nuna_plan_destroy(plan);
    }
}

Test(plan_check, every_put_needs_its_target)
{
    for (size_t s = 0; s < SAMPLES; s++) {
        struct nuna_plan *plan = generate(&samples[s]);
        for (size_t i = 0; i < plan->op_count; i++) {
            if (plan->ops[i].kind != NUNA_OP_PUT)
                continue;
            struct nuna_range *to = &plan->ranges[plan->ops[i].dst_at];
            uint32_t was = to->gpu;
            for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
                to->gpu = gpu;
                if (gpu != was)
                    expect_refused(plan, i, "another target");
            }
            to->gpu = was;
        }
        nuna_plan_destroy(plan);
    }
}

static void try_range(struct nuna_plan *plan, size_t op, struct nuna_range *range)
{
    struct nuna_range was = *range;
    uint32_t chunks = plan->gpus[range->gpu].chunks[range->buffer];
    for (uint32_t index = 0; index <= chunks; index++) {
        range->index = index;
        if (index != was.index)
            expect_refused(plan, op, "another chunk");
    }
    *range = was;
    range->count = chunks + 1;
    expect_refused(plan, op, "more chunks than there are");
    *range = was;
    range->count = 0;
    expect_refused(plan, op, "no chunks");
    *range = was;
}

Test(plan_check, every_chunk_index_matters)
{
    for (size_t s = 0; s < SAMPLES; s++) {
        struct nuna_plan *plan = generate(&samples[s]);
        for (size_t i = 0; i < plan->op_count; i++) {
            const struct nuna_op *op = &plan->ops[i];
            for (uint32_t k = 0; k < op->src_count; k++)
                try_range(plan, i, &plan->ranges[op->src_at + k]);
            for (uint32_t k = 0; k < op->dst_count; k++)
                try_range(plan, i, &plan->ranges[op->dst_at + k]);
        }
        nuna_plan_destroy(plan);
    }
}

Test(plan_check, every_channel_matters)
{
    for (size_t s = 0; s < SAMPLES; s++) {
        struct nuna_plan *plan = generate(&samples[s]);
        for (size_t i = 0; i < plan->op_count; i++) {
            const struct nuna_op *op = &plan->ops[i];
            uint32_t channels = plan->gpus[gpu_of(plan, i)].channel_count;
            uint32_t was = op->id_count > 0 ? plan->ids[op->id_at] : 0;
            for (uint32_t id = 0; op->id_count > 0 && id <= channels; id++) {
                plan->ids[op->id_at] = id;
                if (id != was)
                    expect_refused(plan, i, "another channel");
            }
            if (op->id_count > 0)
                plan->ids[op->id_at] = was;
        }
        nuna_plan_destroy(plan);
    }
}

/* Where a wait's effect is first needed: the next barrier, the end of the GPU's work, or at once.
 */
enum { NEEDED_AT_END = -1, NEEDED_AT_ONCE = -2 };

static int needed_at(const struct nuna_plan *plan, size_t op)
{
    size_t tb = 0;
    while (op >= plan->threadblocks[tb].op_at + plan->threadblocks[tb].op_count)
        tb++;
    size_t end = plan->threadblocks[tb].op_at + plan->threadblocks[tb].op_count;
    for (size_t i = op + 1; i < end; i++) {
        if (plan->ops[i].kind == NUNA_OP_BARRIER)
            return (int)plan->ops[i].barrier_id;
        if (plan->ops[i].kind != NUNA_OP_NOP)
            return NEEDED_AT_ONCE;
    }
    return NEEDED_AT_END;
}

/* Two threadblocks may wait in each other's place when both meet before anything is read. Two may
 * signal in each other's place when all the receiver does is to wait for both. */
static bool exchange_is_harmless(const struct nuna_plan *plan, size_t i, size_t j)
{
    if (plan->ops[i].kind == NUNA_OP_WAIT)
        return needed_at(plan, i) == needed_at(plan, j) && needed_at(plan, i) != NEEDED_AT_ONCE;
    const struct nuna_channel *channels = &plan->channels[plan->gpus[gpu_of(plan, i)].channel_at];
    bool one_step = strstr(plan->source, "allpairs") != NULL &&
                    (plan->collective == NUNA_ALLGATHER || plan->collective == NUNA_ALLTOALL);
    return one_step && channels[plan->ids[plan->ops[i].id_at]].peer ==
                           channels[plan->ids[plan->ops[j].id_at]].peer;
}

static void try_exchange(struct nuna_plan *plan, size_t i, size_t j)
{
    uint32_t *a = &plan->ids[plan->ops[i].id_at], *b = &plan->ids[plan->ops[j].id_at];
    if (plan->ops[i].kind != plan->ops[j].kind || plan->ops[i].id_count == 0 || *a == *b ||
        gpu_of(plan, i) != gpu_of(plan, j))
        return;
    bool harmless = exchange_is_harmless(plan, i, j);
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
    cr_expect(accepted(plan) == harmless, "%s: channels of ops %zu and %zu exchanged: %s",
              plan->source, i, j, harmless ? "refused" : "accepted");
    *b = *a;
    *a = kept;
}

Test(plan_check, exchanged_channels)
{
    for (size_t s = 0; s < SAMPLES; s++) {
        struct nuna_plan *plan = generate(&samples[s]);
        for (size_t i = 0; i < plan->op_count; i++)
            for (size_t j = i + 1; j < plan->op_count; j++)
                try_exchange(plan, i, j);
        nuna_plan_destroy(plan);
    }
}

static size_t nth(const struct nuna_plan *plan, enum nuna_op_kind kind, size_t n)
{
    for (size_t i = 0; i < plan->op_count; i++) {
        if (plan->ops[i].kind == (uint8_t)kind && n-- == 0)
            return i;
    }
    cr_assert(false, "no such operation");
    return 0;
}

/* One fault in a small plan, and what is said of it (after the plan's name). */
static void expect_message(const struct nuna_plan *plan, const char *expected)
{
    const char *message = refusal(plan);
    size_t prefix = strlen(plan->source) + 2;
    cr_assert(strlen(message) > prefix);
    cr_expect_str_eq(message + prefix, expected);
}

Test(plan_check, says_who_waits_for_whom)
{
    struct nuna_plan *plan = generate(&(struct sample){NUNA_ALLREDUCE, NUNA_ALLPAIRS, 3, 1});
    for (int i = 0; i < 2; i++)
        plan->ops[nth(plan, NUNA_OP_SIGNAL, 0)].kind = NUNA_OP_NOP;
    expect_message(
        plan, "deadlock, 4 threadblocks wait for ever:\n"
              "  GPU 0 threadblock 0 op 12 (wait) waits for a signal from GPU 1 on channel 0\n"
              "  GPU 1 threadblock 0 op 5 (barrier) waits at barrier 0, where 1 of 2 threadblocks "
              "are\n"
              "  GPU 1 threadblock 1 op 3 (wait) waits for a signal from GPU 0 on channel 1\n"
              "  GPU 2 threadblock 1 op 10 (wait) waits for a signal from GPU 1 on channel 1");
    nuna_plan_destroy(plan);

    plan = generate(&(struct sample){NUNA_ALLGATHER, NUNA_ALLPAIRS, 4, 1});
    for (size_t i = 0; i < 12; i++)
        plan->ops[nth(plan, NUNA_OP_SIGNAL, 0)].kind = NUNA_OP_NOP;
    const char *message = refusal(plan);
    cr_expect(strstr(message, "12 threadblocks wait") != NULL, "%s", message);
    cr_expect(strstr(message, "\n  ...") != NULL, "%s", message);
    nuna_plan_destroy(plan);
}

Test(plan_check, says_which_contribution_is_wrong)
{
    struct nuna_plan *plan = generate(&(struct sample){NUNA_ALLGATHER, NUNA_ALLPAIRS, 3, 1});
    plan->ops[nth(plan, NUNA_OP_PUT, 0)].kind = NUNA_OP_NOP;
    expect_message(plan, "wrong allgather: GPU 1 output chunk 0 lacks GPU 0's input chunk 0 and "
                         "holds the initial content of GPU 1's output chunk 0");
    nuna_plan_destroy(plan);

    plan = generate(&(struct sample){NUNA_ALLGATHER, NUNA_ALLPAIRS, 3, 1});
    plan->ops[nth(plan, NUNA_OP_SIGNAL, 0)].relaxed = 1;
    expect_message(plan, "wrong allgather: GPU 1 output chunk 0 lacks GPU 0's input chunk 0 and "
                         "holds the initial content of GPU 1's output chunk 0; GPU 0 threadblock 0 "
                         "stores there, but no signal and wait after it say that the data have "
                         "arrived");
    nuna_plan_destroy(plan);

    plan = generate(&(struct sample){NUNA_REDUCESCATTER, NUNA_ALLPAIRS, 3, 1});
    const struct nuna_op *reduce = &plan->ops[nth(plan, NUNA_OP_REDUCE, 1)];
    plan->ranges[reduce->src_at + 2] = plan->ranges[reduce->src_at + 1];
    expect_message(plan, "wrong reducescatter: GPU 1 output chunk 0 lacks GPU 0's input chunk 1 "
                         "and holds GPU 2's input chunk 1 2 times");
    nuna_plan_destroy(plan);
}

Test(plan_check, says_what_is_out_of_range)
{
    struct nuna_plan *plan = generate(&(struct sample){NUNA_ALLREDUCE, NUNA_ALLPAIRS, 3, 1});
    struct nuna_op *put = &plan->ops[nth(plan, NUNA_OP_PUT, 0)];
    struct nuna_range *from = &plan->ranges[put->src_at], *to = &plan->ranges[put->dst_at];
    from->index = 3;
    expect_message(plan, "GPU 0 threadblock 0 op 0: 1 chunk from chunk 3 on, but the input of "
                         "GPU 0 has 3");
    from->index = 1;
    to->gpu = 0;
    expect_message(plan, "GPU 0 threadblock 0 op 0: a put to its own GPU");
    to->gpu = 9;
    expect_message(plan,
                   "GPU 0 threadblock 0 op 0: a range on GPU 9, buffer 2, which do not exist");
    to->gpu = 1;
    from->gpu = 1;
    expect_message(plan, "GPU 0 threadblock 0 op 0: a local operand on GPU 1");
    from->gpu = 0;
    from->count = 2;
    expect_message(plan, "GPU 0 threadblock 0 op 0: 2 chunks into 1");
    from->count = 1;
    put->src_count = 0;
    expect_message(plan, "GPU 0 threadblock 0 op 0: 0 sources and 1 destinations, expected as many "
                         "of both");
    put->src_count = 1;
    put->kind = 99;
    expect_message(plan, "GPU 0 threadblock 0 op 0: unknown kind of operation 99");
    put->kind = NUNA_OP_PUT;
    plan->ids[plan->ops[nth(plan, NUNA_OP_SIGNAL, 0)].id_at] = 2;
    expect_message(plan, "GPU 0 threadblock 0 op 2: channel 2, but GPU 0 has 2");
    plan->ids[plan->ops[nth(plan, NUNA_OP_SIGNAL, 0)].id_at] = 0;
    plan->channels[0].peer_channel = 0;
    expect_message(plan, "GPU 0 channel 0: leads to GPU 1 channel 0, which does not lead back");
    plan->channels[0].peer_channel = 1;
    cr_assert(accepted(plan));
    nuna_plan_destroy(plan);
}

Test(plan_check, says_what_is_wrong_with_barriers_and_shapes)
{
    struct nuna_plan *plan = generate(&(struct sample){NUNA_ALLREDUCE, NUNA_ALLPAIRS, 3, 1});
    struct nuna_op *barrier = &plan->ops[nth(plan, NUNA_OP_BARRIER, 1)];
    barrier->barrier_blocks = 3;
    expect_message(plan, "GPU 0 threadblock 0 op 8: barrier 0 of 3 threadblocks, but an earlier "
                         "operation says 2");
    barrier->barrier_blocks = 2;
    barrier->barrier_id = 1;
    expect_message(plan, "GPU 0 threadblock 0 op 8: barrier 1, but GPU 0 has 1");
    barrier->barrier_id = 0;
    plan->ops[nth(plan, NUNA_OP_BARRIER, 3)].kind = NUNA_OP_NOP;
    plan->ops[nth(plan, NUNA_OP_BARRIER, 2)].kind = NUNA_OP_NOP;
    expect_message(plan, "GPU 0 barrier 0: is for 2 threadblocks, but 1 use it");
    nuna_plan_destroy(plan);

    plan = generate(&(struct sample){NUNA_ALLGATHER, NUNA_ALLPAIRS, 3, 1});
    plan->gpus[2].chunks[NUNA_BUF_OUTPUT] = 6;
    expect_message(plan, "GPU 2 has 1 input and 6 output chunks, an allgather of 3 GPUs needs "
                         "output chunks of every GPU's input chunks");
    nuna_plan_destroy(plan);
}

/* Without its barriers the reducing threadblock may run before the others' data are there, and the
 * sending ones before the sum is. */
Test(plan_check, missing_barriers_are_races)
{
    for (size_t dropped = 0; dropped < 2; dropped++) {
        struct nuna_plan *plan = generate(&(struct sample){NUNA_ALLREDUCE, NUNA_ALLPAIRS, 5, 2});
        for (size_t tb = 0; tb < plan->threadblock_count; tb++) {
            size_t met = 0;
            for (uint32_t i = 0; i < plan->threadblocks[tb].op_count; i++) {
                struct nuna_op *op = &plan->ops[plan->threadblocks[tb].op_at + i];
                if (op->kind == NUNA_OP_BARRIER && met++ == dropped)
                    op->kind = NUNA_OP_NOP;
            }
        }
        cr_expect(!accepted(plan), "barrier %zu", dropped);
        nuna_plan_destroy(plan);
    }
}

/* With one slot for all steps, a fast neighbour overwrites what has not been added up yet. */
Test(plan_check, reused_scratch_is_a_race)
{
    struct nuna_plan *plan = generate(&(struct sample){NUNA_REDUCESCATTER, NUNA_RING, 4, 1});
    for (size_t i = 0; i < plan->range_count; i++) {
        if (plan->ranges[i].buffer == NUNA_BUF_SCRATCH)
            plan->ranges[i].index = 0;
    }
    cr_expect(!accepted(plan));
    nuna_plan_destroy(plan);
}

/* Two threadblocks of a plan that copies input to scratch to output. */
Test(plan_check, semaphores_order_threadblocks)
{
    struct nuna_range ranges[] = {
        {.buffer = NUNA_BUF_INPUT, .count = 2},
        {.buffer = NUNA_BUF_SCRATCH, .count = 2},
        {.buffer = NUNA_BUF_SCRATCH, .count = 2},
        {.buffer = NUNA_BUF_OUTPUT, .count = 2},
    };
    struct nuna_op ops[] = {
        {.kind = NUNA_OP_COPY, .src_count = 1, .dst_count = 1, .src_at = 0, .dst_at = 1},
        {.kind = NUNA_OP_SEM_RELEASE, .id_count = 1},
        {.kind = NUNA_OP_SEM_ACQUIRE, .id_count = 1},
        {.kind = NUNA_OP_COPY, .src_count = 1, .dst_count = 1, .src_at = 2, .dst_at = 3},
    };
    struct nuna_threadblock threadblocks[] = {{.op_at = 0, .op_count = 2},
                                              {.op_at = 2, .op_count = 2}};
    struct nuna_plan_gpu gpu = {.chunks = {2, 2, 2}, .tb_count = 2, .sem_count = 1};
    uint32_t ids[] = {0}, initial[] = {0};
    struct nuna_plan plan = {
        .source = "hand",
        .collective = NUNA_ALLREDUCE,
        .gpu_count = 1,
        .grain = 16,
        .gpus = &gpu,
        .threadblocks = threadblocks,
        .ops = ops,
        .ranges = ranges,
        .ids = ids,
        .sem_init = initial,
        .threadblock_count = 2,
        .op_count = 4,
        .range_count = 4,
        .id_count = 1,
        .sem_count = 1,
    };
    cr_expect(accepted(&plan));
    initial[0] = 1; /* the reader need not wait */
    cr_expect(!accepted(&plan));
    initial[0] = 0;
    ops[1].kind = NUNA_OP_NOP;
    expect_message(&plan, "deadlock, 1 threadblock waits for ever:\n"
                          "  GPU 0 threadblock 1 op 0 (sem_acquire) waits for semaphore 0, "
                          "which nobody releases");
    ops[1].kind = NUNA_OP_SEM_RELEASE;
    ids[0] = 1;
    expect_message(&plan, "GPU 0 threadblock 0 op 1: semaphore 1, but GPU 0 has 1");
}

Test(plan_check, verdict)
{
    struct nuna_error err;
    struct nuna_plan_verdict verdict;
    struct nuna_plan *plan = generate(&(struct sample){NUNA_ALLTOALL, NUNA_ALLPAIRS, 5, 2});
    cr_assert(check_plan(plan, &verdict, &err));
    cr_expect(verdict.proved && !verdict.nothing_to_prove);
    cr_expect_eq(verdict.operations, plan->op_count);
    cr_expect_eq(verdict.puts, 40);
    cr_expect_eq(verdict.signals, 40);

    /* The same as something else completes, right or wrong; but a signal must not be left over. */
    plan->collective = NUNA_COLLECTIVE_OTHER;
    cr_assert(check_plan(plan, &verdict, &err));
    cr_expect(!verdict.proved && verdict.nothing_to_prove);
    plan->ops[nth(plan, NUNA_OP_WAIT, 0)].kind = NUNA_OP_NOP;
    cr_assert(strstr(refusal(plan), "1 signal, 0 waits") != NULL);
    nuna_plan_destroy(plan);
}
