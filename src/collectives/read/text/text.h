/* The text of a plan file, whatever its format. */
#ifndef NUNA_COLLECTIVES_READ_TEXT_TEXT_H
#define NUNA_COLLECTIVES_READ_TEXT_TEXT_H

#include "core/error.h"
#include "core/types.h"

struct nuna_plan_text {
    const char *path;
    char *text;
    size_t length;
};

/* Whole file, up to 512 MiB; skips a UTF-8 mark and refuses what is not text. */
bool nuna_plan_text_load(const char *path, struct nuna_plan_text *ret, struct nuna_error *err);

#endif
