/* Signals, waits, semaphores, barriers and dependencies of a symbolic run. */
#ifndef NUNA_COLLECTIVES_CHECK_TRIAL_SYNC_H
#define NUNA_COLLECTIVES_CHECK_TRIAL_SYNC_H

#include "collectives/check/trial_state.h"

/* Those that return a bool are false when the threadblock has to wait. */
void nuna_trial_signal(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op);
bool nuna_trial_wait(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op);
void nuna_trial_release(struct nuna_trial *m, uint32_t gpu, const struct nuna_op *op);
bool nuna_trial_barrier(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op);
bool nuna_trial_depend(struct nuna_trial *m, uint32_t tb, uint32_t gpu, const struct nuna_op *op);
void nuna_trial_post(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op);

#endif
