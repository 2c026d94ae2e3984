/* A rate-limited resource served first come, first served: a link, a port, a memory channel. */
#ifndef NUNA_CORE_SERVER_H
#define NUNA_CORE_SERVER_H

#include "core/units.h"

/* A rate, with the transfer times of the two common sizes worked out beforehand. */
struct nuna_rate {
    uint64_t bytes_per_s;
    uint32_t size[2];      /* data flit, control packet */
    nuna_time time[2];     /* ps, rounded down */
    bool exact;            /* both remainders are 0 */
    uint64_t remainder[2]; /* of that division, in 1/bytes_per_s ps */
};

/* `count` idle servers, two to a cache line; NULL on lack of memory. Free with free(). */
struct nuna_server *nuna_servers_create(size_t count);

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
    /* Idle or queued, data or control: coin tosses, so that arithmetic takes the place of branches.
     */
    nuna_time free_at = server->free_at;
    uint64_t idle = -(uint64_t)(free_at < time); /* all ones or none */
    nuna_time start = free_at + ((time - free_at) & idle);
    uint64_t remainder = server->remainder & ~idle;
    if (__builtin_expect(start - time > server->max_wait, 0))
        server->max_wait = start - time;
    server->bytes += bytes;
    uint32_t control = bytes == rate->size[1];
    if (__builtin_expect(bytes == rate->size[control], 1)) {
        server->free_at = start + rate->time[control];
        if (rate->exact) {
            server->remainder = remainder; /* an odd packet before may have left one */
            return start;
        }
        remainder += rate->remainder[control];
    } else {
        uint64_t added;
        server->free_at = start + nuna_units_transfer_time(bytes, rate->bytes_per_s, &added);
        remainder += added;
    }
    bool carry = remainder >= rate->bytes_per_s;
    server->remainder = remainder - (carry ? rate->bytes_per_s : 0);
    server->free_at += carry;
    return start;
}

/* Time the server was busy, rounded down. */
static inline nuna_time nuna_server_busy(const struct nuna_server *server,
                                         const struct nuna_rate *rate)
{
    return nuna_units_transfer_time(server->bytes, rate->bytes_per_s, NULL);
}

#endif
