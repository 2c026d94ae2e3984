/* Engines: who decides which chunk goes which way. One table of functions per engine; everything
 * else (threads, queues, launching, completion) is the manager's. Private to src/host. */
#ifndef NUNA_HOST_ENGINE_H
#define NUNA_HOST_ENGINE_H

#include "host/shape.h"
#include "host/transfer.h"

struct nuna_host_chunk {
    uint32_t transfer;
    uint64_t offset, bytes;
};

/* A transfer and how far it is. */
struct nuna_host_transfer {
    struct nuna_host_request request;
    const struct nuna_host_engine *engine; /* native when mma falls back */
    uint32_t manager;
    bool active;        /* chunks may be pulled */
    uint64_t pulled;    /* bytes from the front, of engines that pull in order */
    uint64_t done;      /* bytes */
    uint64_t chunks;    /* launched */
    uint32_t successor; /* next in its stream; 0: none, as none can follow itself */
    bool waits;         /* for its predecessor */
    nuna_time begin;    /* its turn in its stream */
    nuna_time end;      /* the application goes on; 0: not yet */
    uint16_t *path;     /* GPUs whose PCIe links serve it, in order of preference */
    uint32_t path_count;
    uint64_t *path_bytes;            /* [GPU]: arrived by that path */
    uint64_t *share_left, *share_at; /* static [GPU]: bytes of its share and where they begin */
};

/* The transfers of a manager, as a pulling path sees them. */
struct nuna_host_queue_view {
    const struct nuna_host_shape *shape;
    struct nuna_host_transfer *transfers; /* all of the run, of other managers, too */
    uint32_t count, manager;
    enum nuna_host_direction direction;
    uint32_t gpu; /* the path */
    bool relays;  /* false: the path takes nothing for others now */
};

struct nuna_host_engine {
    const char *name;
    bool
        chunked; /* cut into chunks by a manager's threads, with their costs; else one plain copy */
    /* Divides a transfer over its paths before it starts; may be NULL. */
    void (*divide)(struct nuna_host_transfer *transfer, const struct nuna_host_paths *paths);
    /* The next chunk for a path, taken out of the queue; false when there is none. */
    bool (*pull)(const struct nuna_host_queue_view *view, struct nuna_host_chunk *ret_chunk);
};

extern const struct nuna_host_engine nuna_host_engine_native, nuna_host_engine_static,
    nuna_host_engine_mma;

/* Whether `gpu` is one of the transfer's paths. */
static inline bool nuna_host_has_path(const struct nuna_host_transfer *transfer, uint32_t gpu)
{
    for (uint32_t i = 0; i < transfer->path_count; i++)
        if (transfer->path[i] == gpu)
            return true;
    return false;
}

/* Whether the path may pull from this transfer, as far as manager, direction and state go. */
static inline bool nuna_host_in_view(const struct nuna_host_queue_view *view,
                                     const struct nuna_host_transfer *transfer)
{
    return transfer->active && transfer->manager == view->manager &&
           transfer->request.direction == view->direction &&
           (view->relays || transfer->request.gpu == view->gpu) &&
           nuna_host_has_path(transfer, view->gpu);
}

/* Takes the next bytes, at most a chunk, from the front of the transfer. */
void nuna_host_take_front(const struct nuna_host_queue_view *view, uint32_t transfer,
                          struct nuna_host_chunk *ret_chunk);

#endif
