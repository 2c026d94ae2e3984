#include "host/shape.h"
#include <inttypes.h>

static void init_rate(const struct nuna_host_shape *shape, struct nuna_rate *rate,
                      int64_t bytes_per_s)
{
    nuna_rate_init(rate, (uint64_t)bytes_per_s, shape->piece_bytes, shape->control_bytes);
}

void nuna_host_shape_init(struct nuna_host_shape *shape, const struct nuna_params *params,
                          const struct nuna_clos *clos, uint32_t gpus)
{
    *shape = (struct nuna_host_shape){
        .params = params,
        .clos = clos,
        .gpus = gpus,
        .sockets = (uint32_t)params->host.sockets,
        .pipelines = (uint32_t)params->host.pipelines,
        .depth = (uint32_t)params->host.queue_depth,
        .dram_latency = (nuna_time)params->host.dram_latency,
        .socket_link_latency = (nuna_time)params->host.socket_link_latency,
        .pcie_latency = (nuna_time)params->host.pcie_latency,
        .memory_latency = (nuna_time)params->hbm.access_latency,
        .copy_gap = (nuna_time)params->host.copy_gap,
        .relay_dependency = (nuna_time)params->host.relay_dependency,
        .interval = (nuna_time)params->host.interval,
        .piece_bytes = (uint32_t)params->host.piece_size,
        .control_bytes = (uint32_t)params->noc.control_size,
        .pcie_window = (uint64_t)params->host.read_window,
        .peer_window = (uint64_t)params->host.peer_window,
    };
    init_rate(shape, &shape->dram, params->host.dram_rate);
    init_rate(shape, &shape->socket_link, params->host.socket_link_rate);
    init_rate(shape, &shape->far_read, params->host.far_read_rate);
    init_rate(shape, &shape->far_write, params->host.far_write_rate);
    init_rate(shape, &shape->far_gpu, params->host.far_gpu_rate);
    init_rate(shape, &shape->pcie, params->host.pcie_rate);
    init_rate(shape, &shape->memory, params->host.memory_rate);
    init_rate(shape, &shape->relay, params->host.relay_rate);
}

bool nuna_host_shape_check(const struct nuna_params *params, uint32_t gpus, struct nuna_error *err)
{
    if (gpus % (uint64_t)params->host.sockets != 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "host.sockets: %" PRId64 " sockets do not divide %u GPUs (pod.gpus), "
                         "expected the same number of GPUs on every socket",
                         params->host.sockets, gpus);
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

nuna_time nuna_host_time_alone(const struct nuna_host_shape *shape, uint32_t gpu, uint32_t path,
                               uint64_t bytes)
{
    const struct nuna_params *params = shape->params;
    uint64_t rate = shape->pcie.bytes_per_s;
    uint64_t far = shape->far_gpu.bytes_per_s;
    bool interleaved = params->host.buffer == NUNA_HOST_BUFFER_INTERLEAVED && shape->sockets > 1;
    if (interleaved)
        rate = least(rate, far / (shape->sockets - 1) * shape->sockets);
    else if (nuna_host_home(shape, gpu, path, 0) != nuna_host_socket(shape, path))
        rate = least(rate, far);
    nuna_time time = shape->copy_gap + 2 * shape->pcie_latency;
    if (gpu != path) {
        rate = least(rate, shape->relay.bytes_per_s);
        time += shape->copy_gap + shape->relay_dependency + 4 * nuna_clos_lookahead(shape->clos) +
                nuna_units_transfer_time(
                    bytes, shape->clos->port_rate.bytes_per_s * shape->clos->ports, NULL);
    }
    return time + nuna_units_transfer_time(bytes, rate, NULL);
}
