/* The event kernel against a naive reference: one heap of all events, ordered by time, then
 * messages by (relative source, sequence), then local events in the order of their scheduling. */
#include "core/kernel.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LPS_MAX 20u

struct record {
    nuna_time time;
    uint32_t kind, payload;
};

/* One LP of the toy model. What it does depends only on the events it has seen, in their order. */
struct toy_lp {
    struct toy *toy;
    uint32_t index;
    uint64_t state; /* a hash of the history */
    struct record *trace;
    size_t count, capacity;
    struct nuna_lp *lp; /* NULL in the reference */
    uint32_t next_seq;  /* the reference's */
};

struct toy {
    uint32_t lp_count;
    uint32_t limit; /* events of one LP after which it schedules nothing any more */
    nuna_time lookahead;
    struct toy_lp lps[LPS_MAX];
    struct heap *heap; /* the reference's */
    nuna_time progress_at;
    uint32_t progress_calls;
    volatile sig_atomic_t *stop;
    size_t stop_after; /* events of LP 0 */
};

/* ---- the reference ---- */

struct entry {
    nuna_time time;
    uint32_t lp;
    bool local;
    uint32_t rel;
    uint64_t order; /* sequence of a message, order of scheduling of a local event */
    uint32_t kind, payload;
};

struct heap {
    struct entry *entries;
    size_t count, capacity;
    uint64_t scheduled;
};

static bool before(const struct entry *a, const struct entry *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->lp != b->lp)
        return a->lp < b->lp;
    if (a->local != b->local)
        return b->local;
    if (!a->local && a->rel != b->rel)
        return a->rel < b->rel;
    return a->order < b->order;
}

static void heap_push(struct heap *heap, struct entry entry)
{
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity ? 2 * heap->capacity : 1024;
        heap->entries = realloc(heap->entries, heap->capacity * sizeof *heap->entries);
        cr_assert_not_null(heap->entries);
    }
    size_t at = heap->count++;
    for (; at > 0 && before(&entry, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
}

static struct entry heap_pop(struct heap *heap)
{
    struct entry top = heap->entries[0], last = heap->entries[--heap->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!before(&heap->entries[child], &last))
            break;
        heap->entries[at] = heap->entries[child];
    }
    heap->entries[at] = last;
    return top;
}

/* ---- the toy model, over either ---- */

static uint32_t rel(const struct toy *toy, uint32_t source, uint32_t dest)
{
    return (source + toy->lp_count - dest) % toy->lp_count;
}

static void schedule(struct toy_lp *toy_lp, nuna_time time, uint32_t kind, uint32_t payload)
{
    if (toy_lp->lp) {
        nuna_lp_schedule(toy_lp->lp, time, nuna_event_make(kind, payload));
        return;
    }
    struct heap *heap = toy_lp->toy->heap;
    heap_push(heap, (struct entry){time, toy_lp->index, true, 0, heap->scheduled++, kind, payload});
}

static void send(struct toy_lp *toy_lp, uint32_t dest, nuna_time time, uint32_t kind,
                 uint32_t payload)
{
    uint32_t difference = rel(toy_lp->toy, toy_lp->index, dest);
    if (toy_lp->lp) {
        struct nuna_message *message = nuna_lp_send(toy_lp->lp, (uint16_t)dest);
        message->time = time;
        message->source = (uint16_t)toy_lp->index;
        message->rel = (uint16_t)difference;
        message->kind = (uint8_t)kind;
        message->tag = 3;
        message->payload[0] = payload;
        message->payload[10] = ~payload;
        return;
    }
    uint32_t seq = toy_lp->next_seq++;
    heap_push(toy_lp->toy->heap, (struct entry){time, dest, false, difference, seq, kind, payload});
}

