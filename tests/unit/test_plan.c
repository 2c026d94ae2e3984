/* Chunk arithmetic, the generator and the builtin: text. */
#include "collectives/check/check.h"
#include "collectives/generate/generate.h"
#include "collectives/generate/generator.h"
#include "collectives/generate/spec_text.h"

#include "default_shape.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const uint32_t gpu_counts[] = {1, 2, 3, 5, 7, 8, 12, 33, 64};
static const uint64_t sizes[] = {
    0, 1, 15, 16, 127, 128, 129, 256, 257, 4096, 1000003, (1ull << 31) + 1, (1ull << 32) + 1};
static const char *const names[] = {"allgather", "allreduce", "reducescatter", "alltoall"};

static struct nuna_plan *generate(enum nuna_collective collective, enum nuna_algorithm algorithm,
                                  uint32_t gpus, uint32_t channels)
{
    struct nuna_error err;
    struct nuna_plan_spec spec = {collective, algorithm, gpus, channels};
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert(plan != NULL, "%s", err.message);
    return plan;
}

static uint64_t buffer_bytes(const struct nuna_plan *plan, uint64_t size, uint32_t gpu,
                             enum nuna_buffer buffer)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < plan->gpus[gpu].chunks[buffer]; i++)
        total += nuna_plan_chunk_bytes(plan, size, gpu, buffer, i);
    return total;
}

/* A plan with chunks and nothing else. */
static void bare_plan(struct nuna_plan *plan, struct nuna_plan_gpu *gpus,
                      enum nuna_collective collective, uint32_t count, uint32_t chunks)
{
    *plan =
        (struct nuna_plan){.collective = collective, .gpu_count = count, .grain = 16, .gpus = gpus};
    for (uint32_t i = 0; i < count; i++) {
        gpus[i] = (struct nuna_plan_gpu){.chunks = {count * chunks, count * chunks, 3}};
        if (collective == NUNA_ALLGATHER)
            gpus[i].chunks[NUNA_BUF_INPUT] = chunks;
        if (collective == NUNA_REDUCESCATTER)
            gpus[i].chunks[NUNA_BUF_OUTPUT] = chunks;
    }
}

static void check_conservation(const struct nuna_plan *plan, uint64_t size)
{
    uint64_t inputs = 0, outputs = 0;
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        uint64_t input = buffer_bytes(plan, size, gpu, NUNA_BUF_INPUT);
        uint64_t output = buffer_bytes(plan, size, gpu, NUNA_BUF_OUTPUT);
        if (plan->collective != NUNA_ALLGATHER)
            cr_assert_eq(input, size, "%s of %u GPUs, %" PRIu64 " B: GPU %u has %" PRIu64 " in",
                         names[plan->collective], plan->gpu_count, size, gpu, input);
        if (plan->collective != NUNA_REDUCESCATTER)
            cr_assert_eq(output, size, "%s of %u GPUs, %" PRIu64 " B: GPU %u has %" PRIu64 " out",
                         names[plan->collective], plan->gpu_count, size, gpu, output);
        inputs += input;
        outputs += output;
    }
    if (plan->collective == NUNA_ALLGATHER)
        cr_assert_eq(inputs, size);
    if (plan->collective == NUNA_REDUCESCATTER)
        cr_assert_eq(outputs, size);
}

Test(plan, every_byte_is_in_one_chunk)
{
    struct nuna_plan plan;
    struct nuna_plan_gpu gpus[64];
    for (int collective = 0; collective < NUNA_COLLECTIVE_OTHER; collective++)
        for (size_t n = 0; n < COUNT(gpu_counts); n++)
            for (uint32_t chunks = 1; chunks <= 5; chunks++) {
                bare_plan(&plan, gpus, (enum nuna_collective)collective, gpu_counts[n], chunks);
                for (size_t s = 0; s < COUNT(sizes); s++)
                    check_conservation(&plan, sizes[s]);
            }
}

