/* MSCCL++ JSON, version 1 (0.5 to 0.7). */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP1_MSCCLPP1_H
#define NUNA_COLLECTIVES_READ_MSCCLPP1_MSCCLPP1_H

#include "collectives/read/mscclpp/reader.h"

/* The GPUs of the plan; the head has been read. */
bool nuna_read_mscclpp1(struct nuna_plan_reader *reader);

#endif
