/* The plan executor over an ideal machine of constant latencies, against a naive reference that
 * polls, and against times by hand. */
#include "collectives/exec/exec.h"
#include "collectives/generate/generate.h"
#include "collectives/plan/build.h"
#include "collectives/plan/shape.h"

#include "default_shape.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define FLAG_TIME    50u

/* Something that ends at a time: an operation of a threadblock, or a signal's flight. */
struct pending {
    nuna_time time;
    uint32_t gpu, tb, channel, cause; /* cause: NUNA_NONE for an operation */
};

struct ideal {
    const struct nuna_plan *plan;
    struct nuna_shape shape;
    nuna_time transfer_time, spread; /* an operation takes transfer_time + op * 37 % (spread + 1) */
    nuna_time now;
    struct nuna_exec *execs;
    struct seat {
        struct ideal *ideal;
        uint32_t gpu;
    } * seats;
    struct nuna_op_log *log;
    uint32_t *runs;      /* of each operation */
    uint32_t *waited_on; /* of each WAIT: the channel told at its end, or NUNA_NONE */
    struct pending *pending;
    size_t pending_count;
};

static nuna_time duration(const struct ideal *ideal, uint32_t op)
{
    return ideal->transfer_time + op * 37 % (ideal->spread + 1);
}

static void promise(struct ideal *ideal, struct pending pending)
{
    ideal->pending[ideal->pending_count++] = pending;
}

static bool transfer(void *machine, uint32_t tb, uint32_t op, const struct nuna_move *move)
{
    const struct seat *seat = machine;
    struct ideal *ideal = seat->ideal;
    ideal->runs[op]++;
    if (duration(ideal, op) == 0)
        return true;
    promise(ideal, (struct pending){ideal->now + duration(ideal, op), seat->gpu, tb, 0, NUNA_NONE});
    return false;
}

static bool send_flags(void *machine, uint32_t tb, uint32_t op, const uint32_t *channels,
                       uint32_t count, bool ordered)
{
    const struct seat *seat = machine;
    struct ideal *ideal = seat->ideal;
    const struct nuna_plan *plan = ideal->plan;
    ideal->runs[op]++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = plan->gpus[seat->gpu].channel_at + channels[i];
        const struct nuna_channel *channel = &plan->channels[id];
        promise(ideal, (struct pending){ideal->now + FLAG_TIME, channel->peer, 0,
                                        channel->peer_channel, op});
    }
    return true;
}

static void waited(void *machine, uint32_t op, uint32_t channel)
{
    const struct seat *seat = machine;
    seat->ideal->waited_on[op] = channel;
}

static const struct nuna_machine machine = {
    .transfer = transfer, .signal = send_flags, .waited = waited};

static void ideal_init(struct ideal *ideal, const struct nuna_plan *plan, nuna_time transfer_time,
                       nuna_time spread)
{
    *ideal =
        (struct ideal){.plan = plan, .transfer_time = transfer_time, .spread = spread, .now = 0};
    ideal->shape = default_shape(plan, 1 << 20);
    ideal->execs = calloc(plan->gpu_count, sizeof *ideal->execs);
    ideal->seats = calloc(plan->gpu_count, sizeof *ideal->seats);
    ideal->log = calloc(plan->op_count + 1, sizeof *ideal->log);
    ideal->runs = calloc(plan->op_count + 1, sizeof *ideal->runs);
    ideal->waited_on = calloc(plan->op_count + 1, sizeof *ideal->waited_on);
    ideal->pending = calloc(plan->id_count + plan->threadblock_count + 1, sizeof *ideal->pending);
    cr_assert(ideal->execs && ideal->seats && ideal->log && ideal->runs && ideal->waited_on &&
              ideal->pending);
    for (size_t op = 0; op < plan->op_count; op++)
        ideal->waited_on[op] = NUNA_NONE;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        ideal->seats[g] = (struct seat){ideal, g};
        cr_assert(nuna_exec_init(&ideal->execs[g], &ideal->shape, g, &machine, &ideal->seats[g],
                                 ideal->log));
    }
}

