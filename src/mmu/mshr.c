#include "mmu/mshr.h"
#include <stdlib.h>
#include <string.h>

void nuna_waiter_pool_init(struct nuna_waiter_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    pool->free = NUNA_NO_WAITER;
}

void nuna_waiter_pool_finish(struct nuna_waiter_pool *pool)
{
    free(pool->items);
    nuna_waiter_pool_init(pool);
}

static bool grow(struct nuna_waiter_pool *pool)
{
    uint32_t capacity = pool->capacity ? 2 * pool->capacity : 1024;
    struct nuna_waiter *items = realloc(pool->items, capacity * sizeof *items);
    if (!items) {
        pool->out_of_memory = true;
        return false;
    }
    pool->items = items;
    for (uint32_t i = capacity; i-- > pool->capacity;) {
        items[i].next = pool->free;
        pool->free = i;
    }
    pool->capacity = capacity;
    return true;
}

void nuna_waiter_push(struct nuna_waiter_pool *pool, struct nuna_waiter_list *list,
                      struct nuna_waiter waiter)
{
    if (pool->free == NUNA_NO_WAITER && !grow(pool))
        return;
    uint32_t at = pool->free;
    pool->free = pool->items[at].next;
    pool->in_use++;
    pool->items[at] = waiter;
    pool->items[at].next = NUNA_NO_WAITER;
    if (list->head == NUNA_NO_WAITER)
        list->head = at;
    else
        pool->items[list->tail].next = at;
    list->tail = at;
    list->count++;
}

bool nuna_waiter_pop(struct nuna_waiter_pool *pool, struct nuna_waiter_list *list,
                     struct nuna_waiter *ret_waiter)
{
    uint32_t at = list->head;
    if (at == NUNA_NO_WAITER)
        return false;
    *ret_waiter = pool->items[at];
    list->head = pool->items[at].next;
    list->count--;
    pool->items[at].next = pool->free;
    pool->free = at;
    pool->in_use--;
    return true;
}

bool nuna_mshr_init(struct nuna_mshr_file *file, uint32_t capacity)
{
    uint32_t slots = 4;
    memset(file, 0, sizeof *file);
    while (slots < 2 * capacity)
        slots *= 2;
    file->slots = malloc(slots * sizeof *file->slots);
    if (!file->slots)
        return false;
    for (uint32_t i = 0; i < slots; i++)
        file->slots[i].page = NUNA_NO_WAITER;
    file->mask = slots - 1;
    file->capacity = capacity;
    return true;
}

void nuna_mshr_finish(struct nuna_mshr_file *file)
{
    free(file->slots);
    memset(file, 0, sizeof *file);
}

static uint32_t home(const struct nuna_mshr_file *file, uint32_t page)
{
    return (page * 0x9e3779b1u >> 7) & file->mask;
}

/* The slot of the page, or the free one where it would go. */
static uint32_t probe(const struct nuna_mshr_file *file, uint32_t page)
{
    uint32_t slot = home(file, page);
    while (file->slots[slot].page != page && file->slots[slot].page != NUNA_NO_WAITER)
        slot = (slot + 1) & file->mask;
    return slot;
}

struct nuna_mshr *nuna_mshr_find(struct nuna_mshr_file *file, uint32_t page)
{
    struct nuna_mshr *mshr = &file->slots[probe(file, page)];
    return mshr->page == page ? mshr : NULL;
}

struct nuna_mshr *nuna_mshr_take(struct nuna_mshr_file *file, uint32_t page, bool demand)
{
    if (file->in_use == file->capacity)
        return NULL;
    file->in_use++;
    if (file->in_use > file->peak)
        file->peak = file->in_use;
    struct nuna_mshr *mshr = &file->slots[probe(file, page)];
    *mshr = (struct nuna_mshr){.page = page, .demand = demand, .waiters = NUNA_WAITER_LIST_EMPTY};
    return mshr;
}

struct nuna_mshr nuna_mshr_release(struct nuna_mshr_file *file, uint32_t page)
{
    uint32_t hole = probe(file, page), next = hole;
    struct nuna_mshr held = file->slots[hole];
    file->in_use--;
    /* Close the gap: whoever was pushed beyond it by a collision moves back into it. */
    for (;;) {
        next = (next + 1) & file->mask;
        if (file->slots[next].page == NUNA_NO_WAITER)
            break;
        uint32_t wanted = home(file, file->slots[next].page);
        if (((next - wanted) & file->mask) < ((next - hole) & file->mask))
            continue;
        file->slots[hole] = file->slots[next];
        hole = next;
    }
    file->slots[hole].page = NUNA_NO_WAITER;
    return held;
}
