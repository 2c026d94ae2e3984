/* Where threadblocks and pages went: as CSV, and drawn on the die. */
#ifndef NUNA_POD_REPORT_PLACEMENT_H
#define NUNA_POD_REPORT_PLACEMENT_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_placement_table;

/* placement.csv: one row per threadblock, then one per run of pages that lie alike, GPU by GPU
 * (docs/output.md). False when writing failed. */
bool nuna_report_placement(FILE *out, const struct nuna_view *view);

/* One GPU's die: threadblocks on each router, pages in each stack, ports with their domain. */
bool nuna_draw_placement(FILE *out, const struct nuna_view *view, uint32_t gpu);

#endif
