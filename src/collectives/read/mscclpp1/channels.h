/* Inside of the reader of MSCCL++ JSON, version 1. A channel's tag is its pair of buffers: source *
 * NUNA_BUFFER_COUNT + destination. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP1_CHANNELS_H
#define NUNA_COLLECTIVES_READ_MSCCLPP1_CHANNELS_H

#include "collectives/read/mscclpp/reader.h"

/* The word for a type of channel in any release; false when it is none. */
bool nuna_mscclpp1_parse_via(const char *type, uint32_t *ret);

/* Member `key`: the type of a channel, in the words of any release. */
bool nuna_mscclpp1_via(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, const char *key, uint32_t *ret);
bool nuna_mscclpp1_tag(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                       const cJSON *object, const char *source, const char *destination,
                       uint32_t *ret);

/* The channels of a GPU, and one entry of a threadblock's list of them. */
bool nuna_mscclpp1_channels(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *gpu);
bool nuna_mscclpp1_tb_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                              const cJSON *group);

/* An operation's `id`-th channel among the threadblock's of that kind and tag. */
bool nuna_mscclpp1_find_channel(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                                uint32_t via, uint32_t tag, uint32_t id, uint32_t *ret);

#endif
