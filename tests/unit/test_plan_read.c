/* The plan reader: malformed files and their messages, round trips, real files. */
#include "collectives/check/check.h"
#include "collectives/generate/generate.h"
#include "collectives/read/read.h"
#include "collectives/write/write.h"

#include "default_shape.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void temporary(char *path, size_t size)
{
    const char *dir = getenv("TMPDIR");
    snprintf(path, size, "%s/nunasim-plan-XXXXXX", dir == NULL ? "/tmp" : dir);
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static struct nuna_plan *read_text(const char *text, size_t length, struct nuna_error *err)
{
    char path[256];
    temporary(path, sizeof path);
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL);
    cr_assert_eq(fwrite(text, 1, length, file), length);
    fclose(file);
    struct nuna_plan *plan = nuna_plan_read(path, err);
    unlink(path);
    if (plan == NULL) {
        /* The path is not the same every time; messages begin with it. */
        cr_assert(strncmp(err->message, path, strlen(path)) == 0, "%s", err->message);
        cr_assert_eq(err->code, NUNA_EXIT_BAD_INPUT);
        memmove(err->message, err->message + strlen(path), strlen(err->message + strlen(path)) + 1);
    }
    return plan;
}

/* A small good plan, in which a test replaces one piece of text. */
static const char good[] =
    "{\"name\":\"n\",\"collective\":\"alltoall\",\"protocol\":\"Simple\",\"inplace\":false,\n"
    "\"gpus\":[\n"
    "{\"id\":0,\"input_chunks\":2,\"output_chunks\":2,\"scratch_chunks\":0,\"threadblocks\":[\n"
    "{\"id\":0,\"ops\":[\n"
    "{\"name\":\"copy\",\"src_buff\":[{\"type\":\"i\",\"index\":0,\"size\":1}],"
    "\"dst_buff\":[{\"type\":\"o\",\"index\":0,\"size\":1}]},\n"
    "{\"name\":\"put\",\"src_buff\":[{\"type\":\"i\",\"index\":1,\"size\":1}],"
    "\"dst_buff\":[{\"buffer_id\":0,\"index\":0,\"size\":1}],\"channel_type\":\"memory\"},\n"
    "{\"name\":\"nop\"},{\"name\":\"signal\",\"channel_ids\":[0],\"channel_type\":\"memory\"},\n"
    "{\"name\":\"wait\",\"channel_ids\":[0],\"channel_type\":\"memory\"}],\n"
    "\"channels\":[{\"channel_type\":\"memory\",\"channel_ids\":[0]}],\n"
    "\"remote_buffer_refs\":[{\"access_channel_type\":\"memory\",\"remote_buffer_ids\":[0]}]}],\n"
    "\"channels\":[{\"channel_type\":\"memory\",\"connected_to\":[1]}],\n"
    "\"remote_buffers\":[{\"rank\":1,\"type\":\"o\",\"access_channel_types\":[\"memory\"]}],\n"
    "\"semaphores\":[]},\n"
    "{\"id\":1,\"input_chunks\":2,\"output_chunks\":2,\"scratch_chunks\":0,\"threadblocks\":[\n"
    "{\"id\":0,\"ops\":[\n"
    "{\"name\":\"copy\",\"src_buff\":[{\"type\":\"i\",\"index\":1,\"size\":1}],"
    "\"dst_buff\":[{\"type\":\"o\",\"index\":1,\"size\":1}]},\n"
    "{\"name\":\"put\",\"src_buff\":[{\"type\":\"i\",\"index\":0,\"size\":1}],"
    "\"dst_buff\":[{\"buffer_id\":0,\"index\":1,\"size\":1}],\"channel_type\":\"memory\"},\n"
    "{\"name\":\"nop\"},{\"name\":\"signal\",\"channel_ids\":[0],\"channel_type\":\"memory\"},\n"
    "{\"name\":\"wait\",\"channel_ids\":[0],\"channel_type\":\"memory\"}],\n"
    "\"channels\":[{\"channel_type\":\"memory\",\"channel_ids\":[0]}],\n"
    "\"remote_buffer_refs\":[{\"access_channel_type\":\"memory\",\"remote_buffer_ids\":[0]}]}],\n"
    "\"channels\":[{\"channel_type\":\"memory\",\"connected_to\":[0]}],\n"
    "\"remote_buffers\":[{\"rank\":0,\"type\":\"o\",\"access_channel_types\":[\"memory\"]}],\n"
    "\"semaphores\":[]}],\n"
    "\"min_message_size\":0,\"max_message_size\":18446744073709551615}\n";

