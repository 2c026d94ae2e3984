#include "cli/cmd_plan.h"
#include "cli/common/messages.h"
#include "collectives/generate/generate.h"
#include "collectives/generate/spec_text.h"
#include "collectives/write/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fresh file beside `path`, with the permissions that a plain open would give. */
static FILE *open_beside(const char *path, char **ret_name, struct nuna_error *err)
{
    char *name = NULL;
    if (asprintf(&name, "%s.XXXXXX", path) < 0) {
        nuna_fail_memory(err, "a file name");
        return NULL;
    }
    int fd = mkstemp(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
            unlink(name);
        }
        free(name);
        return NULL;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    *ret_name = name;
    return file;
}

static bool inexpressible(const struct nuna_plan *plan, struct nuna_error *err)
{
    return nuna_fail(
        err, NUNA_EXIT_BAD_INPUT,
        "%s: cannot be written in this format: expected stores with a signal to the same GPU "
        "behind them, copies, sums and barriers",
        plan->source);
}

typedef bool writer(const struct nuna_plan *plan, FILE *out);

/* The file appears whole or not at all. */
static bool write_replacing(const struct nuna_plan *plan, writer *write, const char *path,
                            struct nuna_error *err)
{
    char *name = NULL;
    FILE *file = open_beside(path, &name, err);
    if (file == NULL)
        return false;
    errno = 0;
    bool good = write(plan, file) && fsync(fileno(file)) == 0;
    int why = errno;
    if (fclose(file) != 0 && good) {
        why = errno;
        good = false;
    }
    if (good && rename(name, path) != 0) {
        why = errno;
        good = false;
    }
    if (!good) {
        unlink(name);
        if (why == EINVAL)
            inexpressible(plan, err);
        else
            nuna_fail(err, NUNA_EXIT_INTERNAL, "%s: cannot be written: %s", path, strerror(why));
    }
    free(name);
    return good;
}

static bool write_stream(const struct nuna_plan *plan, writer *write, FILE *file, const char *what,
                         struct nuna_error *err)
{
    errno = 0;
    if (write(plan, file))
        return true;
    if (errno == EINVAL)
        return inexpressible(plan, err);
    return nuna_fail(err, NUNA_EXIT_INTERNAL, "%s: cannot be written: %s", what, strerror(errno));
}

static bool write_out(const struct nuna_plan *plan, writer *write, const char *path,
                      struct nuna_error *err)
{
    if (path == NULL)
        return write_stream(plan, write, stdout, "standard output", err);
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        return write_replacing(plan, write, path, err);
    /* A pipe or a device is written to, not replaced. */
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: cannot be written: %s", path,
                         strerror(errno));
    bool good = write_stream(plan, write, file, path, err);
    if (fclose(file) != 0 && good)
        good =
            nuna_fail(err, NUNA_EXIT_INTERNAL, "%s: cannot be written: %s", path, strerror(errno));
    return good;
}

struct plan_options {
    const char *gpus, *channels, *instances, *algorithm, *format, *out;
    bool list;
};

static const char *or_else(const char *given, const char *otherwise)
{
    return given != NULL ? given : otherwise;
}

/* The builtin parser already knows every name, number and hint. */
static struct nuna_plan *generate(const char *collective, const struct plan_options *o,
                                  struct nuna_error *err)
{
    char text[256];
    int length =
        snprintf(text, sizeof text, "%s,gpus=%s,channels=%s,instances=%s,algorithm=%s", collective,
                 o->gpus, or_else(o->channels, "8"), or_else(o->instances, "1"),
                 or_else(o->algorithm, nuna_algorithm_name(NUNA_ALLPAIRS)));
    if (length < 0 || (size_t)length >= sizeof text) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "plan: the arguments are too long");
        return NULL;
    }
    return nuna_plan_builtin(text, 0, 1, err);
}

static bool generate_and_write(const char *collective, const struct plan_options *o,
                               struct nuna_error *err)
{
    if (collective == NULL || o->gpus == NULL)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "plan: %s is missing, expected e.g. nunasim plan allgather --gpus 8",
                         collective == NULL ? "the collective" : "--gpus");
    const char *format = or_else(o->format, "json");
    bool xml = strcmp(format, "xml") == 0;
    if (!xml && strcmp(format, "json") != 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--format %.40s: expected json or xml", format);
    struct nuna_plan *plan = generate(collective, o, err);
    bool good = plan != NULL &&
                write_out(plan, xml ? nuna_plan_write_xml : nuna_plan_write_json, o->out, err);
    nuna_plan_destroy(plan);
    return good;
}

/* A line each, for people and scripts. */
static void list_algorithms(void)
{
    for (int a = 0; a < NUNA_ALGORITHM_COUNT; a++) {
        fputs(nuna_algorithm_name((enum nuna_algorithm)a), stdout);
        for (int c = 0; c < NUNA_COLLECTIVE_OTHER; c++)
            if (nuna_algorithm_can((enum nuna_algorithm)a, (enum nuna_collective)c))
                printf(" %s", nuna_collective_name((enum nuna_collective)c));
        putchar('\n');
    }
}

static int run(struct nuna_call *call)
{
    const struct plan_options *o = call->state;
    struct nuna_error err;
    if (o->list) {
        list_algorithms();
        return NUNA_EXIT_OK;
    }
    return generate_and_write(call->operand, o, &err) ? NUNA_EXIT_OK : nuna_cli_report(&err);
}

#define AT(member) offsetof(struct plan_options, member)
static const struct nuna_opt options[] = {
    {"gpus", "N", "GPUs, 1 to 4096", NUNA_OPT_VALUE, AT(gpus), NUNA_VALUES_FREE, NULL},
    {"channels", "N", "threadblocks per peer, rings or trees, 1 to 1024 (default 8)",
     NUNA_OPT_VALUE, AT(channels), NUNA_VALUES_FREE, NULL},
    {"instances", "N", "copies of all that, each with its part of every chunk (default 1)",
     NUNA_OPT_VALUE, AT(instances), NUNA_VALUES_FREE, NULL},
    {"algorithm", "NAME", "the first (default) or another of:" NUNA_LISTED_WORDS(NUNA_ALGORITHMS),
     NUNA_OPT_VALUE, AT(algorithm), NUNA_VALUES_WORDS, NUNA_WORDS(NUNA_ALGORITHMS)},
    {"format", "NAME", "json (default) or xml", NUNA_OPT_VALUE, AT(format), NUNA_VALUES_WORDS,
     "json|xml"},
    {"out", "FILE", "write to FILE instead of standard output", NUNA_OPT_VALUE, AT(out),
     NUNA_VALUES_FILE, NULL},
    {"list", NULL, "prints each algorithm and the collectives that it can do", NUNA_OPT_FLAG,
     AT(list), NUNA_VALUES_FREE, NULL},
};
#undef AT

const struct nuna_verb nuna_verb_plan = {
    .name = "plan",
    .summary = "generate a collective plan",
    .synopsis = "plan COLLECTIVE --gpus N [options]",
    .about = "Writes a plan for a collective as MSCCL++ JSON, version 2, or as MSCCL XML.\n"
             "COLLECTIVE is one of:" NUNA_LISTED_WORDS(NUNA_COLLECTIVES) ".",
    .options = {options, sizeof options / sizeof options[0]},
    .operand = "COLLECTIVE",
    .operand_values = NUNA_VALUES_WORDS,
    .operand_words = NUNA_WORDS(NUNA_COLLECTIVES),
    .state_size = sizeof(struct plan_options),
    .run = run,
};