static uint64_t draw(struct toy_lp *toy_lp)
{
    uint64_t z = toy_lp->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Mostly short, often 0 or to a multiple of 1,000 ps (ties), seldom very long. */
static nuna_time delay(struct toy_lp *toy_lp, nuna_time now)
{
    switch (draw(toy_lp) % 16) {
    case 0:
    case 1:
    case 2:
        return 0;
    case 3:
        return 1;
    case 4:
        return NUNA_BUCKET_PS - now % NUNA_BUCKET_PS;
    case 5:
        return draw(toy_lp) % 10000000;
    case 6:
        return draw(toy_lp) % 64 ? 0 : draw(toy_lp) % 100000000000ull;
    case 7:
    case 8:
        return draw(toy_lp) % 5000;
    default:
        return (now + draw(toy_lp) % 60000 + 999) / 1000 * 1000 - now;
    }
}

static void act(struct toy_lp *toy_lp, nuna_time now, uint32_t kind, uint32_t payload)
{
    struct toy *toy = toy_lp->toy;
    if (toy_lp->count == toy_lp->capacity) {
        toy_lp->capacity = toy_lp->capacity ? 2 * toy_lp->capacity : 1024;
        toy_lp->trace = realloc(toy_lp->trace, toy_lp->capacity * sizeof *toy_lp->trace);
        cr_assert_not_null(toy_lp->trace);
    }
    toy_lp->trace[toy_lp->count++] = (struct record){now, kind, payload};
    toy_lp->state ^= now * 31 + payload * 0x100000001b3ull + kind;
    if (toy->stop && toy_lp->index == 0 && toy_lp->count == toy->stop_after)
        *toy->stop = 1;
    if (toy_lp->count >= toy->limit)
        return;
    for (uint64_t n = draw(toy_lp) % 3; n-- > 0;)
        schedule(toy_lp, now + delay(toy_lp, now), (uint32_t)(draw(toy_lp) % 100),
                 (uint32_t)draw(toy_lp));
    for (uint64_t n = draw(toy_lp) % 3; n-- > 0;) {
        uint32_t dest = (uint32_t)(draw(toy_lp) % toy->lp_count);
        nuna_time time = now + toy->lookahead;
        send(toy_lp, dest, time + delay(toy_lp, time), 100 + (uint32_t)(draw(toy_lp) % 100),
             (uint32_t)draw(toy_lp));
    }
}

static struct toy *toy_new(uint32_t lp_count, nuna_time lookahead, uint32_t limit)
{
    struct toy *toy = calloc(1, sizeof *toy);
    cr_assert_not_null(toy);
    toy->lp_count = lp_count;
    toy->lookahead = lookahead;
    toy->limit = limit;
    for (uint32_t i = 0; i < lp_count; i++)
        toy->lps[i] = (struct toy_lp){.toy = toy, .index = i, .state = i * 77 + 5};
    return toy;
}

static void toy_free(struct toy *toy)
{
    for (uint32_t i = 0; i < toy->lp_count; i++)
        free(toy->lps[i].trace);
    free(toy);
}

static void start(struct toy *toy)
{
    for (uint32_t i = 0; i < toy->lp_count; i++)
        for (uint32_t n = 0; n < 6; n++)
            schedule(&toy->lps[i], n / 2 * 1500, n, i * 100 + n);
}

static struct toy *run_reference(uint32_t lp_count, nuna_time lookahead, uint32_t limit)
{
    struct toy *toy = toy_new(lp_count, lookahead, limit);
    struct heap heap = {0};
    toy->heap = &heap;
    start(toy);
    while (heap.count > 0) {
        struct entry entry = heap_pop(&heap);
        act(&toy->lps[entry.lp], entry.time, entry.kind, entry.payload);
    }
    free(heap.entries);
    return toy;
}

static void handle(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    act(model, lp->now, nuna_event_kind(event), nuna_event_handle(event));
}

static void prefetch(void *model, struct nuna_event event)
{
}

static void run_lp(void *model, uint32_t lp, nuna_time end)
{
    struct toy *toy = model;
    nuna_lp_run(toy->lps[lp].lp, end, &toy->lps[lp], handle, prefetch);
}

static uint32_t deliver(void *model, uint32_t lp, const struct nuna_message *message)
{
    const struct toy *toy = model;
    bool right = message->dest == lp && message->rel == rel(toy, message->source, lp) &&
                 message->tag == 3 && message->payload[10] == ~message->payload[0];
    return right ? message->payload[0] : 0xdeadbeef;
}

static void progress(void *model, nuna_time now)
{
    struct toy *toy = model;
    if (now < toy->progress_at)
        cr_assert_fail("progress went back to %" PRIu64, now);
    toy->progress_at = now;
    toy->progress_calls++;
}

static const struct nuna_kernel_ops ops = {
    .run = run_lp,
    .deliver = deliver,
    .progress = progress,
};

static struct nuna_kernel *kernel_for(struct toy *toy, uint32_t threads)
{
    struct nuna_kernel *kernel = nuna_kernel_create(toy->lp_count, threads, toy->lookahead);
    cr_assert_not_null(kernel);
    for (uint32_t i = 0; i < toy->lp_count; i++)
        toy->lps[i].lp = nuna_kernel_lp(kernel, i);
    return kernel;
}

static void compare(const struct toy *toy, const struct toy *reference, uint32_t threads)
{
    for (uint32_t i = 0; i < toy->lp_count; i++) {
        const struct toy_lp *a = &toy->lps[i], *b = &reference->lps[i];
        cr_assert_eq(a->count, b->count, "%u threads: LP %u ran %zu events, expected %zu", threads,
                     i, a->count, b->count);
        for (size_t n = 0; n < a->count; n++)
            if (a->trace[n].time != b->trace[n].time || a->trace[n].kind != b->trace[n].kind ||
                a->trace[n].payload != b->trace[n].payload)
                cr_assert_fail("%u threads: LP %u event %zu: (%" PRIu64
                               " %u %u), expected (%" PRIu64 " %u %u)",
                               threads, i, n, a->trace[n].time, a->trace[n].kind,
                               a->trace[n].payload, b->trace[n].time, b->trace[n].kind,
                               b->trace[n].payload);
    }
}

static void check_threads(uint32_t lp_count, nuna_time lookahead, uint32_t limit, uint32_t threads,
                          const struct toy *reference)
{
    struct toy *toy = toy_new(lp_count, lookahead, limit);
    struct nuna_kernel *kernel = kernel_for(toy, threads);
    start(toy);
    cr_assert_eq(nuna_kernel_run(kernel, &ops, toy, NULL), NUNA_KERNEL_DRAINED);
    compare(toy, reference, threads);
    uint64_t events = 0;
    nuna_time last = 0;
    for (uint32_t i = 0; i < lp_count; i++) {
        const struct toy_lp *lp = &toy->lps[i];
        events += lp->count;
        last = lp->trace[lp->count - 1].time > last ? lp->trace[lp->count - 1].time : last;
        cr_assert_eq(lp->lp->events, lp->count);
        cr_assert_eq(lp->lp->blocks.in_use, 0, "LP %u kept blocks", i);
    }
    cr_assert_eq(nuna_kernel_events(kernel), events);
    cr_assert_eq(nuna_kernel_now(kernel), last);
    cr_assert_gt(toy->progress_calls, 0);
    nuna_kernel_destroy(kernel);
    toy_free(toy);
}

static void check_model(uint32_t lp_count, nuna_time lookahead, uint32_t limit)
{
    static const uint32_t threads[] = {1, 2, 3, 4, 8};
    struct toy *reference = run_reference(lp_count, lookahead, limit);
    for (uint32_t i = 0; i < lp_count; i++)
        cr_assert_geq(reference->lps[i].count, limit / 2, "the model died out");
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++)
        check_threads(lp_count, lookahead, limit, threads[i], reference);
    toy_free(reference);
}

