/* Results of host transfers as CSV. Schemas: docs/output.md. All numbers are printed from integers.
 * Functions return false when writing failed. */
#ifndef NUNA_HOST_HOST_REPORT_H
#define NUNA_HOST_HOST_REPORT_H

#include "host/host_sim.h"
#include <stdio.h>

/* What to report about: a simulation, or the parts of one. */
struct nuna_host_view {
    const struct nuna_host *host;
    const struct nuna_host_gpu *gpus;
};

static inline struct nuna_host_view nuna_host_sim_view(const struct nuna_host_sim *sim)
{
    return (struct nuna_host_view){nuna_host_sim_host(sim), nuna_host_sim_gpu_sides(sim)};
}

/* Bandwidth in thousandths of a GB/s; 0 when the time is 0. */
uint64_t nuna_host_bandwidth(uint64_t bytes, nuna_time time);

/* The end of the last transfer, ps: the time that utilisations refer to. Of an incomplete run,
 * `now`. */
nuna_time nuna_host_elapsed(struct nuna_host_view view, nuna_time now);

/* The resource that was busiest for its rate; its share of `elapsed` in millionths. */
uint64_t nuna_host_busiest(struct nuna_host_view view, nuna_time elapsed,
                           struct nuna_host_resource *ret_resource);

bool nuna_host_report_summary_head(FILE *out);
bool nuna_host_report_summary(FILE *out, struct nuna_host_view view, nuna_time elapsed);
bool nuna_host_report_paths(FILE *out, struct nuna_host_view view);
bool nuna_host_report_links(FILE *out, struct nuna_host_view view, nuna_time elapsed);
bool nuna_host_report_timeline(FILE *out, struct nuna_host_view view, nuna_time elapsed);

#endif
