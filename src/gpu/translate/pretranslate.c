#include "gpu/translate/pretranslate.h"
#include "gpu/cu.h"
#include "gpu/events.h"
#include <stdlib.h>
#include <string.h>

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
    const struct nuna_gpu *gpu;
    uint32_t tb, turn; /* being listed */
    uint32_t sent;     /* messages of its connection */
    struct page_use *items;
    size_t count, capacity;
    bool failed;
};

static void add_uses(struct use_list *list, uint32_t dest, uint64_t position, uint64_t bytes)
{
    uint64_t page_size = list->gpu->spec->map.page_size;
    if (!nuna_spec_npa(list->gpu->spec, list->gpu->index, dest))
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
    const struct nuna_gpu_spec *spec = list->gpu->spec;
    const struct nuna_plan *plan = spec->plan;
    const struct nuna_switch_group *group = range->is_group ? &plan->groups[range->gpu] : NULL;
    for (uint32_t m = 0; m < (group ? group->rank_count : 1); m++) {
        uint32_t dest = group ? plan->group_ranks[group->rank_at + m] : range->gpu;
        uint32_t there = plan->gpus[dest].chunks[range->buffer];
        for (uint32_t c = range->index; c < range->index + range->count && c < there; c++) {
            const struct nuna_chunk_place *place =
                &spec->layout->gpus[dest].chunks[range->buffer][c];
            uint64_t bytes =
                nuna_shape_wire_bytes(&spec->shape, (enum nuna_form)range->form, place->bytes);
            if (range->buffer == NUNA_BUF_SCRATCH && bytes > spec->layout->scratch_wrap)
                bytes = spec->layout->scratch_wrap;
            add_uses(list, dest, place->position, bytes);
        }
    }
}

static const struct nuna_channel *channel_of(const struct use_list *list, uint32_t index)
{
    const struct nuna_plan *plan = list->gpu->spec->plan;
    return &plan->channels[plan->gpus[list->gpu->index].channel_at + index];
}

static void use_flag(struct use_list *list, uint32_t channel_index)
{
    const struct nuna_channel *channel = channel_of(list, channel_index);
    add_uses(list, channel->peer,
             nuna_layout_flag(list->gpu->spec->layout, channel->peer, channel->peer_channel),
             list->gpu->spec->control_bytes);
}

static void list_op(struct use_list *list, const struct nuna_op *op)
{
    const struct nuna_plan *plan = list->gpu->spec->plan;
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
    const struct nuna_shape *shape = &list->gpu->spec->shape;
    enum nuna_form form = shape->plan->protocol;
    bool sends = op->flags & NUNA_OP_SENDS;
    struct nuna_piece piece;
    for (uint32_t n = 0;
         sends && list->sent < shape->slots && nuna_shape_message(shape, op, window, n, &piece);
         n++) {
        const struct nuna_channel *channel = channel_of(list, block->send_channel);
        add_uses(list, channel->peer,
                 nuna_layout_slot(list->gpu->spec->layout, channel->peer, channel->peer_channel,
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
    const struct nuna_shape *shape = &list->gpu->spec->shape;
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
    struct nuna_pretranslation *list;
    const struct page_use *use;
    uint16_t from;
    uint8_t asked[UINT8_MAX + 1]; /* [port]: listed already */
    bool failed;
};

static void list_request(void *context, const struct nuna_ahead *ahead)
{
    struct lister *lister = context;
    struct nuna_pretranslation *list = lister->list;
    if (lister->asked[ahead->port])
        return;
    lister->asked[ahead->port] = 1;
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? 2 * list->capacity : 256;
        struct nuna_ahead *grown = realloc(list->items, capacity * sizeof *grown);
        lister->failed = lister->failed || !grown;
        if (!grown)
            return;
        list->items = grown;
        list->capacity = capacity;
    }
    struct nuna_ahead *request = &list->items[list->count];
    *request = *ahead;
    request->from = lister->from;
    request->use = lister->use->serial;
    request->serial = list->count++;
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

static bool list_requests(struct nuna_gpu *gpu, struct use_list *list,
                          enum nuna_translate_ahead into)
{
    const struct nuna_gpu_spec *spec = gpu->spec;
    struct nuna_pretranslation *sent = gpu->pretranslation;
    struct lister lister = {.list = sent};
    uint32_t cut;
    size_t pages = sort_uses(list);
    if (!find_cut(list, pages, (uint64_t)spec->params->translation.pretranslate_pages, &cut))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct page_use *use = &list->items[i];
        bool is_first = use->serial == use->first;
        if (use->first >= cut || (into == NUNA_AHEAD_L2 && !is_first))
            continue;
        if (is_first)
            memset(lister.asked, 0, sizeof lister.asked);
        lister.use = use;
        lister.from = nuna_tb_of(gpu, use->tb)->cu->router;
        nuna_ahead_each_port(spec, use->dest, use->position, use->bytes, into, list_request,
                             &lister);
    }
    if (sent->count > 0)
        qsort(sent->items, sent->count, sizeof *sent->items, by_use);
    return !lister.failed;
}

bool nuna_pretranslate_create(struct nuna_gpu *gpu)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    const struct nuna_plan_gpu *part = &plan->gpus[gpu->index];
    enum nuna_translate_ahead into =
        (enum nuna_translate_ahead)gpu->spec->params->translation.pretranslate;
    if (!nuna_pretranslates(gpu->spec->params))
        return true;
    gpu->pretranslation = calloc(1, sizeof *gpu->pretranslation);
    if (!gpu->pretranslation)
        return false;
    struct use_list list = {.gpu = gpu};
    for (uint32_t tb = 0; tb < part->tb_count; tb++) {
        list.tb = tb;
        list_threadblock(&list, &plan->threadblocks[part->tb_at + tb]);
    }
    bool ok = !list.failed && (list.count == 0 || list_requests(gpu, &list, into));
    free(list.items);
    return ok;
}

void nuna_pretranslate_destroy(struct nuna_gpu *gpu)
{
    if (gpu->pretranslation)
        free(gpu->pretranslation->items);
    free(gpu->pretranslation);
}

void nuna_pretranslate_start(struct nuna_gpu *gpu)
{
    if (gpu->pretranslation && gpu->pretranslation->count > 0)
        nuna_lp_schedule(gpu->lp, gpu->lp->now, nuna_event_make(NUNA_EV_PRETRANSLATE, 0));
}

/* One request per issue slot. */
void nuna_pretranslate_next(struct nuna_gpu *gpu, uint32_t index)
{
    const struct nuna_pretranslation *list = gpu->pretranslation;
    nuna_ahead_send(gpu, &list->items[index]);
    if (index + 1 < list->count)
        nuna_lp_schedule(gpu->lp, gpu->lp->now + gpu->spec->issue_interval,
                         nuna_event_make(NUNA_EV_PRETRANSLATE, index + 1));
}