/* The text with the first `from` replaced by `to`. */
static char *replaced(const char *from, const char *to)
{
    const char *at = strstr(good, from);
    cr_assert(at != NULL, "%s is not in the text", from);
    char *text = malloc(sizeof good + strlen(to) + 1);
    cr_assert(text != NULL);
    sprintf(text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    return text;
}

#define DRAFT                                                                                      \
    ", as the rest of the file does: an unsupported draft of the format, or a mixture of versions"
#define OP0 ": gpus[0].threadblocks[0].ops[0]"
#define OP1 ": gpus[0].threadblocks[0].ops[1]"

static const struct fault {
    const char *from, *to;
    const char *message; /* after the path */
} faults[] = {
    /* The text itself. */
    {"\"name\":\"n\",", "\"name\":\"n\" ", ":1:13: expected ',' or '}', found '\"'"},
    {"\"name\":\"n\"", "name:\"n\"", ":1:2: expected a key in double quotes, found 'n'"},
    {"\"name\":\"n\"", "\"name\" \"n\"", ":1:9: expected ':' after the key, found '\"'"},
    {"\"name\":\"n\"", "\"name\":nil", ":1:9: expected a value, found 'n'"},
    {"\"name\":\"n\"", "\"name\":\"\t\"", ":1:10: a string cannot hold a raw control character"},
    {"\"name\":\"n\"", "\"name\":\"n", ":1:13: expected ',' or '}', found 'c'"},
    {"\"name\":\"n\"", "\"name\":\"\\x\"", ":1:10: unknown escape in a string"},
    {"\"name\":\"n\"", "\"name\":\"\\u00g0\"", ":1:10: expected four hexadecimal digits after \\u"},
    {"\"name\":\"n\"", "\"name\":\"\\u0000\"", ":1:10: a string cannot hold the character \\u0000"},
    {"\"name\":\"n\"", "\"name\":\"\\ud800\"",
     ":1:10: the first half of a surrogate pair without the second"},
    {"\"name\":\"n\"", "\"name\":\"\\udc00\"",
     ":1:10: the second half of a surrogate pair without the first"},
    {"\"name\":\"n\"", "\"name\":\"\xc3\xbc\xff\"", ":1:11: the byte 0xff is not UTF-8"},
    {"\"id\":0,", "\"id\":00,", ":3:7: a number cannot start with 0"},
    {"\"id\":0,", "\"id\":-,", ":3:8: expected a digit, found ','"},
    {"\"id\":0,", "\"id\":1.,", ":3:9: expected a digit, found ','"},
    {"\"id\":0,", "\"id\":1e,", ":3:9: expected a digit, found ','"},
    {"\"id\":0,", "\"id\":1000000000000000000000000000000000000000000000000000000000000000000000,",
     ":3:7: a number of more than 60 characters"},
    {"\"semaphores\":[]},", "\"semaphores\":[],},", ":13:17: a comma before '}'"},
    {"615}\n", "615}\n{}", ":26:1: text after the end of the plan"},
    {"615}\n", "615\n", ":26:1: the file ends here, is it truncated? Expected ',' or '}'"},

    /* Values of the wrong kind. */
    {"\"name\":\"n\",", "", ": name: is missing, expected a string"},
    {"\"name\":\"n\"", "\"Name\":\"n\"", ": name: is missing, expected a string"},
    {"\"name\":\"n\"", "\"name\":\"n\",\"name\":\"m\"", ": name: the key is given twice"},
    {"\"name\":\"n\"", "\"x\":[1,{\"a\":1,\"b\":2,\"a\":3}],\"name\":\"n\"",
     ": x[1].a: the key is given twice"},
    {"\"name\":\"n\"", "\"name\":null", ": name: is null, expected a string"},
    {"\"alltoall\"", "17", ": collective: is a number, expected a string"},
    {"\"alltoall\"", "\"a collective with a very long name\"",
     ": collective: is longer than 31 bytes"},
    {"\"Simple\"", "\"LL128\"",
     ": protocol: unknown protocol \"LL128\", the format has \"Simple\" and \"LL\""},
    {"\"inplace\":false", "\"inplace\":0", ": inplace: is a number, expected true or false"},
    {"\"inplace\":false", "\"inplace\":false,\"reuse_resources\":1",
     ": reuse_resources: is a number, expected true or false"},
    {"\"inplace\":false", "\"inplace\":false,\"use_double_scratch_buffer\":null",
     ": use_double_scratch_buffer: is null, expected true or false"},
    {"\"inplace\":false", "\"inplace\":false,\"buffer_alignment\":0",
     ": buffer_alignment: 0 is out of range, expected 1 to 2147483647"},
    {"18446744073709551615", "18446744073709551616",
     ": max_message_size: is out of range, expected 0 to 18446744073709551615"},
    {"18446744073709551615", "9007199254740993.5",
     ": max_message_size: 9007199254740994 is not exact, write all digits without an exponent"},
    {"18446744073709551615", "-1", ": max_message_size: -1 is not a whole number of bytes"},
    {"18446744073709551615", "1.5", ": max_message_size: 1.5 is not a whole number of bytes"},
    {"\"min_message_size\":0,\"max_message_size\":18446744073709551615",
     "\"min_message_size\":2,\"max_message_size\":1",
     ": min_message_size: 2 is above max_message_size, which is 1"},
    {"\"id\":0", "\"id\":\"0\"", ": gpus[0].id: is a string, expected an integer"},
    {"\"id\":0", "\"id\":1", ": gpus[0].id: is 1, expected 0, the position in the list"},
    {"\"id\":0", "\"id\":0.5", ": gpus[0].id: 0.5 is not an integer"},
    {"\"id\":0", "\"id\":-1", ": gpus[0].id: -1 is out of range, expected 0 to 4294967295"},
    {"\"id\":0", "\"id\":1e999", ": gpus[0].id: inf is out of range, expected 0 to 4294967295"},
    {"\"scratch_chunks\":0,", "", ": gpus[0].scratch_chunks: is missing, expected an integer"},
    {"\"scratch_chunks\":0", "\"scratch_chunks\":4294967296",
     ": gpus[0].scratch_chunks: 4294967296 is out of range, expected 0 to 16777216"},
    {"[1]}],\n\"remote", "[2]}],\n\"remote",
     ": gpus[0].channels[0].connected_to[0]: rank 2, but the plan has 2 GPUs"},
    {"[1]}],\n\"remote", "[0]}],\n\"remote",
     ": gpus[0].channels[0].connected_to[0]: rank 0 is this GPU itself"},
    {"\"memory\",\"connected_to\"", "\"port\",\"connected_to\"",
     ": gpus[0].threadblocks[0].channels[0].channel_ids[0]: memory channel 0, but GPU 0 declares "
     "0"},
    {"\"memory\",\"connected_to\"", "\"wire\",\"connected_to\"",
     ": gpus[0].channels[0].channel_type: unknown channel type \"wire\", expected \"memory\", "
     "\"port\" or \"switch\""},
    {"\"rank\":1", "\"rank\":7",
     ": gpus[0].remote_buffers[0].rank: rank 7, but the plan has 2 GPUs"},
    {"\"type\":\"o\",\"access", "\"type\":\"x\",\"access",
     ": gpus[0].remote_buffers[0].type: \"x\" is no buffer, expected \"i\" (input), \"o\" (output) "
     "or \"s\" (scratch)"},
    {"[\"memory\"]", "[\"port\"]",
     ": gpus[0].threadblocks[0].remote_buffer_refs[0].remote_buffer_ids[0]: remote buffer 0 is not "
     "open for memory channels"},
    {"\"remote_buffer_ids\":[0]", "\"remote_buffer_ids\":[3]",
     ": gpus[0].threadblocks[0].remote_buffer_refs[0].remote_buffer_ids[0]: remote buffer 3, but "
     "GPU 0 declares 1"},
    {"\"channel_ids\":[0]}]", "\"channel_ids\":[1]}]",
     ": gpus[0].threadblocks[0].channels[0].channel_ids[0]: memory channel 1, but GPU 0 declares "
     "1"},
    {"\"semaphores\":[]", "\"semaphores\":[{}]",
     ": gpus[0].semaphores[0].init_value: is missing, expected an integer"},
    {"{\"id\":0,\"ops\"", "{\"id\":4,\"ops\"",
     ": gpus[0].threadblocks[0].id: is 4, expected 0, the position in the list"},

    /* Operations. */
    {"\"copy\"", "\"cpy\"",
     OP0 ".name: unknown operation \"cpy\", did you mean \"copy\"; docs/plan-formats.md "
         "lists them"},
    {"\"copy\"", "\"ppkt\"", OP0 ".channel_type: is missing, expected a string"},
    {"\"copy\"", "\"cpkt\"",
     OP0 ".dst_buff[0]: packets lie in scratch (\"s\"), not in another buffer"},
    {"\"copy\"", "\"pipeline\"", OP0 ".iter_context: is missing, expected an object"},
    {"\"copy\"", "\"pws\",\"channel_type\":\"memory\"",
     OP0 ".channel_type: pws does not work on channels of this type"},
    {"\"copy\"", "\"glres\",\"channel_type\":\"switch\"",
     OP0 ".src_buff[0].switch_channel_id: is missing, expected an integer"},
    {"\"copy\"", "\"rs\"", OP0 ".name: \"rs\" is a name from before MSCCL++ 0.8, now \"res\""},
    {"{\"name\":\"copy\"", "{\"name\":\"copy\",\"tbg_info\":{}",
     OP0 ".tbg_info.tbg_size: is missing, expected an integer"},
    {"{\"name\":\"copy\"", "{\"name\":\"copy\",\"tbg_info\":{\"tb_id\":2,\"tbg_size\":2}",
     OP0 ".tbg_info.tb_id: is 2, but tbg_size is 2"},
    {"\"copy\"", "\"re\",\"reduce_op\":\"avg\"",
     OP0 ".reduce_op: unknown reduction \"avg\", expected \"sum\", \"min\" or \"max\""},
    {"\"copy\"", "\"sem_acquire\"", OP0 ".semaphore_ids: is missing, expected an array"},
    {"\"copy\"", "\"sem_release\",\"semaphore_ids\":[0]",
     OP0 ".semaphore_ids[0]: semaphore 0, but this GPU has 0"},
    {"\"copy\"", "\"barrier\"", OP0 ".barrier_id: is missing, expected an integer"},
    {"\"copy\"", "\"barrier\",\"barrier_id\":0,\"num_threadblocks\":0",
     OP0 ".num_threadblocks: 0 is out of range, expected 1 to 4294967295"},
    {"\"src_buff\":[{\"type\":\"i\",\"index\":0,\"size\":1}]", "\"src_buff\":[]",
     OP0 ".src_buff: is empty, expected a buffer range"},
    {"{\"type\":\"i\",\"index\":0", "{\"index\":0",
     OP0 ".src_buff[0].type: is missing, expected a string"},
    {"\"index\":0,\"size\":1", "\"index\":2,\"size\":1",
     OP0 ".src_buff[0].index: chunk 2, but the input of GPU 0 has 2 chunks"},
    {"\"index\":0,\"size\":1", "\"index\":0,\"size\":3",
     OP0 ".src_buff[0].size: chunk 0 to 2, but the input of GPU 0 has 2 chunks"},
    {"\"index\":0,\"size\":1", "\"index\":4294967295,\"size\":4294967295",
     OP0 ".src_buff[0].index: chunk 4294967295 to 8589934589, but the input of GPU 0 has 2 chunks"},
    {"\"index\":0,\"size\":1", "\"index\":0,\"size\":0",
     OP0 ".src_buff[0].size: 0 is out of range, expected 1 to 4294967295"},
    {"\"index\":0,\"size\":1", "\"index\":0,\"size\":2",
     OP0 ".dst_buff[0].size: is 1, but src_buff[0].size is 2"},
    {"\"dst_buff\":[{\"type\":\"o\",\"index\":0,\"size\":1}",
     "\"dst_buff\":[{\"type\":\"o\",\"index\":0,\"size\":1},{\"type\":\"o\",\"index\":0,\"size\":1}",
     OP0 ".dst_buff: has 2 entries, expected 1 as in src_buff"},
    {"\"buffer_id\":0", "\"buffer_id\":1",
     OP1 ".dst_buff[0].buffer_id: remote buffer 1, but this threadblock has 1"},
    {"\"buffer_id\":0", "\"type\":\"o\"",
     OP1 ".dst_buff[0].buffer_id: is missing, expected an integer"},
    {"],\"channel_type\":\"memory\"}", "]}", OP1 ".channel_type: is missing, expected a string"},
    {"\"signal\",\"channel_ids\":[0]", "\"signal\",\"channel_ids\":[1]",
     ": gpus[0].threadblocks[0].ops[3].channel_ids[0]: channel 1, but this threadblock has 1"},
    {"\"signal\",\"channel_ids\":[0]", "\"signal\",\"channel_ids\":[]",
     ": gpus[0].threadblocks[0].ops[3].channel_ids: is empty, expected a number"},

    {"\"signal\",\"channel_ids\":[0],\"channel_type\":\"memory\"",
     "\"flush\",\"channel_ids\":[0],\"channel_type\":\"port\"",
     ": gpus[0].threadblocks[0].ops[3].channel_ids[0]: channel 0, but this threadblock has 0"},
    {"\"signal\",\"channel_ids\":[0],\"channel_type\":\"memory\"",
     "\"flush\",\"channel_ids\":7,\"channel_type\":\"port\"",
     ": gpus[0].threadblocks[0].ops[3].channel_ids: is a number, expected an array"},

    /* Drafts and mixtures. */
    {"\"input_chunks\"", "\"inputChunks\"",
     ": gpus[0].output_chunks: this key does not belong to MSCCL++ version 1 (0.5 to 0.7)" DRAFT},
    {"\"connected_to\"", "\"connectedTo\"",
     ": gpus[0].channels[0].connectedTo: this key does not belong to MSCCL++ version 2 (0.8 and "
     "later)" DRAFT},
    {"\"collective\"", "\"colletive\"", ": collective: is missing, expected a string"},
    {"\"name\":\"copy\"", "\"name\":\"copy\",\"cids\":[]",
     OP0 ".cids: this key does not belong to MSCCL++ version 2 (0.8 and later)" DRAFT},
};

Test(plan_read, faults_in_a_good_plan)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        struct nuna_error err;
        char *text = replaced(faults[i].from, faults[i].to);
        struct nuna_plan *plan = read_text(text, strlen(text), &err);
        cr_expect(plan == NULL, "%s was accepted", faults[i].to);
        if (plan == NULL)
            cr_expect_str_eq(err.message, faults[i].message);
        nuna_plan_destroy(plan);
        free(text);
    }
}