/* Runs until nothing is pending; of what ends at one time, in the order it was promised. */
static void ideal_run(struct ideal *ideal)
{
    for (uint32_t g = 0; g < ideal->plan->gpu_count; g++)
        nuna_exec_start(&ideal->execs[g], 0);
    while (ideal->pending_count > 0) {
        size_t first = 0;
        for (size_t i = 1; i < ideal->pending_count; i++)
            if (ideal->pending[i].time < ideal->pending[first].time)
                first = i;
        struct pending next = ideal->pending[first];
        ideal->pending_count--;
        memmove(&ideal->pending[first], &ideal->pending[first + 1],
                (ideal->pending_count - first) * sizeof next);
        ideal->now = next.time;
        if (next.cause == NUNA_NONE)
            nuna_exec_op_done(&ideal->execs[next.gpu], next.tb, next.time);
        else
            nuna_exec_signal_landed(&ideal->execs[next.gpu], next.channel, next.cause, next.time);
    }
}

static uint32_t unfinished(const struct ideal *ideal)
{
    uint32_t sum = 0;
    for (uint32_t g = 0; g < ideal->plan->gpu_count; g++)
        sum += ideal->execs[g].unfinished;
    return sum;
}

static void ideal_finish(struct ideal *ideal)
{
    for (uint32_t g = 0; g < ideal->plan->gpu_count; g++)
        nuna_exec_finish(&ideal->execs[g]);
    free(ideal->execs);
    free(ideal->seats);
    free(ideal->log);
    free(ideal->runs);
    free(ideal->waited_on);
    free(ideal->pending);
}

/* ---- the reference: every threadblock looks again and again whether it can go on ---- */

#define OPS_MAX      4096u
#define CHANNELS_MAX 256u
#define LANDINGS_MAX 32u

struct poll {
    const struct ideal *ideal; /* for the durations */
    nuna_time end[OPS_MAX], busy_until[OPS_MAX];
    bool arrived[OPS_MAX];
    uint32_t meeting[OPS_MAX]; /* of a barrier operation: arrivals that complete its round */
    uint32_t pc[OPS_MAX];      /* by threadblock */
    uint32_t landing_count[CHANNELS_MAX];
    nuna_time landings[CHANNELS_MAX][LANDINGS_MAX];
    uint32_t meetings[8][CHANNELS_MAX]; /* by GPU and barrier: arrivals so far, of all rounds */
};

static bool poll_op(struct poll *poll, uint32_t gpu, uint32_t op_index, nuna_time now)
{
    const struct nuna_plan *plan = poll->ideal->plan;
    const struct nuna_op *op = &plan->ops[op_index];
    bool first = !poll->arrived[op_index];
    poll->arrived[op_index] = true;
    if (op->kind == NUNA_OP_SIGNAL) {
        for (uint32_t i = 0; i < op->id_count; i++) {
            const struct nuna_channel *c =
                &plan->channels[plan->gpus[gpu].channel_at + plan->ids[op->id_at + i]];
            uint32_t there = plan->gpus[c->peer].channel_at + c->peer_channel;
            cr_assert_lt(poll->landing_count[there], LANDINGS_MAX);
            poll->landings[there][poll->landing_count[there]++] = now + FLAG_TIME;
        }
        return true;
    }
    if (op->kind == NUNA_OP_WAIT) {
        /* Generated plans wait on one channel. */
        uint32_t here = plan->gpus[gpu].channel_at + plan->ids[op->id_at];
        for (uint32_t i = 0; i < poll->landing_count[here]; i++)
            if (poll->landings[here][i] <= now) {
                poll->landings[here][i] = NUNA_TIME_MAX; /* used up */
                return true;
            }
        return false;
    }
    if (op->kind == NUNA_OP_BARRIER) {
        uint32_t *arrivals = &poll->meetings[gpu][op->barrier_id];
        if (first)
            poll->meeting[op_index] =
                (*arrivals)++ / op->barrier_blocks * op->barrier_blocks + op->barrier_blocks;
        return *arrivals >= poll->meeting[op_index];
    }
    if (op->kind == NUNA_OP_NOP)
        return true;
    if (first)
        poll->busy_until[op_index] = now + duration(poll->ideal, op_index);
    return now >= poll->busy_until[op_index];
}

static bool poll_all(struct poll *poll, nuna_time now)
{
    const struct nuna_plan *plan = poll->ideal->plan;
    bool moved = false;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = plan->gpus[g].tb_at; t < plan->gpus[g].tb_at + plan->gpus[g].tb_count;
             t++)
            while (poll->pc[t] < plan->threadblocks[t].op_count) {
                uint32_t op = plan->threadblocks[t].op_at + poll->pc[t];
                if (!poll_op(poll, g, op, now))
                    break;
                poll->end[op] = now;
                poll->pc[t]++;
                moved = true;
            }
    return moved;
}

