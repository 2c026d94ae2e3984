/* Reverse translation as CSV. Schemas: docs/output.md. Functions return false when writing failed.
 */
#ifndef NUNA_POD_REPORT_TRANSLATION_H
#define NUNA_POD_REPORT_TRANSLATION_H

#include "pod/result.h"
#include <stdio.h>

/* Requests by what answered them, GPU by GPU. */
bool nuna_report_translation(FILE *out, const struct nuna_view *view);
/* Every TLB and walk cache. */
bool nuna_report_tlb(FILE *out, const struct nuna_view *view);
/* Parts of a store's round trip, stores to other nodes only. */
bool nuna_report_round_trip(FILE *out, const struct nuna_view *view);
/* The requests of one GPU, a sample; false also on lack of memory. */
bool nuna_report_translation_trace(FILE *out, const struct nuna_view *view);

#endif
