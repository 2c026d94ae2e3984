#include "pod/translation.h"
#include <stdlib.h>
#include <string.h>

/* Lives of pages are kept up to this much memory. */
#define LIVES_BYTES_MAX (256ull << 20)

/* From a port to a stack on an idle fabric, on average, and the access. */
static nuna_time default_step(const struct nuna_pod *pod)
{
    const struct nuna_topology *t = &pod->topology;
    nuna_time sum = 0;
    for (uint32_t p = 0; p < t->port_count; p++)
        for (uint32_t s = 0; s < t->stack_count; s++) {
            uint16_t port = t->port_router[p];
            sum += nuna_noc_zero_load(&pod->noc, port, nuna_topology_stack_router(t, port, s),
                                      pod->control_bytes);
        }
    return sum / ((nuna_time)t->port_count * t->stack_count) +
           (nuna_time)pod->params->hbm.access_latency;
}

static void ready(void *context, uint32_t token, uint32_t page, uint32_t class, nuna_time since);
static void resent(void *context, uint32_t port, uint32_t count);

void nuna_translation_shape(struct nuna_pod *pod)
{
    const struct nuna_params *params = pod->params;
    pod->group = nuna_group_make(pod->gpu_count, (uint32_t)params->pod.gpus_per_node);
    pod->gpus_per_node = (uint32_t)params->pod.gpus_per_node;
    pod->translation = (enum nuna_translation_mode)params->translation.mode;
    bool full = pod->translation == NUNA_TRANSLATION_FULL;
    pod->prefetch = full ? (enum nuna_translate_ahead)params->translation.prefetch : NUNA_AHEAD_OFF;
    pod->prefetch_distance = (uint64_t)params->translation.prefetch_distance +
                             (uint64_t)params->translation.prefetch_lines * pod->flit_bytes +
                             (uint64_t)params->translation.prefetch_pages * pod->map.page_size;
    nuna_mmu_shape_init(&pod->mmu, params, default_step(pod));
    pod->mmu.event_kind = NUNA_EV_TRANSLATION;
    pod->mmu.ready = ready;
    pod->mmu.resent = resent;
}

static bool init_trace(struct nuna_gpu_lp *gpu)
{
    const struct nuna_params *params = gpu->pod->params;
    struct nuna_request_trace *trace = &gpu->translation->counts.trace;
    uint64_t rows = (uint64_t)params->translation.trace;
    if (rows == 0)
        return true;
    /* Each destination has its share of the rows; of fewer rows the first ones in relative order
     * beyond the source's node have one. */
    uint32_t rel = nuna_pod_rel(gpu->pod, gpu->gpu, (uint32_t)params->translation.trace_gpu);
    uint64_t share = rows / gpu->pod->gpu_count, first = gpu->pod->gpus_per_node;
    if (share == 0 && (rel < first || rel - first >= rows))
        return true;
    trace->capacity = share == 0 ? 1 : (uint32_t)share;
    trace->stride = 1;
    trace->rows = calloc(trace->capacity, sizeof *trace->rows);
    return trace->rows != NULL;
}

static bool init_lives(struct nuna_gpu_lp *gpu)
{
    struct nuna_translation *t = gpu->translation;
    t->page_count = nuna_pod_pages(gpu->pod, gpu->gpu);
    if (t->page_count * gpu->pod->gpu_count * sizeof *t->lives > LIVES_BYTES_MAX)
        return true;
    t->lives = malloc(t->page_count * sizeof *t->lives);
    for (uint64_t page = 0; t->lives && page < t->page_count; page++)
        t->lives[page] = (struct nuna_page_life){.first = 1, .last = 0};
    return t->lives != NULL;
}

bool nuna_translation_create(struct nuna_gpu_lp *gpu)
{
    const struct nuna_pod *pod = gpu->pod;
    if (pod->translation == NUNA_TRANSLATION_OFF)
        return true;
    gpu->translation = calloc(1, sizeof *gpu->translation);
    return gpu->translation && init_trace(gpu) && init_lives(gpu) &&
           (pod->translation != NUNA_TRANSLATION_FULL ||
            (nuna_mmu_init(&gpu->translation->mmu, &pod->mmu, gpu) && nuna_pretranslate_plan(gpu)));
}

void nuna_translation_destroy(struct nuna_translation *translation)
{
    if (!translation)
        return;
    if (translation->mmu.shape)
        nuna_mmu_finish(&translation->mmu);
    free(translation->lives);
    free(translation->counts.trace.rows);
    free(translation->ahead);
    free(translation);
}

