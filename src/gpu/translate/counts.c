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

void nuna_counts_translated(struct nuna_gpu *gpu, struct nuna_flight *visitor, uint32_t page,
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
    if (counts->trace.rows &&
        nuna_visit(visitor)->source == (uint16_t)gpu->spec->params->translation.trace_gpu) {
        const struct nuna_trace_row row = {.issued = now - nuna_flight_age(visitor, now),
                                           .arrived = since,
                                           .latency = latency,
                                           .page = page,
                                           .dest = (uint16_t)gpu->index,
                                           .port = visitor->port,
                                           .class = (uint8_t) class};
        trace_request(gpu, &row);
    }
}

void nuna_counts_ahead_sent(struct nuna_gpu *gpu)
{
    gpu->translation_counts->ahead_sent++;
}

void nuna_counts_acked(struct nuna_gpu *gpu, struct nuna_flight *flight)
{
    struct nuna_translation_counts *t = gpu->translation_counts;
    const struct nuna_answer *answer = nuna_answer(flight);
    const struct nuna_store_stamps *at = &answer->store;
    uint32_t total = nuna_flight_since(flight, gpu->lp->now);
    if (total == UINT32_MAX)
        return; /* saturated: no parts */
    t->trips++;
    t->trip[NUNA_TRIP_SOURCE_NOC] += at->at_port;
    t->trip[NUNA_TRIP_PORT] += at->at_switch - at->at_port;
    t->trip[NUNA_TRIP_SWITCH] += at->at_peer - at->at_switch;
    t->trip[NUNA_TRIP_TRANSLATION] += answer->translation;
    t->trip[NUNA_TRIP_DEST_NOC] += at->at_memory - at->at_peer - answer->translation;
    t->trip[NUNA_TRIP_MEMORY] += at->landed - at->at_memory;
    t->trip[NUNA_TRIP_ACK] += total - at->landed;
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
