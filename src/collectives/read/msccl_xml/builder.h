/* Shared by the files that make a plan of MSCCL XML. */
#ifndef NUNA_COLLECTIVES_READ_MSCCL_XML_BUILDER_H
#define NUNA_COLLECTIVES_READ_MSCCL_XML_BUILDER_H

#include "collectives/plan/build.h"
#include "collectives/read/msccl_xml/xml.h"

/* One end of a connection, sorted so that the two ends of one are neighbours. */
struct nuna_xml_end {
    int32_t source, destination, chan;
    bool receives;
    uint32_t tb;      /* place in xml->tbs */
    uint32_t gpu;     /* rank */
    uint32_t channel; /* among the GPU's */
};

struct nuna_xml_builder {
    const struct nuna_xml *xml;
    struct nuna_error *err;
    struct nuna_builder builder;
    uint32_t *gpu_of; /* rank -> place in xml->gpus */
    uint32_t *tb_of;  /* place of the GPU's first tb + id -> place in xml->tbs */
    struct nuna_xml_end *ends;
    size_t end_count;
};

bool nuna_xml_fail(struct nuna_xml_builder *b, uint32_t line, uint32_t column, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

#endif
