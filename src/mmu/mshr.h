/* Miss status holding registers: the pages being fetched and who waits for each. A register merges
 * all requests to its page. Source: reverse translation (arXiv 2604.02473) Table 1. */
#ifndef NUNA_MMU_MSHR_H
#define NUNA_MMU_MSHR_H

#include "core/types.h"

#define NUNA_NO_WAITER UINT32_MAX

/* A request that waits. */
struct nuna_waiter {
    nuna_time since; /* when it came */
    uint32_t token;  /* the owner's name for it */
    uint32_t page;
    uint32_t next;
};

/* Records of waiters, shared by the registers and queues of one GPU. */
struct nuna_waiter_pool {
    struct nuna_waiter *items;
    uint32_t capacity, free;
    uint32_t in_use;
    bool out_of_memory;
};

/* A first-in-first-out list of waiters. */
struct nuna_waiter_list {
    uint32_t head, tail, count;
};

void nuna_waiter_pool_init(struct nuna_waiter_pool *pool);
void nuna_waiter_pool_finish(struct nuna_waiter_pool *pool);
#define NUNA_WAITER_LIST_EMPTY ((struct nuna_waiter_list){NUNA_NO_WAITER, NUNA_NO_WAITER, 0})

/* Appends a waiter. Out of memory it sets pool->out_of_memory and drops the waiter: the run is then
 * given up. */
void nuna_waiter_push(struct nuna_waiter_pool *pool, struct nuna_waiter_list *list,
                      struct nuna_waiter waiter);
/* Takes the first one; false when the list is empty. */
bool nuna_waiter_pop(struct nuna_waiter_pool *pool, struct nuna_waiter_list *list,
                     struct nuna_waiter *ret_waiter);

struct nuna_mshr {
    uint32_t page; /* NUNA_NO_WAITER: a free register */
    bool demand;   /* a request took it, not a prefetch */
    uint8_t via;   /* the owner's */
    struct nuna_waiter_list waiters;
};

/* Registers in a hash table (open addressing), found by page. */
struct nuna_mshr_file {
    struct nuna_mshr *slots;
    uint32_t mask; /* slots - 1; at most half of them are taken */
    uint32_t capacity, in_use, peak;
};

bool nuna_mshr_init(struct nuna_mshr_file *file, uint32_t capacity);
void nuna_mshr_finish(struct nuna_mshr_file *file);

/* The register of a page, or NULL. Valid until the next take or release. */
struct nuna_mshr *nuna_mshr_find(struct nuna_mshr_file *file, uint32_t page);
/* A register for a page that has none, without waiters; NULL when all are taken. */
struct nuna_mshr *nuna_mshr_take(struct nuna_mshr_file *file, uint32_t page, bool demand);
/* Frees the page's register and returns what it held. The page must have one. */
struct nuna_mshr nuna_mshr_release(struct nuna_mshr_file *file, uint32_t page);

#endif
