/* Host transfers that are done, to be read: all that reports know of them. */
#ifndef NUNA_HOST_RESULT_H
#define NUNA_HOST_RESULT_H

#include "host/transfer.h"

struct nuna_host;
struct nuna_host_gpu;
struct nuna_timeline;

/* Of a simulation, or of the parts of one. */
struct nuna_host_view {
    uint32_t transfers, gpu_count;
    const struct nuna_host *host; /* for the functions below: not to be looked into */
    const struct nuna_host_gpu *gpus;
};
struct nuna_host_view nuna_host_view_of(const struct nuna_host *host,
                                        const struct nuna_host_gpu *gpus);

struct nuna_host_outcome {
    struct nuna_host_request request;
    const char *engine; /* the one that carried it out */
    bool complete;
    nuna_time begin; /* its start, or the end of its predecessor in the stream if that is later */
    nuna_time time;  /* from there to when the application goes on; of a background, to the last
                        arrival */
    uint64_t bytes;  /* arrived; of a background, by then */
    uint64_t chunks;
    const uint64_t *path_bytes; /* [GPU]: by the PCIe link they crossed; of whole chunks */
};
struct nuna_host_outcome nuna_host_outcome(struct nuna_host_view view, uint32_t transfer);

/* The end of the last transfer, ps: the time that utilisations refer to. Of an incomplete run,
 * `now`. */
nuna_time nuna_host_elapsed(struct nuna_host_view view, nuna_time now);

/* CPU time of the managers' threads over the time of the longest transfer, in thousandths of a
 * core: synchronisation threads spin while chunks are outstanding, transfer threads work while they
 * launch. Source: MMA section 5.3, CPU overhead. */
uint64_t nuna_host_cpu_millicores(struct nuna_host_view view, nuna_time elapsed);

struct nuna_host_resource {
    const char *kind; /* "dram", "pcie_down", ... */
    char name[48];    /* "socket 0", "gpu3" */
    uint64_t bytes;   /* of transfers, both ways where they share it */
    nuna_time busy;   /* sum over its `lanes` */
    uint32_t lanes;   /* ports of a GPU; else 1 */
    const struct nuna_timeline *timeline;
};

/* Calls `visit` for every resource in a fixed order; stops early when it returns false. */
typedef bool nuna_host_visit(void *context, const struct nuna_host_resource *resource);
bool nuna_host_visit_all(struct nuna_host_view view, nuna_host_visit *visit, void *context);

#endif
