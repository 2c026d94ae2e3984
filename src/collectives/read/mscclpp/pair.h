/* MSCCL++ JSON: the two ends of each channel. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP_PAIR_H
#define NUNA_COLLECTIVES_READ_MSCCLPP_PAIR_H

#include "collectives/read/mscclpp/reader.h"

/* Finds each channel's other end, makes the ends that the file leaves out, and fills the plan. */
bool nuna_read_pair_channels(struct nuna_plan_reader *reader);

#endif
