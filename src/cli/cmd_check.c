#include "cli/cmd_check.h"
#include "cli/common/messages.h"
#include "collectives/check/check.h"
#include "collectives/generate/spec_text.h"
#include "collectives/read/read.h"
#include "core/config.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BUILTIN "builtin:"

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

struct check_options {
    const char *gpus, *channels, *size, *config;
    struct nuna_opt_list set;
    bool inplace;
};

static struct nuna_plan *load(const char *name, uint32_t gpus, uint32_t channels,
                              const struct nuna_params *params, struct nuna_error *err)
{
    if (strncmp(name, BUILTIN, strlen(BUILTIN)) == 0)
        return nuna_plan_builtin(name + strlen(BUILTIN), gpus,
                                 channels == 0 ? (uint32_t)params->collective.channels : channels,
                                 err);
    if (channels != 0) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                  "--channels is for builtin: plans only, a file says what it has");
        return NULL;
    }
    struct nuna_plan *plan = nuna_plan_read(name, err);
    if (plan != NULL && gpus != 0 && gpus != plan->gpu_count) {
        nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: the plan needs %u GPUs, but --gpus says %u", name,
                  plan->gpu_count, gpus);
        nuna_plan_destroy(plan);
        return NULL;
    }
    return plan;
}

static void print_size(uint64_t size)
{
    char text[32];
    nuna_units_format(size > INT64_MAX ? INT64_MAX : (int64_t)size, NUNA_Q_SIZE, "", text,
                      sizeof text);
    printf("%s", size == UINT64_MAX ? "any" : text);
}

static const char *format_name(const struct nuna_plan *plan)
{
    static const char *const names[] = {
        [NUNA_PLAN_GENERATED] = "generated",
        [NUNA_PLAN_JSON2] = "MSCCL++ JSON, version 2 (0.8 and later)",
        [NUNA_PLAN_JSON1] = "MSCCL++ JSON, version 1 (0.5 to 0.7)",
        [NUNA_PLAN_XML] = "MSCCL XML",
    };
    return names[plan->format];
}

static void print_verdict(const struct nuna_plan *plan, const struct nuna_plan_verdict *verdict)
{
    static const char *const protocols[] = {"Simple", "LL", "LL128"};
    printf("plan          %s (%s)\n"
           "format        %s\n"
           "collective    %s%s\n"
           "GPUs          %" PRIu32 "\n"
           "protocol      %s\n"
           "sizes         ",
           plan->name, plan->source, format_name(plan), plan->collective_name,
           plan->inplace ? ", in place" : "", plan->gpu_count, protocols[plan->protocol]);
    if (plan->min_size == 0 && plan->max_size == UINT64_MAX) {
        printf("any\n");
    } else {
        print_size(plan->min_size);
        printf(" to ");
        print_size(plan->max_size);
        printf("\n");
    }
    printf("threadblocks  %zu\n"
           "operations    %" PRIu64 "\n",
           plan->threadblock_count, verdict->operations);
    if (plan->chunks_per_loop != 0)
        printf("messages      %" PRIu64 "\n", verdict->messages);
    else
        printf("puts          %" PRIu64 "\n"
               "signals       %" PRIu64 "\n",
               verdict->puts, verdict->signals);
    if (verdict->limit[0] != '\0')
        printf("limit         %s\n", verdict->limit);
    if (verdict->proved)
        printf("verdict       proved: it finishes, and every output chunk is right\n");
    else
        printf("verdict       nothing to prove: it finishes, but \"%s\" promises no result that "
               "could be checked\n",
               plan->collective_name);
}

/* To run in place, input and output must be one memory for the plan. */
static bool use_in_place(struct nuna_plan *plan, struct nuna_error *err)
{
    if (!plan->inplace && !plan->both_places && plan->format != NUNA_PLAN_GENERATED)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: the plan is for out-of-place runs only; in place it would overwrite "
                         "what it has yet to read",
                         plan->source);
    plan->inplace = true;
    return true;
}

static bool check(const struct check_options *options, const char *name,
                  struct nuna_config **ret_config, struct nuna_error *err)
{
    uint32_t gpus, channels;
    if (!parse_number("gpus", options->gpus, 1u << 20, &gpus, err) ||
        !parse_number("channels", options->channels, 1024, &channels, err))
        return false;
    struct nuna_config *config = *ret_config =
        nuna_options_config(options->config, &options->set, err);
    if (!config ||
        (options->size &&
         !nuna_config_set(config, "collective.size", options->size, "--size", err)) ||
        !nuna_config_check(config, err))
        return false;
    const struct nuna_params *params = nuna_config_params(config);
    uint64_t size = (uint64_t)params->collective.size;
    struct nuna_plan_verdict verdict = {0};
    struct nuna_plan *plan = load(name, gpus, channels, params, err);
    if (plan == NULL)
        return false;
    nuna_cli_warn(NULL, plan->warnings);
    bool good = (!options->inplace || use_in_place(plan, err)) &&
                nuna_plan_check(plan, params, options->size ? &size : NULL, &verdict, err);
    nuna_cli_warn(plan->source, verdict.races);
    if (good)
        print_verdict(plan, &verdict);
    nuna_plan_destroy(plan);
    return good;
}

static int run(struct nuna_call *call)
{
    struct nuna_error err;
    if (call->operand == NULL) {
        nuna_fail(&err, NUNA_EXIT_BAD_INPUT,
                  "check: the plan is missing, expected e.g. nunasim check plan.json");
        return nuna_cli_report(&err);
    }
    struct nuna_config *config = NULL;
    bool good = check(call->state, call->operand, &config, &err);
    nuna_config_destroy(config);
    return good ? NUNA_EXIT_OK : nuna_cli_report(&err);
}

#define AT(member) offsetof(struct check_options, member)
static const struct nuna_opt options[] = {
    {"size", "SIZE", "the message, e.g. 16MiB: the larger of one GPU's input and output",
     NUNA_OPT_VALUE, AT(size), NUNA_VALUES_FREE, NULL},
    {"gpus", "N", "GPUs of a builtin: plan, or those that a file must have", NUNA_OPT_VALUE,
     AT(gpus), NUNA_VALUES_FREE, NULL},
    {"channels", "N", "channels of a builtin: plan (default 8, as in a run)", NUNA_OPT_VALUE,
     AT(channels), NUNA_VALUES_FREE, NULL},
    {"in-place", NULL, "the run would be in place", NUNA_OPT_FLAG, AT(inplace), NUNA_VALUES_FREE,
     NULL},
    {"config", "FILE", "configuration: slots and windows of connections (fifo)", NUNA_OPT_VALUE,
     AT(config), NUNA_VALUES_FILE, NULL},
    NUNA_OPT_SET(struct check_options, set),
};
#undef AT

const struct nuna_verb nuna_verb_check = {
    .name = "check",
    .summary = "prove that a plan does what its collective promises",
    .synopsis = "check PLAN [options]",
    .about = "Checks a plan without simulating it: ranges, numbers, deadlocks, and that every GPU\n"
             "ends with exactly the data that the collective promises. With --size also that it\n"
             "finishes at that size, given the slots of its connections.\n\n"
             "PLAN is a file or, for example, builtin:allgather,channels=8,algorithm=ring.",
    .options = {options, sizeof options / sizeof options[0]},
    .operand = "PLAN",
    .operand_values = NUNA_VALUES_FILE,
    .state_size = sizeof(struct check_options),
    .run = run,
};
