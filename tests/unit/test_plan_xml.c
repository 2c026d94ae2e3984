/* MSCCL XML: what a file says between its lines, and files that are written. */
#include "collectives/check/check.h"
#include "collectives/generate/generate.h"
#include "collectives/read/read.h"
#include "collectives/write/write.h"

#include "default_shape.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nuna_plan *parse(const char *text)
{
    struct nuna_error err = {.message = ""};
    struct nuna_plan_text copy = {.path = "text", .text = strdup(text), .length = strlen(text)};
    struct nuna_plan *plan = nuna_plan_parse(&copy, &err);
    cr_assert(plan != NULL, "%s", err.message);
    return plan;
}

/* Two GPUs exchange and add up within one buffer, the input; the output has `outputs` chunks. */
static struct nuna_plan *scatter(const char *places, uint32_t outputs, const char *behind)
{
    char text[4096];
    int used = snprintf(text, sizeof text,
                        "<algo name='x' proto='LL' nchannels='1' nchunksperloop='2' ngpus='2' "
                        "coll='reduce_scatter' %s>",
                        places);
    for (int gpu = 0; gpu < 2; gpu++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "<gpu id='%d' i_chunks='2' o_chunks='%u' s_chunks='0'>"
                     "<tb id='0' send='%d' recv='%d' chan='0'>"
                     "<step s='0' type='s' srcbuf='i' srcoff='%d' dstbuf='i' dstoff='%d' cnt='1' "
                     "depid='-1' deps='-1' hasdep='0'/>"
                     "<step s='1' type='rrc' srcbuf='i' srcoff='%d' dstbuf='i' dstoff='%d' cnt='1' "
                     "depid='-1' deps='-1' hasdep='0'/></tb></gpu>",
                     gpu, outputs, 1 - gpu, 1 - gpu, 1 - gpu, 1 - gpu, gpu, gpu);
    snprintf(text + used, sizeof text - (size_t)used, "</algo>%s", behind);
    return parse(text);
}

/* At every size, and whatever threadblock is late. */
static bool right(const struct nuna_plan *plan)
{
    struct nuna_error err;
    struct nuna_plan_verdict verdict;
    return check_plan(plan, &verdict, &err) && verdict.proved && verdict.limit[0] == '\0' &&
           verdict.races[0] == '\0';
}

Test(plan_xml, a_plan_of_one_buffer_runs_in_place)
{
    struct nuna_plan *plan = scatter("inplace='1' outofplace='1'", 0, "");
    cr_expect(plan->inplace && right(plan));
    nuna_plan_destroy(plan);
    plan = scatter("inplace='1' outofplace='0'", 0, "");
    cr_expect(plan->inplace && right(plan));
    nuna_plan_destroy(plan);
    /* Who names both buffers, or promises out of place only, is taken at their word. */
    plan = scatter("inplace='1' outofplace='1'", 1, "");
    cr_expect(!plan->inplace && plan->both_places && !right(plan));
    nuna_plan_destroy(plan);
    plan = scatter("inplace='0' outofplace='1'", 0, "");
    cr_expect(!plan->inplace && !plan->both_places && !right(plan));
    nuna_plan_destroy(plan);
}

Test(plan_xml, text_behind_the_plan_is_quoted)
{
    const char line[] = "Rank 0 chunk 1 is incorrect, should be chunk(1, 0), given none of them";
    for (size_t length = 1; length < sizeof line; length++) {
        char behind[160], quoted[160];
        snprintf(behind, sizeof behind, "\n<!-- one --> <!-- two -->\n%.*s\nmore", (int)length,
                 line);
        snprintf(quoted, sizeof quoted, "text: text after </algo>: \"%.*s\";",
                 (int)(length < 60 ? length : 60), line);
        struct nuna_plan *plan = scatter("inplace='1'", 0, behind);
        cr_expect(plan->warnings != NULL && strstr(plan->warnings, quoted) != NULL, "%s",
                  plan->warnings);
        nuna_plan_destroy(plan);
    }
    struct nuna_plan *plan = scatter("inplace='1'", 0, "\n<!-- only comments --> <!-- -->\n");
    cr_expect(plan->warnings == NULL, "%s", plan->warnings);
    nuna_plan_destroy(plan);
}

