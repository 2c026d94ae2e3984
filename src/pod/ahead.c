/* What hides reverse translation: requests that only translate a page, sent ahead of the stores.
 * Pre-translation sends them before the collective, as a part of the kernel that precedes it;
 * prefetching sends them from the collective's own threadblocks, whose strides the plan knows.
 * Source: reverse translation (arXiv 2604.02473) section 6. */
#include "pod/move.h"
#include "pod/translation.h"
#include <stdlib.h>
#include <string.h>

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
    flight->npa = 1;
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

void nuna_prefetch_stretch(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t dest, uint64_t end,
                           uint64_t reached, uint64_t *ahead)
{
    const struct nuna_pod *pod = gpu->pod;
    struct prefetcher prefetcher = {gpu, gpu->tbs[tb].cu};
    while (*ahead < end && *ahead <= reached + pod->prefetch_distance) {
        uint64_t next = (*ahead / pod->map.page_size + 1) * pod->map.page_size;
        next = next < end ? next : end;
        for_each_port(pod, dest, *ahead, next - *ahead, pod->prefetch, prefetch, &prefetcher);
        *ahead = next;
    }
}

void nuna_prefetch_pages(struct nuna_gpu_lp *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    nuna_prefetch_stretch(gpu, tb_index, tb->dst_gpu, tb->dst_position + tb->bytes,
                          tb->dst_position + tb->line, &tb->ahead);
}

/* The flag that a signal on this GPU's channel raises. */
static void prefetch_flag(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t channel_index)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    const struct nuna_channel *channel =
        &plan->channels[plan->gpus[gpu->gpu].channel_at + channel_index];
    uint64_t at = nuna_layout_flag(&gpu->pod->layout, channel->peer, channel->peer_channel);
    if (nuna_pod_npa(gpu->pod, gpu->gpu, channel->peer))
        nuna_prefetch_stretch(gpu, tb, channel->peer, at + gpu->pod->control_bytes, at, &at);
}

static bool stores_away(const struct nuna_gpu_lp *gpu, const struct nuna_op *op)
{
    const struct nuna_range *ranges = gpu->pod->plan->ranges;
    for (uint32_t i = 0; i < op->dst_count; i++)
        if (ranges[op->dst_at + i].is_group || ranges[op->dst_at + i].gpu != gpu->gpu)
            return true;
    return false;
}

void nuna_prefetch_flags(struct nuna_gpu_lp *gpu, uint32_t tb_index)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    uint32_t at = gpu->tbs[tb_index].op;
    const struct nuna_op *op = &plan->ops[at];
    if (op->flags & NUNA_OP_PORT) {
        if (op->flags & NUNA_OP_SIGNALS)
            prefetch_flag(gpu, tb_index, plan->ids[op->id_at + gpu->movers[tb_index]->lane]);
        return;
    }
    const struct nuna_threadblock *block =
        &plan->threadblocks[plan->gpus[gpu->gpu].tb_at + tb_index];
    if (op->kind == NUNA_OP_FIFO) { /* once per connection */
        const struct nuna_exec_tb *t = &gpu->exec.tbs[tb_index];
        if ((op->flags & NUNA_OP_SENDS) && t->sent == 0 && plan->protocol == NUNA_FORM_DATA)
            prefetch_flag(gpu, tb_index, block->send_channel);
        if ((op->flags & NUNA_OP_RECEIVES) && t->received == 0)
            prefetch_flag(gpu, tb_index, block->recv_channel);
        return;
    }
    uint32_t end = block->op_at + block->op_count;
    if (!stores_away(gpu, op))
        return;
    /* Not beyond the next store: that asks for itself. */
    for (at++; at < end && plan->ops[at].kind != NUNA_OP_SIGNAL; at++)
        if (stores_away(gpu, &plan->ops[at]))
            return;
    for (uint32_t i = 0; at < end && i < plan->ops[at].id_count; i++)
        prefetch_flag(gpu, tb_index, plan->ids[plan->ops[at].id_at + i]);
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

/* A part of a page that a threadblock accesses, as its `turn`-th. */
struct page_use {
    uint64_t position, bytes, page;
    uint32_t turn, tb, dest;
    uint32_t serial, first; /* in the order of use; of the page's first one */
};

struct use_list {
    const struct nuna_gpu_lp *gpu;
    uint32_t tb, turn; /* being listed */
    uint32_t sent;     /* messages of its connection */
    struct page_use *items;
    size_t count, capacity;
    bool failed;
};

