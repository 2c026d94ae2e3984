/* The GPU's side of host transfers: copy engines, streams, its PCIe link towards the host and its
 * share of the scale-up network.
 *
 * A task is one chunk on one path: one copy (direct) or two (relayed), which a stream carries out
 * in order. Tasks of different streams overlap; copies of one kind queue at their engine. A manager
 * of transfers (one process) has its own engines on each GPU, as contexts of their own have; they
 * share the links. H2D copies, D2H copies and pushes to peers have an engine each. A relay's pull
 * from the source of a D2H transfer runs on its D2H engine, so that the two stages of a chunk take
 * turns: that is the reason MMA section 5.1.1 gives for D2H being slower.
 *
 * A copy moves piece by piece, with a window of bytes in flight: concurrent copies share every link
 * they meet. Private to the wiring (src/host, src/pod). */
#ifndef NUNA_HOST_GPU_SIDE_H
#define NUNA_HOST_GPU_SIDE_H

#include "core/kernel.h"
#include "host/link.h"
#include "host/piece.h"
#include "host/shape.h"
#include "host/transfer.h"

/* Events and messages of host transfers; the pod's own kinds are below. */
enum {
    NUNA_HOST_EV_FIRST = 128,
    /* of a GPU's process */
    NUNA_HOST_EV_TASK = NUNA_HOST_EV_FIRST, /* message: a task from the host */
    NUNA_HOST_EV_FROM_HOST,                 /* message: data or an acknowledgement: piece */
    NUNA_HOST_EV_SWITCH,                    /* message: at the switch output towards us: piece */
    NUNA_HOST_EV_PORT_IN,                   /* in at the port: piece */
    NUNA_HOST_EV_MEMORY_DONE,               /* memory has read or written: piece */
    NUNA_HOST_EV_ENGINE_START,              /* the gap before a copy is over: engine */
    NUNA_HOST_EV_ENGINE_ISSUE,              /* the next piece is due: engine */
    NUNA_HOST_EV_SUBMIT,                    /* a task's next copy is ready: task */
    NUNA_HOST_EV_GPU_END,
    /* of the host's process */
    NUNA_HOST_EV_PIECE = NUNA_HOST_EV_GPU_END, /* message: a piece from a GPU */
    NUNA_HOST_EV_STEP,                         /* a piece leaves a resource of the host */
    NUNA_HOST_EV_DONE,                         /* message: a task is done: its slot */
    NUNA_HOST_EV_RETIRE,
    NUNA_HOST_EV_LAUNCHED, /* a transfer thread has launched a chunk: its slot */
    NUNA_HOST_EV_START,    /* a transfer is ready to be pulled */
};

#define NUNA_NO_TASK UINT32_MAX

/* Sent by the host, kept by the GPU while it runs. */
struct nuna_host_task {
    uint64_t offset, bytes;
    uint32_t manager;
    uint32_t slot; /* the sender's; also the record's index here */
    uint16_t gpu;  /* of the transfer */
    uint16_t peer; /* P2P: destination */
    uint8_t direction, stream;
    uint8_t stage;
    uint32_t next;   /* in the stream */
    uint32_t queued; /* next at the engine */
};

struct nuna_host_queue {
    uint32_t first, last; /* NUNA_NO_TASK: empty */
};

enum nuna_copy_engine_kind {
    NUNA_ENGINE_IN,   /* host to GPU */
    NUNA_ENGINE_OUT,  /* GPU to host, and a relay's pulls */
    NUNA_ENGINE_PEER, /* GPU to GPU */
    NUNA_ENGINE_KINDS,
};

struct nuna_copy_engine {
    struct nuna_host_queue tasks; /* the first one runs */
    struct nuna_server pace;      /* of copies into and out of staging buffers */
    uint64_t issued, landed;      /* bytes of the running copy */
    nuna_time last_landed;
    bool issue_pending;
};

/* One GPU. */
struct nuna_host_gpu {
    const struct nuna_host_shape *shape;
    uint32_t gpu;
    struct nuna_lp *lp;
    struct nuna_scaleup *scaleup;
    struct nuna_slab_pool pieces;
    struct nuna_link pcie_up; /* towards the host */
    struct nuna_link memory;
    struct nuna_timeline ports_out, ports_in; /* busy time of all ports, of switch outputs */
    struct nuna_copy_engine *engines;         /* [manager][kind] */
    struct nuna_host_queue *streams;          /* [manager][direction][pipeline] */
    struct nuna_host_task *tasks;             /* by slot */
    uint32_t next_port;
    uint64_t peer_out, peer_in; /* bytes of pieces sent to and received from peers */
};

/* `scaleup` is the GPU's, shared with whatever else uses it; `slots` the number of slots of the
 * host for this GPU. False on lack of memory. */
bool nuna_host_gpu_init(struct nuna_host_gpu *gpu, const struct nuna_host_shape *shape,
                        uint32_t index, uint32_t slots, struct nuna_lp *lp,
                        struct nuna_scaleup *scaleup, struct nuna_arena *arena);
void nuna_host_gpu_finish(struct nuna_host_gpu *gpu);

/* The kernel's operations, for kinds from NUNA_HOST_EV_FIRST on. */
void nuna_host_gpu_handle(struct nuna_host_gpu *gpu, struct nuna_event event);
uint32_t nuna_host_gpu_deliver(struct nuna_host_gpu *gpu, const struct nuna_message *message);

/* A task into a message and back. */
void nuna_host_task_pack(const struct nuna_host_task *task, struct nuna_message *message);
void nuna_host_task_unpack(struct nuna_host_task *task, const struct nuna_message *message);

#endif
