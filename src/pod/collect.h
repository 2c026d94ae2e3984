/* Adds up what a run came to. Private to src/pod. */
#ifndef NUNA_POD_COLLECT_H
#define NUNA_POD_COLLECT_H

#include "core/kernel.h"
#include "pod/result.h"
#include "pod/sim_private.h"

/* Bytes that remote stores have written so far, of all GPUs. */
uint64_t nuna_sim_bytes_delivered(const struct nuna_sim *sim);

/* Whether every store and flag that was sent has landed. */
bool nuna_sim_all_landed(const struct nuna_sim *sim);

/* After the run, once: also gives every folded GPU its own record of operations. False on lack of
 * memory. */
bool nuna_sim_collect(struct nuna_sim *sim, enum nuna_kernel_status status,
                      struct nuna_result *result);

#endif
