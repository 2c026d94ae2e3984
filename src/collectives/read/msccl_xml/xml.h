/* MSCCL XML as it stands in the file, before it becomes a plan. */
#ifndef NUNA_COLLECTIVES_READ_MSCCL_XML_XML_H
#define NUNA_COLLECTIVES_READ_MSCCL_XML_XML_H

#include "collectives/plan/plan.h"

#define NUNA_XML_CHUNKS_MAX (1u << 24)

enum nuna_xml_type {
    NUNA_XML_S,
    NUNA_XML_R,
    NUNA_XML_RCS,
    NUNA_XML_RRC,
    NUNA_XML_RRS,
    NUNA_XML_RRCS,
    NUNA_XML_CPY,
    NUNA_XML_RE,
    NUNA_XML_NOP,
    NUNA_XML_TYPES,
};

struct nuna_xml_step {
    uint32_t line, column;
    int32_t srcoff, dstoff, cnt, depid, deps;
    uint8_t type; /* enum nuna_xml_type */
    uint8_t srcbuf, dstbuf;
    bool hasdep;
};

struct nuna_xml_tb {
    uint32_t line, column;
    uint32_t gpu; /* place in gpus */
    int32_t id, send, recv, chan;
    size_t step_at, step_count;
};

struct nuna_xml_gpu {
    uint32_t line, column;
    int32_t id;
    int32_t chunks[NUNA_BUFFER_COUNT];
    size_t tb_at, tb_count;
};

struct nuna_xml {
    const char *path;
    char name[128], coll[32];
    enum nuna_form proto;
    uint32_t line, column;                                         /* of <algo> */
    int32_t nchannels, nchunksperloop, ngpus, inplace, outofplace; /* -1: not given */
    int64_t min_bytes, max_bytes;
    struct nuna_xml_gpu *gpus;
    struct nuna_xml_tb *tbs;
    struct nuna_xml_step *steps;
    size_t gpu_count, gpu_cap, tb_count, tb_cap, step_count, step_cap;
    char *warnings; /* lines, or NULL */
};

#endif
