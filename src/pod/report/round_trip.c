#include "pod/report/round_trip.h"
#include "gpu/translate/counts.h"

struct part {
    const struct nuna_view *view;
    const char *name;
    uint64_t sum, stores, total; /* ps; of all parts */
};

#define PART_COLUMNS(X)                                                                            \
    X(part, part, "",                                                                              \
      "as on the critical path; queues count with the part before which they stand",               \
      nuna_text(row->name))                                                                        \
    X(part, stores, "", "stores counted", nuna_count(row->stores))                                 \
    X(part, mean_ns, "ns", "mean of the part", nuna_ns(nuna_mean(row->sum, row->stores)))          \
    X(part, share, "", "its share of the round trip", nuna_share(row->sum, row->total))            \
    X(part, exactness, "", "`approx`; only in runs that are",                                      \
      nuna_text(nuna_exactness(row->view->result)))
NUNA_COLUMNS(part, PART_COLUMNS)
const struct nuna_table nuna_round_trip_table =
    NUNA_TABLE(part, "round_trip.csv",
               "one row per part of the way of data stores to other nodes, from the CU's issue to "
               "the acknowledgement, over all GPUs",
               1);

bool nuna_report_round_trip(FILE *out, const struct nuna_view *view)
{
    static const char *const names[NUNA_TRIP_PARTS] = {
        [NUNA_TRIP_SOURCE_NOC] = "NoC_to_port",      [NUNA_TRIP_PORT] = "port_link_switch",
        [NUNA_TRIP_SWITCH] = "switch_output_link",   [NUNA_TRIP_TRANSLATION] = "translation",
        [NUNA_TRIP_DEST_NOC] = "NoC_at_destination", [NUNA_TRIP_MEMORY] = "memory_at_destination",
        [NUNA_TRIP_ACK] = "acknowledgement",
    };
    struct part rows[NUNA_TRIP_PARTS] = {0};
    uint64_t total = 0, stores = 0;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        stores += counts ? counts->trips : 0;
        for (uint32_t p = 0; counts && p < NUNA_TRIP_PARTS; p++) {
            rows[p].sum += counts->trip[p];
            total += counts->trip[p];
        }
    }
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_round_trip_table, view->result->approximate);
    for (uint32_t p = 0; ok && p < NUNA_TRIP_PARTS; p++) {
        rows[p].view = view;
        rows[p].name = names[p];
        rows[p].stores = stores;
        rows[p].total = total;
        ok = nuna_csv_row(&csv, &rows[p]);
    }
    return ok;
}