Test(plan, other_cuts_conserve_too)
{
    struct nuna_plan_gpu gpus[3] = {{.chunks = {4, 4, 1}}, {.chunks = {4, 2, 0}}};
    struct nuna_plan plan = {
        .collective = NUNA_COLLECTIVE_OTHER, .gpu_count = 3, .grain = 16, .gpus = gpus};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        cr_expect_eq(buffer_bytes(&plan, sizes[s], 0, NUNA_BUF_INPUT), sizes[s]);
        cr_expect_eq(buffer_bytes(&plan, sizes[s], 0, NUNA_BUF_OUTPUT), sizes[s]);
        for (uint32_t i = 0; i < 2; i++)
            cr_expect_eq(nuna_plan_chunk_bytes(&plan, sizes[s], 1, NUNA_BUF_OUTPUT, i),
                         nuna_plan_chunk_bytes(&plan, sizes[s], 1, NUNA_BUF_INPUT, i));
    }
    /* Four chunks do not make three blocks: the buffer is cut as a whole. */
    plan.collective = NUNA_ALLREDUCE;
    gpus[1].chunks[NUNA_BUF_OUTPUT] = 4;
    for (size_t s = 0; s < COUNT(sizes); s++)
        cr_expect_eq(buffer_bytes(&plan, sizes[s], 1, NUNA_BUF_OUTPUT), sizes[s]);
    cr_expect_eq(nuna_plan_chunk_block(&plan, 1, NUNA_BUF_OUTPUT, 3), UINT32_MAX);
}

Test(plan, cut_by_hand)
{
    struct nuna_plan plan;
    struct nuna_plan_gpu gpus[3];
    /* 127 B are 7 grains and 15 B; three blocks take 3, 2 and 2 grains, the last the 15 B as well.
     */
    bare_plan(&plan, gpus, NUNA_ALLGATHER, 3, 2);
    static const uint64_t expected[] = {32, 16, 16, 16, 16, 31};
    for (uint32_t i = 0; i < 6; i++) {
        cr_expect_eq(nuna_plan_chunk_bytes(&plan, 127, 1, NUNA_BUF_OUTPUT, i), expected[i]);
        cr_expect_eq(nuna_plan_chunk_bytes(&plan, 127, i / 2, NUNA_BUF_INPUT, i % 2), expected[i]);
        cr_expect_eq(nuna_plan_chunk_block(&plan, 1, NUNA_BUF_OUTPUT, i), i / 2);
    }
    cr_expect_eq(nuna_plan_chunk_block(&plan, 1, NUNA_BUF_INPUT, 0), 1);
    cr_expect_eq(nuna_plan_chunk_block(&plan, 1, NUNA_BUF_SCRATCH, 0), UINT32_MAX);
    cr_expect_eq(nuna_plan_chunk_bytes(&plan, 127, 1, NUNA_BUF_SCRATCH, 2), 32);
    cr_expect_eq(nuna_plan_chunk_bytes(&plan, 127, 1, NUNA_BUF_SCRATCH, 3), 0);

    /* The block from GPU 1 to GPU 0 has distance 2, whoever is asked. */
    bare_plan(&plan, gpus, NUNA_ALLTOALL, 3, 1);
    cr_expect_eq(nuna_plan_chunk_bytes(&plan, 127, 1, NUNA_BUF_INPUT, 0), 47);
    cr_expect_eq(nuna_plan_chunk_bytes(&plan, 127, 0, NUNA_BUF_OUTPUT, 1), 47);
}

static void check_puts(const struct nuna_plan *plan, uint64_t size)
{
    for (size_t i = 0; i < plan->op_count; i++) {
        const struct nuna_op *op = &plan->ops[i];
        if (op->kind != NUNA_OP_PUT && op->kind != NUNA_OP_COPY)
            continue;
        const struct nuna_range *from = &plan->ranges[op->src_at], *to = &plan->ranges[op->dst_at];
        uint64_t read = nuna_plan_chunk_bytes(plan, size, from->gpu, (enum nuna_buffer)from->buffer,
                                              from->index);
        uint64_t written =
            nuna_plan_chunk_bytes(plan, size, to->gpu, (enum nuna_buffer)to->buffer, to->index);
        if (to->buffer == NUNA_BUF_SCRATCH)
            cr_assert(read <= written, "%s: op %zu", plan->source, i);
        else
            cr_assert_eq(read, written, "%s: op %zu", plan->source, i);
    }
}

/* What must cross between GPUs, whatever the algorithm: every block but the own, N - 1 times. */
static uint64_t expected_remote(const struct nuna_plan *plan, uint64_t size)
{
    uint64_t ranks = plan->gpu_count;
    if (plan->collective == NUNA_ALLREDUCE)
        return 2 * (ranks - 1) * size;
    if (plan->collective != NUNA_ALLTOALL)
        return (ranks - 1) * size;
    uint64_t own = 0;
    uint32_t chunks = plan->gpus[0].chunks[NUNA_BUF_INPUT] / plan->gpu_count;
    for (uint32_t i = 0; i < chunks; i++)
        own += nuna_plan_chunk_bytes(plan, size, 0, NUNA_BUF_INPUT, i);
    return ranks * (size - own);
}

