/* store_latency.csv: the histogram of the one-way store latencies. */
#ifndef NUNA_POD_REPORT_STORE_LATENCY_H
#define NUNA_POD_REPORT_STORE_LATENCY_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_store_latency_table;

/* False when writing failed. */
bool nuna_report_store_latency(FILE *out, const struct nuna_result *result);

#endif