static void add_uses(struct use_list *list, uint32_t dest, uint64_t position, uint64_t bytes)
{
    uint64_t page_size = list->gpu->pod->map.page_size;
    if (!nuna_pod_npa(list->gpu->pod, list->gpu->gpu, dest))
        return;
    for (uint64_t end = position + bytes, next; position < end && !list->failed; position = next) {
        next = (position / page_size + 1) * page_size;
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
        list->items[list->count++] = (struct page_use){.position = position,
                                                       .bytes = next - position,
                                                       .page = position / page_size,
                                                       .turn = list->turn++,
                                                       .tb = list->tb,
                                                       .dest = dest};
    }
}

static void use_range(struct use_list *list, const struct nuna_range *range)
{
    const struct nuna_pod *pod = list->gpu->pod;
    const struct nuna_plan *plan = pod->plan;
    const struct nuna_switch_group *group = range->is_group ? &plan->groups[range->gpu] : NULL;
    for (uint32_t m = 0; m < (group ? group->rank_count : 1); m++) {
        uint32_t dest = group ? plan->group_ranks[group->rank_at + m] : range->gpu;
        uint32_t there = plan->gpus[dest].chunks[range->buffer];
        for (uint32_t c = range->index; c < range->index + range->count && c < there; c++) {
            const struct nuna_chunk_place *place = &pod->layout.gpus[dest].chunks[range->buffer][c];
            uint64_t bytes =
                nuna_shape_wire_bytes(&pod->shape, (enum nuna_form)range->form, place->bytes);
            if (range->buffer == NUNA_BUF_SCRATCH && bytes > pod->layout.scratch_wrap)
                bytes = pod->layout.scratch_wrap;
            add_uses(list, dest, place->position, bytes);
        }
    }
}

static const struct nuna_channel *channel_of(const struct use_list *list, uint32_t index)
{
    const struct nuna_plan *plan = list->gpu->pod->plan;
    return &plan->channels[plan->gpus[list->gpu->gpu].channel_at + index];
}

static void use_flag(struct use_list *list, uint32_t channel_index)
{
    const struct nuna_channel *channel = channel_of(list, channel_index);
    add_uses(list, channel->peer,
             nuna_layout_flag(&list->gpu->pod->layout, channel->peer, channel->peer_channel),
             list->gpu->pod->control_bytes);
}

static void list_op(struct use_list *list, const struct nuna_op *op)
{
    const struct nuna_plan *plan = list->gpu->pod->plan;
    for (uint32_t i = 0; i < op->src_count; i++)
        use_range(list, &plan->ranges[op->src_at + i]);
    for (uint32_t i = 0; i < op->dst_count; i++)
        use_range(list, &plan->ranges[op->dst_at + i]);
    if (op->kind == NUNA_OP_SIGNAL || (op->flags & NUNA_OP_SIGNALS))
        for (uint32_t i = 0; i < op->id_count; i++)
            use_flag(list, plan->ids[op->id_at + i]);
}

/* The slots that the messages of a window go to, each once, and the flags beside them. */
static void list_messages(struct use_list *list, const struct nuna_threadblock *block,
                          const struct nuna_op *op, uint64_t window)
{
    const struct nuna_shape *shape = &list->gpu->pod->shape;
    enum nuna_form form = shape->plan->protocol;
    bool sends = op->flags & NUNA_OP_SENDS;
    struct nuna_piece piece;
    for (uint32_t n = 0;
         sends && list->sent < shape->slots && nuna_shape_message(shape, op, window, n, &piece);
         n++) {
        const struct nuna_channel *channel = channel_of(list, block->send_channel);
        add_uses(list, channel->peer,
                 nuna_layout_slot(&list->gpu->pod->layout, channel->peer, channel->peer_channel,
                                  list->sent++),
                 nuna_shape_wire_bytes(shape, form, piece.take));
    }
    if (window == 0 && sends && form == NUNA_FORM_DATA)
        use_flag(list, block->send_channel);
    if (window == 0 && (op->flags & NUNA_OP_RECEIVES))
        use_flag(list, block->recv_channel);
}

static void list_threadblock(struct use_list *list, const struct nuna_threadblock *block)
{
    const struct nuna_shape *shape = &list->gpu->pod->shape;
    list->turn = list->sent = 0;
    for (uint64_t window = 0; window < shape->windows; window++) {
        uint32_t before = list->sent;
        for (uint32_t o = block->op_at; o < block->op_at + block->op_count; o++) {
            const struct nuna_op *op = &shape->plan->ops[o];
            if (window == 0)
                list_op(list, op);
            if (op->kind == NUNA_OP_FIFO)
                list_messages(list, block, op, window);
        }
        if (list->sent == before) /* all slots are listed */
            return;
    }
}

static int by_turn(const void *a, const void *b)
{
    const struct page_use *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->tb < y->tb ? -1 : x->tb > y->tb;
}