static void check_generated(enum nuna_collective collective, enum nuna_algorithm algorithm,
                            uint32_t gpus, uint32_t channels)
{
    struct nuna_error err;
    struct nuna_plan_verdict verdict;
    struct nuna_plan *plan = generate(collective, algorithm, gpus, channels);
    cr_assert(check_plan(plan, &verdict, &err), "%s", err.message);
    cr_assert(verdict.proved);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        check_puts(plan, sizes[s]);
        cr_assert_eq(remote_bytes(plan, sizes[s]), expected_remote(plan, sizes[s]),
                     "%s, %" PRIu64 " B", plan->source, sizes[s]);
    }
    nuna_plan_destroy(plan);
}

Test(plan, generated_plans_are_proved_and_move_what_they_must)
{
    for (int collective = 0; collective < NUNA_COLLECTIVE_OTHER; collective++)
        for (size_t n = 0; n < COUNT(gpu_counts); n++)
            for (uint32_t channels = 1; channels <= 3; channels++) {
                if (gpu_counts[n] > 12 && channels > 1)
                    continue;
                check_generated((enum nuna_collective)collective, NUNA_ALLPAIRS, gpu_counts[n],
                                channels);
                if (collective != NUNA_ALLTOALL)
                    check_generated((enum nuna_collective)collective, NUNA_RING, gpu_counts[n],
                                    channels);
            }
}

/* Relabelling GPU g's list by -g gives GPU 0's list. */
Test(plan, all_pairs_lists_are_the_same_but_for_the_ranks)
{
    for (int collective = 0; collective < NUNA_COLLECTIVE_OTHER; collective++) {
        struct nuna_plan *plan = generate((enum nuna_collective)collective, NUNA_ALLPAIRS, 5, 2);
        uint32_t per_gpu = plan->gpus[0].tb_count;
        cr_assert_eq(per_gpu, 8);
        for (uint32_t i = 0; i < plan->threadblock_count; i++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[i];
            const struct nuna_threadblock *model = &plan->threadblocks[i % per_gpu];
            uint32_t gpu = i / per_gpu;
            cr_assert_eq(tb->op_count, model->op_count);
            for (uint32_t k = 0; k < tb->op_count; k++) {
                const struct nuna_op *op = &plan->ops[tb->op_at + k];
                const struct nuna_op *like = &plan->ops[model->op_at + k];
                cr_assert_eq(op->kind, like->kind);
                if (op->dst_count > 0)
                    cr_assert_eq(plan->ranges[op->dst_at].gpu,
                                 (plan->ranges[like->dst_at].gpu + gpu) % 5);
                if (op->id_count > 0)
                    cr_assert_eq(plan->ids[op->id_at], plan->ids[like->id_at]);
            }
        }
        for (uint32_t k = 0; k < plan->gpus[0].channel_count; k++)
            cr_assert_eq(plan->channels[k].peer, k / 2 + 1);
        nuna_plan_destroy(plan);
    }
}

Test(plan, one_gpu_copies_at_most)
{
    for (int collective = 0; collective < NUNA_COLLECTIVE_OTHER; collective++) {
        struct nuna_plan *plan = generate((enum nuna_collective)collective, NUNA_ALLPAIRS, 1, 3);
        cr_expect_eq(plan->threadblock_count, 3);
        cr_expect_eq(plan->op_count, collective == NUNA_ALLTOALL ? 3 : 0);
        cr_expect_eq(plan->channel_count, 0);
        cr_expect_eq(remote_bytes(plan, 1000), 0);
        nuna_plan_destroy(plan);
    }
}

static const struct refused {
    struct nuna_plan_spec spec;
    const char *message;
} refused[] = {
    {{NUNA_ALLGATHER, NUNA_ALLPAIRS, 0, 1},
     "cannot generate a plan for 0 GPUs, expected 1 to 4096"},
    {{NUNA_ALLGATHER, NUNA_ALLPAIRS, 4097, 1},
     "cannot generate a plan for 4097 GPUs, expected 1 to 4096"},
    {{NUNA_ALLGATHER, NUNA_ALLPAIRS, 2, 0},
     "cannot generate a plan with 0 channels, expected 1 to 1024"},
    {{NUNA_ALLGATHER, NUNA_ALLPAIRS, 2, 1025},
     "cannot generate a plan with 1025 channels, expected 1 to 1024"},
    {{NUNA_COLLECTIVE_OTHER, NUNA_ALLPAIRS, 2, 1},
     "cannot generate a plan for this collective, expected one of:" NUNA_LISTED_WORDS(
         NUNA_COLLECTIVES)},
    {{NUNA_ALLTOALL, NUNA_TREE, 4096, 1},
     "a plan for 4096 GPUs with 1 channels would take at least 9222 MiB of memory, the limit is "
     "6144 MiB; use fewer channels or GPUs"},
    {{NUNA_ALLGATHER, NUNA_ALLPAIRS, 4096, 1024},
     "a plan for 4096 GPUs with 1024 channels would take at least 3800160 MiB of memory, the limit "
     "is 6144 MiB; use fewer channels or GPUs"},
};