static const struct whole {
    const char *text;
    size_t length;
    const char *message;
} wholes[] = {
    {"", 0, ": is empty, expected a plan"},
    {" \n\t", 3, ": has nothing but blanks, expected a plan"},
    {"{\"a\0b\":1}", 9, ": is a binary file, expected a plan as text"},
    {"\xff\xfe{\0", 4, ": is UTF-16 text, expected UTF-8"},
    {"\x1f\x8b\x08", 3, ": is compressed with gzip, unpack it first"},
    {"[1]", 3, ": the top level is an array, expected an object"},
    {"17", 2, ": the top level is a number, expected an object"},
    {"{}", 2, ": gpus: is missing, expected an array"},
    {"{\"gpus\":{}}", 11, ": gpus: is an object, expected an array"},
    {"{\"gpus\":[]}", 11, ": gpus: is empty, expected one object per GPU"},
    {"{\"gpus\":[0]}", 12, ": gpus[0]: is a number, expected an object"},
    {"{\"gpus\"", 7, ":1:8: the file ends here, is it truncated? Expected ':' after the key"},
    {"{\"gp", 4, ":1:2: the file ends inside this string, is it truncated?"},
    {"<algo name=\"x\">", 15, ":1:1: <algo> lacks proto"},
    {"name: x\n", 8, ":1:1: expected a value, found 'n'"},
    {"Operation 7", 11,
     ": is neither JSON nor XML, expected an MSCCL++ plan, which starts with '{', or an MSCCL "
     "algorithm, which starts with '<'"},
};

