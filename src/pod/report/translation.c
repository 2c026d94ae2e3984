#include "pod/report/translation.h"
#include "mmu/link_mmu.h"
#include "pod/report/summary.h"
#include "pod/translation_counts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_ns(FILE *out, uint64_t ps)
{
    fprintf(out, "%" PRIu64 ".%03" PRIu64, ps / 1000, ps % 1000);
}

static uint64_t mean(uint64_t sum, uint64_t count)
{
    return count ? (sum + count / 2) / count : 0;
}

/* ---- classes ---- */

/* "l1,l2,walk_steps" of a class. */
static void print_class(FILE *out, uint32_t class)
{
    if (class == NUNA_CLASS_L1_HIT) {
        fputs("hit,,", out);
        return;
    }
    bool merged = class >= NUNA_CLASS_L1_MERGED;
    uint32_t via = class - (merged ? (uint32_t)NUNA_CLASS_L1_MERGED : (uint32_t)NUNA_CLASS_L1_MISS);
    fputs(merged ? "mshr_hit," : "miss,", out);
    if (via == NUNA_VIA_L2_HIT)
        fputs("hit,", out);
    else if (via == NUNA_VIA_L2_UNDER_MISS)
        fputs("hit_under_miss,", out);
    else
        fprintf(out, "miss,%u", via - (uint32_t)NUNA_VIA_WALK_0);
}

bool nuna_report_translation(FILE *out, const struct nuna_view *view)
{
    fprintf(out, "gpu,l1,l2,walk_steps,requests,mean_ns,max_ns%s\n",
            nuna_approx_title(view->result));
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        for (uint32_t c = 0; counts && c < NUNA_CLASS_COUNT; c++) {
            const struct nuna_class_count *count = &counts->classes[c];
            if (count->requests == 0)
                continue;
            fprintf(out, "%u,", g);
            print_class(out, c);
            fprintf(out, ",%" PRIu64 ",", count->requests);
            print_ns(out, mean(count->latency_sum, count->requests));
            fputc(',', out);
            print_ns(out, count->latency_max);
            fprintf(out, "%s\n", nuna_approx_flag(view->result));
        }
    }
    return !ferror(out);
}

/* ---- caches ---- */

static void print_cache(FILE *out, uint32_t gpu, const char *kind, uint32_t index,
                        const struct nuna_cache *cache)
{
    fprintf(out, "%u,%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, gpu, kind, index,
            cache->lookups, cache->hits, cache->fills, cache->evictions);
}

bool nuna_report_tlb(FILE *out, const struct nuna_view *view)
{
    const char *flag = nuna_approx_flag(view->result);
    fprintf(out,
            "gpu,kind,index,lookups,hits,fills,evictions,waiting_max,stalls,walks,walk_accesses,"
            "walkers_max,walks_queued_max,prefetches,prefetches_dropped%s\n",
            nuna_approx_title(view->result));
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_mmu *mmu = nuna_view_mmu(view, g);
        if (!mmu)
            break;
        for (uint32_t p = 0; p < mmu->shape->ports; p++) {
            print_cache(out, g, "l1", p, &mmu->ports[p].tlb);
            fprintf(out, ",%u,%" PRIu64 ",,,,,,%s\n", mmu->ports[p].waiting_peak,
                    mmu->ports[p].stalls, flag);
        }
        print_cache(out, g, "l2", 0, &mmu->l2);
        fprintf(out, ",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64 ",%" PRIu64 "%s\n",
                mmu->l2_mshrs.peak, mmu->counts.l2_stalls, mmu->counts.walks, mmu->counts.steps,
                mmu->walkers.busy_peak, mmu->walkers.waiting_peak, mmu->counts.prefetches,
                mmu->counts.prefetches_dropped, flag);
        for (uint32_t k = 1; k < mmu->shape->levels; k++) {
            print_cache(out, g, "walk_cache", k, &mmu->walk_caches.upper[k]);
            fprintf(out, ",,,,,,,,%s\n", flag);
        }
    }
    return !ferror(out);
}

/* ---- round trips ---- */

bool nuna_report_round_trip(FILE *out, const struct nuna_view *view)
{
    static const char *const names[NUNA_TRIP_PARTS] = {
        [NUNA_TRIP_SOURCE_NOC] = "NoC_to_port",      [NUNA_TRIP_PORT] = "port_link_switch",
        [NUNA_TRIP_SWITCH] = "switch_output_link",   [NUNA_TRIP_TRANSLATION] = "translation",
        [NUNA_TRIP_DEST_NOC] = "NoC_at_destination", [NUNA_TRIP_MEMORY] = "memory_at_destination",
        [NUNA_TRIP_ACK] = "acknowledgement",
    };
    uint64_t sums[NUNA_TRIP_PARTS] = {0}, total = 0, trips = 0;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        trips += counts ? counts->trips : 0;
        for (uint32_t p = 0; counts && p < NUNA_TRIP_PARTS; p++) {
            sums[p] += counts->trip[p];
            total += counts->trip[p];
        }
    }
    fprintf(out, "part,stores,mean_ns,share%s\n", nuna_approx_title(view->result));
    for (uint32_t p = 0; p < NUNA_TRIP_PARTS; p++) {
        uint64_t share = total ? (uint64_t)((unsigned __int128)sums[p] * 1000000 / total) : 0;
        fprintf(out, "%s,%" PRIu64 ",", names[p], trips);
        print_ns(out, mean(sums[p], trips));
        fprintf(out, ",%" PRIu64 ".%06" PRIu64 "%s\n", share / 1000000, share % 1000000,
                nuna_approx_flag(view->result));
    }
    return !ferror(out);
}

/* ---- trace ---- */

/* In the order of arrival; destinations at one time in relative order. */
struct sorted_row {
    struct nuna_trace_row row;
    uint32_t rel, serial;
};

static int by_arrival(const void *a, const void *b)
{
    const struct sorted_row *x = a, *y = b;
    if (x->row.arrived != y->row.arrived)
        return x->row.arrived < y->row.arrived ? -1 : 1;
    if (x->rel != y->rel)
        return x->rel < y->rel ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

bool nuna_report_translation_trace(FILE *out, const struct nuna_view *view)
{
    uint32_t source = (uint32_t)view->params->translation.trace_gpu;
    size_t count = 0;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        count += counts ? counts->trace.count : 0;
    }
    struct sorted_row *rows = malloc((count + 1) * sizeof *rows);
    if (!rows)
        return false;
    count = 0;
    for (uint32_t g = 0; g < view->plan->gpu_count; g++) {
        const struct nuna_translation_counts *counts = nuna_view_translation(view, g);
        for (uint32_t i = 0; counts && i < counts->trace.count; i++)
            rows[count++] = (struct sorted_row){
                .row = counts->trace.rows[i], .rel = nuna_view_rel(view, g, source), .serial = i};
    }
    qsort(rows, count, sizeof *rows, by_arrival);
    fputs("issued_ns,arrived_ns,latency_ns,destination,port,page,l1,l2,walk_steps\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct nuna_trace_row *row = &rows[i].row;
        print_ns(out, row->issued - view->origin);
        fputc(',', out);
        print_ns(out, row->arrived - view->origin);
        fputc(',', out);
        print_ns(out, row->latency);
        fprintf(out, ",%u,%u,%u,", row->dest, row->port, row->page);
        print_class(out, row->class);
        fputc('\n', out);
    }
    free(rows);
    return !ferror(out);
}
