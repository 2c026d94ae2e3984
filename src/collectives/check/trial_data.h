/* What the operations of a plan do to values. */
#ifndef NUNA_COLLECTIVES_CHECK_TRIAL_DATA_H
#define NUNA_COLLECTIVES_CHECK_TRIAL_DATA_H

#include "collectives/check/trial_state.h"

/* Each is false when the threadblock has to wait; it is then in the list of what it waits for. */
bool nuna_trial_move(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op);
bool nuna_trial_exchange(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op);

#endif
