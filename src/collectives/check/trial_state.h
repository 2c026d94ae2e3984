/* The state of a symbolic run, for the files that run it (trial*.c). */
#ifndef NUNA_COLLECTIVES_CHECK_TRIAL_PRIVATE_H
#define NUNA_COLLECTIVES_CHECK_TRIAL_PRIVATE_H

#include "collectives/check/schedule.h"
#include "collectives/check/slots.h"
#include "collectives/check/value.h"

/* Stores of one threadblock to one peer, in order. A signal covers those so far. */
struct stream {
    uint32_t tb, peer;
    uint32_t next_of_tb;
    uint32_t first, last; /* stores that have not landed */
    uint64_t stored, landed;
    uint32_t seen; /* place of its entry in the list being made; else NUNA_NONE */
};

struct store {
    uint32_t slot, value;
    uint32_t next; /* of the stream, or of the free list */
};

/* A signal that nobody has consumed. It also covers stores of threadblocks that its sender has met
 * at a barrier since: tokens of their own behind `more`. */
struct token {
    uint64_t covers; /* the first so many stores of the stream */
    uint32_t stream; /* NUNA_NONE: covers nothing */
    uint32_t next;   /* of the channel, of `more`, or of the free list */
    uint32_t more;
};

/* Stores that a threadblock knows of from a barrier. */
struct known {
    uint32_t stream;
    uint64_t stored;
};

struct counter { /* of a channel end or semaphore */
    uint32_t count;
    uint32_t first_waiter, last_waiter; /* threadblocks */
    uint32_t first_token, last_token;   /* channels, when stores land late */
};

struct barrier {
    uint32_t arrived;
    uint32_t first_waiter;
};

/* A connection, kept at its receiving end. */
struct fifo {
    uint64_t sent, received;   /* operations */
    uint32_t first, last;      /* values under way, in the pool of stores */
    uint32_t sender, receiver; /* the threadblock that waits at this end, or NUNA_NONE */
};

struct block {
    uint32_t pc;
    uint32_t done_ids; /* of the list of the operation at pc; of its FIFO operations */
    uint32_t loop;     /* place of the LOOP it is in, or NUNA_NONE */
    uint32_t turn;
    uint32_t posted;                /* newest POST: its step + 1 */
    uint32_t first_waiter;          /* threadblocks that wait for a POST of this one */
    uint32_t known_at, known_count; /* in the pool, shared by all that met */
    uint32_t waits_for;             /* slot without packets, or NUNA_NONE */
    uint32_t streams;
    uint32_t next; /* in the one list, of waiters or ready ones, that the threadblock is in */
};

/* A growing array of records that are reused through a free list. */
struct pool {
    void *items;
    size_t count, cap;
    uint32_t free;
};

struct nuna_trial {
    const struct nuna_slots *slots;
    struct nuna_schedule schedule;
    struct block *blocks;
    struct counter *channels, *semaphores;
    struct barrier *barriers;
    uint32_t *barrier_at; /* GPU -> its first barrier */
    size_t barrier_count;
    uint32_t *memory;         /* slot -> value */
    bool *arrived;            /* slot -> packets are there */
    uint32_t *packet_waiters; /* GPU -> threadblocks that wait for packets */
    struct fifo *fifos;       /* channel -> connection, of receiving ends */
    struct pool streams, stores, tokens, sums, terms, knowns;
    uint32_t ready_first, ready_last;
    uint32_t started; /* threadblocks */
    bool starved_ready, no_memory;
    uint64_t steps;
};

/* The number of a new record, or NUNA_NONE with no_memory set. */
uint32_t nuna_pool_add(struct nuna_trial *m, struct pool *pool, size_t size);

static inline struct stream *stream_at(const struct nuna_trial *m, uint32_t i)
{
    return (struct stream *)m->streams.items + i;
}

static inline struct store *store_at(const struct nuna_trial *m, uint32_t i)
{
    return (struct store *)m->stores.items + i;
}

static inline struct token *token_at(const struct nuna_trial *m, uint32_t i)
{
    return (struct token *)m->tokens.items + i;
}

static inline struct nuna_print print_of(const struct nuna_trial *m, uint32_t value)
{
    return value < m->slots->count
               ? nuna_leaf_print(value)
               : ((const struct nuna_sum *)m->sums.items)[value - m->slots->count].print;
}

/* The stream of a threadblock to a peer; made when there is none and `make` says so. */
uint32_t nuna_trial_stream(struct nuna_trial *m, uint32_t tb, uint32_t peer, bool make);
void nuna_trial_land(struct nuna_trial *m, uint32_t stream, uint64_t covers);

void nuna_trial_ready(struct nuna_trial *m, uint32_t tb);

/* The connection of one of a threadblock's two FIFO ends. */
struct fifo *nuna_trial_fifo(const struct nuna_trial *m, uint32_t tb, bool receiving);

/* All stores of the threadblock land. */
void nuna_trial_flush(struct nuna_trial *m, uint32_t tb);

#endif