Test(plan_read, files_that_are_no_plan)
{
    for (size_t i = 0; i < COUNT(wholes); i++) {
        struct nuna_error err;
        cr_assert_null(read_text(wholes[i].text, wholes[i].length, &err));
        cr_expect_str_eq(err.message, wholes[i].message);
    }
    char deep[400];
    struct nuna_error err;
    memset(deep, '[', sizeof deep);
    cr_assert_null(read_text(deep, sizeof deep, &err));
    cr_expect_str_eq(err.message, ":1:65: nested more than 64 levels deep");
    cr_assert_null(nuna_plan_read("/", &err));
    cr_expect_str_eq(err.message, "/: is a directory, expected a plan file");
    cr_assert_null(nuna_plan_read("/nonexistent/plan", &err));
    cr_expect_str_eq(err.message, "/nonexistent/plan: cannot be opened: No such file or directory");
}

Test(plan_read, every_truncation_is_refused)
{
    for (size_t length = 0; length + 2 < sizeof good; length++) {
        struct nuna_error err;
        struct nuna_plan *plan = read_text(good, length, &err);
        cr_assert(plan == NULL, "%zu bytes were accepted", length);
    }
}

static const char *const harmless[][2] = {
    {"\"name\":\"n\"", "\"name\":\"n\",\"unknown\":{\"deep\":[null,true,1e3]}"},
    {"{\"name\":\"n\"", "\xef\xbb\xbf{\"name\":\"n\""},
    {"\"index\":1,", "\"index\":1.0,"},
    {"\"index\":1,", "\"index\":1e0,"},
    {"\"inplace\":false", "\"inplace\":false,\"reuse_resources\":false"},
    {",\"max_message_size\":18446744073709551615", ""},
    {"18446744073709551615", "1.8446744073709552e19"},
};