Test(plan, generator_refuses)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct nuna_error err;
        cr_assert_null(nuna_plan_generate(&refused[i].spec, &err));
        cr_expect_eq(err.code, NUNA_EXIT_BAD_INPUT);
        cr_expect_str_eq(err.message, refused[i].message);
    }
}

static const struct builtin_case {
    const char *text;
    const char *result; /* the plan's source, or the message, up to a list of words */
} builtins[] = {
    {"allgather", "builtin:allgather,gpus=4,channels=2,algorithm=allpairs"},
    {"all_gather,channels=3", "builtin:allgather,gpus=4,channels=3,algorithm=allpairs"},
    {"allreduce,algorithm=ring,gpus=5", "builtin:allreduce,gpus=5,channels=2,algorithm=ring"},
    {"reduce-scatter,algorithm=all-pairs",
     "builtin:reducescatter,gpus=4,channels=2,algorithm=allpairs"},
    {"", "builtin:: unknown collective \"\", expected "},
    {"allgathr", "builtin:allgathr: unknown collective \"allgathr\", did you mean \"allgather\", "
                 "expected "},
    {"alltoall,chanels=8", "builtin:alltoall,chanels=8: unknown option \"chanels\", did you mean "
                           "\"channels\", expected algorithm, channels, gpus, gpus_per_node, "
                           "instances or own"},
    {"alltoall,channels", "builtin:alltoall,channels: channels has no value, write channels=8"},
    {"alltoall,channels=1,channels=2",
     "builtin:alltoall,channels=1,channels=2: channels is given twice"},
    {"alltoall,channels=0",
     "builtin:alltoall,channels=0: channels: \"0\" is not a number from 1 to 1024"},
    {"alltoall,channels=99999999999999999999",
     "builtin:alltoall,channels=99999999999999999999: channels: \"99999999999999999999\" is not a "
     "number from 1 to 1024"},
    {"alltoall,gpus=-1", "builtin:alltoall,gpus=-1: gpus: \"-1\" is not a number from 1 to 4096"},
    {"alltoall,gpus=", "builtin:alltoall,gpus=: gpus: \"\" is not a number from 1 to 4096"},
    {"allreduce,algorithm=rign", "builtin:allreduce,algorithm=rign: unknown algorithm \"rign\", "
                                 "did you mean \"ring\", expected "},
    {"alltoall,algorithm=tree", "builtin:alltoall,gpus=4,channels=2,algorithm=tree"},
    {"alltoall,algorithm=ring,own=apart",
     "only an all-pairs alltoall has an own block to copy apart (own=apart)"},
    {"allreduce,instances=3", "builtin:allreduce,gpus=4,channels=6,algorithm=allpairs"},
    {"allreduce,instances=4,channels=5", "builtin:allreduce,gpus=4,channels=20,algorithm=allpairs"},
    {"allreduce,instances=0",
     "builtin:allreduce,instances=0: instances: \"0\" is not a number from 1 to 1024"},
    {"allreduce,instances=1024", "cannot generate a plan with 2048 channels, expected 1 to 1024"},
};

Test(plan, builtin_text)
{
    for (size_t i = 0; i < COUNT(builtins); i++) {
        struct nuna_error err;
        struct nuna_plan *plan = nuna_plan_builtin(builtins[i].text, 4, 2, &err);
        const char *result = plan != NULL ? plan->source : err.message;
        const char *wanted = builtins[i].result;
        size_t length = strlen(wanted);
        bool lists = wanted[length - 1] == ' ';
        cr_expect(strncmp(result, wanted, length) == 0 && (lists || result[length] == '\0'), "%s",
                  result);
        nuna_plan_destroy(plan);
    }
    struct nuna_error err;
    cr_assert_null(nuna_plan_builtin("allgather", 0, 1, &err));
    cr_expect_str_eq(err.message,
                     "builtin:allgather: the number of GPUs is not given, add e.g. gpus=8");
}

