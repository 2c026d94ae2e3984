/* MSCCL++ JSON: what the readers of both versions share while a file is being read. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP_READER_H
#define NUNA_COLLECTIVES_READ_MSCCLPP_READER_H

#include "collectives/plan/build.h"
#include "collectives/read/text/json_doc.h"

#define NUNA_CHUNKS_MAX (1u << 24)
#define NUNA_GPUS_MAX   (1u << 20)

struct nuna_u32_list {
    uint32_t *items;
    size_t count, cap;
};

/* Kinds of channels in JSON plans, as positions in the reader's lists. */
enum { NUNA_VIA_MEMORY, NUNA_VIA_PORT, NUNA_VIA_SWITCH, NUNA_VIA_KINDS };

/* Version 1 binds a channel to a pair of buffers; version 2 has tag 0. */
struct nuna_read_channel {
    uint32_t peer, via, tag;
};

struct nuna_plan_reader {
    const struct nuna_json_doc *doc;
    struct nuna_error *err;
    struct nuna_builder builder;

    /* Flat over GPUs; the GPU's part starts at its entry of the _at array (gpu_count + 1 entries).
     * Memory channels come first, then port channels. */
    struct nuna_read_channel *channels; /* that the file lists */
    size_t channel_count, channel_cap;
    struct nuna_u32_list channels_at;
    struct nuna_u32_list groups; /* switch channels: numbers of groups */
    struct nuna_u32_list groups_at;
    struct nuna_u32_list group_tags;  /* their buffers */
    struct nuna_u32_list remotes;     /* rank * NUNA_BUFFER_COUNT + buffer */
    struct nuna_u32_list remote_vias; /* a bit for each kind of channel that may access it */
    struct nuna_u32_list remotes_at;

    uint32_t gpu; /* being read */
    /* What the numbers in the operations of the threadblock being read stand for: channels of the
     * GPU (switch: places in `groups`), and entries as in `remotes`. Version 1: with tags. */
    struct nuna_u32_list tb_channels[NUNA_VIA_KINDS];
    struct nuna_u32_list tb_tags[NUNA_VIA_KINDS];
    struct nuna_u32_list tb_remotes[NUNA_VIA_KINDS];
    bool warned_of_keys;
};

/* Of what has been read so far; not the builder. */
void nuna_read_free_lists(struct nuna_plan_reader *reader);

bool nuna_u32_push(struct nuna_u32_list *list, uint32_t value, struct nuna_error *err);

bool nuna_read_chunks(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *gpu, const char *const keys[NUNA_BUFFER_COUNT]);
/* A rank other than the GPU's own (unless `own` is fine). */
bool nuna_read_rank(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                    const cJSON *value, bool own, uint32_t *ret);
/* {size, ranks}: makes a group and lists it for the GPU. */
bool nuna_read_groups(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *channel, const char *key, enum nuna_buffer buffer);
bool nuna_read_push_channel(struct nuna_plan_reader *reader, struct nuna_read_channel channel);

/* Numbers the GPU's barriers 0, 1, 2 ... in the order of the file's numbers. */
bool nuna_read_number_barriers(struct nuna_plan_reader *reader, size_t first_op);

/* Member `key`: "i", "o", "s" */
bool nuna_read_buffer(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *object, const char *key, enum nuna_buffer *ret);

/* The range is within its buffer; `key` names what to complain of. */
bool nuna_read_check_range(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                           const char *key, const struct nuna_range *range);

#endif