/* Of one page, the one that is used first comes first. */
static int by_page(const void *a, const void *b)
{
    const struct page_use *x = a, *y = b;
    if (x->dest != y->dest)
        return x->dest < y->dest ? -1 : 1;
    if (x->page != y->page)
        return x->page < y->page ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Page by page, each in the order of use; returns how many pages there are. */
static size_t sort_uses(struct use_list *list)
{
    struct page_use *items = list->items;
    size_t pages = 0;
    qsort(items, list->count, sizeof *items, by_turn);
    for (size_t i = 0; i < list->count; i++)
        items[i].serial = (uint32_t)i;
    qsort(items, list->count, sizeof *items, by_page);
    for (size_t i = 0; i < list->count; i++) {
        bool same =
            i > 0 && items[i].dest == items[i - 1].dest && items[i].page == items[i - 1].page;
        items[i].first = same ? items[i - 1].first : items[i].serial;
        pages += !same;
    }
    return pages;
}

/* What is asked for one page. */
struct lister {
    struct nuna_translation *translation;
    const struct page_use *use;
    uint16_t from;
    uint8_t asked[UINT8_MAX + 1]; /* [port]: listed already */
    bool failed;
};

static void list_request(void *context, const struct nuna_ahead *ahead)
{
    struct lister *lister = context;
    struct nuna_translation *t = lister->translation;
    if (lister->asked[ahead->port])
        return;
    lister->asked[ahead->port] = 1;
    if (t->ahead_count == t->ahead_capacity) {
        uint32_t capacity = t->ahead_capacity ? 2 * t->ahead_capacity : 256;
        struct nuna_ahead *grown = realloc(t->ahead, capacity * sizeof *grown);
        lister->failed = lister->failed || !grown;
        if (!grown)
            return;
        t->ahead = grown;
        t->ahead_capacity = capacity;
    }
    struct nuna_ahead *request = &t->ahead[t->ahead_count];
    *request = *ahead;
    request->from = lister->from;
    request->use = lister->use->serial;
    request->serial = t->ahead_count++;
}

static int by_use(const void *a, const void *b)
{
    const struct nuna_ahead *x = a, *y = b;
    if (x->use != y->use)
        return x->use < y->use ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int by_first(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The first `share` per cent of the pages in the order of their first use end before the one that
 * is returned. False on lack of memory. */
static bool find_cut(const struct use_list *list, size_t pages, uint64_t share, uint32_t *ret_cut)
{
    size_t kept = (pages * share + 99) / 100, count = 0;
    *ret_cut = UINT32_MAX;
    if (kept == pages)
        return true;
    uint32_t *firsts = malloc(pages * sizeof *firsts);
    if (!firsts)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].first == list->items[i].serial)
            firsts[count++] = list->items[i].first;
    qsort(firsts, pages, sizeof *firsts, by_first);
    *ret_cut = firsts[kept];
    free(firsts);
    return true;
}

static bool list_requests(struct nuna_gpu_lp *gpu, struct use_list *list,
                          enum nuna_translate_ahead into)
{
    const struct nuna_pod *pod = gpu->pod;
    struct lister lister = {.translation = gpu->translation};
    uint32_t cut;
    size_t pages = sort_uses(list);
    if (!find_cut(list, pages, (uint64_t)pod->params->translation.pretranslate_pages, &cut))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct page_use *use = &list->items[i];
        bool is_first = use->serial == use->first;
        if (use->first >= cut || (into == NUNA_AHEAD_L2 && !is_first))
            continue;
        if (is_first)
            memset(lister.asked, 0, sizeof lister.asked);
        lister.use = use;
        lister.from = nuna_gpu_cu_router(gpu, gpu->tbs[use->tb].cu);
        for_each_port(pod, use->dest, use->position, use->bytes, into, list_request, &lister);
    }
    if (gpu->translation->ahead_count > 0)
        qsort(gpu->translation->ahead, gpu->translation->ahead_count,
              sizeof *gpu->translation->ahead, by_use);
    return !lister.failed;
}

bool nuna_pretranslate_plan(struct nuna_gpu_lp *gpu)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    const struct nuna_plan_gpu *part = &plan->gpus[gpu->gpu];
    enum nuna_translate_ahead into =
        (enum nuna_translate_ahead)gpu->pod->params->translation.pretranslate;
    if (into == NUNA_AHEAD_OFF)
        return true;
    struct use_list list = {.gpu = gpu};
    for (uint32_t tb = 0; tb < part->tb_count; tb++) {
        list.tb = tb;
        list_threadblock(&list, &plan->threadblocks[part->tb_at + tb]);
    }
    bool ok = !list.failed && (list.count == 0 || list_requests(gpu, &list, into));
    free(list.items);
    return ok;
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
