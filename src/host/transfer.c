#include "host/transfer.h"
#include "core/units.h"
#include <stdio.h>
#include <string.h>

static const char *const names[NUNA_HOST_DIRECTIONS] = {"h2d", "d2h", "p2p"};

const char *nuna_host_direction_name(enum nuna_host_direction direction)
{
    return names[direction];
}

/* A request while it is read. */
struct reader {
    const char *option, *text;
    uint32_t gpus;
    struct nuna_error *err;
};

static bool refuse(const struct reader *reader, const char *what, const char *expected)
{
    return nuna_fail(reader->err, NUNA_EXIT_BAD_INPUT, "%s %.80s: %s, expected %s", reader->option,
                     reader->text, what, expected);
}

/* The part of `*rest` before `end`; `*rest` moves behind it, or to NULL at the end of the text. */
static void take_word(const char **rest, char end, char *word, size_t size)
{
    const char *at = strchr(*rest, end);
    size_t length = at ? (size_t)(at - *rest) : strlen(*rest);
    snprintf(word, size, "%.*s", (int)(length < 4096 ? length : 4096), *rest);
    *rest = at ? at + 1 : NULL;
}

static bool read_gpu(const struct reader *reader, const char *word, uint32_t *ret_gpu)
{
    char what[96], expected[48];
    uint32_t number = 0;
    bool named = strncmp(word, "gpu", 3) == 0;
    bool zero = named && strcmp(word + 3, "0") == 0;
    if (zero || (named && nuna_units_whole(word + 3, 65535, &number) && number < reader->gpus)) {
        *ret_gpu = number;
        return true;
    }
    snprintf(what, sizeof what, "\"%.40s\" is no GPU of this server", word);
    snprintf(expected, sizeof expected, "gpu0 to gpu%u", reader->gpus - 1);
    return refuse(reader, what, expected);
}

static bool read_size(const struct reader *reader, const char *word, uint64_t *ret_bytes)
{
    int64_t bytes;
    struct nuna_error why;
    if (!nuna_units_parse(word, NUNA_Q_SIZE, "", &bytes, &why))
        return nuna_fail(reader->err, NUNA_EXIT_BAD_INPUT, "%s %.80s: %.600s", reader->option,
                         reader->text, why.message);
    if (bytes == 0 || bytes > 16ll << 40)
        return refuse(reader, bytes ? "the size is too large" : "there is nothing to transfer",
                      "1B to 16TiB");
    *ret_bytes = (uint64_t)bytes;
    return true;
}

static bool read_start(const struct reader *reader, const char *word, nuna_time *ret_start)
{
    int64_t start;
    struct nuna_error why;
    if (!nuna_units_parse(word, NUNA_Q_TIME, "", &start, &why))
        return nuna_fail(reader->err, NUNA_EXIT_BAD_INPUT, "%s %.80s: %.600s", reader->option,
                         reader->text, why.message);
    if (start > 3600 * (int64_t)NUNA_PS_PER_S)
        return refuse(reader, "the start is too late", "at most 3600s");
    *ret_start = (nuna_time)start;
    return true;
}

static bool read_option(const struct reader *reader, const char *word,
                        struct nuna_host_request *request)
{
    if (strncmp(word, "start=", 6) == 0)
        return read_start(reader, word + 6, &request->start);
    if (request->background)
        return refuse(reader, "something follows that background traffic does not know",
                      "start=TIME");
    if (strncmp(word, "stream=", 7) == 0 && nuna_units_whole(word + 7, 65535, &request->stream))
        return true;
    return refuse(reader, "something follows that is not known",
                  "start=TIME or stream=N, N from 1");
}

bool nuna_host_request_parse(const char *option, const char *text, bool background, uint32_t gpus,
                             struct nuna_host_request *ret_request, struct nuna_error *err)
{
    const struct reader reader = {option, text, gpus, err};
    const char *form = background ? "h2d:GPU, d2h:GPU or p2p:GPU:GPU, such as h2d:gpu3"
                                  : "h2d:SIZE:GPU, d2h:SIZE:GPU or p2p:SIZE:GPU:GPU, such as "
                                    "h2d:1GB:gpu0";
    char body[128], word[128];
    const char *options = text;
    take_word(&options, ',', body, sizeof body);
    const char *rest = body;
    *ret_request = (struct nuna_host_request){.background = background, .bytes = NUNA_HOST_ENDLESS};
    take_word(&rest, ':', word, sizeof word);
    uint32_t direction = 0;
    while (direction < NUNA_HOST_DIRECTIONS && strcmp(word, names[direction]) != 0)
        direction++;
    if (direction == NUNA_HOST_DIRECTIONS || !rest)
        return refuse(&reader, "this is no transfer", form);
    ret_request->direction = (enum nuna_host_direction)direction;
    if (!background) {
        take_word(&rest, ':', word, sizeof word);
        if (!read_size(&reader, word, &ret_request->bytes))
            return false;
        if (!rest)
            return refuse(&reader, "the GPU is missing", form);
    }
    take_word(&rest, ':', word, sizeof word);
    if (!read_gpu(&reader, word, &ret_request->gpu))
        return false;
    ret_request->peer = ret_request->gpu;
    if (direction == NUNA_HOST_P2P) {
        if (!rest)
            return refuse(&reader, "the second GPU is missing", form);
        take_word(&rest, ':', word, sizeof word);
        if (!read_gpu(&reader, word, &ret_request->peer))
            return false;
        if (ret_request->peer == ret_request->gpu)
            return refuse(&reader, "both GPUs are the same", "two GPUs");
    }
    if (rest)
        return refuse(&reader, "something follows the GPU", form);
    while (options) {
        take_word(&options, ',', word, sizeof word);
        if (!read_option(&reader, word, ret_request))
            return false;
    }
    return true;
}

bool nuna_host_shares_parse(const char *text, struct nuna_host_paths *paths, struct nuna_error *err)
{
    char word[64];
    uint64_t sum = 0;
    const char *rest = text;
    paths->share_count = 0;
    while (rest) {
        uint32_t share = 0;
        take_word(&rest, ':', word, sizeof word);
        bool good = strcmp(word, "0") == 0 || nuna_units_whole(word, 1000000, &share);
        if (!good || paths->share_count == sizeof paths->share / sizeof paths->share[0])
            return nuna_fail(
                err, NUNA_EXIT_BAD_INPUT,
                "--ratios %.80s: expected whole numbers up to 1000000 between colons, one "
                "for each path, such as 1:2",
                text);
        paths->share[paths->share_count++] = share;
        sum += share;
    }
    return sum > 0 || nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                                "--ratios %.80s: all shares are 0, expected one that is not", text);
}

bool nuna_host_relays_parse(const char *text, uint32_t gpus, struct nuna_host_paths *paths,
                            struct nuna_error *err)
{
    const struct reader reader = {"--relays", text, gpus, err};
    char word[64];
    const char *rest = text;
    paths->relay_count = 0;
    while (rest) {
        uint32_t gpu;
        take_word(&rest, ',', word, sizeof word);
        if (!read_gpu(&reader, word, &gpu))
            return false;
        for (uint32_t i = 0; i < paths->relay_count; i++)
            if (paths->relay[i] == gpu)
                return refuse(&reader, "a GPU is named twice", "each GPU once");
        if (paths->relay_count == sizeof paths->relay / sizeof paths->relay[0])
            return refuse(&reader, "these are too many", "at most 256 GPUs");
        paths->relay[paths->relay_count++] = (uint16_t)gpu;
    }
    return true;
}
