/* translation_trace.csv: a sample of one GPU's requests for translation. */
#ifndef NUNA_POD_REPORT_TRANSLATION_TRACE_H
#define NUNA_POD_REPORT_TRANSLATION_TRACE_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_translation_trace_table;

/* False when writing failed, and on lack of memory. */
bool nuna_report_translation_trace(FILE *out, const struct nuna_view *view);

#endif
