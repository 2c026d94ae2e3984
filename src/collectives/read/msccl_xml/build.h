/* MSCCL XML: from records to a plan. */
#ifndef NUNA_COLLECTIVES_READ_MSCCL_XML_BUILD_H
#define NUNA_COLLECTIVES_READ_MSCCL_XML_BUILD_H

#include "collectives/read/msccl_xml/xml.h"

/* Puts the pieces together and checks what belongs together. NULL with `err` filled. */
struct nuna_plan *nuna_xml_build(const struct nuna_xml *xml, struct nuna_error *err);

#endif
