/* What happens when: the events of one GPU. */
#include "pod/gpu_lp.h"
#include "host/gpu_side.h"
#include "pod/move.h"
#include "pod/translation.h"
#include <stdlib.h>
#include <string.h>

/* What a message carries. A store or flag becomes a flight at the destination; an acknowledgement
 * goes back into the flight it acknowledges, with the remote stamps. */
struct store_payload {
    uint32_t start_low, start_high; /* issue of the store */
    uint32_t at_port, at_switch;    /* stamps */
    uint32_t link;                  /* flight at the source; FLAG: channel at the destination */
    uint32_t tb;                    /* FLAG: the SIGNAL operation; ARRIVAL: its place */
    uint32_t page;
    uint16_t target, bytes;
    uint8_t kind, port, npa;
};

struct ack_payload {
    uint32_t handle; /* flight at the source */
    uint32_t translation;
    uint32_t stamps[NUNA_STAMP_COUNT - NUNA_STAMP_AT_SWITCH];
};

_Static_assert(sizeof(struct store_payload) <= sizeof((struct nuna_message){0}.payload), "fits");
_Static_assert(sizeof(struct ack_payload) <= sizeof((struct nuna_message){0}.payload), "fits");

static uint32_t wire_bytes(const struct nuna_gpu_lp *gpu, const struct nuna_flight *flight)
{
    /* A fetch asks first and gets its data with the answer. */
    bool fetch = flight->kind == NUNA_FLIGHT_FETCH || flight->kind == NUNA_FLIGHT_REMOTE_FETCH;
    return (flight->phase == NUNA_PHASE_STORE) != fetch ? flight->bytes : gpu->pod->control_bytes;
}

static struct nuna_message *message_to(struct nuna_gpu_lp *gpu, uint32_t dest, nuna_time at_switch)
{
    /* Folded, the packet arrives at the peer's representative, as from whoever we are then. */
    uint32_t lp = gpu->seen ? gpu->pod->fold.lp[dest] : dest;
    struct nuna_message *message = nuna_lp_send(gpu->lp, (uint16_t)lp);
    message->time = at_switch;
    message->source = (uint16_t)(gpu->seen ? gpu->seen[dest] : gpu->gpu);
    message->rel = (uint16_t)nuna_pod_rel(gpu->pod, gpu->gpu, dest);
    message->kind = NUNA_EV_SWITCH;
    return message;
}

static uint8_t kind_there(const struct nuna_flight *flight)
{
    static const uint8_t kinds[] = {
        [NUNA_FLIGHT_PUT] = NUNA_FLIGHT_REMOTE,
        [NUNA_FLIGHT_FLAG] = NUNA_FLIGHT_FLAG,
        [NUNA_FLIGHT_AHEAD_L2] = NUNA_FLIGHT_AHEAD_L2,
        [NUNA_FLIGHT_AHEAD_L1] = NUNA_FLIGHT_AHEAD_L1,
        [NUNA_FLIGHT_FETCH] = NUNA_FLIGHT_REMOTE_FETCH,
    };
    bool counted = (flight->marks & NUNA_FLIGHT_COUNTED) != 0;
    return __builtin_expect(counted, 0) ? NUNA_FLIGHT_ARRIVAL : kinds[flight->kind];
}

/* A packet for a switch group: out once, and a message to each member, which is to access its own
 * copy of the chunk. All take the plane, and so the port, that this GPU's copy has. */
static void leave_port_cast(struct nuna_gpu_lp *gpu, uint32_t handle, nuna_time at_switch)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    const struct nuna_plan *plan = gpu->pod->plan;
    const struct nuna_switch_group *group = &plan->groups[flight->gpu];
    if (flight->kind == NUNA_FLIGHT_PUT)
        gpu->stores_out += group->rank_count - 1u;
    uint32_t chunk = flight->stamp[NUNA_STAMP_AT_PORT];
    uint64_t offset =
        (uint64_t)flight->stamp[NUNA_STAMP_AT_PEER] << 32 | flight->stamp[NUNA_STAMP_AT_SWITCH];
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PORT, gpu->lp->now);
    nuna_flight_stamp(flight, NUNA_STAMP_AT_SWITCH, at_switch);
    for (uint32_t i = 0; i < group->rank_count; i++) {
        uint32_t rank = plan->group_ranks[group->rank_at + i];
        const struct nuna_chunk_place *place =
            &gpu->pod->layout.gpus[rank].chunks[flight->target][chunk];
        struct nuna_location location = nuna_pod_locate(gpu->pod, rank, place->position + offset);
        struct store_payload store = {
            .start_low = (uint32_t)flight->start,
            .start_high = (uint32_t)(flight->start >> 32),
            .at_port = flight->stamp[NUNA_STAMP_AT_PORT],
            .at_switch = flight->stamp[NUNA_STAMP_AT_SWITCH],
            .link = handle,
            .tb = chunk,
            .page = location.page,
            .target = location.channel,
            .bytes = flight->bytes,
            .kind = kind_there(flight),
            .port = flight->port,
            .npa = nuna_pod_npa(gpu->pod, gpu->gpu, rank),
        };
        struct nuna_message *message = message_to(gpu, rank, at_switch);
        message->tag = NUNA_PHASE_STORE;
        memcpy(message->payload, &store, sizeof store);
    }
}

