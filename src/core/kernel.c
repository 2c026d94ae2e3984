#include "core/kernel.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct nuna_worker {
    struct nuna_kernel *kernel;
    uint32_t index;
    nuna_time next; /* earliest bucket of the LPs this worker delivers to */
    char pad[64];   /* each worker writes its own cache line */
};

struct nuna_kernel {
    uint32_t lp_count, worker_count;
    nuna_time window; /* whole buckets, no longer than the lookahead */
    struct nuna_lp *lps;
    struct nuna_outbox *outboxes; /* [lp][worker] */
    struct nuna_worker *workers;
    struct nuna_arena arena;

    /* One run. */
    const struct nuna_kernel_ops *ops;
    void *model;
    const volatile sig_atomic_t *stop;
    pthread_barrier_t barrier;
    pthread_mutex_t gate;
    bool gate_open;
    atomic_uint next_lp; /* LPs are claimed one by one: balance by load */
    nuna_time window_end;
    bool stopping, done, out_of_memory; /* written by worker 0 between barriers */
};

static void lp_finish(struct nuna_lp *lp)
{
    for (int i = 0; lp->heaps && i < 2; i++)
        nuna_heap_finish(&lp->heaps[i]);
    free(lp->heaps);
    nuna_wheel_finish(&lp->local);
    nuna_wheel_finish(&lp->inbox);
    free(lp->side);
    free(lp->run);
    free(lp->spare);
}

void nuna_kernel_destroy(struct nuna_kernel *kernel)
{
    if (!kernel)
        return;
    for (uint32_t i = 0; kernel->lps && i < kernel->lp_count; i++)
        lp_finish(&kernel->lps[i]);
    for (size_t i = 0; kernel->outboxes && i < (size_t)kernel->lp_count * kernel->worker_count; i++)
        free(kernel->outboxes[i].items);
    free(kernel->lps);
    free(kernel->outboxes);
    free(kernel->workers);
    nuna_arena_finish(&kernel->arena);
    free(kernel);
}

struct nuna_kernel *nuna_kernel_create(uint32_t lp_count, uint32_t threads, nuna_time lookahead)
{
    assert(lp_count > 0 && lookahead >= NUNA_MIN_LOOKAHEAD);
    struct nuna_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return NULL;
    nuna_arena_init(&kernel->arena);
    kernel->lp_count = lp_count;
    uint32_t most = lp_count < NUNA_MAX_THREADS ? lp_count : NUNA_MAX_THREADS;
    kernel->worker_count = threads < 1 ? 1 : threads > most ? most : threads;
    kernel->window = lookahead & ~(nuna_time)(NUNA_BUCKET_PS - 1);
    kernel->lps = calloc(lp_count, sizeof *kernel->lps);
    kernel->outboxes = calloc((size_t)lp_count * kernel->worker_count, sizeof *kernel->outboxes);
    kernel->workers = calloc(kernel->worker_count, sizeof *kernel->workers);
    if (!kernel->lps || !kernel->outboxes || !kernel->workers) {
        nuna_kernel_destroy(kernel);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)lp_count * kernel->worker_count; i++) {
        struct nuna_outbox *box = &kernel->outboxes[i];
        box->capacity = 16;
        box->items = malloc(box->capacity * sizeof *box->items);
        if (!box->items) {
            nuna_kernel_destroy(kernel);
            return NULL;
        }
    }
    for (uint32_t i = 0; i < lp_count; i++) {
        struct nuna_lp *lp = &kernel->lps[i];
        nuna_wheel_init(&lp->local);
        nuna_wheel_init(&lp->inbox);
        lp->held = NUNA_TIME_MAX;
        lp->blocks.arena = &kernel->arena;
        lp->outbox = &kernel->outboxes[(size_t)i * kernel->worker_count];
        lp->worker_count = kernel->worker_count;
    }
    for (uint32_t i = 0; i < kernel->worker_count; i++)
        kernel->workers[i] = (struct nuna_worker){.kernel = kernel, .index = i};
    return kernel;
}

bool nuna_kernel_use_reference(struct nuna_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->lp_count; i++) {
        struct nuna_lp *lp = &kernel->lps[i];
        lp->heaps = calloc(2, sizeof *lp->heaps);
        if (!lp->heaps)
            return false;
        nuna_wheel_use_heap(&lp->local, &lp->heaps[0]);
        nuna_wheel_use_heap(&lp->inbox, &lp->heaps[1]);
    }
    return true;
}