static void compare_with_polling(const struct ideal *ideal)
{
    const struct nuna_plan *plan = ideal->plan;
    static struct poll poll;
    cr_assert(plan->gpu_count <= 8 && plan->op_count <= OPS_MAX &&
              plan->channel_count <= CHANNELS_MAX);
    memset(&poll, 0, sizeof poll);
    poll.ideal = ideal;
    for (nuna_time now = 0; now <= ideal->now; now++)
        while (poll_all(&poll, now))
            ;
    for (uint32_t op = 0; op < plan->op_count; op++) {
        cr_assert(poll.arrived[op], "%s: the reference is stuck at op %u", plan->name, op);
        cr_assert_eq(ideal->log[op].end, poll.end[op],
                     "%s: op %u (kind %u) ended at %" PRIu64 ", polling says %" PRIu64, plan->name,
                     op, plan->ops[op].kind, ideal->log[op].end, poll.end[op]);
    }
}

static void check_generated(struct nuna_plan_spec spec, nuna_time transfer_time, nuna_time spread)
{
    struct nuna_error err;
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert_not_null(plan, "%s", err.message);
    struct ideal ideal;
    ideal_init(&ideal, plan, transfer_time, spread);
    ideal_run(&ideal);
    cr_assert_eq(unfinished(&ideal), 0, "%s does not finish", plan->name);
    for (size_t op = 0; op < plan->op_count; op++) {
        uint8_t kind = plan->ops[op].kind;
        bool machines = kind == NUNA_OP_PUT || kind == NUNA_OP_COPY || kind == NUNA_OP_REDUCE ||
                        kind == NUNA_OP_SIGNAL;
        cr_assert_eq(ideal.runs[op], machines ? 1 : 0, "%s: op %zu ran %u times", plan->name, op,
                     ideal.runs[op]);
    }
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        nuna_time last = 0;
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            nuna_time end = tb->op_count ? ideal.log[tb->op_at + tb->op_count - 1].end : 0;
            last = end > last ? end : last;
        }
        cr_assert_eq(ideal.execs[g].finished, last, "%s: GPU %u", plan->name, g);
    }
    compare_with_polling(&ideal);
    ideal_finish(&ideal);
    nuna_plan_destroy(plan);
}

Test(exec, generated_plans_end_when_polling_says)
{
    static const uint32_t gpus[] = {1, 2, 3, 5, 8};
    for (int collective = NUNA_ALLGATHER; collective <= NUNA_ALLTOALL; collective++)
        for (int algorithm = NUNA_ALLPAIRS; algorithm <= NUNA_RING; algorithm++)
            for (size_t g = 0; g < COUNT(gpus); g++)
                for (uint32_t channels = 1; channels <= 3; channels += 2) {
                    struct nuna_plan_spec spec = {(enum nuna_collective)collective,
                                                  (enum nuna_algorithm)algorithm, gpus[g],
                                                  channels};
                    check_generated(spec, 100, 0);
                    check_generated(spec, 60, 90);
                    check_generated(spec, 0, 0); /* complete at once */
                }
}

/* ---- by hand: GPU 0 and GPU 1, each with channel 0, 1, 2 to the other's 0, 1, 2 ---- */

struct hand {
    struct nuna_builder builder;
    struct nuna_plan *plan;
    struct ideal ideal;
};

static void hand_start(struct hand *hand)
{
    struct nuna_error err;
    cr_assert(nuna_builder_init(&hand->builder, 2, &err));
}

static void hand_gpu(struct hand *hand, uint32_t gpu)
{
    nuna_builder_gpu(&hand->builder, gpu);
    for (uint32_t c = 0; c < 3; c++)
        nuna_builder_channel(&hand->builder, gpu,
                             (struct nuna_channel){.peer = 1 - gpu, .peer_channel = c});
}

/* One threadblock in letters: c copy, n nop, s and w signal and wait on channel 0, S and W on 0, 1
 * and 2, t signal on 1, u on 2, b barrier 0 of three blocks, a and r acquire and release semaphore
 * 0, A both. */
static void hand_block(struct hand *hand, uint32_t gpu, const char *letters)
{
    struct nuna_builder *b = &hand->builder;
    nuna_builder_threadblock(b, gpu);
    for (const char *l = letters; *l; l++) {
        if (*l == 'b') {
            nuna_builder_barrier(b, 0, 3);
            continue;
        }
        nuna_builder_op(b,
                        *l == 'c'                ? NUNA_OP_COPY
                        : *l == 'n'              ? NUNA_OP_NOP
                        : strchr("stuS", *l)     ? NUNA_OP_SIGNAL
                        : *l == 'w' || *l == 'W' ? NUNA_OP_WAIT
                        : *l == 'a' || *l == 'A' ? NUNA_OP_SEM_ACQUIRE
                                                 : NUNA_OP_SEM_RELEASE,
                        false);
        if (*l == 'c' || *l == 'n')
            continue;
        nuna_builder_id(b, *l == 't' ? 1 : *l == 'u' ? 2 : 0);
        if (strchr("SWA", *l))
            nuna_builder_id(b, 1);
        if (*l == 'S' || *l == 'W')
            nuna_builder_id(b, 2);
    }
}

