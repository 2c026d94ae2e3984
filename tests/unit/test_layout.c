/* Where chunks lie: no overlap, gaps only before page boundaries, and the relative order that makes
 * every GPU's memory look the same from its own seat. */
#include "collectives/generate/generate.h"
#include "collectives/plan/build.h"
#include "collectives/plan/shape.h"
#include "collectives/read/read.h"
#include "placement/layout.h"

#include "default_shape.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LINE         256u

#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            cr_assert_fail(__VA_ARGS__);                                                           \
    } while (0)

static const uint64_t pages[] = {256, 4096, 2 << 20};

static struct nuna_plan *generate(struct nuna_plan_spec spec)
{
    struct nuna_error err;
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert_not_null(plan, "%s", err.message);
    return plan;
}

/* Calls `check` for many generated plans. */
static void for_plans(void (*check)(struct nuna_plan *plan, uint32_t channels))
{
    static const uint32_t gpus[] = {1, 2, 3, 5, 8, 12}, channels[] = {1, 3, 8};
    for (int collective = NUNA_ALLGATHER; collective <= NUNA_ALLTOALL; collective++)
        for (int algorithm = NUNA_ALLPAIRS; algorithm <= NUNA_RING; algorithm++)
            for (size_t g = 0; g < COUNT(gpus); g++)
                for (size_t c = 0; c < COUNT(channels); c++) {
                    struct nuna_plan *plan = generate((struct nuna_plan_spec){
                        (enum nuna_collective)collective, (enum nuna_algorithm)algorithm, gpus[g],
                        channels[c]});
                    check(plan, channels[c]);
                    nuna_plan_destroy(plan);
                }
}

static int by_position(const void *left, const void *right)
{
    const struct nuna_chunk_place *a = left, *b = right;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes; /* empty chunks first */
}

/* The chunks of a buffer, sorted, must follow each other from a page boundary at or after `from`;
 * returns the end. */
static uint64_t check_buffer(const struct nuna_plan *plan, const struct nuna_layout *layout,
                             uint32_t gpu, int buffer, uint64_t from, uint64_t page)
{
    uint32_t count = plan->gpus[gpu].chunks[buffer];
    struct nuna_chunk_place *sorted = calloc(count + 1, sizeof *sorted);
    cr_assert_not_null(sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = layout->gpus[gpu].chunks[buffer][i];
    qsort(sorted, count, sizeof *sorted, by_position);
    uint64_t at = count > 0 ? sorted[0].position : (from + page - 1) / page * page;
    HOLDS(at % page == 0, "%s: buffer %d begins at %" PRIu64, plan->name, buffer, at);
    HOLDS(at >= from && at - from < page, "%s: buffer %d begins at %" PRIu64 ", after %" PRIu64,
          plan->name, buffer, at, from);
    for (uint32_t i = 0; i < count; i++) {
        /* A chunk that does not fit behind its predecessors on their page begins the next one. */
        if (at % page + sorted[i].bytes > page)
            at = (at + page - 1) / page * page;
        HOLDS(sorted[i].position == at, "%s: GPU %u buffer %d: %s at %" PRIu64, plan->name, gpu,
              buffer, sorted[i].position < at ? "overlap" : "gap", at);
        at += sorted[i].bytes;
    }
    free(sorted);
    return at;
}

/* Out of place: input, output, scratch and flags one after the other. */
static void check_image(const struct nuna_plan *plan, uint64_t size, uint64_t page)
{
    struct nuna_layout layout;
    struct nuna_shape shape = default_shape(plan, size);
    cr_assert(nuna_layout_init(&layout, &shape, page, LINE));
    cr_assert_eq(layout.gpu_count, plan->gpu_count);
    cr_assert_eq(layout.flag_stride, LINE);
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        const struct nuna_layout_gpu *gpu = &layout.gpus[g];
        uint64_t at = 0;
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++) {
            for (uint32_t i = 0; i < plan->gpus[g].chunks[b]; i++)
                HOLDS(gpu->chunks[b][i].bytes ==
                          nuna_plan_chunk_bytes(plan, size, g, (enum nuna_buffer)b, i),
                      "%s: chunk %u of buffer %d has %" PRIu64 " bytes", plan->name, i, b,
                      gpu->chunks[b][i].bytes);
            at = check_buffer(plan, &layout, g, b, at, page);
        }
        HOLDS(gpu->flags % page == 0 && gpu->flags >= at && gpu->flags - at < page,
              "%s: flags at %" PRIu64 ", buffers end at %" PRIu64, plan->name, gpu->flags, at);
        HOLDS(gpu->end == gpu->flags + plan->gpus[g].channel_count * (uint64_t)LINE,
              "%s: ends at %" PRIu64, plan->name, gpu->end);
    }
    nuna_layout_finish(&layout);
}

