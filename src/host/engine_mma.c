/* Paths pull chunks: for their own GPU first, then for the GPU with most bytes left to pull.
 * Source: MMA section 3.4.2. */
#include "host/engine.h"

void nuna_host_take_front(const struct nuna_host_queue_view *view, uint32_t index,
                          struct nuna_host_chunk *ret_chunk)
{
    struct nuna_host_transfer *transfer = &view->transfers[index];
    uint64_t chunk = (uint64_t)view->shape->params->host.chunk_size;
    uint64_t left = transfer->request.bytes - transfer->pulled;
    *ret_chunk = (struct nuna_host_chunk){
        .transfer = index, .offset = transfer->pulled, .bytes = left < chunk ? left : chunk};
    transfer->pulled += ret_chunk->bytes;
}

/* Bytes that wait for a GPU, of transfers that this path may serve. */
static uint64_t waiting_for(const struct nuna_host_queue_view *view, uint32_t gpu)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < view->count; t++) {
        const struct nuna_host_transfer *transfer = &view->transfers[t];
        if (transfer->request.gpu == gpu && nuna_host_in_view(view, transfer))
            bytes += transfer->request.bytes - transfer->pulled;
    }
    return bytes;
}

static bool pull(const struct nuna_host_queue_view *view, struct nuna_host_chunk *ret_chunk)
{
    bool own_first = view->shape->params->host.direct_priority == NUNA_HOST_ON;
    uint32_t best = UINT32_MAX;
    uint64_t most = 0;
    for (uint32_t t = 0; t < view->count; t++) {
        const struct nuna_host_transfer *transfer = &view->transfers[t];
        if (!nuna_host_in_view(view, transfer) || transfer->pulled == transfer->request.bytes)
            continue;
        /* The oldest transfer of a GPU goes first; so does, at ties, the oldest of two GPUs'. */
        uint64_t bytes = own_first && transfer->request.gpu == view->gpu
                             ? UINT64_MAX
                             : waiting_for(view, transfer->request.gpu);
        if (bytes > most) {
            most = bytes;
            best = t;
        }
    }
    if (best == UINT32_MAX)
        return false;
    nuna_host_take_front(view, best, ret_chunk);
    return true;
}

const struct nuna_host_engine nuna_host_engine_mma = {.name = "mma", .chunked = true, .pull = pull};
