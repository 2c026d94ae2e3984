/* What a threadblock of a symbolic run waits for. */
#ifndef NUNA_COLLECTIVES_CHECK_TRIAL_TEXT_H
#define NUNA_COLLECTIVES_CHECK_TRIAL_TEXT_H

#include "collectives/check/trial_state.h"

/* "GPU 3 threadblock 1 op 4 (wait) waits for ..." */
void nuna_trial_describe(const struct nuna_trial *m, uint32_t tb, char *text, size_t size);

#endif
