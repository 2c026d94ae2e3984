/* MSCCL XML: from text to records. */
#ifndef NUNA_COLLECTIVES_READ_MSCCL_XML_PARSE_H
#define NUNA_COLLECTIVES_READ_MSCCL_XML_PARSE_H

#include "collectives/read/msccl_xml/xml.h"
#include "collectives/read/text/text.h"

/* `ret` is to be freed in any case. */
bool nuna_xml_parse(const struct nuna_plan_text *text, struct nuna_xml *ret,
                    struct nuna_error *err);

#endif
