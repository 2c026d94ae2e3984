#include "pod/report/breakdown.h"
#include <string.h>

bool nuna_breakdown_make(const struct nuna_view *view, struct nuna_breakdown *ret_breakdown,
                         struct nuna_error *err)
{
    memset(ret_breakdown, 0, sizeof *ret_breakdown);
    nuna_busiest_resource(view, &ret_breakdown->binding);
    return view->result->status != NUNA_SIM_COMPLETE ||
           nuna_critical_path(view, ret_breakdown->path, &ret_breakdown->path_ops) ||
           nuna_fail_memory(err, "the critical path");
}
