/* A binary heap of events, by (time, order, insertion): the plain way to keep a pending set. It
 * serves the reference mode, against which the timing wheel is tested. */
#ifndef NUNA_CORE_HEAP_H
#define NUNA_CORE_HEAP_H

#include "core/event.h"

struct nuna_heap_entry {
    nuna_time time;
    uint64_t order;  /* at one time, low first */
    uint64_t number; /* of the insertion */
    struct nuna_event event;
};

/* The order of what has none of its own; those below are for what goes before it. */
#define NUNA_HEAP_PLAIN 16u

struct nuna_heap {
    struct nuna_heap_entry *entries;
    size_t count, capacity;
    uint64_t pushed;
};

void nuna_heap_finish(struct nuna_heap *heap);

/* False on lack of memory. */
bool nuna_heap_push(struct nuna_heap *heap, nuna_time time, uint64_t order,
                    struct nuna_event event);

/* Takes the first entry of a heap that is not empty. */
struct nuna_heap_entry nuna_heap_pop(struct nuna_heap *heap);

#endif