/* A packet reaches its I/O port: out to the switch plane, as a message. */
static void leave_port(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_time now = gpu->lp->now;
    nuna_time at_switch =
        nuna_scaleup_depart(&gpu->scaleup, flight->port, now, wire_bytes(gpu, flight));
    if (__builtin_expect(flight->marks & NUNA_FLIGHT_CAST, 0)) {
        leave_port_cast(gpu, handle, at_switch);
        return;
    }
    struct nuna_message *message = message_to(gpu, flight->gpu, at_switch);
    if (flight->phase == NUNA_PHASE_ACK) {
        message->tag = NUNA_PHASE_ACK;
        struct ack_payload ack = {
            .handle = flight->link,
            .translation = flight->stamp[NUNA_STAMP_LENT_TRANSLATION],
        };
        memcpy(ack.stamps, &flight->stamp[NUNA_STAMP_AT_SWITCH], sizeof ack.stamps);
        memcpy(message->payload, &ack, sizeof ack);
        nuna_flight_put(&gpu->flights, handle);
        return;
    }
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PORT, now);
    nuna_flight_stamp(flight, NUNA_STAMP_AT_SWITCH, at_switch);
    bool posted = flight->kind >= NUNA_FLIGHT_FLAG;
    struct store_payload store = {
        .start_low = (uint32_t)flight->start,
        .start_high = (uint32_t)(flight->start >> 32),
        .at_port = flight->stamp[NUNA_STAMP_AT_PORT],
        .at_switch = flight->stamp[NUNA_STAMP_AT_SWITCH],
        .link = posted ? flight->link : handle,
        .tb = flight->marks & NUNA_FLIGHT_COUNTED ? flight->stamp[NUNA_STAMP_LANDED]
              : flight->kind == NUNA_FLIGHT_FLAG
                  ? nuna_fold_op(&gpu->pod->fold, flight->tb, gpu->gpu, message->source)
                  : flight->tb,
        .page = flight->stamp[NUNA_STAMP_LENT_PAGE],
        .target = flight->target,
        .bytes = flight->bytes,
        .kind = kind_there(flight),
        .port = flight->port,
        .npa = flight->npa,
    };
    message->tag = NUNA_PHASE_STORE;
    memcpy(message->payload, &store, sizeof store);
    if (posted)
        nuna_flight_put(&gpu->flights, handle);
}

/* An acknowledgement comes long after its flight was last touched. */
void nuna_gpu_lp_expect(const struct nuna_gpu_lp *gpu, const struct nuna_message *message)
{
    struct ack_payload ack;
    if (message->tag != NUNA_PHASE_ACK || message->kind >= NUNA_HOST_EV_FIRST)
        return;
    memcpy(&ack, message->payload, sizeof ack);
    nuna_prefetch(nuna_flight(&gpu->flights, ack.handle));
}