Test(kernel, same_trace_as_the_reference_for_any_threads)
{
    check_model(7, 20000, 6000);
}

Test(kernel, shortest_lookahead)
{
    check_model(5, NUNA_MIN_LOOKAHEAD, 4000);
}

Test(kernel, long_lookahead)
{
    check_model(LPS_MAX, 250001, 2000);
}

Test(kernel, two_lps_on_more_threads)
{
    check_model(2, 30000, 4000);
}

Test(kernel, one_lp_that_writes_to_itself)
{
    check_model(1, 10000, 5000);
}

/* ---- fixed scenarios ---- */

/* Kind 200: pass `payload` messages on to LP 0 for time 1 us; kind 201: schedule a chain of local
 * events without delay. */
static void handle_fixed(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    struct toy_lp *toy_lp = model;
    uint32_t kind = nuna_event_kind(event), payload = nuna_event_handle(event);
    act(toy_lp, lp->now, kind, payload); /* `limit` is 0: it only records */
    if (kind == 200)
        for (uint32_t n = 0; n < payload; n++)
            send(toy_lp, 0, 1000000, 1, toy_lp->index * 1000 + n);
    if (kind == 201 && payload > 0) {
        schedule(toy_lp, lp->now, 201, payload - 1);
        schedule(toy_lp, lp->now, 202, payload);
    }
}

static void run_fixed(void *model, uint32_t lp, nuna_time end)
{
    struct toy *toy = model;
    nuna_lp_run(toy->lps[lp].lp, end, &toy->lps[lp], handle_fixed, prefetch);
}

static const struct nuna_kernel_ops fixed_ops = {.run = run_fixed, .deliver = deliver};

