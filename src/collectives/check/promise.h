/* What the collective promises. */
#ifndef NUNA_COLLECTIVES_CHECK_PROMISE_H
#define NUNA_COLLECTIVES_CHECK_PROMISE_H

#include "collectives/check/trial.h"

/* Compares the outputs with what the collective promises. */
bool nuna_check_promise(const struct nuna_slots *slots, const struct nuna_trial *trial,
                        struct nuna_error *err);

#endif