static void hand_run(struct hand *hand)
{
    struct nuna_error err;
    hand->plan = nuna_builder_finish(&hand->builder, &err);
    cr_assert_not_null(hand->plan, "%s", err.message);
    ideal_init(&hand->ideal, hand->plan, 100, 0);
    ideal_run(&hand->ideal);
}

static void hand_finish(struct hand *hand)
{
    ideal_finish(&hand->ideal);
    nuna_plan_destroy(hand->plan);
}

static void ends(const struct hand *hand, uint32_t op, nuna_time end, uint32_t cause)
{
    const struct nuna_op_log *log = &hand->ideal.log[op];
    cr_assert_eq(log->end, end, "op %u ended at %" PRIu64 ", not %" PRIu64, op, log->end, end);
    cr_assert_eq(log->cause, cause, "op %u was caused by %u, not %u", op, log->cause, cause);
}

Test(exec, operations_of_a_block_run_one_after_the_other)
{
    struct hand hand;
    hand_start(&hand);
    hand_gpu(&hand, 0);
    hand_block(&hand, 0, "cncc");
    hand_block(&hand, 0, "");
    hand_block(&hand, 0, "nnc");
    hand_gpu(&hand, 1);
    hand_run(&hand);
    static const nuna_time due[] = {100, 100, 200, 300, 0, 0, 100};
    for (uint32_t op = 0; op < COUNT(due); op++)
        ends(&hand, op, due[op], NUNA_NONE);
    cr_assert_eq(unfinished(&hand.ideal), 0);
    cr_assert_eq(hand.ideal.execs[0].finished, 300);
    cr_assert_eq(hand.ideal.execs[1].finished, 0);
    hand_finish(&hand);
}

Test(exec, signals_before_waits_are_kept)
{
    struct hand hand;
    hand_start(&hand);
    hand_gpu(&hand, 0);
    hand_block(&hand, 0, "sss"); /* 0 .. 2, landing at 50 */
    hand_gpu(&hand, 1);
    hand_block(&hand, 1, "cwwcw"); /* 3 .. 7 */
    hand_run(&hand);
    static const nuna_time due[] = {0, 0, 0, 100, 100, 100, 200, 200};
    for (uint32_t op = 0; op < COUNT(due); op++) {
        ends(&hand, op, due[op], NUNA_NONE);
        cr_assert_eq(hand.ideal.waited_on[op], NUNA_NONE, "it was not blocked");
    }
    cr_assert_eq(unfinished(&hand.ideal), 0);
    hand_finish(&hand);
}

Test(exec, wait_on_several_channels_ends_with_the_last)
{
    struct hand hand;
    hand_start(&hand);
    hand_gpu(&hand, 0);
    hand_block(&hand, 0, "ucsct");  /* 0 .. 4: channel 2 lands at 50, 0 at 150, 1 at 250 */
    hand_block(&hand, 0, "cccccS"); /* 5 .. 10: all at 550 */
    hand_gpu(&hand, 1);
    hand_block(&hand, 1, "WnW"); /* 11 .. 13 */
    hand_run(&hand);
    ends(&hand, 11, 250, 4);
    cr_assert_eq(hand.ideal.waited_on[11], 1, "blocked last on channel 1");
    ends(&hand, 13, 550, 10);
    cr_assert_eq(hand.ideal.waited_on[13], 2);
    cr_assert_eq(unfinished(&hand.ideal), 0);
    hand_finish(&hand);
}

Test(exec, barrier_frees_all_at_the_last_arrival_again_and_again)
{
    struct hand hand;
    hand_start(&hand);
    hand_gpu(&hand, 0);
    hand_gpu(&hand, 1);
    hand.builder.plan->gpus[1].barrier_count = 1;
    hand_block(&hand, 1, "bcb");    /* 0 .. 2 */
    hand_block(&hand, 1, "ccbb");   /* 3 .. 6 */
    hand_block(&hand, 1, "cbcccb"); /* 7 .. 12 */
    hand_run(&hand);
    ends(&hand, 0, 200, 5);
    ends(&hand, 5, 200, NUNA_NONE);
    ends(&hand, 8, 200, 5);
    ends(&hand, 1, 300, NUNA_NONE);
    ends(&hand, 2, 500, 12);
    ends(&hand, 6, 500, 12);
    ends(&hand, 12, 500, NUNA_NONE);
    cr_assert_eq(unfinished(&hand.ideal), 0);
    hand_finish(&hand);
}

