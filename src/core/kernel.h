/* The event kernel: logical processes (LPs) that advance together in conservative windows.
 *
 * An LP's events run in a total order that depends on nothing but the model: by time; at one time,
 * messages from other LPs first, by (relative source, sequence); then local events in the order of
 * their scheduling. Windows and threads cannot change it. A message must arrive at least the
 * lookahead after it is sent.
 *
 * A model may keep part of its work outside the kernel, in structures of its own, and raise ranked
 * events from there, in any order: at one time they run after the messages and before the local
 * events, by rank. It says in `held` when the earliest can come.
 */
#ifndef NUNA_CORE_KERNEL_H
#define NUNA_CORE_KERNEL_H

#include "core/wheel.h"
#include <signal.h>

/* The lookahead may not be shorter: a window is at least one bucket. */
#define NUNA_MIN_LOOKAHEAD (2 * NUNA_BUCKET_PS)

#define NUNA_MAX_THREADS 256u

struct nuna_outbox {
    struct nuna_message *items;
    size_t count, capacity;
};

/* One logical process. The model reads `now`, writes `held` and calls the functions below; the rest
 * is the kernel's. */
struct nuna_lp {
    nuna_time now;
    nuna_time held; /* no ranked event comes before; NUNA_TIME_MAX (as at first): none is to come */
    struct nuna_wheel local; /* what the LP scheduled for itself */
    struct nuna_wheel inbox; /* messages and ranked events */
    struct nuna_block_pool blocks;
    struct nuna_event *side; /* scheduled for the bucket being run, sorted */
    size_t side_at, side_left, side_capacity;
    struct nuna_event *run, *spare; /* the bucket being run */
    size_t run_capacity;
    struct nuna_heap *heaps;    /* reference mode: of local events, of messages */
    struct nuna_outbox *outbox; /* one per worker */
    uint32_t worker_count;
    uint32_t next_seq;
    uint64_t events; /* executed so far */
    bool out_of_memory;
};

struct nuna_kernel;

/* What the model supplies. `run` executes the LP's events before `end`, by calling nuna_lp_run with
 * its handler. `deliver` makes the receiver's own record of a message and returns its handle.
 * `progress` (may be NULL) is called between windows by one thread while no LP runs. */
struct nuna_kernel_ops {
    void (*run)(void *model, uint32_t lp, nuna_time end);
    uint32_t (*deliver)(void *model, uint32_t lp, const struct nuna_message *message);
    /* May be NULL. Called a little before `deliver`: may fetch what that will touch, must change
     * nothing. */
    void (*expect)(void *model, uint32_t lp, const struct nuna_message *message);
    void (*progress)(void *model, nuna_time now);
    /* May be NULL. Asked between windows: true ends the run as if it were drained. Windows do not
     * depend on the number of threads, so neither does what it sees. */
    bool (*done)(void *model);
};

enum nuna_kernel_status {
    NUNA_KERNEL_DRAINED,     /* no event is left */
    NUNA_KERNEL_INTERRUPTED, /* *stop became non-zero */
    NUNA_KERNEL_NO_MEMORY,
    NUNA_KERNEL_NO_THREADS, /* a thread could not be started */
};

/* `threads` is clamped to the number of LPs and to NUNA_MAX_THREADS. NULL on lack of memory. */
struct nuna_kernel *nuna_kernel_create(uint32_t lp_count, uint32_t threads, nuna_time lookahead);
/* Reference mode, before anything is scheduled: a binary heap per LP in place of wheels, one event
 * at a time. Slow, and easy to trust. Windows lie on a grid whatever the mode, so that what `done`
 * sees is the same. False on lack of memory. */
bool nuna_kernel_use_reference(struct nuna_kernel *kernel);
void nuna_kernel_destroy(struct nuna_kernel *kernel);
struct nuna_lp *nuna_kernel_lp(struct nuna_kernel *kernel, uint32_t lp);

/* Memory for the model's own pools; it goes with the kernel. */
struct nuna_arena *nuna_kernel_arena(struct nuna_kernel *kernel);

/* Runs, once, until nothing is left or `*stop` (may be NULL) is set. */
enum nuna_kernel_status nuna_kernel_run(struct nuna_kernel *kernel,
                                        const struct nuna_kernel_ops *ops, void *model,
                                        const volatile sig_atomic_t *stop);

/* Time of the last event executed by any LP (or, of a run that `done` ended, the end of its last
 * window: what is held outside the kernel may have come further than its events), and the number of
 * events executed. */
nuna_time nuna_kernel_now(const struct nuna_kernel *kernel);
uint64_t nuna_kernel_events(const struct nuna_kernel *kernel);

/* The rest is for models' handlers. */

void nuna_lp_schedule_side(struct nuna_lp *lp, nuna_time time, struct nuna_event event);
void nuna_lp_send_slow(struct nuna_lp *lp, struct nuna_outbox *box);
size_t nuna_lp_open_bucket(struct nuna_lp *lp, nuna_time time);

