/* The state of the XML writer. A threadblock of the plan becomes one or several of the file, its
 * lanes, as in the file each sends to one GPU and receives from one; dependencies keep the order
 * that the plan's threadblock had. */
#ifndef NUNA_COLLECTIVES_WRITE_XML_WRITER_H
#define NUNA_COLLECTIVES_WRITE_XML_WRITER_H

#include "collectives/plan/plan.h"

struct nuna_xml_out_step {
    char type[5];
    char source_buffer, target_buffer;
    int64_t source, target;
    uint32_t count;  /* NONE: left out */
    uint32_t number; /* among those that are not */
    int64_t depid, deps;
    bool posted;
};

/* A threadblock of the file. */
struct nuna_xml_lane {
    struct nuna_xml_out_step *steps;
    uint32_t count, cap;
    int64_t send, recv;
    uint32_t chan;
    uint32_t fixed; /* earlier steps keep their places */
    uint32_t *done; /* [lane of the GPU] steps it has waited for; NULL: none */
};

/* What a signal announces: the puts of its threadblock between two operations. */
struct nuna_xml_message {
    uint32_t tb; /* of the plan */
    uint32_t from, to;
};

/* How many steps of the GPU's other lanes come before a step of this threadblock. */
struct nuna_xml_needs {
    uint32_t *send, *local; /* [lane of the GPU]; NULL: of none */
    uint32_t current;       /* lane of the newest step */
};

struct nuna_xml_writer {
    const struct nuna_plan *plan;
    struct nuna_xml_lane *lanes;
    uint32_t lane_count, lane_cap;
    uint32_t *lane_at;                 /* [threadblock, and one behind] */
    struct nuna_xml_message *messages; /* per channel end that is signalled, in order */
    uint32_t *message_at, *message_count, *message_taken; /* [channel] */
    bool *several; /* [channel] a message has several steps */
    uint32_t *tb_gpu;
    uint32_t *chan_of; /* [channel]: number among the pair's, the same at both ends */
    uint32_t chans;
    struct nuna_xml_needs *needs; /* [threadblock] */
    uint32_t *pc;                 /* [threadblock] its next operation */
    bool failed, no_memory;
};

static inline uint32_t nuna_xml_far_end(const struct nuna_plan *plan, uint32_t gpu, uint32_t id)
{
    const struct nuna_channel *end = &plan->channels[plan->gpus[gpu].channel_at + id];
    return plan->gpus[end->peer].channel_at + end->peer_channel;
}

static inline uint32_t nuna_xml_first_lane(const struct nuna_xml_writer *w, uint32_t gpu)
{
    return w->lane_at[w->plan->gpus[gpu].tb_at];
}

static inline uint32_t nuna_xml_lane_count(const struct nuna_xml_writer *w, uint32_t gpu)
{
    const struct nuna_plan_gpu *g = &w->plan->gpus[gpu];
    return w->lane_at[g->tb_at + g->tb_count] - w->lane_at[g->tb_at];
}

#endif
