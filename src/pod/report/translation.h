/* translation.csv: requests from other nodes, by what answered them. */
#ifndef NUNA_POD_REPORT_TRANSLATION_H
#define NUNA_POD_REPORT_TRANSLATION_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_translation_table;

/* False when writing failed. */
bool nuna_report_translation(FILE *out, const struct nuna_view *view);

#endif
