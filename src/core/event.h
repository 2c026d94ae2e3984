/* Events and messages: small typed records, dispatched by a switch in the model. */
#ifndef NUNA_CORE_EVENT_H
#define NUNA_CORE_EVENT_H

#include "core/types.h"

/* An event of one logical process, in two words that the hot loop keeps in registers:
 *
 *   head: when 32 | kind 8 | tag 8 | bytes 16        body: here 16, there 16 (or seq 32) | handle
 * 32
 *
 * when    low 32 bits of the time; the wheel knows the others
 * kind    what happens
 * tag     of a packet on its way: the kind to raise where it arrives
 * bytes   a packet's size on the wire; in an inbox, the relative source
 * here, there   routers; in an inbox together seq, the sender's message number
 * handle  the model's record
 *
 * The kernel reads `when` and, of messages, `bytes` and `seq`; the rest belongs to the model. */
struct nuna_event {
    uint64_t head, body;
};

static inline uint32_t nuna_event_when(struct nuna_event event)
{
    return (uint32_t)event.head;
}

static inline uint32_t nuna_event_kind(struct nuna_event event)
{
    return event.head >> 32 & 0xff;
}

static inline uint32_t nuna_event_tag(struct nuna_event event)
{
    return event.head >> 40 & 0xff;
}

static inline uint32_t nuna_event_bytes(struct nuna_event event)
{
    return (uint32_t)(event.head >> 48);
}

static inline uint32_t nuna_event_here(struct nuna_event event)
{
    return event.body & 0xffff;
}

static inline uint32_t nuna_event_there(struct nuna_event event)
{
    return event.body >> 16 & 0xffff;
}

static inline uint32_t nuna_event_seq(struct nuna_event event)
{
    return (uint32_t)event.body;
}

static inline uint32_t nuna_event_handle(struct nuna_event event)
{
    return (uint32_t)(event.body >> 32);
}

static inline struct nuna_event nuna_event_make(uint32_t kind, uint32_t handle)
{
    return (struct nuna_event){.head = (uint64_t)kind << 32, .body = (uint64_t)handle << 32};
}

static inline struct nuna_event nuna_event_packet(uint32_t kind, uint32_t tag, uint32_t bytes,
                                                  uint32_t here, uint32_t there, uint32_t handle)
{
    return (struct nuna_event){
        .head = (uint64_t)kind << 32 | (uint64_t)tag << 40 | (uint64_t)bytes << 48,
        .body = (uint64_t)handle << 32 | (uint64_t)there << 16 | here,
    };
}

static inline void nuna_event_set_kind(struct nuna_event *event, uint32_t kind)
{
    event->head = (event->head & ~(0xffull << 32)) | (uint64_t)kind << 32;
}

static inline void nuna_event_set_when(struct nuna_event *event, nuna_time time)
{
    event->head = (event->head & ~0xffffffffull) | (uint32_t)time;
}

/* A message from one logical process to another, at least the lookahead after its sending. Messages
 * that arrive at the same time are taken in the order of (relative source, seq), before local
 * events. */
struct nuna_message {
    nuna_time time;        /* arrival */
    uint32_t seq;          /* filled by the kernel */
    uint16_t source, dest; /* logical processes */
    uint16_t rel;          /* group difference of source and destination, filled by the model */
    uint8_t kind, tag;
    uint32_t payload[11]; /* the model's */
};
_Static_assert(sizeof(struct nuna_message) == 64, "a message is one cache line");

#endif
