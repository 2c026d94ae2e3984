/* A first-come-first-served resource of the server that remembers when it was busy. */
#ifndef NUNA_HOST_LINK_H
#define NUNA_HOST_LINK_H

#include "core/server.h"

#define NUNA_TIMELINE_BINS 256u

/* Busy time by interval. When a run outgrows the bins, pairs of them are merged and the interval
 * doubles: no allocation, however long the run. */
struct nuna_timeline {
    nuna_time interval; /* ps */
    nuna_time busy[NUNA_TIMELINE_BINS];
};

void nuna_timeline_init(struct nuna_timeline *timeline, nuna_time interval);

/* Counts [start, end) as busy. */
void nuna_timeline_add(struct nuna_timeline *timeline, nuna_time start, nuna_time end);

/* Doubles the interval until it is at least `interval`, itself a doubling of the first one. */
void nuna_timeline_widen(struct nuna_timeline *timeline, nuna_time interval);

struct nuna_link {
    struct nuna_server server;
    const struct nuna_rate *rate;
    struct nuna_timeline timeline;
};

static inline void nuna_link_init(struct nuna_link *link, const struct nuna_rate *rate,
                                  nuna_time interval)
{
    *link = (struct nuna_link){.rate = rate};
    nuna_timeline_init(&link->timeline, interval);
}

/* Takes the link for `bytes` that arrive at `time`; returns the end of the transfer. Calls must
 * come in the order of `time`. */
static inline nuna_time nuna_link_take(struct nuna_link *link, nuna_time time, uint32_t bytes)
{
    nuna_time start = nuna_server_take(&link->server, link->rate, time, bytes);
    nuna_timeline_add(&link->timeline, start, link->server.free_at);
    return link->server.free_at;
}

#endif
