/* MSCCL XML. */
#ifndef NUNA_COLLECTIVES_READ_MSCCL_XML_MSCCL_XML_H
#define NUNA_COLLECTIVES_READ_MSCCL_XML_MSCCL_XML_H

#include "collectives/plan/plan.h"
#include "collectives/read/text/text.h"

/* NULL with `err` filled on failure. */
struct nuna_plan *nuna_read_msccl_xml(struct nuna_plan_text *text, struct nuna_error *err);

#endif