static void check_images(struct nuna_plan *plan, uint32_t channels)
{
    static const uint64_t sizes[] = {0, 1, 127, 256, 257, 65536, 1000003, (1ull << 31) + 1};
    plan->inplace = false;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t p = 0; p < COUNT(pages); p++)
            check_image(plan, sizes[s], pages[p]);
}

Test(layout, no_overlap_no_gap_page_boundaries)
{
    for_plans(check_images);
}

static uint32_t per_block(const struct nuna_plan *plan, int buffer, uint32_t channels)
{
    bool own = (plan->collective == NUNA_ALLGATHER && buffer == NUNA_BUF_INPUT) ||
               (plan->collective == NUNA_REDUCESCATTER && buffer == NUNA_BUF_OUTPUT);
    return own || buffer == NUNA_BUF_SCRATCH ? 0 : channels;
}

/* GPU d's image is GPU 0's with every rank r renamed to d + r. */
static void check_relabelled(const struct nuna_plan *plan, uint32_t channels, uint64_t size)
{
    struct nuna_layout layout;
    struct nuna_shape shape = default_shape(plan, size);
    cr_assert(nuna_layout_init(&layout, &shape, 4096, LINE));
    uint32_t ranks = plan->gpu_count;
    for (uint32_t d = 0; d < ranks; d++) {
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++) {
            uint32_t block = per_block(plan, b, channels);
            for (uint32_t i = 0; i < plan->gpus[d].chunks[b]; i++) {
                uint32_t there = block == 0 ? i : (i / block + d) % ranks * block + i % block;
                const struct nuna_chunk_place *a = &layout.gpus[0].chunks[b][i];
                const struct nuna_chunk_place *z = &layout.gpus[d].chunks[b][there];
                HOLDS(a->position == z->position && a->bytes == z->bytes,
                      "%s%s: buffer %d: GPU 0 has chunk %u at %" PRIu64
                      ", GPU %u chunk %u at %" PRIu64,
                      plan->name, plan->inplace ? "" : " out of place", b, i, a->position, d, there,
                      z->position);
            }
        }
        cr_assert_eq(layout.gpus[d].flags, layout.gpus[0].flags);
        cr_assert_eq(layout.gpus[d].end, layout.gpus[0].end);
    }
    nuna_layout_finish(&layout);
}

static void check_symmetry(struct nuna_plan *plan, uint32_t channels)
{
    uint64_t unit = (uint64_t)plan->gpu_count * channels * plan->grain;
    static const uint64_t multiples[] = {1, 16, 17, 1000};
    for (size_t m = 0; m < COUNT(multiples); m++)
        check_relabelled(plan, channels, unit * multiples[m]);
}

static void check_symmetry_out_of_place(struct nuna_plan *plan, uint32_t channels)
{
    plan->inplace = false;
    check_symmetry(plan, channels);
}

Test(layout, every_gpu_sees_the_same_image)
{
    for_plans(check_symmetry);
}

/* The input of an all-gather, or the output of a reduce-scatter, holds the own block only, whatever
 * the number of its chunks: there is nothing to turn. */
Test(layout, every_gpu_sees_the_same_image_out_of_place)
{
    for_plans(check_symmetry_out_of_place);
}

/* The own block comes first, then that of the next rank, whatever the sizes. */
static void check_order(struct nuna_plan *plan, uint32_t channels)
{
    struct nuna_layout layout;
    struct nuna_shape shape = default_shape(plan, 1000003);
    cr_assert(nuna_layout_init(&layout, &shape, 4096, LINE));
    int buffer = plan->collective == NUNA_REDUCESCATTER ? NUNA_BUF_INPUT : NUNA_BUF_OUTPUT;
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        const struct nuna_chunk_place *chunks = layout.gpus[g].chunks[buffer];
        uint64_t at = chunks[g * channels].position;
        HOLDS(at % 4096 == 0, "%s: the own block of GPU %u", plan->name, g);
        for (uint32_t n = 0; n < plan->gpu_count * channels; n++) {
            const struct nuna_chunk_place *chunk =
                &chunks[(g * channels + n) % (plan->gpu_count * channels)];
            if (at % 4096 + chunk->bytes > 4096)
                at = (at + 4095) / 4096 * 4096;
            HOLDS(chunk->position == at, "%s: GPU %u: chunk %u after its own", plan->name, g, n);
            at += chunk->bytes;
        }
    }
    nuna_layout_finish(&layout);
}

Test(layout, blocks_lie_in_relative_order)
{
    for_plans(check_order);
}

