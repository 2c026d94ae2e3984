/* What a run reads: configuration, plan, transfers, and the name of its output folder. */
#include "cli/run/inputs.h"
#include "cli/common/messages.h"
#include "cli/common/output_dir.h"
#include "collectives/check/check.h"
#include "collectives/generate/spec_text.h"
#include "collectives/read/read.h"
#include "core/units.h"
#include "placement/policy.h"
#include "pod/feasible.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_option(struct nuna_config *config, const char *key, const char *value,
                       const char *origin, struct nuna_error *err)
{
    return value == NULL || nuna_config_set(config, key, value, origin, err);
}

/* Shells expand a star: NAP-star stands for NAP*. */
static const char *policy_word(const char *text, char *buffer, size_t size)
{
    static const char spelt[] = "NAP-star";
    if (!text || strncmp(text, spelt, sizeof spelt - 1) != 0)
        return text;
    snprintf(buffer, size, "NAP*%s", text + sizeof spelt - 1);
    return buffer;
}

/* "gemm:size=1024". */
static bool set_background(struct nuna_config *config, const char *text, struct nuna_error *err)
{
    static const char prefix[] = "gemm:size=";
    if (!text)
        return true;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--background %.80s: expected gemm:size=N, N rows and columns", text);
    return nuna_config_set(config, "background.gemm_size", text + sizeof prefix - 1,
                           "--background gemm:size", err);
}

static bool read_config(struct nuna_run *run, struct nuna_error *err)
{
    char policy[64];
    const struct nuna_run_options *o = &run->options;
    run->config = nuna_options_config(o->config, &o->set, err);
    return run->config && set_option(run->config, "collective.size", o->size, "--size", err) &&
           set_option(run->config, "pod.gpus", o->gpus, "--gpus", err) &&
           set_option(run->config, "placement.policy",
                      policy_word(o->policy, policy, sizeof policy), "--policy", err) &&
           set_option(run->config, "placement.nar_domains",
                      o->nar && strcmp(o->nar, "auto") == 0 ? "0" : o->nar, "--nar", err) &&
           set_background(run->config, o->background, err) && nuna_config_check(run->config, err);
}

static bool read_fold(struct nuna_run *run, struct nuna_error *err)
{
    static const char *const words[] = {
        [NUNA_FOLD_OFF] = "off", [NUNA_FOLD_AUTO] = "auto", [NUNA_FOLD_APPROX] = "approx"};
    if (run->options.reference && (run->options.fold || run->options.threads))
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--reference: runs on one thread and folds nothing; expected neither "
                         "--threads nor --fold beside it");
    run->fold = run->options.reference ? NUNA_FOLD_OFF : NUNA_FOLD_AUTO;
    if (!run->options.fold)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(run->options.fold, words[i]) == 0) {
            run->fold = (enum nuna_fold_mode)i;
            return true;
        }
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--fold %.80s: expected auto, off or approx",
                     run->options.fold);
}

/* A generated plan follows the pod's nodes, unless its text says otherwise. */
static struct nuna_plan *generate_plan(const char *text, const struct nuna_params *params,
                                       struct nuna_error *err)
{
    char by_node[320];
    bool nodes = params->pod.gpus_per_node > 1 && params->pod.gpus_per_node < params->pod.gpus;
    if (nodes && !strstr(text, ",gpus_per_node=") && strlen(text) < 256) {
        snprintf(by_node, sizeof by_node, "%s,gpus_per_node=%u", text,
                 (uint32_t)params->pod.gpus_per_node);
        text = by_node;
    }
    return nuna_plan_builtin(text, (uint32_t)params->pod.gpus,
                             (uint32_t)params->collective.channels, err);
}

