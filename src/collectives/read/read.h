/* Plan files, of any format. NULL with `err` filled on failure. */
#ifndef NUNA_COLLECTIVES_READ_READ_H
#define NUNA_COLLECTIVES_READ_READ_H

#include "collectives/plan/plan.h"
#include "collectives/read/text/text.h"

/* Reads a plan file; the format is told from the content. Errors: `file: json.path: what is wrong,
 * what was expected`, or `file:line:column: ...` for malformed JSON. Free with nuna_plan_destroy.
 */
struct nuna_plan *nuna_plan_read(const char *path, struct nuna_error *err);
/* The same from memory; frees the text in any case. */
struct nuna_plan *nuna_plan_parse(struct nuna_plan_text *text, struct nuna_error *err);

#endif