static inline struct nuna_event nuna_lp_take_side(struct nuna_lp *lp)
{
    lp->side_left--;
    lp->events++;
    return lp->side[lp->side_at++];
}

/* Schedules a local event at `time` >= now. */
static inline void nuna_lp_schedule(struct nuna_lp *lp, nuna_time time, struct nuna_event event)
{
    if (time >> NUNA_BUCKET_BITS != lp->local.slot)
        nuna_wheel_insert(&lp->local, &lp->blocks, time, event);
    else
        nuna_lp_schedule_side(lp, time, event);
}

/* Of an event in an inbox that no message brought. */
#define NUNA_RANKED 0xffffu

/* For nuna_lp_insert_inbox, in reference mode. */
void nuna_lp_push_inbox(struct nuna_lp *lp, nuna_time time, struct nuna_event event);

/* The kernel's own: an inbox's events of one time go by (`bytes`, sequence number). */
static inline void nuna_lp_insert_inbox(struct nuna_lp *lp, nuna_time time, struct nuna_event event)
{
    if (__builtin_expect(lp->heaps != NULL, 0))
        nuna_lp_push_inbox(lp, time, event);
    else
        nuna_wheel_insert(&lp->inbox, &lp->blocks, time, event);
}

/* Schedules a ranked event, whose `bytes`, `here` and `there` are lost. Two of one time and rank
 * run in the order of their scheduling. Its bucket must be one that nuna_lp_run has not come to. */
static inline void nuna_lp_schedule_ranked(struct nuna_lp *lp, nuna_time time, uint32_t rank,
                                           struct nuna_event event)
{
    event.head |= (uint64_t)NUNA_RANKED << 48;
    event.body = (event.body & ~0xffffffffull) | rank;
    nuna_lp_insert_inbox(lp, time, event);
}

/* Reference mode only: a local event that goes, at one time, before those of nuna_lp_schedule, by
 * `order` < NUNA_HEAP_PLAIN. */
void nuna_lp_schedule_early(struct nuna_lp *lp, nuna_time time, uint64_t order,
                            struct nuna_event event);

/* Start of the earliest bucket with an event in a wheel, NUNA_TIME_MAX when there is none. */
static inline nuna_time nuna_lp_next(const struct nuna_lp *lp)
{
    nuna_time local = nuna_wheel_next(&lp->local), inbox = nuna_wheel_next(&lp->inbox);
    return local < inbox ? local : inbox;
}

/* The place to fill with the next message for `dest`; `seq` and `dest` are already set. */
static inline struct nuna_message *nuna_lp_send(struct nuna_lp *lp, uint16_t dest)
{
    struct nuna_outbox *box = &lp->outbox[dest % lp->worker_count];
    if (__builtin_expect(box->count == box->capacity, 0))
        nuna_lp_send_slow(lp, box);
    struct nuna_message *message = &box->items[box->count++];
    message->seq = lp->next_seq++;
    message->dest = dest;
    return message;
}

/* Events looked ahead for prefetching. */
#define NUNA_LOOK_AHEAD 16u

/* Runs the LP's events before `end` (a multiple of a bucket) through `handle`. `prefetch` sees an
 * event a little before `handle` does, and may fetch what that will touch: it must change nothing.
 * Both are inlined when they are static functions known at compile time. */
static inline __attribute__((always_inline)) void
nuna_lp_run(struct nuna_lp *lp, nuna_time end, void *model,
            void (*handle)(void *model, struct nuna_lp *lp, struct nuna_event event),
            void (*prefetch)(void *model, struct nuna_event event))
{
    for (;;) {
        nuna_time bucket = nuna_lp_next(lp);
        if (bucket >= end)
            return;
        size_t count = nuna_lp_open_bucket(lp, bucket);
        const struct nuna_event *run = lp->run;
        if (__builtin_expect(count == 0, 0)) /* out of memory; given up when the window ends */
            continue;
        for (size_t i = 0; i < NUNA_LOOK_AHEAD; i++)
            prefetch(model, run[i]);
        for (size_t i = 0; i < count;) {
            struct nuna_event event = run[i];
            /* A side event was scheduled after everything that was in the bucket: it waits at ties.
             */
            if (__builtin_expect(lp->side_left > 0, 0) &&
                (lp->side[lp->side_at].head & (NUNA_BUCKET_PS - 1)) <
                    (event.head & (NUNA_BUCKET_PS - 1))) {
                event = nuna_lp_take_side(lp);
            } else {
                prefetch(model, run[i + NUNA_LOOK_AHEAD]); /* readable beyond the end, too */
                i++;
            }
            lp->now = bucket | (event.head & (NUNA_BUCKET_PS - 1));
            handle(model, lp, event);
        }
        while (lp->side_left > 0) {
            struct nuna_event event = nuna_lp_take_side(lp);
            lp->now = bucket | (event.head & (NUNA_BUCKET_PS - 1));
            handle(model, lp, event);
        }
    }
}

#endif
