#include "pod/transfers.h"
#include <stdlib.h>

nuna_time nuna_transfers_lookahead(const struct nuna_pod *pod)
{
    nuna_time clos = nuna_clos_lookahead(&pod->spec.clos);
    nuna_time pcie = (nuna_time)pod->spec.params->host.pcie_latency;
    return clos < pcie ? clos : pcie;
}

struct nuna_transfers *nuna_transfers_create(const struct nuna_pod *pod,
                                             const struct nuna_host_plan *plan,
                                             struct nuna_kernel *kernel, struct nuna_gpu *gpus)
{
    struct nuna_transfers *transfers = calloc(1, sizeof *transfers);
    if (!transfers)
        return NULL;
    struct nuna_arena *arena = nuna_kernel_arena(kernel);
    nuna_host_shape_init(&transfers->shape, pod->spec.params, &pod->spec.clos, pod->spec.gpu_count);
    transfers->gpus = calloc(pod->spec.gpu_count, sizeof *transfers->gpus);
    bool ok = transfers->gpus && nuna_host_init(&transfers->host, &transfers->shape, plan,
                                                nuna_kernel_lp(kernel, pod->spec.gpu_count), arena);
    for (uint32_t g = 0; ok && g < pod->spec.gpu_count; g++) {
        ok = nuna_host_gpu_init(&transfers->gpus[g], &transfers->shape, g,
                                nuna_host_slots_per_gpu(&transfers->host), gpus[g].lp,
                                &gpus[g].scaleup, arena);
        gpus[g].host = &transfers->gpus[g];
    }
    if (ok)
        return transfers;
    nuna_transfers_destroy(transfers);
    return NULL;
}

void nuna_transfers_destroy(struct nuna_transfers *transfers)
{
    if (!transfers)
        return;
    for (uint32_t g = 0; transfers->gpus && g < transfers->shape.gpus; g++)
        nuna_host_gpu_finish(&transfers->gpus[g]);
    nuna_host_finish(&transfers->host);
    free(transfers->gpus);
    free(transfers);
}

static void handle(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    (void)lp;
    nuna_host_handle(model, event);
}

static void prefetch(void *model, struct nuna_event event)
{
    (void)model;
    (void)event;
}

void nuna_transfers_run(struct nuna_transfers *transfers, nuna_time end)
{
    nuna_lp_run(transfers->host.lp, end, &transfers->host, handle, prefetch);
}
