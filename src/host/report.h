/* Results of host transfers as CSV. Functions return false when writing failed. */
#ifndef NUNA_HOST_REPORT_H
#define NUNA_HOST_REPORT_H

#include "core/table.h"
#include "host/result.h"

extern const struct nuna_table nuna_host_summary_table, nuna_host_paths_table,
    nuna_host_links_table, nuna_host_utilisation_table;

/* Bandwidth in thousandths of a GB/s; 0 when the time is 0. */
uint64_t nuna_host_bandwidth(uint64_t bytes, nuna_time time);

/* The resource that was busiest for its rate; its share of `elapsed` in millionths. */
uint64_t nuna_host_busiest(struct nuna_host_view view, nuna_time elapsed,
                           struct nuna_host_resource *ret_resource);

/* A head, then the rows of one run or of several. */
bool nuna_host_report_summary_head(FILE *out, struct nuna_csv *ret_csv);
bool nuna_host_report_summary(const struct nuna_csv *csv, struct nuna_host_view view,
                              nuna_time elapsed);

bool nuna_host_report_paths(FILE *out, struct nuna_host_view view);
bool nuna_host_report_links(FILE *out, struct nuna_host_view view, nuna_time elapsed);
bool nuna_host_report_utilisation(FILE *out, struct nuna_host_view view, nuna_time elapsed);

#endif