struct nuna_arena *nuna_kernel_arena(struct nuna_kernel *kernel)
{
    return &kernel->arena;
}

struct nuna_lp *nuna_kernel_lp(struct nuna_kernel *kernel, uint32_t lp)
{
    return &kernel->lps[lp];
}

nuna_time nuna_kernel_now(const struct nuna_kernel *kernel)
{
    nuna_time now = kernel->done ? kernel->window_end : 0;
    for (uint32_t i = 0; i < kernel->lp_count; i++)
        now = kernel->lps[i].now > now ? kernel->lps[i].now : now;
    return now;
}

uint64_t nuna_kernel_events(const struct nuna_kernel *kernel)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < kernel->lp_count; i++)
        events += kernel->lps[i].events;
    return events;
}

/* Rare: an event for the bucket being run. Kept sorted; equals stay in order of scheduling. */
void nuna_lp_schedule_side(struct nuna_lp *lp, nuna_time time, struct nuna_event event)
{
    assert(time >= lp->now);
    nuna_event_set_when(&event, time);
    if (lp->side_left == 0)
        lp->side_at = 0;
    size_t end = lp->side_at + lp->side_left;
    if (end == lp->side_capacity) {
        size_t capacity = lp->side_capacity ? 2 * lp->side_capacity : 64;
        struct nuna_event *side = realloc(lp->side, capacity * sizeof *side);
        if (!side) {
            lp->out_of_memory = true;
            return;
        }
        lp->side = side;
        lp->side_capacity = capacity;
    }
    const uint32_t mask = NUNA_BUCKET_PS - 1;
    size_t j = end;
    for (; j > lp->side_at && (lp->side[j - 1].head & mask) > (event.head & mask); j--)
        lp->side[j] = lp->side[j - 1];
    lp->side[j] = event;
    lp->side_left++;
}

void nuna_lp_push_inbox(struct nuna_lp *lp, nuna_time time, struct nuna_event event)
{
    nuna_event_set_when(&event, time);
    uint64_t order = (uint64_t)nuna_event_bytes(event) << 32 | nuna_event_seq(event);
    if (!nuna_heap_push(&lp->heaps[1], time, order, event))
        lp->out_of_memory = true;
}

void nuna_lp_schedule_early(struct nuna_lp *lp, nuna_time time, uint64_t order,
                            struct nuna_event event)
{
    assert(lp->heaps && order < NUNA_HEAP_PLAIN);
    nuna_event_set_when(&event, time);
    if (!nuna_heap_push(&lp->heaps[0], time, order, event))
        lp->out_of_memory = true;
}

/* Makes room; without memory the last message is overwritten and the run is given up at the
 * barrier. */
void nuna_lp_send_slow(struct nuna_lp *lp, struct nuna_outbox *box)
{
    size_t capacity = 2 * box->capacity;
    struct nuna_message *items = realloc(box->items, capacity * sizeof *items);
    if (items) {
        box->items = items;
        box->capacity = capacity;
        return;
    }
    lp->out_of_memory = true;
    box->count--;
}

static bool inbox_before(struct nuna_event a, struct nuna_event b)
{
    const uint32_t mask = NUNA_BUCKET_PS - 1;
    if ((a.head & mask) != (b.head & mask))
        return (a.head & mask) < (b.head & mask);
    if (nuna_event_bytes(a) != nuna_event_bytes(b))
        return nuna_event_bytes(a) < nuna_event_bytes(b);
    if (nuna_event_bytes(a) == NUNA_RANKED)
        return nuna_event_seq(a) < nuna_event_seq(b);
    return (int32_t)(nuna_event_seq(a) - nuna_event_seq(b)) < 0; /* numbers wrap */
}

/* Messages of one time were delivered in any order; their key is total. */
static void inbox_sort_ties(struct nuna_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct nuna_event event = events[i];
        size_t j = i;
        for (; j > 0 && inbox_before(event, events[j - 1]); j--)
            events[j] = events[j - 1];
        events[j] = event;
    }
}

/* Merges sorted messages (in `spare`) and sorted local events (at run + messages) into `run`;
 * messages go first at ties. Writing never overtakes the reading of the local events. */