Test(plan_read, harmless_variants)
{
    struct nuna_error err;
    struct nuna_plan_verdict verdict;
    for (size_t i = 0; i < COUNT(harmless); i++) {
        char *text = replaced(harmless[i][0], harmless[i][1]);
        struct nuna_plan *plan = read_text(text, strlen(text), &err);
        cr_assert(plan != NULL, "%s", err.message);
        cr_expect_eq(plan->max_size, UINT64_MAX);
        cr_expect(check_plan(plan, &verdict, &err) && verdict.proved, "%s", err.message);
        nuna_plan_destroy(plan);
        free(text);
    }
    char *text = replaced("18446744073709551615", "9007199254740993");
    struct nuna_plan *plan = read_text(text, strlen(text), &err);
    cr_assert(plan != NULL);
    cr_expect_eq(plan->max_size, 9007199254740993);
    nuna_plan_destroy(plan);
    free(text);
}

/* GPU 1 names no channel back to GPU 0; it is made, after those that it has. */
Test(plan_read, missing_channel_ends_are_made)
{
    struct nuna_error err;
    char *text = replaced("\"connected_to\":[1]", "\"connected_to\":[1,1,1]");
    struct nuna_plan *plan = read_text(text, strlen(text), &err);
    cr_assert(plan != NULL, "%s", err.message);
    for (uint32_t gpu = 0; gpu < 2; gpu++) {
        cr_assert_eq(plan->gpus[gpu].channel_count, 3);
        for (uint32_t i = 0; i < 3; i++) {
            const struct nuna_channel *end = &plan->channels[plan->gpus[gpu].channel_at + i];
            cr_expect_eq(end->peer, 1 - gpu);
            cr_expect_eq(end->peer_channel, i);
        }
    }
    nuna_plan_destroy(plan);
    free(text);
}

