#include "collectives/generate/generate.h"
#include "collectives/generate/generator.h"

#define DECLARE(id, word, file) extern const struct nuna_generator nuna_generator_##file;
NUNA_ALGORITHMS(DECLARE)

static const struct {
    const char *name;
    const struct nuna_generator *how;
} algorithms[] = {
#define ROW(id, word, file) [NUNA_##id] = {word, &nuna_generator_##file},
    NUNA_ALGORITHMS(ROW)};

const char *nuna_algorithm_name(enum nuna_algorithm algorithm)
{
    return algorithms[algorithm].name;
}

bool nuna_algorithm_can(enum nuna_algorithm algorithm, enum nuna_collective collective)
{
    return (algorithms[algorithm].how->collectives >> collective & 1) != 0;
}

struct nuna_plan *nuna_plan_generate(const struct nuna_plan_spec *spec, struct nuna_error *err)
{
    const struct nuna_plan_variant plain = {0};
    return nuna_plan_generate_variant(spec, &plain, err);
}

struct nuna_plan *nuna_plan_generate_variant(const struct nuna_plan_spec *spec,
                                             const struct nuna_plan_variant *variant,
                                             struct nuna_error *err)
{
    return nuna_generator_run(algorithms[spec->algorithm].how, algorithms[spec->algorithm].name,
                              spec, variant, err);
}