Test(plan_xml, steps_run_in_the_order_of_the_file)
{
    static const char *const numbers[][2] = {{"0", "1"}, {"1", "0"}, {"0", "5"}, {"0x0", "01"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<algo name='x' proto='Simple' nchannels='1' nchunksperloop='2' ngpus='1' "
                 "coll='custom'><gpu id='0' i_chunks='2' o_chunks='2' s_chunks='0'>\n"
                 "<tb id='0' send='-1' recv='-1' chan='0'>\n"
                 "<step s='%s' type='cpy' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1' "
                 "depid='-1' deps='-1' hasdep='0'/>\n"
                 "<step s='%s' type='cpy' srcbuf='i' srcoff='1' dstbuf='o' dstoff='1' cnt='1' "
                 "depid='-1' deps='-1' hasdep='0'/></tb></gpu></algo>",
                 numbers[i][0], numbers[i][1]);
        struct nuna_plan *plan = parse(text);
        static const char *const warnings[] = {
            NULL, "text:3:1: s=\"1\" at gpu0/tb0/s0: ", "text:4:1: s=\"5\" at gpu0/tb0/s1: ", NULL};
        if (warnings[i] == NULL)
            cr_expect_null(plan->warnings, "%s", plan->warnings);
        else
            cr_expect(plan->warnings != NULL && strstr(plan->warnings, warnings[i]) != NULL &&
                          strchr(plan->warnings, '\n')[1] == '\0',
                      "%s", plan->warnings);
        nuna_plan_destroy(plan);
    }
}

/* NULL: the format cannot express the plan. */
static struct nuna_plan *written_and_read(const struct nuna_plan *plan)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    cr_assert(out != NULL);
    bool good = nuna_plan_write_xml(plan, out);
    fclose(out);
    struct nuna_plan *again = good ? parse(text) : NULL;
    free(text);
    return again;
}

static void check_written(enum nuna_collective collective, enum nuna_algorithm algorithm,
                          uint32_t gpus, uint32_t channels)
{
    struct nuna_error err = {.message = ""};
    struct nuna_plan_spec spec = {collective, algorithm, gpus, channels};
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert(plan != NULL, "%s", err.message);
    struct nuna_plan *again = written_and_read(plan);
    cr_assert(again != NULL, "%s", plan->source);
    cr_expect(right(again), "%s", plan->source);
    cr_expect(again->warnings == NULL, "%s: %s", plan->source, again->warnings);
    /* The same stores, at a size that divides evenly. */
    uint64_t size = (uint64_t)gpus * channels * 128;
    cr_expect_eq(remote_bytes(again, size), remote_bytes(plan, size), "%s", plan->source);
    nuna_plan_destroy(plan);
    nuna_plan_destroy(again);
}

Test(plan_xml, what_is_written_is_right_and_without_a_warning)
{
    static const uint32_t large[] = {8, 12, 16, 17};
    for (int collective = 0; collective < NUNA_COLLECTIVE_OTHER; collective++)
        for (int algorithm = 0; algorithm < NUNA_ALGORITHM_COUNT; algorithm++) {
            for (uint32_t gpus = 1; gpus <= 7; gpus++)
                for (uint32_t channels = 1; channels <= 3; channels++)
                    check_written((enum nuna_collective)collective, (enum nuna_algorithm)algorithm,
                                  gpus, channels);
            for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
                check_written((enum nuna_collective)collective, (enum nuna_algorithm)algorithm,
                              large[i], 2);
        }
}

Test(plan_xml, what_messages_cannot_say_is_not_written)
{
    static const struct {
        uint8_t from, to;
    } changes[] = {
        {NUNA_OP_PUT, NUNA_OP_NOP},         /* a signal without data */
        {NUNA_OP_SIGNAL, NUNA_OP_NOP},      /* data without a signal */
        {NUNA_OP_WAIT, NUNA_OP_SEM_ACQUIRE} /* a semaphore */
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct nuna_error err;
        struct nuna_plan_spec spec = {NUNA_ALLGATHER, NUNA_DOUBLING, 4, 1};
        struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
        cr_assert(plan != NULL);
        for (size_t o = 0; o < plan->op_count; o++)
            if (plan->ops[o].kind == changes[i].from)
                plan->ops[o].kind = changes[i].to;
        errno = 0;
        cr_expect_null(written_and_read(plan));
        cr_expect_eq(errno, EINVAL);
        nuna_plan_destroy(plan);
    }
}
