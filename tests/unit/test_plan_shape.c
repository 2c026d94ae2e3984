/* Windows, messages, parts and bytes on the wire, against counting byte by byte; and what slots
 * allow, against hand-made exchanges. */
#include "sim_scene.h"

#include "collectives/generate/generate.h"
#include "collectives/read/read.h"
#include "default_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct nuna_plan *parse(const char *text)
{
    struct nuna_error err = {.message = ""};
    struct nuna_plan_text copy = {.path = "text", .text = strdup(text), .length = strlen(text)};
    struct nuna_plan *plan = nuna_plan_parse(&copy, &err);
    cr_assert(plan != NULL, "%s", err.message);
    return plan;
}

/* Two GPUs send each other `chunks` chunks in one step, and only then receive. */
static struct nuna_plan *exchange(const char *proto, uint32_t chunks)
{
    char text[4096];
    int used = snprintf(text, sizeof text,
                        "<algo name='x' proto='%s' nchannels='1' nchunksperloop='%u' ngpus='2' "
                        "coll='custom' inplace='0'>",
                        proto, chunks);
    for (int gpu = 0; gpu < 2; gpu++)
        used += snprintf(
            text + used, sizeof text - (size_t)used,
            "<gpu id='%d' i_chunks='%u' o_chunks='%u' s_chunks='0'>"
            "<tb id='0' send='%d' recv='%d' chan='0'>"
            "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='%u' depid='-1' "
            "deps='-1' hasdep='0'/>"
            "<step s='1' type='r' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='%u' depid='-1' "
            "deps='-1' hasdep='0'/></tb></gpu>",
            gpu, chunks, chunks, 1 - gpu, 1 - gpu, chunks, chunks);
    snprintf(text + used, sizeof text - (size_t)used, "</algo>");
    return parse(text);
}

Test(plan_shape, bytes_on_the_wire_line_by_line)
{
    struct nuna_plan *plan = exchange("LL", 2);
    struct nuna_shape shape = default_shape(plan, 4096);
    for (uint64_t data = 0; data <= 2000; data++) {
        uint64_t ll = 0, ll128 = 0;
        for (uint64_t at = 0; at < data; at += 8) /* 8 of 16 bytes */
            ll += 16;
        for (uint64_t at = 0; at < data; at += 120) /* 120 of 128 bytes */
            ll128 += 128;
        cr_expect_eq(nuna_shape_wire_bytes(&shape, NUNA_FORM_DATA, data), data);
        cr_expect_eq(nuna_shape_wire_bytes(&shape, NUNA_FORM_LL, data), ll, "%" PRIu64, data);
        cr_expect_eq(nuna_shape_wire_bytes(&shape, NUNA_FORM_LL128, data), ll128, "%" PRIu64, data);
    }
    nuna_plan_destroy(plan);
}

/* Every byte of every chunk is in one message of one window. */
static void check_messages(const char *proto, uint32_t chunks, uint64_t size)
{
    struct nuna_plan *plan = exchange(proto, chunks);
    struct nuna_shape shape = default_shape(plan, size);
    uint64_t chunk = nuna_plan_even_bytes(plan, size), window = shape.window;
    const struct nuna_op *op = &plan->ops[0];
    uint8_t *seen = calloc(chunk * chunks + 1, 1);
    cr_assert(seen != NULL);
    for (uint64_t w = 0; w < shape.windows; w++) {
        struct nuna_piece piece;
        uint32_t messages = 0;
        for (; nuna_shape_message(&shape, op, w, messages, &piece); messages++) {
            struct nuna_segment segment = {0};
            uint64_t before = 0, wire = 0;
            while (nuna_piece_next(&shape, op, 0, &piece, &segment)) {
                cr_assert_eq(segment.before, before);
                cr_assert(segment.offset >= w * window &&
                          segment.offset + segment.bytes <= (w + 1) * window);
                for (uint64_t b = 0; b < segment.bytes; b++)
                    seen[segment.chunk * chunk + segment.offset + b]++;
                before += segment.bytes;
                wire += nuna_shape_wire_bytes(&shape, plan->protocol, segment.bytes);
            }
            cr_assert_leq(wire, shape.slot_bytes);
        }
        uint32_t operations = (chunks + shape.chunks_per_message - 1) / shape.chunks_per_message;
        cr_assert_eq(messages, operations * (strcmp(proto, "Simple") == 0 ? 2 : 1));
    }
    for (uint64_t b = 0; b < chunk * chunks; b++)
        cr_assert_eq(seen[b], 1, "%s, %u chunks, %" PRIu64 " B: byte %" PRIu64 " %u times", proto,
                     chunks, size, b, seen[b]);
    free(seen);
    nuna_plan_destroy(plan);
}