static void tied_messages(uint32_t threads)
{
    struct toy *toy = toy_new(LPS_MAX, 10000, 0);
    struct nuna_kernel *kernel = kernel_for(toy, threads);
    schedule(&toy->lps[0], 1000000, 2, 1);
    for (uint32_t i = LPS_MAX; i-- > 0;) /* the farthest writes first */
        schedule(&toy->lps[i], (LPS_MAX - i) * 7, 200, 40);
    schedule(&toy->lps[0], 1000000, 2, 2);
    cr_assert_eq(nuna_kernel_run(kernel, &fixed_ops, toy, NULL), NUNA_KERNEL_DRAINED);
    const struct toy_lp *lp = &toy->lps[0];
    cr_assert_eq(lp->count, 1 + LPS_MAX * 40 + 2);
    size_t at = 1; /* after its own kind 200 */
    for (uint32_t source = 0; source < LPS_MAX; source++)
        for (uint32_t n = 0; n < 40; n++, at++)
            cr_assert_eq(lp->trace[at].payload, source * 1000 + n, "%u threads: message %zu is %u",
                         threads, at, lp->trace[at].payload);
    for (uint32_t n = 1; n <= 2; n++, at++)
        cr_assert(lp->trace[at].kind == 2 && lp->trace[at].payload == n,
                  "local events come last, in order");
    nuna_kernel_destroy(kernel);
    toy_free(toy);
}

Test(kernel, many_messages_at_one_time)
{
    for (uint32_t threads = 1; threads <= 4; threads++)
        tied_messages(threads);
}

/* Events without delay come after what was scheduled before for that time, in order, and before
 * anything later. */
Test(kernel, events_without_delay)
{
    struct toy *toy = toy_new(1, 10000, 0);
    struct nuna_kernel *kernel = kernel_for(toy, 1);
    schedule(&toy->lps[0], 5000, 201, 100);
    schedule(&toy->lps[0], 5000, 7, 0);
    schedule(&toy->lps[0], 5001, 8, 0);
    cr_assert_eq(nuna_kernel_run(kernel, &fixed_ops, toy, NULL), NUNA_KERNEL_DRAINED);
    const struct record *trace = toy->lps[0].trace;
    cr_assert_eq(toy->lps[0].count, 3 + 200);
    cr_assert(trace[0].kind == 201 && trace[1].kind == 7);
    for (uint32_t n = 0; n < 100; n++) {
        const struct record *pair = &trace[2 + 2 * n];
        cr_assert(pair[0].time == 5000 && pair[0].kind == 201 && pair[0].payload == 99 - n);
        cr_assert(pair[1].time == 5000 && pair[1].kind == 202 && pair[1].payload == 100 - n);
    }
    cr_assert(trace[202].time == 5001 && trace[202].kind == 8);
    nuna_kernel_destroy(kernel);
    toy_free(toy);
}

Test(kernel, long_idle_gaps)
{
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct toy *toy = toy_new(3, 10000, 0);
        struct nuna_kernel *kernel = kernel_for(toy, threads);
        nuna_time times[] = {0, 4096, 5000000, 3000000000, 800000000000, 2000000000001};
        for (size_t i = 0; i < 6; i++)
            schedule(&toy->lps[i % 2], times[i], 1, (uint32_t)i);
        cr_assert_eq(nuna_kernel_run(kernel, &fixed_ops, toy, NULL), NUNA_KERNEL_DRAINED);
        for (size_t i = 0; i < 6; i++)
            cr_assert_eq(toy->lps[i % 2].trace[i / 2].time, times[i]);
        cr_assert_eq(toy->lps[2].count, 0);
        cr_assert_eq(nuna_kernel_now(kernel), times[5]);
        cr_assert_eq(nuna_kernel_events(kernel), 6);
        nuna_kernel_destroy(kernel);
        toy_free(toy);
    }
}

Test(kernel, nothing_to_do)
{
    struct toy *toy = toy_new(3, 10000, 0);
    struct nuna_kernel *kernel = kernel_for(toy, 2);
    cr_assert_eq(nuna_kernel_run(kernel, &ops, toy, NULL), NUNA_KERNEL_DRAINED);
    cr_assert_eq(nuna_kernel_events(kernel), 0);
    cr_assert_eq(nuna_kernel_now(kernel), 0);
    nuna_kernel_destroy(kernel);
    toy_free(toy);
}

