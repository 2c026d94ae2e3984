/* Results as CSV. Schemas: docs/output.md. All numbers but wall-clock ones are printed from
 * integers, so that files are the same on every machine. Functions return false when writing
 * failed. */
#ifndef NUNA_POD_REPORT_SUMMARY_H
#define NUNA_POD_REPORT_SUMMARY_H

#include "pod/report/breakdown.h"
#include <stdio.h>

/* What the result does not know: the inputs' names and the process's own cost. */
struct nuna_run_info {
    const char *config; /* path, or "defaults" */
    const struct nuna_plan *plan;
    const char *policy;
    uint32_t nar_domains;
    uint64_t size, seed;
    double wall_s;
    uint64_t peak_rss_bytes;
};

/* Bandwidths in thousandths of a GB/s; 0 when the time is 0. Bus bandwidth scales the algorithm
 * bandwidth by the share of the buffer that must cross a GPU's links, as nccl-tests does: (n-1)/n,
 * twice that for all-reduce. */
uint64_t nuna_algorithm_bandwidth(uint64_t size, nuna_time time);
uint64_t nuna_bus_bandwidth(const struct nuna_plan *plan, uint64_t size, nuna_time time);

const char *nuna_status_name(enum nuna_sim_status status); /* "ok" or "incomplete" */

bool nuna_report_summary(FILE *out, const struct nuna_run_info *info,
                         const struct nuna_result *result, const struct nuna_breakdown *breakdown);
bool nuna_report_links(FILE *out, const struct nuna_view *view);
bool nuna_report_latency(FILE *out, const struct nuna_result *result);

/* What the head and the rows of an approximate run's tables end with: of nothing else, so that
 * exact tables are the same however they were come by. */
const char *nuna_approx_title(const struct nuna_result *result);
const char *nuna_approx_flag(const struct nuna_result *result);

/* Events really simulated, in a second of wall-clock time: a folded run simulates fewer than it
 * stands for. */
double nuna_events_per_s(const struct nuna_run_info *info, const struct nuna_result *result);

#endif