uint32_t nuna_gpu_lp_deliver(struct nuna_gpu_lp *gpu, const struct nuna_message *message)
{
    if (message->kind >= NUNA_HOST_EV_FIRST)
        return nuna_host_gpu_deliver(gpu->host, message);
    if (message->tag == NUNA_PHASE_ACK) {
        struct ack_payload ack;
        memcpy(&ack, message->payload, sizeof ack);
        struct nuna_flight *flight = nuna_flight(&gpu->flights, ack.handle);
        memcpy(&flight->stamp[NUNA_STAMP_AT_SWITCH], ack.stamps, sizeof ack.stamps);
        if (flight->kind == NUNA_FLIGHT_PUT) /* a FETCH keeps its line there */
            flight->link = ack.translation;
        flight->phase = NUNA_PHASE_ACK;
        return ack.handle;
    }
    struct store_payload store;
    memcpy(&store, message->payload, sizeof store);
    uint32_t handle = nuna_flight_get(&gpu->flights);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    flight->start = (nuna_time)store.start_high << 32 | store.start_low;
    flight->stamp[NUNA_STAMP_AT_PORT] = store.at_port;
    flight->stamp[NUNA_STAMP_AT_SWITCH] = store.at_switch;
    flight->stamp[NUNA_STAMP_LENT_PAGE] = store.page;
    flight->stamp[NUNA_STAMP_LENT_TRANSLATION] = 0;
    flight->tb = store.tb;
    flight->link = store.link;
    flight->local = store.target;
    flight->gpu = message->source;
    flight->bytes = store.bytes;
    flight->kind = store.kind;
    flight->phase = NUNA_PHASE_STORE;
    flight->port = store.port;
    flight->npa = store.npa & 1u;
    return handle;
}

static inline void to_memory(struct nuna_gpu_lp *gpu, uint32_t handle, nuna_time time)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint16_t port = gpu->pod->topology.port_router[flight->port];
    nuna_noc_send_at(&gpu->noc, gpu->lp, time, port, NUNA_AT_PORT,
                     nuna_gpu_stack_router(gpu, port, flight->local), NUNA_AT_MEMORY,
                     wire_bytes(gpu, flight), handle);
}

/* A packet is in at the port: on to memory, or, an acknowledgement, to the CU that waits for it. */
static inline void enter_port(struct nuna_gpu_lp *gpu, uint32_t handle, nuna_time time)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint16_t port = gpu->pod->topology.port_router[flight->port];
    if (flight->phase == NUNA_PHASE_ACK) {
        uint16_t cu = nuna_gpu_cu_router(gpu, gpu->tbs[flight->tb].cu);
        nuna_noc_send_at(&gpu->noc, gpu->lp, time, port, NUNA_AT_PORT, cu, NUNA_AT_CU,
                         wire_bytes(gpu, flight), handle);
        return;
    }
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PEER, time);
    if (__builtin_expect(gpu->pod->translation == NUNA_TRANSLATION_FULL, 0) &&
        nuna_mmu_hold(&gpu->translation->mmu, flight->port, handle, time))
        return;
    to_memory(gpu, handle, time);
}

/* A message has come to the plane's output queue towards this GPU. */
static void enter_switch(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    /* What a group's GPUs answer to a fetch the switch adds up: the last one's packet comes out. */
    if (__builtin_expect(flight->marks & NUNA_FLIGHT_CAST, 0) &&
        flight->kind == NUNA_FLIGHT_FETCH && --flight->local > 0)
        return;
    nuna_time in =
        nuna_scaleup_arrive(&gpu->scaleup, flight->port, gpu->lp->now, wire_bytes(gpu, flight));
    if (gpu->pod->straight_in) {
        gpu->lp->events++; /* the one that this saves */
        enter_port(gpu, handle, in);
        return;
    }
    if (__builtin_expect(flight->npa & (flight->phase == NUNA_PHASE_STORE), 0)) {
        nuna_translation_arrive(gpu, handle, in);
        return;
    }
    struct nuna_event event = nuna_event_make(NUNA_EV_PORT_IN, handle);
    nuna_lp_schedule(gpu->lp, in, event);
}

void nuna_gpu_lp_admit(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    to_memory(gpu, handle, gpu->lp->now);
}

static void reach_memory(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    bool load = flight->phase == NUNA_PHASE_LOAD;
    nuna_flight_stamp(flight, load ? NUNA_STAMP_LOAD_AT_MEMORY : NUNA_STAMP_AT_MEMORY,
                      gpu->lp->now);
    bool fetch = flight->kind == NUNA_FLIGHT_REMOTE_FETCH;
    uint32_t bytes = load || fetch ? flight->bytes : wire_bytes(gpu, flight);
    nuna_time done = nuna_hbm_access(&gpu->hbm, flight->local, gpu->lp->now, bytes);
    struct nuna_event event = nuna_event_make(NUNA_EV_MEMORY_DONE, handle);
    nuna_lp_schedule(gpu->lp, done, event);
}

