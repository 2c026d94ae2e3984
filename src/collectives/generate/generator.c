#include "collectives/generate/generator.h"

#include <stdio.h>
#include <string.h>

/* A plan above this is refused before it eats the machine. */
#define PLAN_BYTES_MAX (UINT64_C(6) << 30)

#define GPUS_MAX     4096u
#define CHANNELS_MAX 1024u

static void lone_gpu(struct gen *gen)
{
    for (uint32_t channel = 0; channel < gen->channels; channel++) {
        nuna_builder_threadblock(&gen->builder, gen->own);
        if (gen->rule->personal)
            keep_own(gen, channel);
    }
}

static bool is_affordable(const struct nuna_plan_spec *spec, uint64_t bytes, struct nuna_error *err)
{
    return bytes <= PLAN_BYTES_MAX ||
           nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "a plan for %u GPUs with %u channels would take at least %llu MiB of memory, "
                     "the limit is %llu MiB; use fewer channels or GPUs",
                     spec->gpus, spec->channels, (unsigned long long)(bytes >> 20),
                     (unsigned long long)(PLAN_BYTES_MAX >> 20));
}

/* A lower bound before any work, so that even the first GPU's part is affordable. */
static bool check_spec(const struct nuna_generator *how, const char *name,
                       const struct nuna_plan_spec *spec, struct nuna_error *err)
{
    if (spec->gpus < 1 || spec->gpus > GPUS_MAX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan for %u GPUs, expected 1 to %u", spec->gpus,
                         GPUS_MAX);
    if (spec->channels < 1 || spec->channels > CHANNELS_MAX)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan with %u channels, expected 1 to %u",
                         spec->channels, CHANNELS_MAX);
    if (spec->collective >= NUNA_COLLECTIVE_OTHER)
        return nuna_fail(
            err, NUNA_EXIT_BAD_INPUT,
            "cannot generate a plan for this collective, expected one of:" NUNA_LISTED_WORDS(
                NUNA_COLLECTIVES));
    if (!(how->collectives & 1u << spec->collective))
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "algorithm %s has no plan for %s", name,
                         nuna_collective_name(spec->collective));
    return how->least_bytes == NULL || is_affordable(spec, how->least_bytes(spec), err);
}

static bool check_variant(const struct nuna_generator *how, const struct nuna_plan_spec *spec,
                          const struct nuna_plan_variant *variant, struct nuna_error *err)
{
    if (variant->gpus_per_node > 0 && spec->gpus % variant->gpus_per_node != 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "cannot generate a plan for %u GPUs in nodes of %u, expected a divisor",
                         spec->gpus, variant->gpus_per_node);
    if (variant->own_apart && !(nuna_collective_rule(spec->collective)->personal && how->own_apart))
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "only an all-pairs alltoall has an own block to copy apart (own=apart)");
    return true;
}

static uint64_t bytes_of(const struct nuna_plan *plan)
{
    return plan->threadblock_count * sizeof *plan->threadblocks +
           plan->op_count * sizeof *plan->ops + plan->range_count * sizeof *plan->ranges +
           plan->id_count * sizeof *plan->ids + plan->channel_count * sizeof *plan->channels;
}

uint64_t nuna_generator_steps_bytes(const struct nuna_plan_spec *spec)
{
    uint64_t per_step = 5 * sizeof(struct nuna_op) + 2 * sizeof(struct nuna_range);
    return (uint64_t)spec->gpus * (spec->gpus - 1) * spec->channels * per_step;
}

static void describe(const struct nuna_generator *how, const char *name, const struct gen *gen)
{
    const struct nuna_plan_spec *spec = gen->spec;
    struct nuna_plan *plan = gen->builder.plan;
    const char *collective = gen->rule->name;
    plan->collective = spec->collective;
    plan->inplace = !gen->rule->personal;
    plan->gpus_per_node = how->by_nodes ? gen->group.node : 1;
    snprintf(plan->collective_name, sizeof plan->collective_name, "%s", collective);
    snprintf(plan->name, sizeof plan->name, "%s_%s_%ugpus_%uchannels", collective, name, spec->gpus,
             spec->channels);
    snprintf(plan->source, sizeof plan->source, "builtin:%s,gpus=%u,channels=%u,algorithm=%s",
             collective, spec->gpus, spec->channels, name);
    size_t used = strlen(plan->source);
    if (gen->group.node > 1)
        snprintf(plan->source + used, sizeof plan->source - used, ",gpus_per_node=%u",
                 gen->group.node);
    used = strlen(plan->source);
    if (gen->own_apart)
        snprintf(plan->source + used, sizeof plan->source - used, ",own=apart");
}

static void gpu_plan(const struct nuna_generator *how, struct gen *gen)
{
    uint32_t all = gen->gpus * gen->channels;
    uint32_t *chunks = gen->builder.plan->gpus[gen->own].chunks;
    chunks[NUNA_BUF_INPUT] = gen->rule->own_input ? gen->channels : all;
    chunks[NUNA_BUF_OUTPUT] = gen->rule->own_output ? gen->channels : all;
    nuna_builder_gpu(&gen->builder, gen->own);
    if (gen->gpus == 1)
        lone_gpu(gen);
    else
        how->gpu(gen);
}

struct nuna_plan *nuna_generator_run(const struct nuna_generator *how, const char *name,
                                     const struct nuna_plan_spec *spec,
                                     const struct nuna_plan_variant *variant,
                                     struct nuna_error *err)
{
    struct gen gen = {.spec = spec, .gpus = spec->gpus, .channels = spec->channels};
    gen.rule = nuna_collective_rule(spec->collective);
    gen.group = nuna_group_make(spec->gpus, variant->gpus_per_node);
    gen.own_apart = variant->own_apart;
    if (!check_spec(how, name, spec, err) || !check_variant(how, spec, variant, err) ||
        !nuna_builder_init(&gen.builder, spec->gpus, err))
        return NULL;

    bool prepared = how->prepare != NULL && gen.gpus > 1;
    if (prepared && !(how->prepare(&gen, err) && is_affordable(spec, gen.least_bytes, err))) {
        how->let_go(&gen);
        nuna_builder_discard(&gen.builder);
        return NULL;
    }
    describe(how, name, &gen);
    bool fits = true;
    for (gen.own = 0; fits && gen.own < gen.gpus && !nuna_builder_failed(&gen.builder); gen.own++) {
        gpu_plan(how, &gen);
        /* Where nothing else is known, all GPUs' parts are of about one size. */
        if (gen.own == 0 && gen.least_bytes == 0)
            fits = is_affordable(spec, bytes_of(gen.builder.plan) * gen.gpus, err);
    }
    if (prepared)
        how->let_go(&gen);
    if (fits)
        return nuna_builder_finish(&gen.builder, err);
    nuna_builder_discard(&gen.builder);
    return NULL;
}