#define SAME_ARRAY(a, b, array, count)                                                             \
    cr_assert(a->count == b->count &&                                                              \
                  memcmp(a->array, b->array, a->count * sizeof *a->array) == 0,                    \
              "%s: " #array " differ", a->source)

static void check_same(const struct nuna_plan *a, const struct nuna_plan *b)
{
    cr_assert_str_eq(a->name, b->name);
    cr_assert_str_eq(a->collective_name, b->collective_name);
    cr_assert_eq(a->collective, b->collective);
    cr_assert_eq(a->inplace, b->inplace);
    cr_assert_eq(a->gpu_count, b->gpu_count);
    cr_assert_eq(a->grain, b->grain);
    cr_assert_eq(a->min_size, b->min_size);
    cr_assert_eq(a->max_size, b->max_size);
    SAME_ARRAY(a, b, gpus, gpu_count);
    SAME_ARRAY(a, b, threadblocks, threadblock_count);
    SAME_ARRAY(a, b, ops, op_count);
    SAME_ARRAY(a, b, ids, id_count);
    SAME_ARRAY(a, b, channels, channel_count);
    SAME_ARRAY(a, b, sem_init, sem_count);
    cr_assert_eq(a->range_count, b->range_count);
    for (size_t i = 0; i < a->range_count; i++) { /* has padding */
        const struct nuna_range *x = &a->ranges[i], *y = &b->ranges[i];
        cr_assert(x->gpu == y->gpu && x->buffer == y->buffer && x->index == y->index &&
                  x->count == y->count);
    }
}

static char *written(const struct nuna_plan *plan, size_t *ret_length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_length);
    cr_assert(out != NULL);
    cr_assert(nuna_plan_write_json(plan, out));
    fclose(out);
    return text;
}

