#include "host/link.h"
#include <string.h>

void nuna_timeline_init(struct nuna_timeline *timeline, nuna_time interval)
{
    memset(timeline, 0, sizeof *timeline);
    timeline->interval = interval;
}

static void merge_pairs(struct nuna_timeline *timeline)
{
    const uint32_t half = NUNA_TIMELINE_BINS / 2;
    for (uint32_t i = 0; i < half; i++)
        timeline->busy[i] = timeline->busy[2 * i] + timeline->busy[2 * i + 1];
    memset(timeline->busy + half, 0, half * sizeof *timeline->busy);
    timeline->interval *= 2;
}

void nuna_timeline_widen(struct nuna_timeline *timeline, nuna_time interval)
{
    while (timeline->interval < interval)
        merge_pairs(timeline);
}

void nuna_timeline_add(struct nuna_timeline *timeline, nuna_time start, nuna_time end)
{
    while ((end + timeline->interval - 1) / timeline->interval > NUNA_TIMELINE_BINS)
        merge_pairs(timeline);
    for (nuna_time at = start; at < end;) {
        uint64_t bin = at / timeline->interval;
        nuna_time bin_end = (bin + 1) * timeline->interval;
        nuna_time until = end < bin_end ? end : bin_end;
        timeline->busy[bin] += until - at;
        at = until;
    }
}