Test(plan_shape, messages_tile_the_chunks)
{
    static const uint64_t sizes[] = {1, 1000, 65536, 300001, 5000000};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint32_t chunks = 1; chunks <= 5; chunks += 2) {
            check_messages("Simple", chunks, sizes[s]);
            check_messages("LL", chunks, sizes[s]);
            check_messages("LL128", chunks, sizes[s]);
        }
}

/* One GPU copies its two chunks in a pipeline. */
static struct nuna_plan *pipeline(uint32_t unit, uint32_t chunks)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"name\":\"n\",\"collective\":\"test\",\"protocol\":\"Simple\",\"inplace\":false,"
        "\"gpus\":[{\"id\":0,\"input_chunks\":2,\"output_chunks\":2,\"scratch_chunks\":0,"
        "\"threadblocks\":[{\"id\":0,\"ops\":[{\"name\":\"pipeline\",\"iter_context\":"
        "{\"unit_size\":%u,\"num_chunks\":%u},\"ops\":[{\"name\":\"copy\",\"src_buff\":[{\"type\":"
        "\"i\",\"index\":0,\"size\":2}],\"dst_buff\":[{\"type\":\"o\",\"index\":0,\"size\":2}]}]}]}],"
        "\"channels\":[],\"remote_buffers\":[]}]}",
        unit, chunks);
    return parse(text);
}

static bool check_at(const struct nuna_plan *plan, uint64_t size, struct nuna_error *err)
{
    struct nuna_params params = default_params();
    struct nuna_plan_verdict verdict;
    return nuna_plan_check(plan, &params, &size, &verdict, err);
}

Test(plan_shape, a_pipeline_turns_65535_times_at_most)
{
    struct nuna_error err = {.message = ""};
    struct nuna_plan *plan = pipeline(16, 2);
    cr_expect(check_at(plan, 65534 * 16, &err), "%s", err.message);
    cr_expect(!check_at(plan, 65536 * 16, &err));
    cr_expect_str_eq(
        err.message,
        "text: gpus[0].threadblocks[0].ops[0].iter_context: 65536 turns at this size, "
        "expected at most 65535, as MSCCL++ counts them with 16 bits: unit_size is too "
        "small, or num_chunks too large");
    nuna_plan_destroy(plan);
    /* So many that their bytes do not fit 64 bits. */
    plan = pipeline(1, UINT32_MAX);
    cr_expect(!check_at(plan, UINT64_C(1) << 44, &err));
    cr_expect(!check_at(plan, UINT64_C(1) << 33, &err));
    nuna_plan_destroy(plan);
}

Test(plan_shape, parts_and_turns_tile_a_range)
{
    struct nuna_plan *plan = pipeline(96, 2);
    struct nuna_op *op = &plan->ops[1];
    for (uint64_t size = 0; size < 3000; size += 37)
        for (uint16_t parts = 1; parts <= 5; parts++) {
            struct nuna_shape shape = default_shape(plan, size);
            uint64_t turns = nuna_shape_turns(&shape, &plan->ops[0]), at = 0;
            for (uint16_t part = 0; part < parts; part++) {
                op->part = part;
                op->parts = parts;
                for (uint64_t turn = 0; turn < turns; turn++) {
                    struct nuna_piece piece;
                    struct nuna_segment segment = {0};
                    nuna_shape_piece(&shape, op, &plan->ops[0], turn, &piece);
                    cr_assert_leq(piece.take, 96);
                    while (nuna_piece_next(&shape, op, 0, &piece, &segment)) {
                        uint64_t first = nuna_plan_chunk_bytes(plan, size, 0, NUNA_BUF_INPUT, 0);
                        cr_assert_eq(segment.chunk * first + segment.offset, at);
                        at += segment.bytes;
                    }
                }
            }
            cr_assert_eq(at, size, "%" PRIu64 " B in %u parts: %" PRIu64, size, parts, at);
        }
    nuna_plan_destroy(plan);
}