static void merge_inbox(struct nuna_event *run, const struct nuna_event *messages,
                        size_t message_count, size_t local_count)
{
    const uint32_t mask = NUNA_BUCKET_PS - 1;
    const struct nuna_event *local = run + message_count;
    size_t m = 0, l = 0, at = 0;
    while (m < message_count)
        if (l == local_count || (messages[m].head & mask) <= (local[l].head & mask))
            run[at++] = messages[m++];
        else
            run[at++] = local[l++];
    /* The rest of the local events is in place. */
}

static bool run_reserve(struct nuna_lp *lp, size_t count)
{
    count += NUNA_LOOK_AHEAD;
    if (count <= lp->run_capacity)
        return true;
    size_t capacity = count + count / 2 + 64;
    free(lp->run);
    free(lp->spare);
    lp->run = malloc(capacity * sizeof *lp->run);
    lp->spare = malloc(2 * capacity * sizeof *lp->spare); /* messages need it twice over */
    lp->run_capacity = lp->run && lp->spare ? capacity : 0;
    return lp->run_capacity > 0;
}

/* Reference mode: just the next event. Messages go first at ties. */
static size_t open_one(struct nuna_lp *lp)
{
    struct nuna_heap *local = &lp->heaps[0], *inbox = &lp->heaps[1];
    bool message =
        inbox->count > 0 && (local->count == 0 || inbox->entries[0].time <= local->entries[0].time);
    lp->run[0] = nuna_heap_pop(message ? inbox : local).event;
    lp->events++;
    return 1;
}

/* Moves both wheels to the bucket at `time` and puts its events, in order, into lp->run. */
size_t nuna_lp_open_bucket(struct nuna_lp *lp, nuna_time time)
{
    if (__builtin_expect(lp->heaps != NULL, 0)) {
        if (run_reserve(lp, 1)) {
            memset(lp->run, 0, (1 + NUNA_LOOK_AHEAD) * sizeof *lp->run);
            return open_one(lp);
        }
        lp->out_of_memory = true;
        return 0;
    }
    nuna_wheel_advance(&lp->local, &lp->blocks, time);
    nuna_wheel_advance(&lp->inbox, &lp->blocks, time);
    size_t local = nuna_wheel_bucket_size(&lp->local);
    size_t inbox = nuna_wheel_bucket_size(&lp->inbox);
    lp->side_at = lp->side_left = 0;
    if (!run_reserve(lp, local + inbox)) {
        lp->out_of_memory = true;
        return 0;
    }
    if (local)
        nuna_wheel_take(&lp->local, &lp->blocks, local, lp->run + inbox, lp->spare);
    if (inbox) {
        nuna_wheel_take(&lp->inbox, &lp->blocks, inbox, lp->spare, lp->spare + inbox);
        inbox_sort_ties(lp->spare, inbox);
        merge_inbox(lp->run, lp->spare, inbox, local);
    }
    lp->events += local + inbox;
    memset(lp->run + local + inbox, 0, NUNA_LOOK_AHEAD * sizeof *lp->run);
    return local + inbox;
}

static void run_lps(struct nuna_kernel *kernel)
{
    for (;;) {
        uint32_t lp = atomic_fetch_add_explicit(&kernel->next_lp, 1, memory_order_relaxed);
        if (lp >= kernel->lp_count)
            return;
        kernel->ops->run(kernel->model, lp, kernel->window_end);
    }
}

static void deliver(struct nuna_kernel *kernel, const struct nuna_message *message)
{
    struct nuna_lp *lp = &kernel->lps[message->dest];
    assert(message->time >= kernel->window_end && message->rel != NUNA_RANKED);
    uint32_t handle = kernel->ops->deliver(kernel->model, message->dest, message);
    struct nuna_event event = nuna_event_packet(message->kind, message->tag, message->rel,
                                                message->seq & 0xffff, message->seq >> 16, handle);
    nuna_lp_insert_inbox(lp, message->time, event);
}

