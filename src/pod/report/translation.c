#include "pod/report/translation.h"
#include "gpu/translate/counts.h"
#include "mmu/link_mmu.h"
#include "pod/report/request_class.h"

struct answer {
    const struct nuna_view *view;
    const struct nuna_class_count *count;
    uint32_t gpu, class;
};

#define ANSWER_COLUMNS(X)                                                                          \
    X(answer, gpu, "", "destination", nuna_count(row->gpu))                                        \
    X(answer, l1, "",                                                                              \
      "TLB of the port: `hit`; `miss`: the request that asked the L2; `mshr_hit`: one that "       \
      "joined it",                                                                                 \
      nuna_class_l1(row->class))                                                                   \
    X(answer, l2, "",                                                                              \
      "of misses and those that joined them: `hit`; `miss`: a walk of their own; "                 \
      "`hit_under_miss`: joined a walk under way",                                                 \
      nuna_class_l2(row->class))                                                                   \
    X(answer, walk_steps, "",                                                                      \
      "accesses of that walk; fewer than `translation.levels` when a page-walk cache knew an "     \
      "upper entry",                                                                               \
      nuna_class_walk_steps(row->class))                                                           \
    X(answer, requests, "", "how many", nuna_count(row->count->requests))                          \
    X(answer, mean_ns, "ns", "mean of their translation latency",                                  \
      nuna_ns(nuna_mean(row->count->latency_sum, row->count->requests)))                           \
    X(answer, max_ns, "ns", "longest", nuna_ns(row->count->latency_max))                           \
    X(answer, exactness, "", "`approx`; only in runs that are",                                    \
      nuna_text(nuna_exactness(row->view->result)))
NUNA_COLUMNS(answer, ANSWER_COLUMNS)
const struct nuna_table nuna_translation_table =
    NUNA_TABLE(answer, "translation.csv", "one row per GPU and class of requests that came", 1);

bool nuna_report_translation(FILE *out, const struct nuna_view *view)
{
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_translation_table, view->result->approximate);
    for (uint32_t g = 0; ok && g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        for (uint32_t c = 0; ok && counts && c < NUNA_CLASS_COUNT; c++) {
            const struct answer row = {view, &counts->classes[c], g, c};
            if (row.count->requests > 0)
                ok = nuna_csv_row(&csv, &row);
        }
    }
    return ok;
}
