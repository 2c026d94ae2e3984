/* What a run's time is made of: its critical path, and its busiest resource. */
#ifndef NUNA_POD_REPORT_BREAKDOWN_H
#define NUNA_POD_REPORT_BREAKDOWN_H

#include "core/error.h"
#include "pod/report/critical_path.h"
#include "pod/report/resources.h"

struct nuna_breakdown {
    nuna_time path[NUNA_PATH_PARTS]; /* sums to the run's time; zero unless complete */
    uint32_t path_ops;               /* operations on the critical path */
    struct nuna_resource binding;    /* busiest resource */
};

/* False on lack of memory. */
bool nuna_breakdown_make(const struct nuna_view *view, struct nuna_breakdown *ret_breakdown,
                         struct nuna_error *err);

#endif
