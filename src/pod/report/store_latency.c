#include "pod/report/store_latency.h"

struct bin {
    const struct nuna_result *result;
    uint32_t bin;
};

#define BIN_COLUMNS(X)                                                                             \
    X(bin, from_ns, "ns", "the bin's first time", nuna_ns(nuna_latency_bin_start(row->bin)))       \
    X(bin, to_ns, "ns", "where the next bin begins; 128 bins an octave",                           \
      nuna_ns(nuna_latency_bin_start(row->bin + 1)))                                               \
    X(bin, stores, "", "stores in it", nuna_count(row->result->latency->bins[row->bin]))           \
    X(bin, exactness, "", "`approx`; only in runs that are", nuna_text(nuna_exactness(row->result)))
NUNA_COLUMNS(bin, BIN_COLUMNS)
const struct nuna_table nuna_store_latency_table =
    NUNA_TABLE(bin, "store_latency.csv", "one row per bin that is not empty", 1);

bool nuna_report_store_latency(FILE *out, const struct nuna_result *result)
{
    struct nuna_csv csv;
    struct bin row = {.result = result};
    bool ok = nuna_csv_begin(&csv, out, &nuna_store_latency_table, result->approximate);
    for (; ok && row.bin + 1 < NUNA_LATENCY_BINS; row.bin++)
        if (result->latency->bins[row.bin] > 0)
            ok = nuna_csv_row(&csv, &row);
    return ok;
}
