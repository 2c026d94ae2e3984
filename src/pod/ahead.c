/* What hides reverse translation: requests that only translate a page, sent ahead of the stores.
 * Pre-translation sends them before the collective, as a part of the kernel that precedes it;
 * prefetching sends them from the collective's own threadblocks, whose strides the plan knows.
 * Source: reverse translation (arXiv 2604.02473) section 6. */
#include "pod/translation.h"
#include <stdlib.h>

/* Calls `visit` for each request that a page is worth: one for the L2, or one per port that the
 * lines from `position` on (`bytes` of them, all in the page) go through. */
static void for_each_port(const struct nuna_pod *pod, uint32_t dest, uint64_t position,
                          uint64_t bytes, enum nuna_translate_ahead into,
                          void (*visit)(void *context, const struct nuna_ahead *ahead),
                          void *context)
{
    uint32_t first = UINT32_MAX;
    for (uint64_t at = 0; at < bytes; at += pod->flit_bytes) {
        struct nuna_location location = nuna_pod_locate(pod, dest, position + at);
        /* Neighbouring lines go round the ports. */
        if (location.port == first)
            return;
        if (at == 0)
            first = location.port;
        const struct nuna_ahead ahead = {
            .page = location.page,
            .dest = (uint16_t)dest,
            .port = (uint8_t)location.port,
            .kind = into == NUNA_AHEAD_L2 ? NUNA_FLIGHT_AHEAD_L2 : NUNA_FLIGHT_AHEAD_L1,
        };
        visit(context, &ahead);
        if (into == NUNA_AHEAD_L2)
            return;
    }
}

static void send(struct nuna_gpu_lp *gpu, const struct nuna_ahead *ahead)
{
    uint32_t handle = nuna_flight_get(&gpu->flights);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    flight->start = gpu->lp->now;
    flight->kind = ahead->kind;
    flight->phase = NUNA_PHASE_STORE;
    flight->tb = 0;
    flight->link = 0;
    flight->target = 0;
    flight->gpu = ahead->dest;
    flight->bytes = (uint16_t)gpu->pod->control_bytes;
    flight->port = ahead->port;
    flight->npa = true;
    flight->stamp[NUNA_STAMP_LENT_PAGE] = ahead->page;
    gpu->translation->ahead_sent++;
    nuna_noc_send(&gpu->noc, gpu->lp, ahead->from, NUNA_AT_CU,
                  gpu->pod->topology.port_router[ahead->port], NUNA_AT_PORT,
                  gpu->pod->control_bytes, handle);
}

/* ---- prefetching ---- */

struct prefetcher {
    struct nuna_gpu_lp *gpu;
    uint32_t cu;
};

/* Each request takes an issue slot. */
static void prefetch(void *context, const struct nuna_ahead *ahead)
{
    const struct prefetcher *prefetcher = context;
    struct nuna_gpu_lp *gpu = prefetcher->gpu;
    struct nuna_cu *cu = &gpu->cus[prefetcher->cu];
    struct nuna_ahead request = *ahead;
    request.from = nuna_gpu_cu_router(gpu, prefetcher->cu);
    nuna_time now = gpu->lp->now;
    cu->free_at = (cu->free_at > now ? cu->free_at : now) + gpu->pod->issue_interval;
    send(gpu, &request);
}

void nuna_prefetch_pages(struct nuna_gpu_lp *gpu, uint32_t tb_index)
{
    const struct nuna_pod *pod = gpu->pod;
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    struct prefetcher prefetcher = {gpu, tb->cu};
    uint64_t end = tb->dst_position + tb->bytes;
    while (tb->ahead < end && tb->ahead <= tb->dst_position + tb->line + pod->prefetch_distance) {
        uint64_t next = (tb->ahead / pod->map.page_size + 1) * pod->map.page_size;
        next = next < end ? next : end;
        for_each_port(pod, tb->dst_gpu, tb->ahead, next - tb->ahead, pod->prefetch, prefetch,
                      &prefetcher);
        tb->ahead = next;
    }
}