static bool read_plan(struct nuna_run *run, struct nuna_error *err)
{
    const struct nuna_params *params = nuna_config_params(run->config);
    const char *plan = run->options.plan;
    uint32_t gpus = (uint32_t)params->pod.gpus;
    if (!plan)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--plan is missing: expected a plan file, or builtin:allgather "
                         "(allreduce, reducescatter, alltoall)");
    run->plan = strncmp(plan, "builtin:", 8) == 0 ? generate_plan(plan + 8, params, err)
                                                  : nuna_plan_read(plan, err);
    if (!run->plan)
        return false;
    if (run->plan->gpu_count != gpus)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: the plan is for %u GPUs, but pod.gpus is %u (%s)", plan,
                         run->plan->gpu_count, gpus,
                         run->options.gpus                             ? "--gpus"
                         : nuna_config_is_set(run->config, "pod.gpus") ? "from the configuration"
                                                                       : "the default");
    uint64_t size = (uint64_t)params->collective.size;
    if (size < run->plan->min_size || size > run->plan->max_size)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "%s: the plan is for messages of %" PRIu64 " to %" PRIu64
                         " bytes, but collective.size is %" PRIu64 " bytes",
                         plan, run->plan->min_size, run->plan->max_size, size);
    struct nuna_plan_verdict verdict;
    bool good = nuna_plan_check(run->plan, params, &size, &verdict, err);
    if (!run->options.quiet) {
        nuna_cli_warn(NULL, run->plan->warnings);
        nuna_cli_warn(run->plan->source, verdict.races);
    }
    return good;
}

/* The part of a path after the last slash and before the last dot. */
static void stem(const char *path, char *buffer, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(buffer, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(buffer, '.');
    if (dot && dot != buffer)
        *dot = '\0';
    for (char *c = buffer; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_' || *c == '.'))
            *c = '-';
}

/* The default folder names what was run; a hash of all inputs keeps runs that differ apart. */
static bool name_output(struct nuna_run *run, struct nuna_error *err)
{
    if (run->options.out) {
        snprintf(run->out, sizeof run->out, "%s", run->options.out);
        return true;
    }
    char *text = NULL, size[48], config[128], plan[128];
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return nuna_fail_memory(err, "the output folder's name");
    nuna_config_write_effective(run->config, memory);
    fputs(run->plan->source, memory);
    if (run->fold == NUNA_FOLD_APPROX)
        fputs(" approx", memory);
    for (size_t i = 0; i < run->options.host.transfers.count; i++)
        fprintf(memory, " %s", run->options.host.transfers.items[i]);
    fclose(memory);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    free(text);
    stem(run->info.config, config, sizeof config);
    stem(run->plan->source, plan, sizeof plan);
    nuna_units_format((int64_t)run->info.size, NUNA_Q_SIZE, "", size, sizeof size);
    snprintf(run->out, sizeof run->out, "out/%s-%s-%ugpu-%s-%s-%08x", config, plan,
             run->plan->gpu_count, size, run->info.policy, hash);
    return true;
}

bool nuna_run_prepare(struct nuna_run *run, struct nuna_error *err)
{
    if (!read_config(run, err) || !nuna_options_threads(run->options.threads, &run->threads, err) ||
        !read_fold(run, err) || !read_plan(run, err))
        return false;
    const struct nuna_params *params = nuna_config_params(run->config);
    run->info.config = run->options.config ? run->options.config : "defaults";
    run->info.plan = run->plan;
    run->info.policy =
        nuna_params_format(params, "placement.policy", run->policy, sizeof run->policy);
    run->info.nar_domains = 1;
    char others[256];
    if (run->options.nar && !nuna_policy_uses_domains((enum nuna_policy)params->placement.policy))
        return nuna_fail(
            err, NUNA_EXIT_BAD_INPUT,
            "--nar %.40s: policy %s knows no routing domains, expected one that does: %s",
            run->options.nar, run->policy,
            nuna_policy_words(nuna_policy_uses_domains, true, others, sizeof others));
    run->info.size = (uint64_t)params->collective.size;
    if (params->translation.mode != NUNA_TRANSLATION_OFF && params->translation.trace > 0 &&
        run->fold == NUNA_FOLD_APPROX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--fold approx: a trace (translation.trace) is of one GPU among all, "
                         "expected auto or off");
    if (run->options.host.transfers.count > 0 && run->fold == NUNA_FOLD_APPROX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--fold approx: GPUs differ beside host transfers, expected auto or off");
    if (!nuna_host_options_plan(&run->options.host, params, run->plan->gpu_count, &run->transfers,
                                err))
        return false;
    return nuna_feasible(params, run->plan, run->info.size, err) && name_output(run, err) &&
           nuna_output_prepare(run->out, err);
}
