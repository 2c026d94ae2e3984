/* links.csv: how busy every queue of the pod was. */
#ifndef NUNA_POD_REPORT_LINKS_H
#define NUNA_POD_REPORT_LINKS_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_links_table;

/* False when writing failed. */
bool nuna_report_links(FILE *out, const struct nuna_view *view);

#endif
