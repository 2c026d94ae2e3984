/* MSCCL++ JSON, version 2 (0.8 and later). */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP2_MSCCLPP2_H
#define NUNA_COLLECTIVES_READ_MSCCLPP2_MSCCLPP2_H

#include "collectives/read/mscclpp/reader.h"

/* The GPUs of the plan; the head has been read. */
bool nuna_read_mscclpp2(struct nuna_plan_reader *reader);

#endif