Test(exec, semaphore_goes_round_in_order_of_arrival)
{
    for (uint32_t permits = 1; permits <= 3; permits++) {
        struct hand hand;
        hand_start(&hand);
        hand_gpu(&hand, 0);
        nuna_builder_semaphore(&hand.builder, 0, permits);
        for (uint32_t block = 0; block < 6; block++)
            hand_block(&hand, 0, "acr");
        hand_gpu(&hand, 1);
        hand_run(&hand);
        for (uint32_t block = 0; block < 6; block++) {
            uint32_t before = block < permits ? NUNA_NONE : 3 * (block - permits) + 2;
            ends(&hand, 3 * block, block / permits * 100, before);
            ends(&hand, 3 * block + 2, (block / permits + 1) * 100, NUNA_NONE);
        }
        cr_assert_eq(hand.ideal.execs[0].semaphores[0].value, permits);
        hand_finish(&hand);
    }
}

static void waits(const struct hand *hand, uint32_t gpu, uint32_t tb, const char *expected)
{
    char text[160] = "";
    bool waiting = nuna_exec_describe_wait(&hand->ideal.execs[gpu], tb, text, sizeof text);
    cr_assert_eq(waiting, expected != NULL, "GPU %u threadblock %u: \"%s\"", gpu, tb, text);
    if (expected)
        cr_assert_str_eq(text, expected);
}

Test(exec, busy_blocks_do_not_wait)
{
    struct hand hand;
    hand_start(&hand);
    hand_gpu(&hand, 0);
    hand_block(&hand, 0, "wc");
    hand_block(&hand, 0, "c");
    hand_gpu(&hand, 1);
    struct nuna_error err;
    hand.plan = nuna_builder_finish(&hand.builder, &err);
    cr_assert_not_null(hand.plan);
    ideal_init(&hand.ideal, hand.plan, 100, 0);
    nuna_exec_start(&hand.ideal.execs[0], 0);
    waits(&hand, 0, 0, "GPU 0 threadblock 0 op 0 (wait): a signal from GPU 1 on channel 0");
    waits(&hand, 0, 1, NULL);
    nuna_exec_signal_landed(&hand.ideal.execs[0], 0, 0, 70);
    waits(&hand, 0, 0, NULL);
    hand_finish(&hand);
}

Test(exec, deadlock_is_described)
{
    struct hand hand;
    hand_start(&hand);
    hand_gpu(&hand, 0);
    nuna_builder_semaphore(&hand.builder, 0, 1);
    nuna_builder_semaphore(&hand.builder, 0, 0);
    hand.builder.plan->gpus[0].barrier_count = 1;
    hand_block(&hand, 0, "cnb");
    hand_block(&hand, 0, "b");
    hand_block(&hand, 0, "nA"); /* semaphore 0 is there, 1 never */
    hand_block(&hand, 0, "c");
    hand_gpu(&hand, 1);
    hand_block(&hand, 1, "ccW");
    hand_block(&hand, 1, "");
    hand_run(&hand);
    waits(&hand, 0, 0,
          "GPU 0 threadblock 0 op 2 (barrier): 2 of 3 threadblocks have come to barrier 0");
    waits(&hand, 0, 1,
          "GPU 0 threadblock 1 op 0 (barrier): 2 of 3 threadblocks have come to barrier 0");
    waits(&hand, 0, 2, "GPU 0 threadblock 2 op 1 (sem_acquire): semaphore 1 to be released");
    waits(&hand, 0, 3, NULL);
    waits(&hand, 1, 0, "GPU 1 threadblock 0 op 2 (wait): a signal from GPU 0 on channel 0");
    waits(&hand, 1, 1, NULL);
    cr_assert_eq(hand.ideal.execs[0].unfinished, 3);
    cr_assert_eq(hand.ideal.execs[1].unfinished, 1);
    /* The text is cut, never overflowed. */
    char little[12];
    cr_assert(nuna_exec_describe_wait(&hand.ideal.execs[1], 0, little, sizeof little));
    cr_assert_str_eq(little, "GPU 1 threa");
    hand_finish(&hand);
}
