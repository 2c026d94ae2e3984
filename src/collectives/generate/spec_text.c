#include "collectives/generate/spec_text.h"
#include "collectives/generate/generate.h"
#include "core/units.h"

#include <stdio.h>
#include <string.h>

#define ERR(...) nuna_fail(err, NUNA_EXIT_BAD_INPUT, __VA_ARGS__)

#define WORD(id, word, ...) word,
static const char *const collectives[] = {NUNA_COLLECTIVES(WORD)};
static const char *const options[] = {"algorithm",     "channels",  "gpus",
                                      "gpus_per_node", "instances", "own"};
static const char *const algorithms[] = {NUNA_ALGORITHMS(WORD)};
static const char *const own_places[] = {"first", "apart"};

enum { OPT_ALGORITHM, OPT_CHANNELS, OPT_GPUS, OPT_NODE, OPT_INSTANCES, OPT_OWN, OPT_COUNT };

static bool unknown(const char *text, const char *what, const char *word,
                    const char *const *candidates, size_t count, struct nuna_error *err)
{
    char list[128] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 candidates[i]);
    }
    const char *near = nuna_nearest(word, candidates, count);
    return ERR("builtin:%s: unknown %s \"%s\"%s%s%s, expected %s", text, what, word,
               near == NULL ? "" : ", did you mean \"", near == NULL ? "" : near,
               near == NULL ? "" : "\"", list);
}

static bool parse_count(const char *text, const char *key, const char *value, uint32_t max,
                        uint32_t *ret, struct nuna_error *err)
{
    return nuna_units_whole(value, max, ret) ||
           ERR("builtin:%s: %s: \"%s\" is not a number from 1 to %u", text, key, value, max);
}

static bool parse_option(const char *text, char *word, bool seen[OPT_COUNT],
                         struct nuna_plan_spec *spec, struct nuna_plan_variant *variant,
                         uint32_t *instances, struct nuna_error *err)
{
    char *equals = strchr(word, '=');
    const char *value = equals == NULL ? NULL : equals + 1;
    if (equals != NULL)
        *equals = '\0';
    size_t option = 0;
    while (option < OPT_COUNT && strcmp(word, options[option]) != 0)
        option++;
    if (option == OPT_COUNT)
        return unknown(text, "option", word, options, OPT_COUNT, err);
    if (value == NULL)
        return ERR("builtin:%s: %s has no value, write %s=%s", text, word, word,
                   option == OPT_ALGORITHM ? "ring"
                   : option == OPT_OWN     ? "apart"
                                           : "8");
    if (seen[option])
        return ERR("builtin:%s: %s is given twice", text, word);
    seen[option] = true;

    if (option == OPT_CHANNELS)
        return parse_count(text, word, value, 1024, &spec->channels, err);
    if (option == OPT_GPUS)
        return parse_count(text, word, value, 4096, &spec->gpus, err);
    if (option == OPT_NODE)
        return parse_count(text, word, value, 4096, &variant->gpus_per_node, err);
    if (option == OPT_INSTANCES)
        return parse_count(text, word, value, 1024, instances, err);
    if (option == OPT_OWN) {
        variant->own_apart = strcmp(value, "apart") == 0;
        return variant->own_apart || strcmp(value, "first") == 0 ||
               unknown(text, "place of the own block", value, own_places, 2, err);
    }
    size_t place = nuna_word_place(value, algorithms, NUNA_ALGORITHM_COUNT);
    spec->algorithm = (enum nuna_algorithm)place;
    return place < NUNA_ALGORITHM_COUNT ||
           unknown(text, "algorithm", value, algorithms, NUNA_ALGORITHM_COUNT, err);
}

struct nuna_plan *nuna_plan_builtin(const char *text, uint32_t gpus, uint32_t channels,
                                    struct nuna_error *err)
{
    char words[256];
    if (strlen(text) >= sizeof words) {
        ERR("builtin:%.32s...: is too long, expected e.g. builtin:allgather,channels=8", text);
        return NULL;
    }
    strcpy(words, text);
    struct nuna_plan_spec spec = {.gpus = gpus, .channels = channels};
    struct nuna_plan_variant variant = {0};
    uint32_t instances = 1;
    bool seen[OPT_COUNT] = {false};
    char *rest = words;
    char *word = strsep(&rest, ",");
    if (!nuna_collective_parse(word, &spec.collective)) {
        unknown(text, "collective", word, collectives, NUNA_COLLECTIVE_OTHER, err);
        return NULL;
    }
    while ((word = strsep(&rest, ",")) != NULL) {
        if (!parse_option(text, word, seen, &spec, &variant, &instances, err))
            return NULL;
    }
    /* Chunks, threadblocks and channels of an instance are what more channels would be. */
    spec.channels *= instances;
    if (spec.gpus == 0) {
        ERR("builtin:%s: the number of GPUs is not given, add e.g. gpus=8", text);
        return NULL;
    }
    return nuna_plan_generate_variant(&spec, &variant, err);
}
