/* Pre-translation: requests for the pages that the plan comes to, sent before the collective as a
 * part of the kernel that precedes it. Source: reverse translation (arXiv 2604.02473) section 6. */
#ifndef NUNA_GPU_TRANSLATE_PRETRANSLATE_H
#define NUNA_GPU_TRANSLATE_PRETRANSLATE_H

#include "gpu/translate/ahead.h"

struct nuna_pretranslation {
    struct nuna_ahead *items; /* in the order in which they are sent */
    uint32_t count, capacity;
};

bool nuna_pretranslates(const struct nuna_params *params);
/* When the collective starts: after the lead of pre-translation. */
nuna_time nuna_pretranslate_lead(const struct nuna_params *params);

/* Lists what is to be sent; after the threadblocks are on their units. Without pre-translation it
 * does nothing. False on lack of memory; destroy either way. */
bool nuna_pretranslate_create(struct nuna_gpu *gpu);
void nuna_pretranslate_destroy(struct nuna_gpu *gpu);

/* The first one, now. */
void nuna_pretranslate_start(struct nuna_gpu *gpu);
/* An event of kind NUNA_EV_PRETRANSLATE. */
void nuna_pretranslate_next(struct nuna_gpu *gpu, uint32_t index);

#endif
