/* Validates a text as JSON (RFC 8259), strictly, with line and column in every message. */
#ifndef NUNA_COLLECTIVES_READ_TEXT_JSON_SCAN_H
#define NUNA_COLLECTIVES_READ_TEXT_JSON_SCAN_H

#include "collectives/read/text/text.h"

#define NUNA_JSON_DEPTH_MAX 64

/* A member of the top-level object whose number is beyond what cJSON's doubles hold. */
struct nuna_json_exact {
    char key[32];
    uint64_t value;
    bool overflow;
};

struct nuna_json_exacts {
    struct nuna_json_exact items[16];
    size_t count;
};

/* On success `ret`, empty before, lists the exact large numbers. */
bool nuna_json_scan(const struct nuna_plan_text *text, struct nuna_json_exacts *ret,
                    struct nuna_error *err);

#endif
