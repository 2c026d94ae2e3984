/* A rate-limited resource served first come, first served: a link, a port, a memory channel. */
#ifndef NUNA_CORE_SERVER_H
#define NUNA_CORE_SERVER_H

#include "core/units.h"

/* A rate, with the transfer times of the two common sizes worked out beforehand. */
struct nuna_rate {
    uint64_t bytes_per_s;
    uint32_t size[2];      /* data flit, control packet */
    nuna_time time[2];     /* ps, rounded down */
    uint64_t remainder[2]; /* of that division, in 1/bytes_per_s ps */
};

void nuna_rate_init(struct nuna_rate *rate, uint64_t bytes_per_s, uint32_t flit_bytes,
                    uint32_t control_bytes);

/* The exact end of the last transfer is free_at + remainder / rate ps: carrying the remainder makes
 * N packets take as long as one N times larger. */
struct nuna_server {
    nuna_time free_at;
    uint64_t remainder;
    uint64_t bytes;    /* served */
    uint64_t max_wait; /* longest wait of a packet, ps */
};

/* Takes the server for `bytes` arriving at `time`; returns when the transfer starts (>= time). Its
 * end, rounded down, is then server->free_at. Calls must come in the order of `time`. */
static inline nuna_time nuna_server_take(struct nuna_server *server, const struct nuna_rate *rate,
                                         nuna_time time, uint32_t bytes)
{
    /* Branches here are coin tosses: idle or queued, data or control. The code is written to need
     * none. */
    nuna_time free_at = server->free_at;
    bool idle = free_at < time;
    nuna_time start = idle ? time : free_at;
    uint64_t wait = start - time;
    server->max_wait = wait > server->max_wait ? wait : server->max_wait;
    nuna_time duration;
    uint64_t remainder;
    bool control = bytes == rate->size[1];
    if (__builtin_expect(control | (bytes == rate->size[0]), 1)) {
        duration = rate->time[control];
        remainder = rate->remainder[control];
    } else {
        duration = nuna_units_transfer_time(bytes, rate->bytes_per_s, &remainder);
    }
    remainder += idle ? 0 : server->remainder;
    bool carry = remainder >= rate->bytes_per_s;
    server->remainder = remainder - (carry ? rate->bytes_per_s : 0);
    server->free_at = start + duration + carry;
    server->bytes += bytes;
    return start;
}

/* Time the server was busy, rounded down. */
static inline nuna_time nuna_server_busy(const struct nuna_server *server,
                                         const struct nuna_rate *rate)
{
    return nuna_units_transfer_time(server->bytes, rate->bytes_per_s, NULL);
}

#endif
