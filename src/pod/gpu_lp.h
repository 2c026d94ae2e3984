/* One GPU as a logical process: its network on chip, memory, compute units and ports, and the
 * executor of its part of the plan. Private to src/pod. */
#ifndef NUNA_POD_GPU_LP_H
#define NUNA_POD_GPU_LP_H

#include "collectives/exec/exec.h"
#include "core/group.h"
#include "core/kernel.h"
#include "core/latency.h"
#include "gpu/address_map.h"
#include "gpu/cu.h"
#include "gpu/flight.h"
#include "gpu/hbm.h"
#include "gpu/topology.h"
#include "mmu/link_mmu.h"
#include "noc/mesh.h"
#include "placement/layout.h"
#include "placement/placement.h"
#include "pod/fold.h"
#include "scaleup/clos.h"
#include <string.h>

enum {
    NUNA_EV_MEMORY_DONE = NUNA_NOC_KINDS, /* an access is done: flight */
    NUNA_EV_PORT_IN,                      /* a packet from the switch is in at the port: flight */
    NUNA_EV_SWITCH,      /* message: a packet is at the output queue towards us: flight */
    NUNA_EV_CU_ISSUE,    /* an issue slot: CU */
    NUNA_EV_TRANSLATION, /* of pod/translation.h, which says what it is about */
    NUNA_EV_START,       /* the collective starts */
    NUNA_EV_PROXY,       /* the proxy takes its next request */
};

struct nuna_host_gpu;
struct nuna_translation;

/* Constant during a run, shared by all GPUs. */
struct nuna_pod {
    const struct nuna_params *params;
    const struct nuna_plan *plan;
    struct nuna_shape shape;
    struct nuna_noc_shape noc;
    struct nuna_topology topology;
    struct nuna_clos clos;
    struct nuna_address_map map;
    struct nuna_layout layout;
    struct nuna_placement placement;
    struct nuna_group group; /* relabellings that leave the pod's structure as it is */
    struct nuna_fold fold;
    uint32_t domains; /* granularity of the placement; 1 for policies without domains */
    uint32_t gpu_count;
    uint32_t gpus_per_node;
    enum nuna_translation_mode translation;
    struct nuna_mmu_shape mmu;
    enum nuna_translate_ahead prefetch;
    uint64_t prefetch_distance; /* bytes */
    uint32_t flit_bytes, control_bytes;
    uint32_t move_ends; /* most of any operation */
    bool straight_in;   /* from the switch into the mesh, without an event at the port */
    uint32_t max_outstanding;
    nuna_time issue_interval;
    uint64_t reduce_rate;
};

/* The last line of an operation (or the flag that ended a wait): where its time went. Indexed by
 * operation. */
struct nuna_op_trace {
    nuna_time start; /* issue of the load; of the store when `has_load` is false */
    uint32_t stamp[NUNA_STAMP_COUNT];
    uint32_t acked;       /* since the issue of the store; 0: not */
    uint32_t translation; /* of the store */
    bool has_load, has_store;
};

/* The last store or flag that landed after the GPU's own last threadblock had ended, and so maybe
 * after all: nobody waited for it. */
struct nuna_straggler {
    nuna_time landed; /* 0: none */
    struct nuna_op_trace trace;
};

/* A threadblock's transfer in progress. */
struct nuna_tb {
    uint32_t cu;
    uint32_t op;      /* index into plan->ops */
    uint32_t pair;    /* source and destination range of a PUT or COPY */
    uint32_t chunk;   /* of that pair */
    uint32_t operand; /* of a REDUCE's line: next to load */
    uint32_t leader;  /* flight of that line */
    uint32_t dst_gpu;
    uint32_t pending;                    /* lines on their way that the operation waits for */
    uint64_t line, bytes;                /* of that chunk: offset of the next line, bytes in all */
    uint64_t src_position, dst_position; /* of the chunk */
    uint64_t ahead;                      /* first position of it that no prefetch covers */
    uint32_t unacked;                    /* remote stores not acknowledged, of all operations */
    uint32_t next;                       /* in the CU's list */
    uint8_t flight_kind;                 /* enum nuna_flight_kind */
    bool loading;                        /* lines are left to load */
    uint8_t npa;                         /* the chunk's destination is in another node */
    bool signal_waits;                   /* a SIGNAL waits for `unacked` to become 0 */
    bool moving;                         /* pod/move.c does its transfer */
};

_Static_assert(sizeof(struct nuna_tb) == 88, "every line looks its threadblock up: keep it small");

/* A SIGNAL that waits for acknowledgements. */
struct nuna_held_signal {
    const uint32_t *channels;
    uint32_t count;
};

/* A tile of the background kernel: reads two panels, computes, writes its output. */
struct nuna_tile {
    uint64_t panel[2], output; /* positions */
    uint64_t panel_bytes[2], output_bytes;
    nuna_time compute;
};