static void check_round_trip(const struct nuna_plan *plan)
{
    struct nuna_error err;
    size_t length, again_length;
    char *text = written(plan, &length);
    struct nuna_plan *again = read_text(text, length, &err);
    cr_assert(again != NULL, "%s%s", plan->source, err.message);
    check_same(plan, again);
    char *again_text = written(again, &again_length);
    cr_assert(length == again_length && memcmp(text, again_text, length) == 0);
    nuna_plan_destroy(again);
    free(text);
    free(again_text);
}

Test(plan_read, what_is_written_reads_back_the_same)
{
    static const uint32_t gpu_counts[] = {1, 2, 3, 8, 12};
    for (int collective = 0; collective < NUNA_COLLECTIVE_OTHER; collective++)
        for (int algorithm = 0; algorithm < NUNA_ALGORITHM_COUNT; algorithm++)
            for (size_t n = 0; n < COUNT(gpu_counts); n++)
                for (uint32_t channels = 1; channels <= 2; channels++) {
                    struct nuna_error err;
                    struct nuna_plan_spec spec = {(enum nuna_collective)collective,
                                                  (enum nuna_algorithm)algorithm, gpu_counts[n],
                                                  channels};
                    if (!nuna_algorithm_can(spec.algorithm, spec.collective))
                        continue;
                    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
                    cr_assert(plan != NULL, "%s", err.message);
                    check_round_trip(plan);
                    nuna_plan_destroy(plan);
                }
}