/* In place the smaller buffer is the own block of the larger. */
static void check_in_place(struct nuna_plan *plan, uint32_t channels)
{
    static const uint64_t sizes[] = {0, 1, 4096, 1000003};
    if (!plan->inplace)
        return;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct nuna_layout layout;
        struct nuna_shape shape = default_shape(plan, sizes[s]);
        cr_assert(nuna_layout_init(&layout, &shape, 4096, LINE));
        for (uint32_t g = 0; g < plan->gpu_count; g++) {
            const uint32_t *count = plan->gpus[g].chunks;
            const struct nuna_layout_gpu *gpu = &layout.gpus[g];
            for (uint32_t i = 0; i < count[NUNA_BUF_INPUT] && i < count[NUNA_BUF_OUTPUT]; i++) {
                uint32_t in = i, out = i;
                if (plan->collective == NUNA_ALLGATHER)
                    out += g * channels;
                if (plan->collective == NUNA_REDUCESCATTER)
                    in += g * channels;
                const struct nuna_chunk_place *a = &gpu->chunks[NUNA_BUF_INPUT][in];
                const struct nuna_chunk_place *b = &gpu->chunks[NUNA_BUF_OUTPUT][out];
                HOLDS(a->position == b->position && a->bytes == b->bytes,
                      "%s: GPU %u: chunk %u is not shared", plan->name, g, i);
                HOLDS(a->position + a->bytes <= gpu->flags, "%s: chunk %u lies on the flags",
                      plan->name, i);
            }
            for (uint32_t i = 0; i < count[NUNA_BUF_SCRATCH]; i++)
                HOLDS(gpu->chunks[NUNA_BUF_SCRATCH][i].position % 4096 == 0 || i > 0, "%s: scratch",
                      plan->name);
        }
        nuna_layout_finish(&layout);
    }
}

Test(layout, in_place_input_and_output_share_memory)
{
    for_plans(check_in_place);
}

/* Packed for domains, small chunks share pages with their own domain only, and nothing overlaps. */
Test(layout, packing_keeps_domains_apart)
{
    enum { GPUS = 3, CHANNELS = 7, DOMAINS = 4, PAGE = 4096 };
    struct nuna_plan *plan =
        generate((struct nuna_plan_spec){NUNA_ALLTOALL, NUNA_ALLPAIRS, GPUS, CHANNELS});
    for (uint64_t size = 30000; size <= 120000; size += 30000) { /* chunks around a page */
        struct nuna_layout layout;
        struct nuna_shape shape = default_shape(plan, size);
        cr_assert(nuna_layout_init(&layout, &shape, PAGE, LINE));
        uint32_t domain[GPUS * 2 * GPUS * CHANNELS];
        for (uint32_t i = 0; i < COUNT(domain); i++)
            domain[i] = i % (DOMAINS + 1) == DOMAINS ? UINT32_MAX : i % (DOMAINS + 1);
        nuna_layout_pack(&layout, plan, PAGE, domain, DOMAINS);
        const uint32_t *at = domain;
        for (uint32_t g = 0; g < GPUS; g++) {
            enum { TABLE = 512 };
            uint32_t owner[TABLE]; /* of each page; UINT32_MAX - 1: nobody */
            for (uint32_t p = 0; p < TABLE; p++)
                owner[p] = UINT32_MAX - 1;
            uint64_t bytes = 0, last_end = 0;
            for (int b = 0; b <= NUNA_BUF_OUTPUT; b++)
                for (uint32_t i = 0; i < GPUS * CHANNELS; i++, at++) {
                    const struct nuna_chunk_place *chunk = &layout.gpus[g].chunks[b][i];
                    cr_assert_eq(chunk->bytes,
                                 nuna_plan_chunk_bytes(plan, size, g, (enum nuna_buffer)b, i));
                    bytes += chunk->bytes;
                    uint64_t end = chunk->position + chunk->bytes;
                    last_end = end > last_end ? end : last_end;
                    cr_assert(chunk->bytes < PAGE ? chunk->position / PAGE == (end - 1) / PAGE
                                                  : chunk->position % PAGE == 0);
                    for (uint64_t p = chunk->position / PAGE; p <= (end - 1) / PAGE; p++) {
                        bool shared = owner[p] == *at && chunk->bytes < PAGE;
                        cr_assert(owner[p] == UINT32_MAX - 1 || shared, "page %" PRIu64, p);
                        owner[p] = *at;
                    }
                    for (int b2 = 0; b2 <= b; b2++)
                        for (uint32_t j = 0; j < (b2 == b ? i : GPUS * CHANNELS); j++) {
                            const struct nuna_chunk_place *other = &layout.gpus[g].chunks[b2][j];
                            cr_assert(other->position + other->bytes <= chunk->position ||
                                      end <= other->position);
                        }
                }
            cr_assert_eq(bytes, 2 * size);
            cr_assert(layout.gpus[g].flags >= last_end && layout.gpus[g].flags % PAGE == 0);
        }
        nuna_layout_finish(&layout);
    }
    nuna_plan_destroy(plan);
}

