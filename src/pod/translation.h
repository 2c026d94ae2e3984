/* Reverse translation in a pod: where requests of other nodes meet the link MMU of a GPU, what is
 * counted of them, and the requests that software sends ahead. Private to src/pod. */
#ifndef NUNA_POD_TRANSLATION_H
#define NUNA_POD_TRANSLATION_H

#include "pod/gpu_lp.h"
#include "pod/translation_counts.h"

/* From the first to the last request to a page; first > last: none. */
struct nuna_page_life {
    nuna_time first, last;
};

/* A translation request that is sent before the collective. */
struct nuna_ahead {
    uint32_t page;
    uint16_t dest, from;  /* GPU; router */
    uint8_t port, kind;   /* kind of flight */
    uint32_t use, serial; /* the access that it is for, among all; its place as listed */
};

/* One GPU's. */
struct nuna_translation {
    struct nuna_mmu mmu; /* FULL only */
    struct nuna_translation_counts counts;
    struct nuna_page_life *lives; /* [page], or NULL: too many */
    uint64_t page_count;
    struct nuna_ahead *ahead;
    uint32_t ahead_count, ahead_capacity;
    uint64_t ahead_sent;
};

/* What an event of kind NUNA_EV_TRANSLATION is about, beside the MMU's own. */
enum nuna_translation_op {
    NUNA_TRANSLATION_LOOKUP = NUNA_MMU_OPS, /* the L1 lookup is done: flight */
    NUNA_TRANSLATION_AHEAD,                 /* time to send a request ahead: its number */
    NUNA_TRANSLATION_START,                 /* the collective begins */
};

static inline struct nuna_event nuna_translation_make(enum nuna_translation_op op, uint32_t handle)
{
    return nuna_event_packet(NUNA_EV_TRANSLATION, 0, 0, 0, op, handle);
}

/* Fills the pod's part; after the topology. */
void nuna_translation_shape(struct nuna_pod *pod);

/* After the placement. False on lack of memory. Without translation it does nothing. */
bool nuna_translation_create(struct nuna_gpu_lp *gpu);
void nuna_translation_destroy(struct nuna_translation *translation); /* NULL is fine */

/* A store, flag or request that needs translation is in at its port at `in`. */
void nuna_translation_arrive(struct nuna_gpu_lp *gpu, uint32_t handle, nuna_time in);
/* An event of kind NUNA_EV_TRANSLATION, by its body. */
void nuna_translation_event(struct nuna_gpu_lp *gpu, uint64_t body);
/* At the source: the acknowledgement of a store to another node has come. */
void nuna_translation_acked(struct nuna_gpu_lp *gpu, const struct nuna_flight *flight);

/* Most pages that lived at a time. False on lack of memory. */
bool nuna_translation_live(const struct nuna_translation *translation, uint64_t *ret_pages);

/* pod/ahead.c: the mitigations. */

bool nuna_pretranslates(const struct nuna_params *params);
/* When the collective starts: after the lead of pre-translation. */
nuna_time nuna_pretranslate_lead(const struct nuna_params *params);
/* Lists what is to be sent before the collective. False on lack of memory. */
bool nuna_pretranslate_plan(struct nuna_gpu_lp *gpu);
/* Schedules it, from time 0 on, and the start. */
void nuna_pretranslate_start(struct nuna_gpu_lp *gpu);
void nuna_pretranslate_next(struct nuna_gpu_lp *gpu, uint32_t index);
/* Before the line that a threadblock is about to load: requests for the pages that its stores come
 * to within the distance. */
void nuna_prefetch_pages(struct nuna_gpu_lp *gpu, uint32_t tb);
/* The same of any stretch of a GPU's memory that ends at `end`: the access has come to `reached`;
 * `*ahead` is the first position that no request covers. */
void nuna_prefetch_stretch(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t dest, uint64_t end,
                           uint64_t reached, uint64_t *ahead);
/* A transfer begins: requests for the flags that the threadblock, or the proxy, raises next. */
void nuna_prefetch_flags(struct nuna_gpu_lp *gpu, uint32_t tb);

#endif
