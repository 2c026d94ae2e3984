#include "pod/report/summary.h"

uint64_t nuna_algorithm_bandwidth(uint64_t size, nuna_time time)
{
    return time ? (uint64_t)((unsigned __int128)size * 1000000 / time) : 0;
}

uint64_t nuna_bus_bandwidth(const struct nuna_plan *plan, uint64_t size, nuna_time time)
{
    if (time == 0)
        return 0;
    unsigned __int128 scaled = (unsigned __int128)size * 1000000;
    if (plan->collective != NUNA_COLLECTIVE_OTHER) {
        scaled = scaled * (plan->gpu_count - 1) / plan->gpu_count;
        scaled *= nuna_collective_rule(plan->collective)->passes;
    }
    return (uint64_t)(scaled / time);
}

double nuna_events_per_s(const struct nuna_run_info *info, const struct nuna_result *result)
{
    double simulated =
        (double)result->events * result->simulated_gpus / (double)info->plan->gpu_count;
    return info->wall_s > 0 ? simulated / info->wall_s : 0;
}

struct run {
    const struct nuna_run_info *info;
    const struct nuna_result *result;
    const struct nuna_breakdown *breakdown;
    nuna_time bandwidth_time; /* 0 unless the run is complete */
};

#define NAME_COLUMNS(X)                                                                            \
    X(run, config, "", "configuration file, or `defaults`", nuna_text(row->info->config))          \
    X(run, plan, "", "plan file, or the generator's full description",                             \
      nuna_text(row->info->plan->source))                                                          \
    X(run, collective, "", "collective named by the plan",                                         \
      nuna_text(row->info->plan->collective_name))                                                 \
    X(run, gpus, "", "ranks", nuna_count(row->info->plan->gpu_count))                              \
    X(run, size_bytes, "bytes", "the larger of one GPU's input and output buffer",                 \
      nuna_count(row->info->size))                                                                 \
    X(run, policy, "", "placement and routing policy", nuna_text(row->info->policy))               \
    X(run, nar_domains, "",                                                                        \
      "routing domains; under NAP and NAP* without NAR, the domains that placement fills; 1 is "   \
      "the baseline",                                                                              \
      nuna_count(row->info->nar_domains))                                                          \
    X(run, seed, "", "reserved for randomised models, of which there is none: 0", nuna_count(0))   \
    X(run, status, "", "`ok` or `incomplete`", nuna_text(nuna_status_name(row->result->status)))

#define TIME_COLUMNS(X)                                                                            \
    X(run, time_ns, "ns",                                                                          \
      "from the start to the end of the last threadblock, or to the last store or flag that "      \
      "lands after it because nobody waits for it (slots given back to a connection's sender do "  \
      "not count)",                                                                                \
      nuna_ns(row->result->time))                                                                  \
    X(run, algbw_GBps, "GB/s", "size / time",                                                      \
      nuna_decimal(nuna_algorithm_bandwidth(row->info->size, row->bandwidth_time), 3))             \
    X(run, busbw_GBps, "GB/s",                                                                     \
      "algbw scaled as nccl-tests does: (n-1)/n, twice that for all-reduce",                       \
      nuna_decimal(nuna_bus_bandwidth(row->info->plan, row->info->size, row->bandwidth_time), 3))  \
    X(run, stores, "", "remote data stores that landed", nuna_count(row->result->stores))          \
    X(run, store_mean_ns, "ns",                                                                    \
      "mean of their one-way latency, from the CU's issue to being written",                       \
      nuna_ns(nuna_latency_mean(row->result->latency)))                                            \
    X(run, store_p50_ns, "ns", "median of it; quantiles have a resolution of 1/128",               \
      nuna_ns(nuna_latency_quantile(row->result->latency, 500)))                                   \
    X(run, store_p99_ns, "ns", "99th percentile of it",                                            \
      nuna_ns(nuna_latency_quantile(row->result->latency, 990)))                                   \
    X(run, store_max_ns, "ns", "longest", nuna_ns(row->result->latency->max))                      \
    X(run, bytes_requested, "bytes", "what the plan's puts move between GPUs at this size",        \
      nuna_count(row->result->bytes_requested))                                                    \
    X(run, bytes_delivered, "bytes",                                                               \
      "what was written by remote stores; equal when the run is complete",                         \
      nuna_count(row->result->bytes_delivered))

#define COST_COLUMNS(X)                                                                            \
    X(run, events, "", "simulated events, of all GPUs", nuna_count(row->result->events))           \
    X(run, wall_s, "s", "cost of the simulation", nuna_real(row->info->wall_s, 6))                 \
    X(run, events_per_s, "1/s", "simulated events / wall_s: of a folded run, of those simulated",  \
      nuna_real(nuna_events_per_s(row->info, row->result), 0))                                     \
    X(run, peak_rss_bytes, "bytes", "peak memory of the process",                                  \
      nuna_count(row->info->peak_rss_bytes))                                                       \
    X(run, store_sd_ns, "ns", "standard deviation of the one-way store latency",                   \
      nuna_real(nuna_latency_sd(row->result->latency) / 1e3, 3))                                   \
    X(run, store_skew, "", "its skewness", nuna_real(nuna_latency_skew(row->result->latency), 4))