/* A message of m chunks needs chunks of at most window / m bytes. */
Test(plan_shape, chunks_of_a_message)
{
    struct nuna_plan *plan = exchange("LL", 3);
    const uint64_t window = 32768;
    for (uint32_t m = 1; m <= 71; m++) {
        uint64_t largest = nuna_shape_largest_size(plan, m, window);
        cr_expect_eq(largest, window / m * 3);
        cr_expect_geq(nuna_shape_chunks_per_message(plan, largest, window), m);
        cr_expect_lt(nuna_shape_chunks_per_message(plan, largest + 3, window), m == 1 ? 2 : m);
    }
    cr_expect_eq(nuna_shape_chunks_per_message(plan, 1, window), 71);
    cr_expect_eq(nuna_shape_chunks_per_message(plan, 1 << 30, window), 1);
    nuna_plan_destroy(plan);
}

/* With both GPUs sending first, all operations of a step must fit the slots: Simple holds 2, LL 8.
 */
static void check_limit(const char *proto, uint32_t chunks, uint32_t held, uint64_t window)
{
    struct nuna_plan *plan = exchange(proto, chunks);
    struct nuna_params params = default_params();
    struct nuna_plan_verdict verdict;
    struct nuna_error err = {.message = ""};
    uint32_t needed = (chunks + held - 1) / held; /* chunks of a message */
    cr_assert(nuna_plan_check(plan, &params, NULL, &verdict, &err), "%s", err.message);
    if (needed <= 1) {
        cr_expect_eq(verdict.largest_size, UINT64_MAX);
        cr_expect_str_empty(verdict.limit);
    } else {
        uint64_t largest = window / needed * chunks, above = largest + chunks;
        cr_expect_eq(verdict.largest_size, largest);
        cr_expect(nuna_plan_check(plan, &params, &largest, &verdict, &err), "%s", err.message);
        cr_expect(!nuna_plan_check(plan, &params, &above, &verdict, &err));
        cr_expect(strstr(err.message, "deadlock") != NULL);
    }
    nuna_plan_destroy(plan);
}

Test(plan_shape, slots_limit_the_size)
{
    for (uint32_t chunks = 1; chunks <= 20; chunks++) {
        check_limit("Simple", chunks, 2, 2 << 20);
        check_limit("LL", chunks, 8, 32 << 10);
        check_limit("LL128", chunks, 8, 576000);
    }
}

static struct nuna_result run_exchange(const char *proto, uint32_t chunks, uint64_t size)
{
    struct nuna_plan *plan = exchange(proto, chunks);
    struct nuna_params params = default_params();
    struct nuna_sim_options options = {.size = size, .threads = 1, .domains = 1};
    struct nuna_error err = {.message = ""};
    struct nuna_result result;
    struct nuna_sim *sim = nuna_sim_create(&params, plan, &options, &err);
    cr_assert(sim != NULL && nuna_sim_run(sim, &result, &err), "%s", err.message);
    if (result.status == NUNA_SIM_COMPLETE)
        contract_drained(sim, &result);
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
    return result;
}

/* Both GPUs' data, as the protocol puts them on the wire; at a size where chunks are whole lines.
 */
Test(plan_shape, simulated_bytes)
{
    const uint64_t size = 4 * 15360;
    cr_expect_eq(run_exchange("Simple", 4, size).bytes_delivered, 2 * size);
    cr_expect_eq(run_exchange("LL", 4, size).bytes_delivered, 4 * size);
    cr_expect_eq(run_exchange("LL128", 4, size).bytes_delivered, 2 * size / 120 * 128);
}

/* The simulation stops where the check says so, and not before. */
Test(plan_shape, simulated_deadlock)
{
    const uint64_t largest = (2 << 20) / 2 * 3; /* three chunks, two operations held */
    struct nuna_result result = run_exchange("Simple", 3, largest);
    cr_expect_eq(result.status, NUNA_SIM_COMPLETE);
    result = run_exchange("Simple", 3, largest + 48);
    cr_expect_eq(result.status, NUNA_SIM_DEADLOCK);
    cr_expect(strstr(result.waiters, "(send): a free slot towards GPU 1") != NULL, "%s",
              result.waiters);
}

/* LL waits for no acknowledgement: at a small size it must beat Simple, at a large one the ports'
 * double load shows. */
Test(plan_shape, protocols_trade_latency_for_bytes)
{
    cr_expect_lt(run_exchange("LL", 1, 4096).time, run_exchange("Simple", 1, 4096).time);
    cr_expect_lt(run_exchange("LL128", 1, 4096).time, run_exchange("Simple", 1, 4096).time);
    cr_expect_gt(run_exchange("LL", 1, 4 << 20).time, run_exchange("LL128", 1, 4 << 20).time);
}
