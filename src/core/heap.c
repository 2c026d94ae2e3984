#include "core/heap.h"
#include <stdlib.h>
#include <string.h>

void nuna_heap_finish(struct nuna_heap *heap)
{
    free(heap->entries);
    memset(heap, 0, sizeof *heap);
}

static bool before(const struct nuna_heap_entry *a, const struct nuna_heap_entry *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->order != b->order ? a->order < b->order : a->number < b->number;
}

bool nuna_heap_push(struct nuna_heap *heap, nuna_time time, uint64_t order, struct nuna_event event)
{
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity ? 2 * heap->capacity : 64;
        struct nuna_heap_entry *entries = realloc(heap->entries, capacity * sizeof *entries);
        if (!entries)
            return false;
        heap->entries = entries;
        heap->capacity = capacity;
    }
    struct nuna_heap_entry entry = {time, order, heap->pushed++, event};
    size_t at = heap->count++;
    for (; at > 0 && before(&entry, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
    return true;
}

struct nuna_heap_entry nuna_heap_pop(struct nuna_heap *heap)
{
    struct nuna_heap_entry first = heap->entries[0], last = heap->entries[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!before(&heap->entries[child], &last))
            break;
        heap->entries[at] = heap->entries[child];
        at = child;
    }
    heap->entries[at] = last;
    return first;
}
