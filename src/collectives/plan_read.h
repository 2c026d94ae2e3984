/* Inside of the plan reader: what its files share while one file is being read. */
#ifndef NUNA_COLLECTIVES_PLAN_READ_H
#define NUNA_COLLECTIVES_PLAN_READ_H

#include "collectives/plan_build.h"
#include "collectives/plan_json_doc.h"

struct nuna_u32_list {
    uint32_t *items;
    size_t count, cap;
};

/* A remote buffer that the plan does not open for memory channels. */
#define NUNA_REMOTE_NOT_MEMORY UINT32_MAX

struct nuna_plan_reader {
    const struct nuna_json_doc *doc;
    struct nuna_error *err;
    struct nuna_builder builder;

    /* Flat over GPUs; the GPU's part starts at its entry of the _at array (gpu_count + 1 entries).
     */
    struct nuna_u32_list peers; /* of the channels that the file lists */
    struct nuna_u32_list peers_at;
    struct nuna_u32_list remotes; /* rank * NUNA_BUFFER_COUNT + buffer */
    struct nuna_u32_list remotes_at;

    uint32_t gpu; /* being read */
    /* What the numbers in the operations of the threadblock being read stand for. */
    struct nuna_u32_list tb_channels; /* channels of the GPU */
    struct nuna_u32_list tb_remotes;  /* entries as in `remotes` */
};

bool nuna_u32_push(struct nuna_u32_list *list, uint32_t value, struct nuna_error *err);

/* Refuses older formats by the keys of the first GPU. */
bool nuna_read_check_family(const struct nuna_json_doc *doc, struct nuna_error *err);

/* The same for one GPU object alone: plans that mix the formats. */
bool nuna_read_check_gpu_keys(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                              const cJSON *gpu, struct nuna_error *err);

/* Everything of the GPUs but their threadblocks, whose references need all of it. */
bool nuna_read_gpu(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                   const cJSON *gpu);

bool nuna_read_threadblocks(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                            const cJSON *gpu);

/* Finds each channel's other end, makes the ends that the file leaves out, and fills the plan. */
bool nuna_read_pair_channels(struct nuna_plan_reader *reader);

/* "i", "o", "s" */
bool nuna_read_buffer(struct nuna_plan_reader *reader, const struct nuna_json_path *at,
                      const cJSON *object, enum nuna_buffer *ret);

#endif