void nuna_prefetch_flags(struct nuna_gpu_lp *gpu, uint32_t tb_index)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    const struct nuna_tb *tb = &gpu->tbs[tb_index];
    const struct nuna_threadblock *block =
        &plan->threadblocks[plan->gpus[gpu->gpu].tb_at + tb_index];
    struct prefetcher prefetcher = {gpu, tb->cu};
    uint32_t end = block->op_at + block->op_count, at = tb->op;
    if (plan->ops[at].kind != NUNA_OP_PUT)
        return;
    /* Not beyond the next put: that asks for itself. */
    for (at++; at < end && plan->ops[at].kind != NUNA_OP_SIGNAL; at++)
        if (plan->ops[at].kind == NUNA_OP_PUT)
            return;
    for (uint32_t i = 0; at < end && i < plan->ops[at].id_count; i++) {
        const struct nuna_channel *channel =
            &plan->channels[plan->gpus[gpu->gpu].channel_at + plan->ids[plan->ops[at].id_at + i]];
        if (nuna_pod_npa(gpu->pod, gpu->gpu, channel->peer))
            for_each_port(gpu->pod, channel->peer,
                          nuna_layout_flag(&gpu->pod->layout, channel->peer, channel->peer_channel),
                          gpu->pod->control_bytes, gpu->pod->prefetch, prefetch, &prefetcher);
    }
}

/* ---- pre-translation ---- */

bool nuna_pretranslates(const struct nuna_params *params)
{
    return params->translation.mode == NUNA_TRANSLATION_FULL &&
           params->translation.pretranslate != NUNA_AHEAD_OFF;
}

nuna_time nuna_pretranslate_lead(const struct nuna_params *params)
{
    return nuna_pretranslates(params) ? (nuna_time)params->translation.pretranslate_lead : 0;
}

/* A page that a threadblock writes, as its `turn`-th. */
struct page_use {
    uint64_t position, bytes;
    uint32_t turn, tb, dest, serial;
};

struct use_list {
    struct page_use *items;
    size_t count, capacity;
    bool failed;
};

static void add_uses(struct use_list *list, const struct nuna_pod *pod, uint32_t tb, uint32_t *turn,
                     uint32_t dest, uint64_t position, uint64_t bytes)
{
    for (uint64_t end = position + bytes, next; position < end && !list->failed; position = next) {
        next = (position / pod->map.page_size + 1) * pod->map.page_size;
        next = next < end ? next : end;
        if (list->count == list->capacity) {
            size_t capacity = list->capacity ? 2 * list->capacity : 256;
            struct page_use *items = realloc(list->items, capacity * sizeof *items);
            list->failed = !items;
            if (!items)
                return;
            list->items = items;
            list->capacity = capacity;
        }
        list->items[list->count] =
            (struct page_use){position, next - position, (*turn)++, tb, dest, 0};
        list->count++;
    }
}

static void list_op(struct use_list *list, const struct nuna_gpu_lp *gpu, uint32_t tb,
                    const struct nuna_op *op, uint32_t *turn)
{
    const struct nuna_pod *pod = gpu->pod;
    const struct nuna_plan *plan = pod->plan;
    for (uint32_t r = 0; op->kind == NUNA_OP_PUT && r < op->dst_count; r++) {
        const struct nuna_range *to = &plan->ranges[op->dst_at + r];
        for (uint32_t c = 0; nuna_pod_npa(pod, gpu->gpu, to->gpu) && c < to->count; c++) {
            const struct nuna_chunk_place *place =
                &pod->layout.gpus[to->gpu].chunks[to->buffer][to->index + c];
            add_uses(list, pod, tb, turn, to->gpu, place->position, place->bytes);
        }
    }
    for (uint32_t i = 0; op->kind == NUNA_OP_SIGNAL && i < op->id_count; i++) {
        const struct nuna_channel *channel =
            &plan->channels[plan->gpus[gpu->gpu].channel_at + plan->ids[op->id_at + i]];
        if (nuna_pod_npa(pod, gpu->gpu, channel->peer))
            add_uses(list, pod, tb, turn, channel->peer,
                     nuna_layout_flag(&pod->layout, channel->peer, channel->peer_channel),
                     pod->control_bytes);
    }
}

