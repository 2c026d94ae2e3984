#include "gpu/translate/counts.h"
#include <stdlib.h>

/* Lives of pages are kept up to this much memory. */
#define LIVES_BYTES_MAX (256ull << 20)

static bool init_trace(struct nuna_gpu *gpu)
{
    const struct nuna_params *params = gpu->spec->params;
    struct nuna_request_trace *trace = &gpu->translation_counts->trace;
    uint64_t rows = (uint64_t)params->translation.trace;
    if (rows == 0)
        return true;
    /* Each destination has its share of the rows; of fewer rows the first ones in relative order
     * beyond the source's node have one. */
    uint32_t rel = nuna_spec_rel(gpu->spec, gpu->index, (uint32_t)params->translation.trace_gpu);
    uint64_t share = rows / gpu->spec->gpu_count, first = gpu->spec->gpus_per_node;
    if (share == 0 && (rel < first || rel - first >= rows))
        return true;
    trace->capacity = share == 0 ? 1 : (uint32_t)share;
    trace->stride = 1;
    trace->rows = calloc(trace->capacity, sizeof *trace->rows);
    return trace->rows != NULL;
}

static bool init_lives(struct nuna_gpu *gpu)
{
    struct nuna_translation_counts *t = gpu->translation_counts;
    t->page_count = nuna_spec_pages(gpu->spec, gpu->index);
    if (t->page_count * gpu->spec->gpu_count * sizeof *t->lives > LIVES_BYTES_MAX)
        return true;
    t->lives = malloc(t->page_count * sizeof *t->lives);
    for (uint64_t page = 0; t->lives && page < t->page_count; page++)
        t->lives[page] = (struct nuna_page_life){.first = 1, .last = 0};
    return t->lives != NULL;
}

bool nuna_counts_create(struct nuna_gpu *gpu)
{
    if (gpu->spec->translation == NUNA_TRANSLATION_OFF)
        return true;
    gpu->translation_counts = calloc(1, sizeof *gpu->translation_counts);
    return gpu->translation_counts && init_trace(gpu) && init_lives(gpu);
}

void nuna_counts_destroy(struct nuna_gpu *gpu)
{
    if (!gpu->translation_counts)
        return;
    free(gpu->translation_counts->lives);
    free(gpu->translation_counts->trace.rows);
    free(gpu->translation_counts);
}

static void trace_request(struct nuna_gpu *gpu, const struct nuna_trace_row *row)
{
    struct nuna_request_trace *trace = &gpu->translation_counts->trace;
    if (trace->seen++ % trace->stride != 0)
        return;
    if (trace->count == trace->capacity) {
        if (trace->capacity == 1)
            return;
        for (uint32_t i = 0; 2 * i < trace->count; i++)
            trace->rows[i] = trace->rows[2 * i];
        trace->count = (trace->count + 1) / 2;
        trace->stride *= 2;
        if ((trace->seen - 1) % trace->stride != 0)
            return;
    }
    trace->rows[trace->count++] = *row;
}

void nuna_counts_translated(struct nuna_gpu *gpu, const struct nuna_flight *flight, uint32_t page,
                            uint32_t class, nuna_time since)
{
    struct nuna_translation_counts *counts = gpu->translation_counts;
    struct nuna_class_count *count = &counts->classes[class];
    nuna_time now = gpu->lp->now, latency = now - since;
    count->requests++;
    count->latency_sum += latency;
    if (latency > count->latency_max)
        count->latency_max = latency;
    if (counts->lives && page < counts->page_count) {
        struct nuna_page_life *life = &counts->lives[page];
        if (life->first > life->last)
            life->first = since;
        life->last = now;
    }
    if (counts->trace.rows && flight->gpu == (uint16_t)gpu->spec->params->translation.trace_gpu) {
        const struct nuna_trace_row row = {.issued = flight->start,
                                           .arrived = since,
                                           .latency = latency,
                                           .page = page,
                                           .dest = (uint16_t)gpu->index,
                                           .port = flight->port,
                                           .class = (uint8_t) class};
        trace_request(gpu, &row);
    }
}

void nuna_counts_ahead_sent(struct nuna_gpu *gpu)
{
    gpu->translation_counts->ahead_sent++;
}

void nuna_counts_acked(struct nuna_gpu *gpu, const struct nuna_flight *flight)
{
    struct nuna_translation_counts *t = gpu->translation_counts;
    uint32_t total = nuna_flight_since(flight, gpu->lp->now);
    const uint32_t *stamp = flight->stamp;
    if (total == UINT32_MAX)
        return; /* saturated: no parts */
    t->trips++;
    t->trip[NUNA_TRIP_SOURCE_NOC] += stamp[NUNA_STAMP_AT_PORT];
    t->trip[NUNA_TRIP_PORT] += stamp[NUNA_STAMP_AT_SWITCH] - stamp[NUNA_STAMP_AT_PORT];
    t->trip[NUNA_TRIP_SWITCH] += stamp[NUNA_STAMP_AT_PEER] - stamp[NUNA_STAMP_AT_SWITCH];
    t->trip[NUNA_TRIP_TRANSLATION] += flight->link;
    t->trip[NUNA_TRIP_DEST_NOC] +=
        stamp[NUNA_STAMP_AT_MEMORY] - stamp[NUNA_STAMP_AT_PEER] - flight->link;
    t->trip[NUNA_TRIP_MEMORY] += stamp[NUNA_STAMP_LANDED] - stamp[NUNA_STAMP_AT_MEMORY];
    t->trip[NUNA_TRIP_ACK] += total - stamp[NUNA_STAMP_LANDED];
}

static int by_time(const void *a, const void *b)
{
    nuna_time x = *(const nuna_time *)a, y = *(const nuna_time *)b;
    return (x > y) - (x < y);
}

bool nuna_counts_live(const struct nuna_translation_counts *counts, uint64_t *ret_pages)
{
    uint64_t count = 0, alive = 0;
    *ret_pages = 0;
    if (!counts->lives)
        return true;
    nuna_time *first = malloc(2 * counts->page_count * sizeof *first);
    if (!first)
        return false;
    nuna_time *last = first + counts->page_count;
    for (uint64_t page = 0; page < counts->page_count; page++) {
        const struct nuna_page_life *life = &counts->lives[page];
        if (life->first > life->last)
            continue;
        first[count] = life->first;
        last[count++] = life->last;
    }
    qsort(first, count, sizeof *first, by_time);
    qsort(last, count, sizeof *last, by_time);
    for (uint64_t begun = 0, ended = 0; begun < count; begun++) {
        for (; last[ended] < first[begun]; ended++)
            alive--;
        alive++;
        *ret_pages = alive > *ret_pages ? alive : *ret_pages;
    }
    free(first);
    return true;
}
