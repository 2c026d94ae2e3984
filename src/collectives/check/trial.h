/* A symbolic run of a plan: it follows values instead of bytes, under a chosen schedule. */
#ifndef NUNA_COLLECTIVES_CHECK_TRIAL_H
#define NUNA_COLLECTIVES_CHECK_TRIAL_H

#include "collectives/check/schedule.h"
#include "collectives/check/slots.h"
#include "collectives/check/value.h"

struct nuna_trial;

struct nuna_trial *nuna_trial_new(const struct nuna_slots *slots, struct nuna_error *err);
void nuna_trial_free(struct nuna_trial *trial);

/* Runs the plan. False: out of memory, or a deadlock, which is described. */
bool nuna_trial_run(struct nuna_trial *trial, const struct nuna_schedule *schedule,
                    struct nuna_error *err);

uint64_t nuna_trial_steps(const struct nuna_trial *trial);
uint32_t nuna_trial_value(const struct nuna_trial *trial, uint32_t slot);
struct nuna_print nuna_trial_print(const struct nuna_trial *trial, uint32_t value);
const struct nuna_sum *nuna_trial_sums(const struct nuna_trial *trial, uint32_t *ret_count,
                                       const uint32_t **ret_terms);

/* The threadblock whose store to the slot was never made known to the receiver, or NUNA_NONE. */
uint32_t nuna_trial_undelivered(const struct nuna_trial *trial, uint32_t slot);

#endif