/* Takes this worker's share of all outboxes and finds the earliest bucket of its LPs. */
static void deliver_share(struct nuna_kernel *kernel, struct nuna_worker *worker)
{
    for (uint32_t i = 0; i < kernel->lp_count; i++) {
        struct nuna_outbox *box = &kernel->lps[i].outbox[worker->index];
        for (size_t m = 0; m < box->count; m++) {
            size_t ahead = m + NUNA_LOOK_AHEAD;
            if (kernel->ops->expect && ahead < box->count)
                kernel->ops->expect(kernel->model, box->items[ahead].dest, &box->items[ahead]);
            deliver(kernel, &box->items[m]);
        }
        box->count = 0;
    }
    worker->next = NUNA_TIME_MAX;
    for (uint32_t i = worker->index; i < kernel->lp_count; i += kernel->worker_count) {
        const struct nuna_lp *lp = &kernel->lps[i];
        nuna_time next = nuna_lp_next(lp);
        next = lp->held < next ? lp->held : next;
        worker->next = next < worker->next ? next : worker->next;
    }
}

/* By worker 0 alone, before the barrier that ends a delivery. */
static void look_around(struct nuna_kernel *kernel)
{
    atomic_store_explicit(&kernel->next_lp, 0, memory_order_relaxed);
    kernel->stopping = kernel->stop && *kernel->stop;
    kernel->done = kernel->ops->done && kernel->ops->done(kernel->model);
    for (uint32_t i = 0; i < kernel->lp_count; i++)
        if (kernel->lps[i].out_of_memory || kernel->lps[i].blocks.out_of_memory)
            kernel->out_of_memory = true;
}

static void meet(struct nuna_kernel *kernel)
{
    if (kernel->worker_count > 1)
        pthread_barrier_wait(&kernel->barrier);
}

static void *work(void *argument)
{
    struct nuna_worker *worker = argument;
    struct nuna_kernel *kernel = worker->kernel;
    for (;;) {
        deliver_share(kernel, worker);
        if (worker->index == 0)
            look_around(kernel);
        meet(kernel);
        nuna_time next = NUNA_TIME_MAX; /* every worker computes the same */
        for (uint32_t w = 0; w < kernel->worker_count; w++)
            next = kernel->workers[w].next < next ? kernel->workers[w].next : next;
        if (next == NUNA_TIME_MAX || kernel->stopping || kernel->done || kernel->out_of_memory)
            return NULL;
        if (worker->index == 0) {
            if (kernel->ops->progress)
                kernel->ops->progress(kernel->model, next);
            kernel->window_end = (next / kernel->window + 1) * kernel->window;
        }
        meet(kernel);
        run_lps(kernel);
        meet(kernel);
    }
}

static void *work_after_gate(void *argument)
{
    struct nuna_kernel *kernel = ((struct nuna_worker *)argument)->kernel;
    pthread_mutex_lock(&kernel->gate);
    bool stay = kernel->gate_open;
    pthread_mutex_unlock(&kernel->gate);
    return stay ? work(argument) : NULL;
}

/* All threads wait at a gate until the last one exists: a run starts whole or not at all. */
static bool run_threads(struct nuna_kernel *kernel, uint32_t others)
{
    pthread_t threads[NUNA_MAX_THREADS];
    if (pthread_barrier_init(&kernel->barrier, NULL, kernel->worker_count) != 0)
        return false;
    pthread_mutex_init(&kernel->gate, NULL);
    pthread_mutex_lock(&kernel->gate);
    uint32_t started = 0;
    while (started < others && pthread_create(&threads[started], NULL, work_after_gate,
                                              &kernel->workers[started + 1]) == 0)
        started++;
    kernel->gate_open = started == others;
    pthread_mutex_unlock(&kernel->gate);
    if (kernel->gate_open)
        work(&kernel->workers[0]);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&kernel->gate);
    pthread_barrier_destroy(&kernel->barrier);
    return kernel->gate_open;
}

enum nuna_kernel_status nuna_kernel_run(struct nuna_kernel *kernel,
                                        const struct nuna_kernel_ops *ops, void *model,
                                        const volatile sig_atomic_t *stop)
{
    kernel->ops = ops;
    kernel->model = model;
    kernel->stop = stop;
    uint32_t others = kernel->worker_count - 1;
    if (others == 0) {
        work(&kernel->workers[0]);
    } else {
        if (!run_threads(kernel, others))
            return NUNA_KERNEL_NO_THREADS;
    }
    return kernel->out_of_memory ? NUNA_KERNEL_NO_MEMORY
           : kernel->stopping    ? NUNA_KERNEL_INTERRUPTED
                                 : NUNA_KERNEL_DRAINED;
}