Test(plan, collective_names)
{
    for (int i = 0; i < NUNA_COLLECTIVE_OTHER; i++) {
        enum nuna_collective collective;
        cr_expect_str_eq(nuna_collective_name((enum nuna_collective)i), names[i]);
        cr_expect(nuna_collective_parse(names[i], &collective) && (int)collective == i);
    }
    enum nuna_collective collective;
    cr_expect_str_eq(nuna_collective_name(NUNA_COLLECTIVE_OTHER), "other");
    cr_expect(!nuna_collective_parse("other", &collective));
    cr_expect(!nuna_collective_parse("broadcast", &collective));
    cr_expect(!nuna_collective_parse("", &collective));
}

/* Every block travels to each other GPU once (all-gather), along a tree backwards (reduce-scatter),
 * or both ways; what hops on the way to an all-to-all's receiver counts at every hop. */
static uint64_t hops(enum nuna_algorithm algorithm, uint32_t gpus)
{
    uint64_t sum = 0;
    uint32_t side = 1;
    for (uint32_t a = 2; a * a <= gpus; a++)
        side = gpus % a == 0 ? a : side;
    for (uint32_t d = 1; d < gpus; d++)
        sum += algorithm == NUNA_RING       ? d
               : algorithm == NUNA_DOUBLING ? (uint64_t)__builtin_popcount(d)
                                            : (uint64_t)(d % side != 0) + (d / side != 0);
    return sum;
}

/* All GPUs' distances from each other in one of the two trees, as an all-gather's channels show
 * them: those of the first channel come first. */
static uint64_t tree_hops(uint32_t gpus, bool second)
{
    struct nuna_plan *both = generate(NUNA_ALLGATHER, NUNA_TREE, gpus, 2);
    struct nuna_plan *first = generate(NUNA_ALLGATHER, NUNA_TREE, gpus, 1);
    uint32_t far[17][17];
    for (uint32_t g = 0; g < gpus; g++) {
        for (uint32_t other = 0; other < gpus; other++)
            far[g][other] = g == other ? 0 : gpus;
        uint32_t split = first->gpus[g].channel_count;
        for (uint32_t c = second ? split : 0; c < (second ? both->gpus[g].channel_count : split);
             c++)
            far[g][both->channels[both->gpus[g].channel_at + c].peer] = 1;
    }
    uint64_t sum = 0;
    for (uint32_t over = 0; over < gpus; over++)
        for (uint32_t i = 0; i < gpus * gpus; i++) {
            uint32_t *way = &far[i / gpus][i % gpus];
            uint32_t detour = far[i / gpus][over] + far[over][i % gpus];
            *way = detour < *way ? detour : *way;
        }
    for (uint32_t i = 0; i < gpus * gpus; i++)
        sum += far[i / gpus][i % gpus];
    nuna_plan_destroy(both);
    nuna_plan_destroy(first);
    return sum;
}

Test(plan, staged_and_tree_plans)
{
    static const enum nuna_algorithm algorithms[] = {NUNA_RING, NUNA_DOUBLING, NUNA_TWO_STEP,
                                                     NUNA_TREE};
    for (size_t a = 0; a < COUNT(algorithms); a++)
        for (int c = 0; c < NUNA_COLLECTIVE_OTHER; c++)
            for (uint32_t gpus = 1; gpus <= 17; gpus++) {
                struct nuna_error err = {.message = ""};
                struct nuna_plan_verdict verdict;
                enum nuna_collective collective = (enum nuna_collective)c;
                struct nuna_plan *plan = generate(collective, algorithms[a], gpus, 2);
                cr_assert(check_plan(plan, &verdict, &err) && verdict.proved, "%s", err.message);
                /* 64 bytes for each chunk: all blocks have one length. */
                uint64_t block = 128, size = block * gpus;
                uint64_t once = (uint64_t)gpus * (gpus - 1) * block;
                if (collective == NUNA_ALLTOALL && algorithms[a] == NUNA_TREE)
                    cr_expect_eq(remote_bytes(plan, size),
                                 (tree_hops(gpus, false) + tree_hops(gpus, true)) * block / 2);
                else if (collective == NUNA_ALLTOALL)
                    cr_expect_eq(remote_bytes(plan, size),
                                 hops(algorithms[a], gpus) * gpus * block);
                else if (algorithms[a] != NUNA_TREE)
                    cr_expect_eq(remote_bytes(plan, size),
                                 collective == NUNA_ALLREDUCE ? 2 * once : once);
                else if (collective == NUNA_ALLREDUCE) /* everything up and down every edge */
                    cr_expect_eq(remote_bytes(plan, size), 2 * (gpus - 1) * size);
                nuna_plan_destroy(plan);
            }
}