struct nuna_gpu_lp {
    const struct nuna_pod *pod;
    uint32_t gpu;         /* the one simulated; when folded it stands for others, too */
    const uint16_t *seen; /* of nuna_fold, or NULL */
    struct nuna_lp *lp;
    struct nuna_noc noc;
    struct nuna_hbm hbm;
    struct nuna_scaleup scaleup;
    struct nuna_flight_pool flights;
    struct nuna_cu *cus;
    struct nuna_tb *tbs; /* the plan's threadblocks, then one per background tile */
    struct nuna_tile *tiles;
    uint32_t plan_tb_count, tile_count;
    struct nuna_exec exec;
    struct nuna_mover **movers;          /* [threadblock], the proxy's last: pod/move.h */
    struct nuna_held_signal *signals;    /* [threadblock], the proxy's last */
    struct nuna_arrival *arrivals;       /* [place]: scratch chunks, then slots of connections */
    struct nuna_proxy *proxy;            /* or NULL: no channel goes through one */
    struct nuna_op_trace *trace;         /* the pod's, by operation */
    struct nuna_op_trace *channel_trace; /* of this GPU's channels: the last flag */
    struct nuna_latency latency;         /* of remote stores that landed here */
    uint64_t bytes_delivered;
    uint64_t stores_out;          /* remote stores issued, counted at each GPU that they go to */
    uint64_t flags_out, flags_in; /* sent and landed, but those of connections */
    struct nuna_straggler straggler;
    struct nuna_translation *translation; /* NULL when off */
    struct nuna_host_gpu *host;           /* NULL without host transfers */
};

extern const struct nuna_machine nuna_gpu_machine;

/* Logical process `lp_index` is that of GPU pod->fold.gpu[lp_index]. */
bool nuna_gpu_lp_init(struct nuna_gpu_lp *gpu, const struct nuna_pod *pod, uint32_t lp_index,
                      struct nuna_lp *lp, struct nuna_arena *arena, struct nuna_op_log *log,
                      struct nuna_op_trace *trace);
void nuna_gpu_lp_finish(struct nuna_gpu_lp *gpu);

/* The kernel's operations on one logical process. */
void nuna_gpu_lp_run(struct nuna_gpu_lp *gpu, nuna_time end);
void nuna_gpu_lp_expect(const struct nuna_gpu_lp *gpu, const struct nuna_message *message);
uint32_t nuna_gpu_lp_deliver(struct nuna_gpu_lp *gpu, const struct nuna_message *message);

/* A store or flag is in at its port, its address known: on to memory. */
void nuna_gpu_lp_admit(struct nuna_gpu_lp *gpu, uint32_t handle);

/* The group difference of two GPUs of the pod. */
static inline uint32_t nuna_pod_rel(const struct nuna_pod *pod, uint32_t source, uint32_t dest)
{
    return nuna_group_difference(&pod->group, source, dest);
}

/* Whether accesses from one GPU to the other carry network physical addresses. */
static inline bool nuna_pod_npa(const struct nuna_pod *pod, uint32_t source, uint32_t dest)
{
    return pod->translation != NUNA_TRANSLATION_OFF &&
           source / pod->gpus_per_node != dest / pod->gpus_per_node;
}

/* Keeps where a flight's time went. */
static inline void nuna_trace_take(struct nuna_op_trace *trace, const struct nuna_flight *flight,
                                   bool has_load, bool has_store)
{
    trace->start = flight->start;
    memcpy(trace->stamp, flight->stamp, sizeof trace->stamp);
    trace->has_load = has_load;
    trace->has_store = has_store;
    trace->translation = 0;
}

/* pod/background.c: starts the tiles, one per CU of `cu`, and follows them. */
bool nuna_background_init(struct nuna_gpu_lp *gpu, const uint32_t *cu);
void nuna_background_start(struct nuna_gpu_lp *gpu);
void nuna_background_issue(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t tb);
void nuna_background_line_done(struct nuna_gpu_lp *gpu, uint32_t handle);

/* pod/cu_engine.c: the CU's side of a flight. */
void nuna_cu_enqueue(struct nuna_gpu_lp *gpu, uint32_t tb);
void nuna_cu_issue(struct nuna_gpu_lp *gpu, uint32_t cu);
void nuna_cu_arrival(struct nuna_gpu_lp *gpu, uint32_t handle);
void nuna_cu_kick(struct nuna_gpu_lp *gpu, uint32_t cu);
void nuna_cu_send_flags(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                        uint32_t count);

/* Pages of a GPU's image: each domain's flags begin on a page of their own. */
static inline uint64_t nuna_pod_pages(const struct nuna_pod *pod, uint32_t gpu)
{
    uint64_t page = pod->map.page_size;
    return (pod->layout.gpus[gpu].end + pod->domains * page) / page + 1;
}

/* Whether a flag of the operation is a delivery. What a connection's receiver gives back is none:
 * the last slots are free, but nobody is to use them. */
static inline bool nuna_flag_counts(const struct nuna_pod *pod, uint32_t op)
{
    return pod->plan->ops[op].kind != NUNA_OP_FIFO;
}

/* Where a position in a GPU's memory is. */
static inline struct nuna_location nuna_pod_locate(const struct nuna_pod *pod, uint32_t gpu,
                                                   uint64_t position)
{
    const struct nuna_frame *pages = pod->placement.pages ? pod->placement.pages[gpu] : NULL;
    return nuna_address_locate(&pod->map, pages, position);
}

static inline uint16_t nuna_gpu_cu_router(const struct nuna_gpu_lp *gpu, uint32_t cu)
{
    return gpu->pod->topology.cu_router[cu];
}

static inline uint16_t nuna_gpu_stack_router(const struct nuna_gpu_lp *gpu, uint16_t from,
                                             uint32_t channel)
{
    return nuna_topology_stack_router(&gpu->pod->topology, from,
                                      channel / gpu->pod->topology.channels_per_stack);
}

#endif
