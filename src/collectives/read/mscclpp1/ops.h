/* MSCCL++ JSON, version 1: operations. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP1_OPS_H
#define NUNA_COLLECTIVES_READ_MSCCLPP1_OPS_H

#include "collectives/read/mscclpp/reader.h"

bool nuna_mscclpp1_op(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *op);

#endif
