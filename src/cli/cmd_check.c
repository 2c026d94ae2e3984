#include "cli/cli.h"
#include "cli/options.h"
#include "collectives/plan_io.h"
#include "core/params.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define BUILTIN      "builtin:"

static void print_help(const struct nuna_opt *opts, size_t count)
{
    printf("Usage: nunasim check PLAN [options]\n\n"
           "Checks a plan without simulating it: ranges, numbers, deadlocks, and that every GPU\n"
           "ends with exactly the data that the collective promises.\n"
           "PLAN is a file or, for example, builtin:allgather,channels=8,algorithm=ring.\n\n"
           "Options:\n");
    nuna_options_help(opts, count);
}

/* 0 when the option is not given. */
static bool parse_number(const char *option, const char *text, uint32_t max, uint32_t *ret,
                         struct nuna_error *err)
{
    *ret = 0;
    if (text == NULL)
        return true;
    return nuna_units_whole(text, max, ret) ||
           nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--%s: \"%s\" is not a number from 1 to %u", option,
                     text, max);
}

/* What a run takes unless it is told otherwise. */
static uint32_t default_channels(void)
{
    struct nuna_params params;
    nuna_params_defaults(&params);
    return (uint32_t)params.collective.channels;
}

static struct nuna_plan *load(const char *name, uint32_t gpus, uint32_t channels,
                              struct nuna_error *err)
{
    if (strncmp(name, BUILTIN, strlen(BUILTIN)) == 0)
        return nuna_plan_builtin(name + strlen(BUILTIN), gpus,
                                 channels == 0 ? default_channels() : channels, err);
    if (channels != 0) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                  "--channels is for builtin: plans only, a file says what it has");
        return NULL;
    }
    struct nuna_plan *plan = nuna_plan_read(name, err);
    if (plan != NULL && gpus != 0 && gpus != plan->gpu_count) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: is for %u GPUs, but --gpus says %u", name,
                  plan->gpu_count, gpus);
        nuna_plan_destroy(plan);
        return NULL;
    }
    return plan;
}

static void print_window(const struct nuna_plan *plan)
{
    if (plan->min_size == 0 && plan->max_size == UINT64_MAX) {
        printf("sizes         any\n");
        return;
    }
    printf("sizes         %" PRIu64 " B to ", plan->min_size);
    if (plan->max_size == UINT64_MAX)
        printf("any\n");
    else
        printf("%" PRIu64 " B\n", plan->max_size);
}

static void print_verdict(const struct nuna_plan *plan, const struct nuna_plan_verdict *verdict)
{
    const char *how = plan->inplace ? ", in place" : "";
    printf("plan          %s (%s)\n"
           "collective    %s%s\n"
           "GPUs          %" PRIu32 "\n",
           plan->name, plan->source, plan->collective_name, how, plan->gpu_count);
    print_window(plan);
    printf("threadblocks  %zu\n"
           "operations    %" PRIu64 "\n"
           "puts          %" PRIu64 "\n"
           "signals       %" PRIu64 "\n",
           plan->threadblock_count, verdict->operations, verdict->puts, verdict->signals);
    if (verdict->proved)
        printf("verdict       proved: it finishes, and every output chunk is right\n");
    else
        printf("verdict       nothing to prove: it finishes, but \"%s\" promises no result that "
               "could be checked\n",
               plan->collective_name);
}

int nuna_cmd_check(int argc, char **argv)
{
    bool help = false;
    const char *gpus_text = NULL, *channels_text = NULL;
    const struct nuna_opt opts[] = {
        {"gpus", "N", "GPUs of a builtin: plan, or those that a file must have", NUNA_OPT_VALUE,
         &gpus_text},
        {"channels", "N", "channels of a builtin: plan (default 8, as in a run)", NUNA_OPT_VALUE,
         &channels_text},
        {"help", NULL, "print this help", NUNA_OPT_FLAG, &help},
    };
    struct nuna_error err;
    const char *args[1];
    size_t arg_count = 0;
    if (!nuna_options_parse(argc, argv, opts, COUNT(opts), args, 1, &arg_count, &err))
        return nuna_cli_report(&err);
    if (help) {
        print_help(opts, COUNT(opts));
        return NUNA_EXIT_OK;
    }
    if (arg_count == 0) {
        nuna_fail(&err, NUNA_EXIT_BAD_INPUT,
                  "check: the plan is missing, expected e.g. nunasim check plan.json");
        return nuna_cli_report(&err);
    }
    uint32_t gpus, channels;
    if (!parse_number("gpus", gpus_text, 1u << 20, &gpus, &err) ||
        !parse_number("channels", channels_text, 1024, &channels, &err))
        return nuna_cli_report(&err);
    struct nuna_plan_verdict verdict;
    struct nuna_plan *plan = load(args[0], gpus, channels, &err);
    bool good = plan != NULL && nuna_plan_check(plan, &verdict, &err);
    if (good)
        print_verdict(plan, &verdict);
    nuna_plan_destroy(plan);
    return good ? NUNA_EXIT_OK : nuna_cli_report(&err);
}
