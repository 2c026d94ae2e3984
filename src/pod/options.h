/* How to simulate. */
#ifndef NUNA_POD_OPTIONS_H
#define NUNA_POD_OPTIONS_H

#include "core/types.h"
#include "pod/fold.h"
#include <signal.h>

struct nuna_host_plan;

/* Called between windows by one thread. */
struct nuna_progress {
    nuna_time now;
    uint64_t bytes_delivered, bytes_requested, events;
};

struct nuna_sim_options {
    uint64_t size;    /* bytes: the larger of one GPU's input and output buffer */
    uint32_t threads; /* >= 1 */
    /* NAR granularity, a divisor of the ports; used by policies that know domains. */
    uint32_t domains;
    enum nuna_fold_mode fold;
    const struct nuna_host_plan
        *transfers; /* host transfers beside the collective, which then starts
                       at collective.start and is not folded; NULL: none */
    bool reference; /* the plain kernel (core/kernel.h); needs threads == 1 and NUNA_FOLD_OFF */
    const volatile sig_atomic_t *stop; /* set by a signal handler; may be NULL */
    void (*progress)(void *context, const struct nuna_progress *progress); /* may be NULL */
    void *progress_context;
};

#endif
