/* What one GPU counts of the requests that other nodes send it, for the reports. */
#ifndef NUNA_POD_TRANSLATION_COUNTS_H
#define NUNA_POD_TRANSLATION_COUNTS_H

#include "mmu/link_mmu.h"

struct nuna_class_count {
    uint64_t requests, latency_sum;
    nuna_time latency_max;
};

/* A store's way from its issue to its acknowledgement; the parts sum to the round trip. */
enum nuna_trip_part {
    NUNA_TRIP_SOURCE_NOC,
    NUNA_TRIP_PORT,
    NUNA_TRIP_SWITCH,
    NUNA_TRIP_TRANSLATION,
    NUNA_TRIP_DEST_NOC,
    NUNA_TRIP_MEMORY,
    NUNA_TRIP_ACK,
    NUNA_TRIP_PARTS,
};

struct nuna_trace_row {
    nuna_time issued, arrived, latency;
    uint32_t page;
    uint16_t dest;
    uint8_t port, class;
};

/* Keeps every `stride`-th request; when it is full, every second of those. */
struct nuna_request_trace {
    struct nuna_trace_row *rows;
    uint32_t count, capacity;
    uint64_t seen, stride;
};

struct nuna_translation_counts {
    struct nuna_class_count classes[NUNA_CLASS_COUNT];
    uint64_t trip[NUNA_TRIP_PARTS], trips; /* of stores that this GPU sent to other nodes, ps */
    struct nuna_request_trace trace;
};

#endif