#define PATH(part) nuna_ns(row->breakdown->path[NUNA_PATH_##part])
#define PATH_COLUMNS(X)                                                                            \
    X(run, path_issue_ns, "ns", "critical path: waiting for the CU", PATH(ISSUE))                  \
    X(run, path_local_load_NoC_ns, "ns", "local load: its request and data on the NoC",            \
      PATH(LOAD_NOC))                                                                              \
    X(run, path_local_load_memory_ns, "ns", "local load: memory", PATH(LOAD_HBM))                  \
    X(run, path_NoC_to_port_ns, "ns", "store: CU to I/O port", PATH(STORE_NOC))                    \
    X(run, path_port_link_switch_ns, "ns", "port queue, serialisation, first link, switch",        \
      PATH(PORT))                                                                                  \
    X(run, path_switch_output_link_ns, "ns", "output queue, serialisation, second link",           \
      PATH(SWITCH))                                                                                \
    X(run, path_translation_ns, "ns", "translation of the address, and the wait behind it",        \
      PATH(TRANSLATION))                                                                           \
    X(run, path_NoC_at_destination_ns, "ns", "destination's port to its stack", PATH(REMOTE_NOC))  \
    X(run, path_memory_at_destination_ns, "ns",                                                    \
      "memory at the destination, or local memory of local stores", PATH(REMOTE_HBM))              \
    X(run, path_acknowledgement_ns, "ns", "acknowledgement back to the CU", PATH(ACK))             \
    X(run, path_synchronisation_ns, "ns", "barriers, semaphores, and what has no better name",     \
      PATH(SYNC))

#define TRANSLATION_COLUMNS(X)                                                                     \
    X(run, translated, "",                                                                         \
      "requests (data stores and flags) that came from other nodes and were translated; 0 "        \
      "without reverse translation, as all that follow",                                           \
      nuna_count(row->result->translation.requests))                                               \
    X(run, translation_mean_ns, "ns",                                                              \
      "mean time from a request's arrival at its port to the known address, L1 lookup included",   \
      nuna_ns(nuna_mean(row->result->translation.latency_sum, row->result->translation.requests))) \
    X(run, translation_max_ns, "ns", "longest", nuna_ns(row->result->translation.latency_max))     \
    X(run, translation_l1_hits, "", "requests that hit the L1 TLB of their port",                  \
      nuna_count(row->result->translation.l1_hits))                                                \
    X(run, translation_l1_mshr_hits, "", "requests that joined a miss of it",                      \
      nuna_count(row->result->translation.l1_merged))                                              \
    X(run, translation_walks, "", "walks of the page tables",                                      \
      nuna_count(row->result->translation.walks))                                                  \
    X(run, translation_live_pages, "",                                                             \
      "most pages of one GPU between their first and their last request at a time; 0 when there "  \
      "are too many pages to keep",                                                                \
      nuna_count(row->result->translation.live_pages))                                             \
    X(run, translation_ahead, "",                                                                  \
      "requests sent by pre-translation and prefetching, each a packet of `noc.control_size`",     \
      nuna_count(row->result->translation.ahead_requests))

#define FOLD_COLUMNS(X)                                                                            \
    X(run, exactness, "",                                                                          \
      "`exact`, or `approx` when one GPU stood for others that are not alike (`--fold approx`); "  \
      "then `links.csv` and others have this column, too",                                         \
      nuna_text(nuna_exactness(row->result)))                                                      \
    X(run, simulated_gpus, "", "GPUs really simulated; fewer than `gpus` when the pod was folded", \
      nuna_count(row->result->simulated_gpus))

#define RUN_COLUMNS(X)                                                                             \
    NAME_COLUMNS(X)                                                                                \
    TIME_COLUMNS(X)                                                                                \
    COST_COLUMNS(X) PATH_COLUMNS(X) TRANSLATION_COLUMNS(X) FOLD_COLUMNS(X)

NUNA_COLUMNS(run, RUN_COLUMNS)
const struct nuna_table nuna_summary_table = NUNA_TABLE(run, "summary.csv", "one row", 0);

bool nuna_report_summary(FILE *out, const struct nuna_run_info *info,
                         const struct nuna_result *result, const struct nuna_breakdown *breakdown)
{
    struct nuna_csv csv;
    const struct run row = {
        .info = info,
        .result = result,
        .breakdown = breakdown,
        .bandwidth_time = result->status == NUNA_SIM_COMPLETE ? result->time : 0,
    };
    return nuna_csv_begin(&csv, out, &nuna_summary_table, true) && nuna_csv_row(&csv, &row);
}
