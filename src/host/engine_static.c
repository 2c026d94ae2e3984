/* Every path gets a fixed share of each transfer, in chunks. Source: MMA section 5.1.2, the
 * comparison of figure 10. */
#include "host/engine.h"

static void divide(struct nuna_host_transfer *transfer, const struct nuna_host_paths *paths)
{
    uint64_t sum = 0, before = 0, at = 0;
    for (uint32_t i = 0; i < transfer->path_count; i++)
        sum += paths->share_count ? paths->share[i] : 1;
    /* Rounded at the borders, so that the shares add up; upwards, so that the first paths have the
     * odd bytes. */
    for (uint32_t i = 0; i < transfer->path_count; i++) {
        before += paths->share_count ? paths->share[i] : 1;
        uint64_t end =
            (uint64_t)(((unsigned __int128)transfer->request.bytes * before + sum - 1) / sum);
        transfer->share_at[transfer->path[i]] = at;
        transfer->share_left[transfer->path[i]] = end - at;
        at = end;
    }
}

static bool pull(const struct nuna_host_queue_view *view, struct nuna_host_chunk *ret_chunk)
{
    uint64_t chunk = (uint64_t)view->shape->params->host.chunk_size;
    for (uint32_t t = 0; t < view->count; t++) {
        struct nuna_host_transfer *transfer = &view->transfers[t];
        if (!nuna_host_in_view(view, transfer) || transfer->share_left[view->gpu] == 0)
            continue;
        uint64_t left = transfer->share_left[view->gpu];
        uint64_t bytes = left < chunk ? left : chunk;
        *ret_chunk = (struct nuna_host_chunk){
            .transfer = t, .offset = transfer->share_at[view->gpu], .bytes = bytes};
        transfer->share_at[view->gpu] += bytes;
        transfer->share_left[view->gpu] -= bytes;
        return true;
    }
    return false;
}

const struct nuna_host_engine nuna_host_engine_static = {
    .name = "static", .chunked = true, .divide = divide, .pull = pull};