Test(plan, every_algorithm_is_right_where_it_says_so)
{
    for (int a = 0; a < NUNA_ALGORITHM_COUNT; a++)
        for (int c = 0; c < NUNA_COLLECTIVE_OTHER; c++)
            for (uint32_t gpus = 1; gpus <= 9; gpus++) {
                struct nuna_error err = {.message = ""};
                struct nuna_plan_verdict verdict;
                if (!nuna_algorithm_can((enum nuna_algorithm)a, (enum nuna_collective)c))
                    continue;
                struct nuna_plan *plan =
                    generate((enum nuna_collective)c, (enum nuna_algorithm)a, gpus, 3);
                cr_expect(check_plan(plan, &verdict, &err) && verdict.proved, "%s", err.message);
                nuna_plan_destroy(plan);
            }
}

static void nothing(struct gen *gen)
{
}

/* An algorithm that is in no table. */
Test(plan, an_algorithm_does_what_its_row_says)
{
    const struct nuna_generator how = {.collectives = 1u << NUNA_ALLGATHER, .gpu = nothing};
    const struct nuna_plan_variant plain = {0}, apart = {.own_apart = true};
    struct nuna_plan_spec spec = {.collective = NUNA_ALLGATHER, .gpus = 4, .channels = 1};
    struct nuna_error err;
    struct nuna_plan *plan = nuna_generator_run(&how, "idle", &spec, &plain, &err);
    cr_assert(plan != NULL, "%s", err.message);
    cr_expect_str_eq(plan->source, "builtin:allgather,gpus=4,channels=1,algorithm=idle");
    cr_expect_eq(plan->op_count, 0);
    nuna_plan_destroy(plan);
    cr_expect_null(nuna_generator_run(&how, "idle", &spec, &apart, &err));
    spec.collective = NUNA_ALLTOALL;
    cr_expect_null(nuna_generator_run(&how, "idle", &spec, &plain, &err));
    cr_expect_str_eq(err.message, "algorithm idle has no plan for alltoall");
    cr_expect_eq(err.code, NUNA_EXIT_BAD_INPUT);
}

/* Where channels do not come out even between the trees, and bytes not between the blocks. */
Test(plan, tree_exchanges_with_any_channels)
{
    for (uint32_t gpus = 1; gpus <= 17; gpus++)
        for (uint32_t channels = 1; channels <= 5; channels += channels < 3 ? 1 : 2) {
            struct nuna_error err = {.message = ""};
            struct nuna_plan_verdict verdict;
            struct nuna_plan *plan = generate(NUNA_ALLTOALL, NUNA_TREE, gpus, channels);
            cr_assert(check_plan(plan, &verdict, &err) && verdict.proved, "%s", err.message);
            for (size_t s = 0; s < COUNT(sizes); s++)
                cr_expect_geq(remote_bytes(plan, sizes[s]), expected_remote(plan, sizes[s]));
            nuna_plan_destroy(plan);
        }
}

/* A put counts its blocks with 16 bits, but half of the GPUs send the other half more. */
Test(plan, large_tree_exchanges_take_several_puts)
{
    enum { GPUS = 520 };
    struct nuna_plan *plan = generate(NUNA_ALLTOALL, NUNA_TREE, GPUS, 1);
    uint8_t *arrived = calloc(GPUS, GPUS);
    cr_assert(arrived != NULL);
    uint32_t most = 0;
    for (size_t i = 0; i < plan->op_count; i++) {
        const struct nuna_op *op = &plan->ops[i];
        most = op->src_count > most ? op->src_count : most;
        for (uint32_t k = 0; k < op->dst_count; k++) {
            const struct nuna_range *to = &plan->ranges[op->dst_at + k];
            if (to->buffer == NUNA_BUF_OUTPUT)
                arrived[to->gpu * GPUS + to->index]++;
        }
    }
    cr_expect_eq(most, 16384);
    for (uint32_t i = 0; i < GPUS * GPUS; i++)
        cr_assert_eq(arrived[i], 1, "from %u to %u: %u times", i % GPUS, i / GPUS, arrived[i]);
    free(arrived);
    nuna_plan_destroy(plan);
}
