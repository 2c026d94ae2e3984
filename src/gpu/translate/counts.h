/* What is counted of reverse translation at one GPU: requests that came to its ports by what became
 * of them, the ways of its own stores, the lives of its pages, a trace. */
#ifndef NUNA_GPU_TRANSLATE_COUNTS_H
#define NUNA_GPU_TRANSLATE_COUNTS_H

#include "gpu/gpu.h"

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

/* From the first to the last request to a page; first > last: none. */
struct nuna_page_life {
    nuna_time first, last;
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
    struct nuna_page_life *lives;          /* [page], or NULL: too many */
    uint64_t page_count;
    struct nuna_request_trace trace;
    uint64_t ahead_sent; /* requests that only translate */
};

/* Without translation it does nothing. False on lack of memory; destroy either way. */
bool nuna_counts_create(struct nuna_gpu *gpu);
void nuna_counts_destroy(struct nuna_gpu *gpu);

/* A request has come at `since`, and its address is known now. */
void nuna_counts_translated(struct nuna_gpu *gpu, struct nuna_flight *visitor, uint32_t page,
                            uint32_t class, nuna_time since);
/* At the source: the acknowledgement of a store to another node has come. */
void nuna_counts_acked(struct nuna_gpu *gpu, struct nuna_flight *answer);
void nuna_counts_ahead_sent(struct nuna_gpu *gpu);

/* Most pages that lived at a time. False on lack of memory. */
bool nuna_counts_live(const struct nuna_translation_counts *counts, uint64_t *ret_pages);

#endif
