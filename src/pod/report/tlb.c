#include "pod/report/tlb.h"
#include "mmu/link_mmu.h"

/* The counters that a kind of cache has. */
enum has { HAS_CACHE, HAS_PORT, HAS_MMU };

struct tlb {
    const struct nuna_view *view;
    const struct nuna_mmu *mmu;
    uint32_t gpu;
    const char *kind;
    uint32_t index;
    const struct nuna_cache *cache;
    enum has has;
};

static struct nuna_value waiting_max(const struct tlb *tlb)
{
    if (tlb->has == HAS_CACHE)
        return nuna_empty();
    return nuna_count(tlb->has == HAS_PORT ? tlb->mmu->ports[tlb->index].waiting_peak
                                           : tlb->mmu->l2_mshrs.peak);
}

static struct nuna_value stalls(const struct tlb *tlb)
{
    if (tlb->has == HAS_CACHE)
        return nuna_empty();
    return nuna_count(tlb->has == HAS_PORT ? tlb->mmu->ports[tlb->index].stalls
                                           : tlb->mmu->counts.l2_stalls);
}

static struct nuna_value of_l2(const struct tlb *tlb, uint64_t count)
{
    return nuna_if(tlb->has == HAS_MMU, nuna_count(count));
}

#define TLB_COLUMNS(X)                                                                             \
    X(tlb, gpu, "", "whose", nuna_count(row->gpu))                                                 \
    X(tlb, kind, "", "`l1`; `l2`; `walk_cache`", nuna_text(row->kind))                             \
    X(tlb, index, "", "port of an `l1`; of a `walk_cache`, the accesses that a hit leaves",        \
      nuna_count(row->index))                                                                      \
    X(tlb, lookups, "", "a request that joins a miss has looked up and not hit",                   \
      nuna_count(row->cache->lookups))                                                             \
    X(tlb, hits, "", "lookups that found their page", nuna_count(row->cache->hits))                \
    X(tlb, fills, "", "pages put in", nuna_count(row->cache->fills))                               \
    X(tlb, evictions, "", "pages that had to leave for them", nuna_count(row->cache->evictions))   \
    X(tlb, waiting_max, "", "`l1`: most requests waiting at a time; `l2`: most pages",             \
      waiting_max(row))                                                                            \
    X(tlb, stalls, "", "how often a miss found no register and blocked its port (or the L2)",      \
      stalls(row))                                                                                 \
    X(tlb, walks, "", "walks of the page tables", of_l2(row, row->mmu->counts.walks))              \
    X(tlb, walk_accesses, "", "their accesses to memory", of_l2(row, row->mmu->counts.steps))      \
    X(tlb, walkers_max, "", "most walkers busy", of_l2(row, row->mmu->walkers.busy_peak))          \
    X(tlb, walks_queued_max, "", "most walks waiting for one",                                     \
      of_l2(row, row->mmu->walkers.waiting_peak))                                                  \
    X(tlb, prefetches, "", "requests of the mitigations that came",                                \
      of_l2(row, row->mmu->counts.prefetches))                                                     \
    X(tlb, prefetches_dropped, "", "those that found no register",                                 \
      of_l2(row, row->mmu->counts.prefetches_dropped))                                             \
    X(tlb, exactness, "", "`approx`; only in runs that are",                                       \
      nuna_text(nuna_exactness(row->view->result)))
NUNA_COLUMNS(tlb, TLB_COLUMNS)
const struct nuna_table nuna_tlb_table = NUNA_TABLE(
    tlb, "tlb.csv",
    "one row per TLB and page-walk cache, GPU by GPU; columns that do not apply are empty", 1);

static bool report_gpu(const struct nuna_csv *csv, const struct nuna_view *view,
                       const struct nuna_mmu *mmu, uint32_t gpu)
{
    struct tlb row = {.view = view, .mmu = mmu, .gpu = gpu, .kind = "l1", .has = HAS_PORT};
    for (; row.index < mmu->shape->ports; row.index++) {
        row.cache = &mmu->ports[row.index].tlb;
        if (!nuna_csv_row(csv, &row))
            return false;
    }
    row.kind = "l2";
    row.has = HAS_MMU;
    row.index = 0;
    row.cache = &mmu->l2;
    if (!nuna_csv_row(csv, &row))
        return false;
    row.kind = "walk_cache";
    row.has = HAS_CACHE;
    for (row.index = 1; row.index < mmu->shape->levels; row.index++) {
        row.cache = &mmu->walk_caches.upper[row.index];
        if (!nuna_csv_row(csv, &row))
            return false;
    }
    return true;
}

bool nuna_report_tlb(FILE *out, const struct nuna_view *view)
{
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_tlb_table, view->result->approximate);
    for (uint32_t g = 0; ok && g < view->plan->gpu_count; g++) {
        const struct nuna_mmu *mmu = nuna_view_mmu(view, g);
        ok = !mmu || report_gpu(&csv, view, mmu, g);
    }
    return ok;
}