Test(plan_read, awkward_labels_and_operations_survive)
{
    struct nuna_error err;
    char *text = replaced(
        "\"name\":\"copy\"",
        "\"name\":\"barrier\",\"barrier_id\":9,\"num_threadblocks\":1},{\"name\":\"barrier\","
        "\"barrier_id\":4,\"num_threadblocks\":1},{\"name\":\"sem_acquire\",\"semaphore_ids\":[1,0]"
        "},{\"name\":\"rlxsignal\",\"channel_ids\":[0],\"channel_type\":\"memory\"},{\"name\":"
        "\"rlxwait\",\"channel_ids\":[0],\"channel_type\":\"memory\"},{\"name\":\"copy\"");
    const char *at = strstr(text, "\"semaphores\":[]");
    char *more = malloc(strlen(text) + 100);
    cr_assert(more != NULL);
    sprintf(more, "%.*s\"semaphores\":[{\"init_value\":3},{\"init_value\":1}]%s", (int)(at - text),
            text, at + strlen("\"semaphores\":[]"));
    struct nuna_plan *plan = read_text(more, strlen(more), &err);
    cr_assert(plan != NULL, "%s", err.message);
    cr_expect_eq(plan->gpus[0].barrier_count, 2);
    cr_expect_eq(plan->ops[0].barrier_id, 1);
    cr_expect_eq(plan->ops[1].barrier_id, 0);
    cr_expect(plan->ops[3].relaxed && plan->ops[4].relaxed && !plan->ops[8].relaxed);
    snprintf(plan->name, sizeof plan->name, "a \"quoted\" \\ \n\x01 n\xc3\xa4me");
    check_round_trip(plan);
    nuna_plan_destroy(plan);
    free(text);
    free(more);
}

/* Pairings that the format cannot say are not written as something else. */
Test(plan_read, crossed_channels_are_not_written)
{
    struct nuna_error err;
    struct nuna_plan_spec spec = {NUNA_ALLGATHER, NUNA_ALLPAIRS, 2, 2};
    struct nuna_plan *plan = nuna_plan_generate(&spec, &err);
    cr_assert(plan != NULL);
    for (uint32_t i = 0; i < 4; i++)
        plan->channels[i].peer_channel ^= 1;
    FILE *out = fopen("/dev/null", "w");
    cr_assert(out != NULL);
    cr_expect(!nuna_plan_write_json(plan, out));
    fclose(out);
    nuna_plan_destroy(plan);

    plan = nuna_plan_generate(&spec, &err);
    out = fopen("/dev/full", "w");
    if (plan != NULL && out != NULL) {
        cr_expect(!nuna_plan_write_json(plan, out));
        fclose(out);
    }
    nuna_plan_destroy(plan);
}

static void read_folder(const char *folder, unsigned *ret_read, unsigned *ret_refused)
{
    DIR *dir = opendir(folder);
    cr_assert(dir != NULL, "%s", folder);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[1024];
        struct nuna_error err = {.message = ""};
        if (strstr(entry->d_name, ".json") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        struct nuna_plan *plan = nuna_plan_read(path, &err);
        if (plan != NULL) {
            struct nuna_plan_verdict verdict;
            ++*ret_read;
            FILE *nowhere = fopen("/dev/null", "w");
            cr_assert(nowhere != NULL);
            /* Only what generated plans are made of can be written. */
            if (nuna_plan_write_json(plan, nowhere) && check_plan(plan, &verdict, &err))
                check_round_trip(plan);
            fclose(nowhere);
        } else {
            ++*ret_refused;
            cr_expect(strncmp(err.message, path, strlen(path)) == 0, "%s", err.message);
            cr_expect_eq(err.code, NUNA_EXIT_BAD_INPUT);
        }
        nuna_plan_destroy(plan);
    }
    closedir(dir);
}

Test(plan_read, real_files)
{
    const char *shared = getenv("NUNA_SHARED");
    char folder[512];
    unsigned read = 0, refused = 0;
    if (shared == NULL)
        cr_skip("NUNA_SHARED is not set: no collection of real plans to read");
    snprintf(folder, sizeof folder, "%s/plans/mscclpp-json", shared);
    if (access(folder, R_OK) != 0)
        cr_skip("%s is not there: no collection of real plans to read", folder);
    read_folder(folder, &read, &refused);
    cr_log_info("%u real plans read, %u refused", read, refused);
    cr_expect(read >= 4 && refused > 0);
}
