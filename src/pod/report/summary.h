/* summary.csv: a run in one row. */
#ifndef NUNA_POD_REPORT_SUMMARY_H
#define NUNA_POD_REPORT_SUMMARY_H

#include "core/table.h"
#include "pod/report/breakdown.h"

/* What the result does not know: the inputs' names and the process's own cost. */
struct nuna_run_info {
    const char *config; /* path, or "defaults" */
    const struct nuna_plan *plan;
    const char *policy;
    uint32_t nar_domains;
    uint64_t size;
    double wall_s;
    uint64_t peak_rss_bytes;
};

/* Bandwidths in thousandths of a GB/s; 0 when the time is 0. Bus bandwidth scales the algorithm
 * bandwidth by the share of the buffer that must cross a GPU's links, as nccl-tests does: (n-1)/n,
 * twice that for all-reduce. */
uint64_t nuna_algorithm_bandwidth(uint64_t size, nuna_time time);
uint64_t nuna_bus_bandwidth(const struct nuna_plan *plan, uint64_t size, nuna_time time);

/* Events really simulated, in a second of wall-clock time: a folded run simulates fewer than it
 * stands for. */
double nuna_events_per_s(const struct nuna_run_info *info, const struct nuna_result *result);

extern const struct nuna_table nuna_summary_table;

/* False when writing failed. */
bool nuna_report_summary(FILE *out, const struct nuna_run_info *info,
                         const struct nuna_result *result, const struct nuna_breakdown *breakdown);

#endif
