#include "collectives/plan/collective.h"

#include <string.h>

static struct nuna_contribution gathered(uint32_t gpu, uint32_t chunk, uint32_t term,
                                         uint32_t block)
{
    return (struct nuna_contribution){chunk / block, chunk % block};
}

static struct nuna_contribution summed(uint32_t gpu, uint32_t chunk, uint32_t term, uint32_t block)
{
    return (struct nuna_contribution){term, chunk};
}

static struct nuna_contribution own_summed(uint32_t gpu, uint32_t chunk, uint32_t term,
                                           uint32_t block)
{
    return (struct nuna_contribution){term, gpu * block + chunk};
}

static struct nuna_contribution exchanged(uint32_t gpu, uint32_t chunk, uint32_t term,
                                          uint32_t block)
{
    return (struct nuna_contribution){chunk / block, gpu * block + chunk % block};
}

#define RULE(id, word, ...) [NUNA_##id] = {.name = word, __VA_ARGS__},
static const struct nuna_collective_rule rules[] = {
    NUNA_COLLECTIVES(RULE)[NUNA_COLLECTIVE_OTHER] = {.name = "other"},
};

const struct nuna_collective_rule *nuna_collective_rule(enum nuna_collective collective)
{
    return &rules[(unsigned)collective < NUNA_COLLECTIVE_OTHER ? collective
                                                               : NUNA_COLLECTIVE_OTHER];
}

const char *nuna_collective_name(enum nuna_collective collective)
{
    return nuna_collective_rule(collective)->name;
}

size_t nuna_word_place(const char *word, const char *const *list, size_t count)
{
    char plain[16];
    size_t length = 0;
    for (; *word != '\0'; word++) {
        if (*word == '_' || *word == '-')
            continue;
        if (length + 1 == sizeof plain)
            return count;
        plain[length++] = *word;
    }
    plain[length] = '\0';
    size_t i = 0;
    while (i < count && strcmp(plain, list[i]) != 0)
        i++;
    return i;
}

#define WORD(id, word, ...) word,
bool nuna_collective_parse(const char *name, enum nuna_collective *ret)
{
    static const char *const words[] = {NUNA_COLLECTIVES(WORD)};
    size_t place = nuna_word_place(name, words, NUNA_COLLECTIVE_OTHER);
    if (place == NUNA_COLLECTIVE_OTHER)
        return false;
    *ret = (enum nuna_collective)place;
    return true;
}