static int by_turn(const void *a, const void *b)
{
    const struct page_use *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->tb < y->tb ? -1 : x->tb > y->tb;
}

/* The same page of the same peer may serve several threadblocks. */
static int by_page(const void *a, const void *b)
{
    const struct page_use *x = a, *y = b;
    if (x->dest != y->dest)
        return x->dest < y->dest ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int by_serial(const void *a, const void *b)
{
    const struct page_use *x = a, *y = b;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

struct lister {
    struct nuna_gpu_lp *gpu;
    uint16_t from;
    bool failed;
};

static void list_request(void *context, const struct nuna_ahead *ahead)
{
    struct lister *lister = context;
    struct nuna_translation *t = lister->gpu->translation;
    if (t->ahead_count == t->ahead_capacity) {
        uint32_t capacity = t->ahead_capacity ? 2 * t->ahead_capacity : 256;
        struct nuna_ahead *grown = realloc(t->ahead, capacity * sizeof *grown);
        lister->failed = lister->failed || !grown;
        if (!grown)
            return;
        t->ahead = grown;
        t->ahead_capacity = capacity;
    }
    t->ahead[t->ahead_count] = *ahead;
    t->ahead[t->ahead_count++].from = lister->from;
}

/* In the order of use, each part of a page once. */
static size_t sort_uses(struct use_list *list)
{
    qsort(list->items, list->count, sizeof *list->items, by_turn);
    for (size_t i = 0; i < list->count; i++)
        list->items[i].serial = (uint32_t)i;
    qsort(list->items, list->count, sizeof *list->items, by_page);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->items[i].dest != list->items[kept - 1].dest ||
            list->items[i].position != list->items[kept - 1].position)
            list->items[kept++] = list->items[i];
    qsort(list->items, kept, sizeof *list->items, by_serial);
    return kept;
}

bool nuna_pretranslate_plan(struct nuna_gpu_lp *gpu)
{
    const struct nuna_pod *pod = gpu->pod;
    const struct nuna_plan *plan = pod->plan;
    enum nuna_translate_ahead into =
        (enum nuna_translate_ahead)pod->params->translation.pretranslate;
    if (into == NUNA_AHEAD_OFF)
        return true;
    struct use_list list = {0};
    for (uint32_t tb = 0; tb < plan->gpus[gpu->gpu].tb_count; tb++) {
        const struct nuna_threadblock *block = &plan->threadblocks[plan->gpus[gpu->gpu].tb_at + tb];
        uint32_t turn = 0;
        for (uint32_t o = block->op_at; o < block->op_at + block->op_count; o++)
            list_op(&list, gpu, tb, &plan->ops[o], &turn);
    }
    size_t count = list.failed || list.count == 0 ? 0 : sort_uses(&list);
    uint64_t share = (uint64_t)pod->params->translation.pretranslate_pages;
    count = (count * share + 99) / 100;
    struct lister lister = {.gpu = gpu, .failed = list.failed};
    for (size_t i = 0; i < count; i++) {
        const struct page_use *use = &list.items[i];
        lister.from = nuna_gpu_cu_router(gpu, gpu->tbs[use->tb].cu);
        for_each_port(pod, use->dest, use->position, use->bytes, into, list_request, &lister);
    }
    free(list.items);
    return !lister.failed;
}

void nuna_pretranslate_start(struct nuna_gpu_lp *gpu)
{
    if (gpu->translation->ahead_count > 0)
        nuna_lp_schedule(gpu->lp, 0, nuna_translation_make(NUNA_TRANSLATION_AHEAD, 0));
    nuna_lp_schedule(gpu->lp, nuna_pretranslate_lead(gpu->pod->params),
                     nuna_translation_make(NUNA_TRANSLATION_START, 0));
}

/* One request per issue slot. */
void nuna_pretranslate_next(struct nuna_gpu_lp *gpu, uint32_t index)
{
    struct nuna_translation *t = gpu->translation;
    send(gpu, &t->ahead[index]);
    if (index + 1 < t->ahead_count)
        nuna_lp_schedule(gpu->lp, gpu->lp->now + gpu->pod->issue_interval,
                         nuna_translation_make(NUNA_TRANSLATION_AHEAD, index + 1));
}