static void note_straggler(struct nuna_gpu_lp *gpu, const struct nuna_flight *flight)
{
    gpu->straggler.landed = gpu->lp->now;
    nuna_trace_take(&gpu->straggler.trace, flight, false, true);
    gpu->straggler.trace.translation = flight->stamp[NUNA_STAMP_LENT_TRANSLATION];
}

static void flag_landed(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (nuna_flag_counts(gpu->pod, flight->tb)) {
        gpu->flags_in++;
        if (gpu->exec.unfinished == 0)
            note_straggler(gpu, flight);
    }
    nuna_trace_take(&gpu->channel_trace[flight->link], flight, false, true);
    gpu->channel_trace[flight->link].translation = flight->stamp[NUNA_STAMP_LENT_TRANSLATION];
    uint32_t channel = flight->link, cause = flight->tb;
    nuna_flight_put(&gpu->flights, handle);
    nuna_exec_signal_landed(&gpu->exec, channel, cause, gpu->lp->now);
}

/* The answer to another GPU: an acknowledgement, or what it asked for. */
static void answer(struct nuna_gpu_lp *gpu, uint32_t handle, uint32_t bytes)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    flight->phase = NUNA_PHASE_ACK;
    uint16_t port = gpu->pod->topology.port_router[flight->port];
    nuna_noc_send(&gpu->noc, gpu->lp, nuna_gpu_stack_router(gpu, port, flight->local),
                  NUNA_AT_MEMORY, port, NUNA_AT_PORT, bytes, handle);
}

static void remote_store_landed(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_latency_add(&gpu->latency, gpu->lp->now - flight->start);
    gpu->bytes_delivered += flight->bytes;
    if (__builtin_expect(gpu->exec.unfinished == 0, 0))
        note_straggler(gpu, flight);
    answer(gpu, handle, gpu->pod->control_bytes);
}

static void arrival_landed(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint32_t place = flight->tb, bytes = flight->bytes;
    remote_store_landed(gpu, handle);
    nuna_move_arrived(gpu, place, bytes);
}

/* An access is done: data to the CU, or the acknowledgement of a store to whoever stored. */
static void memory_done(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (flight->phase == NUNA_PHASE_LOAD) {
        nuna_flight_stamp(flight, NUNA_STAMP_LOAD_READ, gpu->lp->now);
    } else {
        nuna_flight_stamp(flight, NUNA_STAMP_LANDED, gpu->lp->now);
        if (flight->kind == NUNA_FLIGHT_FLAG) {
            flag_landed(gpu, handle);
            return;
        }
        if (flight->kind == NUNA_FLIGHT_REMOTE) {
            remote_store_landed(gpu, handle);
            return;
        }
        if (flight->kind == NUNA_FLIGHT_ARRIVAL) {
            arrival_landed(gpu, handle);
            return;
        }
        if (flight->kind == NUNA_FLIGHT_REMOTE_FETCH) {
            answer(gpu, handle, flight->bytes);
            return;
        }
        flight->phase = NUNA_PHASE_ACK;
    }
    uint16_t cu = nuna_gpu_cu_router(gpu, gpu->tbs[flight->tb].cu);
    uint32_t bytes = flight->phase == NUNA_PHASE_LOAD ? flight->bytes : gpu->pod->control_bytes;
    nuna_noc_send(&gpu->noc, gpu->lp, nuna_gpu_stack_router(gpu, cu, flight->local), NUNA_AT_MEMORY,
                  cu, NUNA_AT_CU, bytes, handle);
}

static inline void handle_event(void *model, struct nuna_lp *lp, struct nuna_event event)
{
    struct nuna_gpu_lp *gpu = model;
    switch (nuna_event_kind(event)) {
    case NUNA_NOC_ARRIVE + NUNA_AT_CU:
        nuna_cu_arrival(gpu, nuna_event_handle(event));
        break;
    case NUNA_NOC_ARRIVE + NUNA_AT_MEMORY:
        reach_memory(gpu, nuna_event_handle(event));
        break;
    case NUNA_NOC_ARRIVE + NUNA_AT_PORT:
        leave_port(gpu, nuna_event_handle(event));
        break;
    case NUNA_EV_MEMORY_DONE:
        memory_done(gpu, nuna_event_handle(event));
        break;
    case NUNA_EV_PORT_IN:
        enter_port(gpu, nuna_event_handle(event), lp->now);
        break;
    case NUNA_EV_SWITCH:
        enter_switch(gpu, nuna_event_handle(event));
        break;
    case NUNA_EV_CU_ISSUE:
        nuna_cu_issue(gpu, nuna_event_handle(event));
        break;
    case NUNA_EV_TRANSLATION:
        nuna_translation_event(gpu, event.body);
        break;
    case NUNA_EV_START:
        nuna_exec_start(&gpu->exec, lp->now);
        break;
    case NUNA_EV_PROXY:
        nuna_proxy_event(gpu);
        break;
    case NUNA_NOC_HOP: /* reference mode */
        nuna_noc_hop(&gpu->noc, lp, event);
        break;
    default:
        nuna_host_gpu_handle(gpu->host, event);
        break;
    }
}

