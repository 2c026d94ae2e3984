/* MSCCL++ JSON: which version of the format a file has. */
#ifndef NUNA_COLLECTIVES_READ_MSCCLPP_FAMILY_H
#define NUNA_COLLECTIVES_READ_MSCCLPP_FAMILY_H

#include "collectives/read/text/json_doc.h"

/* Refuses drafts by their keys; tells version 1 from 2. */
bool nuna_read_family(const struct nuna_json_doc *doc, bool *ret_version1, struct nuna_error *err);

#endif
