/* Races within a GPU, of two-sided plans. */
#ifndef NUNA_COLLECTIVES_CHECK_RACES_H
#define NUNA_COLLECTIVES_CHECK_RACES_H

#include "collectives/check/slots.h"

/* Lists, line by line, accesses of one GPU's threadblocks that nothing orders; `*ret_checked` is
 * false when the plan is too large to tell. */
bool nuna_check_races(const struct nuna_slots *slots, char *text, size_t room, bool *ret_checked,
                      struct nuna_error *err);

#endif
