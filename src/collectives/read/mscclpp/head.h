/* MSCCL++ JSON: the members of the top-level object but its GPUs. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP_HEAD_H
#define NUNA_COLLECTIVES_READ_MSCCLPP_HEAD_H

#include "collectives/read/mscclpp/reader.h"

/* Name, collective, protocol and sizes; what `version1` files may leave out. */
bool nuna_read_top(struct nuna_plan_reader *reader, bool version1);

#endif