static void trace_request(struct nuna_gpu_lp *gpu, const struct nuna_trace_row *row)
{
    struct nuna_request_trace *trace = &gpu->translation->counts.trace;
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

/* A request's address is known. */
static void translated(struct nuna_gpu_lp *gpu, uint32_t handle, uint32_t page, uint32_t class,
                       nuna_time since)
{
    struct nuna_translation *t = gpu->translation;
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_time now = gpu->lp->now, latency = now - since;
    flight->stamp[NUNA_STAMP_LENT_TRANSLATION] =
        latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;
    if (class == NUNA_CLASS_NONE) {
        nuna_gpu_lp_admit(gpu, handle);
        return;
    }
    struct nuna_class_count *count = &t->counts.classes[class];
    count->requests++;
    count->latency_sum += latency;
    if (latency > count->latency_max)
        count->latency_max = latency;
    if (t->lives && page < t->page_count) {
        struct nuna_page_life *life = &t->lives[page];
        if (life->first > life->last)
            life->first = since;
        life->last = now;
    }
    if (t->counts.trace.rows && flight->gpu == (uint16_t)gpu->pod->params->translation.trace_gpu) {
        const struct nuna_trace_row row = {.issued = flight->start,
                                           .arrived = since,
                                           .latency = latency,
                                           .page = page,
                                           .dest = (uint16_t)gpu->gpu,
                                           .port = flight->port,
                                           .class = (uint8_t) class};
        trace_request(gpu, &row);
    }
    nuna_gpu_lp_admit(gpu, handle);
}

static void ready(void *context, uint32_t token, uint32_t page, uint32_t class, nuna_time since)
{
    translated(context, token, page, class, since);
}

static void resent(void *context, uint32_t port, uint32_t count)
{
    struct nuna_gpu_lp *gpu = context;
    nuna_scaleup_repeat(&gpu->scaleup, port, gpu->lp->now, count);
}

static nuna_time lookup_latency(const struct nuna_pod *pod)
{
    return pod->translation == NUNA_TRANSLATION_FULL ? pod->mmu.l1_latency : 0;
}

void nuna_translation_arrive(struct nuna_gpu_lp *gpu, uint32_t handle, nuna_time in)
{
    struct nuna_event event = nuna_translation_make(NUNA_TRANSLATION_LOOKUP, handle);
    nuna_lp_schedule(gpu->lp, in + lookup_latency(gpu->pod), event);
}

static void lookup(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_mmu *mmu = &gpu->translation->mmu;
    uint32_t page = flight->stamp[NUNA_STAMP_LENT_PAGE];
    nuna_time since = gpu->lp->now - lookup_latency(gpu->pod);
    if (flight->kind > NUNA_FLIGHT_FLAG) {
        nuna_mmu_prefetch(mmu, gpu->lp, flight->port, page, flight->kind == NUNA_FLIGHT_AHEAD_L2);
        nuna_flight_put(&gpu->flights, handle);
        return;
    }
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PEER, since);
    if (gpu->pod->translation == NUNA_TRANSLATION_IDEAL ||
        nuna_mmu_translate(mmu, gpu->lp, flight->port, page, handle, since))
        translated(gpu, handle, page, NUNA_CLASS_L1_HIT, since);
}

void nuna_translation_event(struct nuna_gpu_lp *gpu, uint64_t body)
{
    struct nuna_event event = {.body = body};
    switch (nuna_event_there(event) & 0xff) {
    case NUNA_TRANSLATION_LOOKUP:
        lookup(gpu, nuna_event_handle(event));
        break;
    case NUNA_TRANSLATION_AHEAD:
        nuna_pretranslate_next(gpu, nuna_event_handle(event));
        break;
    case NUNA_TRANSLATION_START:
        nuna_exec_start(&gpu->exec, gpu->lp->now);
        break;
    default:
        nuna_mmu_event(&gpu->translation->mmu, gpu->lp, event);
    }
}

void nuna_translation_acked(struct nuna_gpu_lp *gpu, const struct nuna_flight *flight)
{
    struct nuna_translation *t = gpu->translation;
    uint32_t total = nuna_flight_since(flight, gpu->lp->now);
    const uint32_t *stamp = flight->stamp;
    if (total == UINT32_MAX)
        return; /* saturated: no parts */
    t->counts.trips++;
    t->counts.trip[NUNA_TRIP_SOURCE_NOC] += stamp[NUNA_STAMP_AT_PORT];
    t->counts.trip[NUNA_TRIP_PORT] += stamp[NUNA_STAMP_AT_SWITCH] - stamp[NUNA_STAMP_AT_PORT];
    t->counts.trip[NUNA_TRIP_SWITCH] += stamp[NUNA_STAMP_AT_PEER] - stamp[NUNA_STAMP_AT_SWITCH];
    t->counts.trip[NUNA_TRIP_TRANSLATION] += flight->link;
    t->counts.trip[NUNA_TRIP_DEST_NOC] +=
        stamp[NUNA_STAMP_AT_MEMORY] - stamp[NUNA_STAMP_AT_PEER] - flight->link;
    t->counts.trip[NUNA_TRIP_MEMORY] += stamp[NUNA_STAMP_LANDED] - stamp[NUNA_STAMP_AT_MEMORY];
    t->counts.trip[NUNA_TRIP_ACK] += total - stamp[NUNA_STAMP_LANDED];
}

static int by_time(const void *a, const void *b)
{
    nuna_time x = *(const nuna_time *)a, y = *(const nuna_time *)b;
    return (x > y) - (x < y);
}

bool nuna_translation_live(const struct nuna_translation *translation, uint64_t *ret_pages)
{
    uint64_t count = 0, alive = 0;
    *ret_pages = 0;
    if (!translation->lives)
        return true;
    nuna_time *first = malloc(2 * translation->page_count * sizeof *first);
    if (!first)
        return false;
    nuna_time *last = first + translation->page_count;
    for (uint64_t page = 0; page < translation->page_count; page++) {
        const struct nuna_page_life *life = &translation->lives[page];
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
