/* tlb.csv: every TLB and page-walk cache. */
#ifndef NUNA_POD_REPORT_TLB_H
#define NUNA_POD_REPORT_TLB_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_tlb_table;

/* False when writing failed. */
bool nuna_report_tlb(FILE *out, const struct nuna_view *view);

#endif
