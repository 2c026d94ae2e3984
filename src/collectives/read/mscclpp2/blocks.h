/* MSCCL++ JSON, version 2: threadblocks, and what their numbers stand for. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP2_BLOCKS_H
#define NUNA_COLLECTIVES_READ_MSCCLPP2_BLOCKS_H

#include "collectives/read/mscclpp/reader.h"

bool nuna_read_threadblocks(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *gpu);

#endif
