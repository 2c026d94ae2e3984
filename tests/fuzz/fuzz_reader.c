/* One input for the plan readers, as libFuzzer calls it. FUZZ_XML and FUZZ_JSON1 keep to one
 * reader: what would go to another is left alone. What is read is also checked, unless that would
 * take long. */
#include "collectives/check/check.h"
#include "collectives/plan/shape.h"
#include "collectives/read/read.h"

#include <stdlib.h>
#include <string.h>

#define OPS_MAX    4000
#define CHUNKS_MAX 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_for_this_reader(const char *text)
{
    bool xml = text[strspn(text, " \t\r\n")] == '<';
#if defined(FUZZ_XML)
    return xml;
#elif defined(FUZZ_JSON1)
    return !xml && strstr(text, "inputChunks") != NULL;
#else
    return !xml && strstr(text, "inputChunks") == NULL;
#endif
}

static bool is_small(const struct nuna_plan *plan)
{
    uint64_t chunks = 0;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (int b = 0; b < NUNA_BUFFER_COUNT; b++)
            chunks += plan->gpus[g].chunks[b];
    return plan->op_count <= OPS_MAX && chunks <= CHUNKS_MAX && plan->gpu_count <= 64;
}

static void use(const struct nuna_plan *plan)
{
    struct nuna_params params;
    struct nuna_plan_verdict verdict;
    struct nuna_error err;
    struct nuna_shape shape;
    nuna_params_defaults(&params);
    if (!is_small(plan) || !nuna_plan_check(plan, &params, NULL, &verdict, &err))
        return;
    static const uint64_t sizes[] = {0, 1, 4096, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        nuna_shape_init(&shape, plan, sizes[i], &params);
        if (shape.windows < 64)
            (void)nuna_shape_remote_bytes(&shape);
        (void)nuna_plan_check(plan, &params, &sizes[i], &verdict, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nuna_plan_text text = {.path = "fuzz", .text = malloc(size + 1), .length = size};
    struct nuna_error err;
    if (text.text == NULL)
        return 0;
    memcpy(text.text, data, size);
    text.text[size] = '\0';
    /* The loader refuses these before a reader sees them. */
    if (size == 0 || memchr(text.text, '\0', size) != NULL || !is_for_this_reader(text.text) ||
        text.text[strspn(text.text, " \t\r\n")] == '\0') {
        free(text.text);
        return 0;
    }
    struct nuna_plan *plan = nuna_plan_parse(&text, &err);
    if (plan != NULL)
        use(plan);
    nuna_plan_destroy(plan);
    return 0;
}
