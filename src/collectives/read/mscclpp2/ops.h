/* MSCCL++ JSON, version 2: operations. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP2_OPS_H
#define NUNA_COLLECTIVES_READ_MSCCLPP2_OPS_H

#include "collectives/read/mscclpp/reader.h"

bool nuna_read_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at, const cJSON *op,
                  bool in_loop);

#endif