/* By numbers: 3 GPUs, one channel, 1,200 B: blocks of 400 B; input on page 0, output on page 1. */
Test(layout, all_to_all_in_numbers)
{
    struct nuna_plan *plan = generate((struct nuna_plan_spec){NUNA_ALLTOALL, NUNA_ALLPAIRS, 3, 1});
    struct nuna_layout layout;
    struct nuna_shape shape = default_shape(plan, 1200);
    cr_assert(nuna_layout_init(&layout, &shape, 4096, LINE));
    static const uint64_t due[3][3] = {{0, 400, 800}, {800, 0, 400}, {400, 800, 0}};
    for (uint32_t g = 0; g < 3; g++)
        for (uint32_t i = 0; i < 3; i++) {
            cr_assert_eq(layout.gpus[g].chunks[NUNA_BUF_INPUT][i].position, due[g][i]);
            cr_assert_eq(layout.gpus[g].chunks[NUNA_BUF_OUTPUT][i].position, 4096 + due[g][i]);
            cr_assert_eq(layout.gpus[g].flags, 8192);
            cr_assert_eq(layout.gpus[g].end, 8192 + 2 * 256);
        }
    nuna_layout_finish(&layout);
    nuna_plan_destroy(plan);
}

/* Without blocks chunks lie in the order of their numbers; GPUs may differ; empty buffers are fine.
 */
Test(layout, other_plans)
{
    struct nuna_builder builder;
    struct nuna_error err;
    cr_assert(nuna_builder_init(&builder, 2, &err));
    builder.plan->collective = NUNA_COLLECTIVE_OTHER;
    static const struct nuna_plan_gpu gpus[] = {{.chunks = {4, 4, 2}}, {.chunks = {0, 3, 0}}};
    for (uint32_t g = 0; g < 2; g++) {
        builder.plan->gpus[g] = gpus[g];
        nuna_builder_gpu(&builder, g);
    }
    nuna_builder_channel(&builder, 1, (struct nuna_channel){.peer = 0});
    struct nuna_plan *plan = nuna_builder_finish(&builder, &err);
    cr_assert_not_null(plan, "%s", err.message);
    for (size_t p = 0; p < COUNT(pages); p++) {
        check_image(plan, 10000, pages[p]);
        struct nuna_layout layout;
        struct nuna_shape shape = default_shape(plan, 10000);
        cr_assert(nuna_layout_init(&layout, &shape, pages[p], LINE));
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++)
            for (uint32_t i = 1; i < plan->gpus[0].chunks[b]; i++)
                cr_assert_gt(layout.gpus[0].chunks[b][i].position,
                             layout.gpus[0].chunks[b][i - 1].position);
        nuna_layout_finish(&layout);
    }
    nuna_plan_destroy(plan);
}

/* 64 MiB for all scratch chunks, or half of it where alternate calls share them. */
Test(layout, reused_scratch_is_shared_out)
{
    static const struct {
        const char *keys;
        uint64_t wrap;
    } cases[] = {
        {"", UINT64_MAX},
        {"\"use_double_scratch_buffer\":true,", UINT64_MAX},
        {"\"reuse_resources\":true,", 16 << 20},
        {"\"reuse_resources\":true,\"use_double_scratch_buffer\":true,", 8 << 20},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        struct nuna_error err = {.message = ""};
        struct nuna_layout layout;
        int length =
            snprintf(text, sizeof text,
                     "{\"name\":\"n\",\"collective\":\"test\",\"protocol\":\"Simple\",%s"
                     "\"inplace\":false,\"gpus\":[{\"id\":0,\"input_chunks\":1,\"output_chunks\":1,"
                     "\"scratch_chunks\":4,\"threadblocks\":[],\"channels\":[],"
                     "\"remote_buffers\":[]}]}",
                     cases[i].keys);
        struct nuna_plan_text copy = {
            .path = "text", .text = strdup(text), .length = (size_t)length};
        struct nuna_plan *plan = nuna_plan_parse(&copy, &err);
        cr_assert_not_null(plan, "%s", err.message);
        struct nuna_shape shape = default_shape(plan, 1 << 30);
        cr_assert(nuna_layout_init(&layout, &shape, 4096, LINE));
        cr_expect_eq(layout.scratch_wrap, cases[i].wrap, "%s: %" PRIu64, cases[i].keys,
                     layout.scratch_wrap);
        nuna_layout_finish(&layout);
        nuna_plan_destroy(plan);
    }
}
