#include "pod/report/translation_trace.h"
#include "gpu/translate/counts.h"
#include "pod/report/request_class.h"
#include <stdlib.h>

/* In the order of arrival; destinations at one time in relative order. */
struct traced {
    const struct nuna_view *view;
    struct nuna_trace_row row;
    uint32_t rel, serial;
};

static int by_arrival(const void *a, const void *b)
{
    const struct traced *x = a, *y = b;
    if (x->row.arrived != y->row.arrived)
        return x->row.arrived < y->row.arrived ? -1 : 1;
    if (x->rel != y->rel)
        return x->rel < y->rel ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

#define TRACED_COLUMNS(X)                                                                          \
    X(traced, issued_ns, "ns", "from the start of the collective: issue at the CU",                \
      nuna_ns(row->row.issued - row->view->origin))                                                \
    X(traced, arrived_ns, "ns", "likewise: arrival at the destination's port",                     \
      nuna_ns(row->row.arrived - row->view->origin))                                               \
    X(traced, latency_ns, "ns", "translation", nuna_ns(row->row.latency))                          \
    X(traced, destination, "", "GPU", nuna_count(row->row.dest))                                   \
    X(traced, port, "", "its port", nuna_count(row->row.port))                                     \
    X(traced, page, "", "page of its memory image", nuna_count(row->row.page))                     \
    X(traced, l1, "", "as in translation.csv", nuna_class_l1(row->row.class))                      \
    X(traced, l2, "", "as in translation.csv", nuna_class_l2(row->row.class))                      \
    X(traced, walk_steps, "", "as in translation.csv", nuna_class_walk_steps(row->row.class))
NUNA_COLUMNS(traced, TRACED_COLUMNS)
const struct nuna_table nuna_translation_trace_table =
    NUNA_TABLE(traced, "translation_trace.csv", "one row per request kept, by arrival", 0);

bool nuna_report_translation_trace(FILE *out, const struct nuna_view *view)
{
    uint32_t source = (uint32_t)view->params->translation.trace_gpu;
    size_t count = 0;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        count += counts ? counts->trace.count : 0;
    }
    struct traced *rows = malloc((count + 1) * sizeof *rows);
    if (!rows)
        return false;
    count = 0;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        for (uint32_t i = 0; counts && i < counts->trace.count; i++)
            rows[count++] = (struct traced){.view = view,
                                            .row = counts->trace.rows[i],
                                            .rel = nuna_view_rel(view, g, source),
                                            .serial = i};
    }
    qsort(rows, count, sizeof *rows, by_arrival);
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_translation_trace_table, true);
    for (size_t i = 0; ok && i < count; i++)
        ok = nuna_csv_row(&csv, &rows[i]);
    free(rows);
    return ok;
}