/* The flag is looked at between windows: before the first, and after the one that sets it. */
Test(kernel, stop_flag)
{
    for (uint32_t threads = 1; threads <= 3; threads += 2)
        for (int beforehand = 0; beforehand <= 1; beforehand++) {
            volatile sig_atomic_t stop = beforehand;
            struct toy *toy = toy_new(4, 20000, 100000);
            struct nuna_kernel *kernel = kernel_for(toy, threads);
            toy->stop = &stop;
            toy->stop_after = 500;
            start(toy);
            cr_assert_eq(nuna_kernel_run(kernel, &ops, toy, &stop), NUNA_KERNEL_INTERRUPTED);
            cr_assert(beforehand ? toy->lps[0].count == 0
                                 : toy->lps[0].count >= 500 && toy->lps[0].count < 100000);
            nuna_kernel_destroy(kernel);
            toy_free(toy);
        }
}

/* ---- ranked events ---- */

#define MET 50000u

struct keeper {
    struct nuna_lp *lp;
    bool raised;
    uint32_t seen[8], count;
};

static void keeper_handle(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    struct keeper *keeper = model;
    keeper->seen[keeper->count++] = nuna_event_handle(event);
    if (nuna_event_handle(event) != 100)
        cr_assert_eq(lp->now, MET);
    else { /* to itself, at the time of the others */
        struct nuna_message *message = nuna_lp_send(lp, 0);
        message->time = MET;
        message->source = message->rel = 0;
        message->kind = 1;
    }
}

static void keeper_prefetch(void *model, struct nuna_event event)
{
    (void)model;
    (void)event;
}

/* What is kept comes out once the run has come near, in no order. */
static void keeper_run(void *model, uint32_t lp, nuna_time end)
{
    struct keeper *keeper = model;
    (void)lp;
    if (!keeper->raised && end + 20000 >= MET) {
        static const uint32_t ranks[] = {70000, 3, 0xffffffff, 500};
        for (uint32_t i = 0; i < 4; i++)
            nuna_lp_schedule_ranked(keeper->lp, MET, ranks[i], nuna_event_make(2, 10 + i));
        keeper->raised = true;
    }
    nuna_lp_run(keeper->lp, end, keeper, keeper_handle, keeper_prefetch);
    keeper->lp->held = keeper->raised ? NUNA_TIME_MAX : end;
}

static uint32_t keeper_deliver(void *model, uint32_t lp, const struct nuna_message *message)
{
    (void)model;
    (void)lp;
    (void)message;
    return 1;
}

/* At one time: messages, then ranked events by rank, then local ones; wheel and heap alike. The
 * kernel goes on for what is held alone. */
Test(kernel, ranked_events)
{
    static const struct nuna_kernel_ops keeper_ops = {.run = keeper_run, .deliver = keeper_deliver};
    static const uint32_t order[] = {100, 1, 11, 13, 10, 12, 30, 31};
    for (int plain = 0; plain < 2; plain++) {
        struct nuna_kernel *kernel = nuna_kernel_create(1, 1, 10000);
        cr_assert_not_null(kernel);
        cr_assert(!plain || nuna_kernel_use_reference(kernel));
        struct keeper keeper = {.lp = nuna_kernel_lp(kernel, 0)};
        cr_assert_eq(keeper.lp->held, NUNA_TIME_MAX);
        nuna_lp_schedule(keeper.lp, 100, nuna_event_make(0, 100));
        if (plain) { /* the other way round: early goes before what was scheduled before it */
            nuna_lp_schedule(keeper.lp, MET, nuna_event_make(0, 31));
            nuna_lp_schedule_early(keeper.lp, MET, 2, nuna_event_make(0, 30));
        } else {
            nuna_lp_schedule(keeper.lp, MET, nuna_event_make(0, 30));
            nuna_lp_schedule(keeper.lp, MET, nuna_event_make(0, 31));
        }
        cr_assert_eq(nuna_kernel_run(kernel, &keeper_ops, &keeper, NULL), NUNA_KERNEL_DRAINED);
        cr_assert_eq(keeper.count, 8);
        for (uint32_t i = 0; i < 8; i++)
            cr_assert_eq(keeper.seen[i], order[i], "event %u is %u", i, keeper.seen[i]);
        nuna_kernel_destroy(kernel);

        /* Nothing but what is held. */
        kernel = nuna_kernel_create(1, 1, 10000);
        cr_assert_not_null(kernel);
        keeper = (struct keeper){.lp = nuna_kernel_lp(kernel, 0)};
        keeper.lp->held = 0;
        cr_assert_eq(nuna_kernel_run(kernel, &keeper_ops, &keeper, NULL), NUNA_KERNEL_DRAINED);
        cr_assert_eq(keeper.count, 4);
        nuna_kernel_destroy(kernel);
    }
}
