/* One copy over the target's own link, as the runtime does it. */
#include "host/engine.h"

static bool pull(const struct nuna_host_queue_view *view, struct nuna_host_chunk *ret_chunk)
{
    for (uint32_t t = 0; t < view->count; t++) {
        struct nuna_host_transfer *transfer = &view->transfers[t];
        if (!nuna_host_in_view(view, transfer) || transfer->pulled == transfer->request.bytes)
            continue;
        *ret_chunk = (struct nuna_host_chunk){.transfer = t, .bytes = transfer->request.bytes};
        transfer->pulled = transfer->request.bytes;
        return true;
    }
    return false;
}

const struct nuna_host_engine nuna_host_engine_native = {.name = "native", .pull = pull};
