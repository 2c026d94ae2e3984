/* The server around the GPUs: sockets with memory, links between them, one PCIe link per GPU.
 *
 *   DRAM --- socket 0 === socket links === socket 1 --- DRAM
 *            |  |  |  |                    |  |  |  |        PCIe, one link per GPU and direction
 *            G0 G1 G2 G3                   G4 G5 G6 G7
 *             \__\__\__\____ scale-up _____/__/__/__/        ports and switch planes
 *
 * Source: arXiv 2512.16056 (MMA), figure 1 and section 5. Rates are bytes/s, times ps. */
#ifndef NUNA_HOST_SHAPE_H
#define NUNA_HOST_SHAPE_H

#include "core/params.h"
#include "core/server.h"
#include "scaleup/clos.h"

/* Constant during a run, shared by host and GPUs. */
struct nuna_host_shape {
    const struct nuna_params *params;
    const struct nuna_clos *clos;
    uint32_t gpus, sockets, pipelines, depth;
    uint32_t managers; /* filled by the host: every one has its engines and streams on each GPU */
    struct nuna_rate dram, socket_link, far_read, far_write, far_gpu, pcie, memory, relay;
    nuna_time dram_latency, socket_link_latency, pcie_latency, memory_latency;
    nuna_time copy_gap, relay_dependency, interval;
    uint32_t piece_bytes, control_bytes;
    uint64_t pcie_window, peer_window;
};

/* `params` and `clos` must outlive the shape. */
void nuna_host_shape_init(struct nuna_host_shape *shape, const struct nuna_params *params,
                          const struct nuna_clos *clos, uint32_t gpus);

/* Values that only a server with these GPUs refuses: sockets that do not divide them, and the like.
 * Messages begin with the key. */
bool nuna_host_shape_check(const struct nuna_params *params, uint32_t gpus, struct nuna_error *err);

static inline uint32_t nuna_host_socket(const struct nuna_host_shape *shape, uint32_t gpu)
{
    return gpu / (shape->gpus / shape->sockets);
}

/* The socket whose memory holds byte `offset` of the host buffer of a transfer of GPU `gpu`, read
 * or written through the PCIe link of GPU `path`. */
static inline uint32_t nuna_host_home(const struct nuna_host_shape *shape, uint32_t gpu,
                                      uint32_t path, uint64_t offset)
{
    uint32_t socket = nuna_host_socket(shape, gpu);
    switch ((enum nuna_host_buffer)shape->params->host.buffer) {
    case NUNA_HOST_BUFFER_OTHER:
        return (socket + 1) % shape->sockets;
    case NUNA_HOST_BUFFER_INTERLEAVED:
        return (uint32_t)((socket + offset / (uint64_t)shape->params->host.buffer_page) %
                          shape->sockets);
    case NUNA_HOST_BUFFER_EACH:
        return nuna_host_socket(shape, path);
    case NUNA_HOST_BUFFER_TARGET:
        break;
    }
    return socket;
}

/* How many of the `bytes` from `offset` on lie in the memory of one socket. */
static inline uint64_t nuna_host_within_home(const struct nuna_host_shape *shape, uint64_t offset,
                                             uint64_t bytes)
{
    uint64_t page = (uint64_t)shape->params->host.buffer_page, left = page - offset % page;
    bool cut = shape->params->host.buffer == NUNA_HOST_BUFFER_INTERLEAVED && left < bytes;
    return cut ? left : bytes;
}

/* Time a path takes for a chunk when nothing else moves, launch and completion aside: what a
 * manager compares with to tell that a relay is contended. */
nuna_time nuna_host_time_alone(const struct nuna_host_shape *shape, uint32_t gpu, uint32_t path,
                               uint64_t bytes);

#endif
