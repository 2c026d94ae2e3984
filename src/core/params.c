#include "core/params.h"

#include "core/units.h"
#include <assert.h>
#include <string.h>

#define ROW(section, field, quantity, def, min, max, words, doc, source)                           \
    {#section,                                                                                     \
     #field,                                                                                       \
     NUNA_Q_##quantity,                                                                            \
     offsetof(struct nuna_params, section.field),                                                  \
     def,                                                                                          \
     min,                                                                                          \
     max,                                                                                          \
     words,                                                                                        \
     doc,                                                                                          \
     source},
#define SECTION(section, doc) NUNA_PARAMS_##section(ROW)

const struct nuna_param_desc nuna_param_table[] = {NUNA_PARAM_SECTIONS(SECTION)};
const size_t nuna_param_count = sizeof(nuna_param_table) / sizeof(nuna_param_table[0]);

void nuna_params_defaults(struct nuna_params *params)
{
    for (size_t i = 0; i < nuna_param_count; i++) {
        const struct nuna_param_desc *row = &nuna_param_table[i];
        int64_t *field = (int64_t *)(void *)((char *)params + row->offset);
        struct nuna_error err;
        *field = 0;
        bool parsed = nuna_units_parse(row->default_text, row->quantity, row->words, field, &err);
        /* The texts are constants of this program; the unit tests parse each of them. */
        assert(parsed);
        (void)parsed;
    }
}

int64_t nuna_param_value(const struct nuna_params *params, size_t param)
{
    int64_t value;
    memcpy(&value, (const char *)params + nuna_param_table[param].offset, sizeof value);
    return value;
}

char *nuna_params_format(const struct nuna_params *params, const char *key, char *buffer,
                         size_t size)
{
    for (size_t i = 0; i < nuna_param_count; i++) {
        const struct nuna_param_desc *row = &nuna_param_table[i];
        size_t length = strlen(row->section);
        if (strncmp(key, row->section, length) != 0 || key[length] != '.' ||
            strcmp(key + length + 1, row->field) != 0)
            continue;
        return nuna_units_format(nuna_param_value(params, i), row->quantity, row->words, buffer,
                                 size);
    }
    assert(false && "no such key");
    return buffer;
}