static inline void prefetch_event(void *model, struct nuna_event event)
{
    const struct nuna_gpu_lp *gpu = model;
    uint32_t kind = nuna_event_kind(event);
    if (kind < NUNA_EV_CU_ISSUE)
        nuna_prefetch(nuna_flight(&gpu->flights, nuna_event_handle(event)));
}

void nuna_gpu_lp_run(struct nuna_gpu_lp *gpu, nuna_time end)
{
    nuna_noc_run(&gpu->noc, gpu->lp, end, gpu, handle_event, prefetch_event);
    if (gpu->flights.out_of_memory)
        gpu->lp->out_of_memory = true;
}

bool nuna_gpu_lp_init(struct nuna_gpu_lp *gpu, const struct nuna_pod *pod, uint32_t lp_index,
                      struct nuna_lp *lp, struct nuna_arena *arena, struct nuna_op_log *log,
                      struct nuna_op_trace *trace)
{
    uint32_t index = pod->fold.gpu[lp_index];
    const struct nuna_plan_gpu *plan_gpu = &pod->plan->gpus[index];
    gpu->pod = pod;
    gpu->gpu = index;
    gpu->seen = pod->fold.seen ? &pod->fold.seen[(size_t)lp_index * pod->gpu_count] : NULL;
    gpu->lp = lp;
    gpu->trace = trace;
    gpu->cus = calloc(pod->topology.cu_count + 1u, sizeof *gpu->cus); /* and the copy engine */
    gpu->plan_tb_count = plan_gpu->tb_count;
    gpu->tile_count =
        pod->params->background.gemm_size > 0 ? (uint32_t)pod->params->background.gemm_tiles : 0;
    uint32_t tb_count = gpu->plan_tb_count + gpu->tile_count;
    gpu->tbs = calloc((size_t)tb_count + 2, sizeof *gpu->tbs); /* and the proxy */
    gpu->signals = calloc((size_t)tb_count + 2, sizeof *gpu->signals);
    gpu->channel_trace = calloc(plan_gpu->channel_count + 1, sizeof *gpu->channel_trace);
    if (!gpu->cus || !gpu->tbs || !gpu->signals || !gpu->channel_trace)
        return false;
    for (uint32_t cu = 0; cu <= pod->topology.cu_count; cu++)
        nuna_cu_init(&gpu->cus[cu]);
    for (uint32_t tb = 0; tb <= tb_count; tb++)
        gpu->tbs[tb].next = NUNA_NO_TB;
    gpu->tbs[tb_count].cu = pod->topology.cu_count;
    return nuna_noc_init(&gpu->noc, &pod->noc, arena) && nuna_hbm_init(&gpu->hbm, pod->params) &&
           nuna_scaleup_init(&gpu->scaleup, &pod->clos) &&
           nuna_flight_pool_init(&gpu->flights, arena) && nuna_movers_init(gpu) &&
           nuna_proxy_init(gpu) &&
           nuna_exec_init(&gpu->exec, &pod->shape, index, &nuna_gpu_machine, gpu, log);
}

void nuna_gpu_lp_finish(struct nuna_gpu_lp *gpu)
{
    nuna_noc_finish(&gpu->noc);
    nuna_hbm_finish(&gpu->hbm);
    nuna_scaleup_finish(&gpu->scaleup);
    nuna_flight_pool_finish(&gpu->flights);
    nuna_exec_finish(&gpu->exec);
    nuna_translation_destroy(gpu->translation);
    nuna_movers_finish(gpu);
    nuna_proxy_finish(gpu);
    free(gpu->cus);
    free(gpu->tbs);
    free(gpu->signals);
    free(gpu->tiles);
    free(gpu->channel_trace);
}
