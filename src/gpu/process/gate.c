#include "gpu/process/gate.h"
#include "gpu/cu.h"
#include "gpu/die.h"
#include "gpu/events.h"
#include "gpu/probe.h"
#include "gpu/translate/translation.h"
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

/* ---- out ---- */

static struct nuna_message *message_to(struct nuna_gpu *gpu, uint32_t dest, nuna_time at_switch)
{
    /* Folded, the packet arrives at the peer's representative, as from whoever we are then. */
    uint32_t lp = gpu->seen ? gpu->spec->process[dest] : dest;
    struct nuna_message *message = nuna_lp_send(gpu->lp, (uint16_t)lp);
    message->time = at_switch;
    message->source = (uint16_t)(gpu->seen ? gpu->seen[dest] : gpu->index);
    message->rel = (uint16_t)nuna_spec_rel(gpu->spec, gpu->index, dest);
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
static void cast_out(struct nuna_gpu *gpu, uint32_t handle, nuna_time at_switch)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    const struct nuna_plan *plan = gpu->spec->plan;
    const struct nuna_switch_group *group = &plan->groups[flight->gpu];
    if (flight->kind == NUNA_FLIGHT_PUT)
        nuna_probe_stores_out(gpu, group->rank_count - 1u);
    uint32_t chunk = flight->stamp[NUNA_STAMP_AT_PORT];
    uint64_t offset =
        (uint64_t)flight->stamp[NUNA_STAMP_AT_PEER] << 32 | flight->stamp[NUNA_STAMP_AT_SWITCH];
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PORT, gpu->lp->now);
    nuna_flight_stamp(flight, NUNA_STAMP_AT_SWITCH, at_switch);
    for (uint32_t i = 0; i < group->rank_count; i++) {
        uint32_t rank = plan->group_ranks[group->rank_at + i];
        const struct nuna_chunk_place *place =
            &gpu->spec->layout->gpus[rank].chunks[flight->target][chunk];
        struct nuna_location location = nuna_spec_locate(gpu->spec, rank, place->position + offset);
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
            .npa = nuna_spec_npa(gpu->spec, gpu->index, rank),
        };
        struct nuna_message *message = message_to(gpu, rank, at_switch);
        message->tag = NUNA_PHASE_STORE;
        memcpy(message->payload, &store, sizeof store);
    }
}

/* An acknowledgement, or the data that a fetch asked for: back into the flight at the other GPU. */
static void answer_out(struct nuna_gpu *gpu, uint32_t handle, nuna_time at_switch)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_message *message = message_to(gpu, flight->gpu, at_switch);
    struct ack_payload ack = {
        .handle = flight->link,
        .translation = flight->stamp[NUNA_STAMP_LENT_TRANSLATION],
    };
    memcpy(ack.stamps, &flight->stamp[NUNA_STAMP_AT_SWITCH], sizeof ack.stamps);
    message->tag = NUNA_PHASE_ACK;
    memcpy(message->payload, &ack, sizeof ack);
    nuna_flight_put(&gpu->flights, handle);
}

/* What the request is about, at the other end: its operation, or place of arrival. */
static uint32_t subject_of(const struct nuna_gpu *gpu, const struct nuna_flight *flight,
                           uint32_t source)
{
    if (flight->marks & NUNA_FLIGHT_COUNTED)
        return flight->stamp[NUNA_STAMP_LANDED];
    return flight->kind == NUNA_FLIGHT_FLAG
               ? nuna_spec_op(gpu->spec, flight->tb, gpu->index, source)
               : flight->tb;
}

/* A store, a flag, a request. */
static void request_out(struct nuna_gpu *gpu, uint32_t handle, nuna_time at_switch)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_message *message = message_to(gpu, flight->gpu, at_switch);
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PORT, gpu->lp->now);
    nuna_flight_stamp(flight, NUNA_STAMP_AT_SWITCH, at_switch);
    bool posted = flight->kind >= NUNA_FLIGHT_FLAG;
    struct store_payload store = {
        .start_low = (uint32_t)flight->start,
        .start_high = (uint32_t)(flight->start >> 32),
        .at_port = flight->stamp[NUNA_STAMP_AT_PORT],
        .at_switch = flight->stamp[NUNA_STAMP_AT_SWITCH],
        .link = posted ? flight->link : handle,
        .tb = subject_of(gpu, flight, message->source),
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

void nuna_gate_leave(struct nuna_gpu *gpu, uint32_t handle)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_time at_switch =
        nuna_scaleup_depart(&gpu->scaleup, flight->port, gpu->lp->now,
                            nuna_flight_wire_bytes(flight, gpu->spec->control_bytes));
    if (__builtin_expect(flight->marks & NUNA_FLIGHT_CAST, 0))
        cast_out(gpu, handle, at_switch);
    else if (flight->phase == NUNA_PHASE_ACK)
        answer_out(gpu, handle, at_switch);
    else
        request_out(gpu, handle, at_switch);
}

/* ---- in ---- */

void nuna_gate_expect(const struct nuna_gpu *gpu, const struct nuna_message *message)
{
    struct ack_payload ack;
    if (message->tag != NUNA_PHASE_ACK)
        return;
    memcpy(&ack, message->payload, sizeof ack);
    nuna_prefetch(nuna_flight(&gpu->flights, ack.handle));
}

static uint32_t answer_delivered(struct nuna_gpu *gpu, const struct nuna_message *message)
{
    struct ack_payload ack;
    memcpy(&ack, message->payload, sizeof ack);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, ack.handle);
    memcpy(&flight->stamp[NUNA_STAMP_AT_SWITCH], ack.stamps, sizeof ack.stamps);
    if (flight->kind == NUNA_FLIGHT_PUT) /* a FETCH keeps its line there */
        flight->link = ack.translation;
    flight->phase = NUNA_PHASE_ACK;
    return ack.handle;
}

static uint32_t request_delivered(struct nuna_gpu *gpu, const struct nuna_message *message)
{
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

uint32_t nuna_gate_deliver(struct nuna_gpu *gpu, const struct nuna_message *message)
{
    return message->tag == NUNA_PHASE_ACK ? answer_delivered(gpu, message)
                                          : request_delivered(gpu, message);
}

/* To the CU that waits for it. */
static void answer_in(struct nuna_gpu *gpu, uint32_t handle, nuna_time time)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_die_port_to_cu(gpu, time, flight->port, nuna_tb_of(gpu, flight->tb)->cu->router,
                        nuna_flight_wire_bytes(flight, gpu->spec->control_bytes), handle);
}

/* To memory. */
static void request_in(struct nuna_gpu *gpu, uint32_t handle, nuna_time time)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_flight_stamp(flight, NUNA_STAMP_AT_PEER, time);
    if (__builtin_expect(gpu->spec->translation == NUNA_TRANSLATION_FULL, 0) &&
        nuna_translation_holds(gpu, handle, time))
        return;
    nuna_die_port_to_memory(gpu, time, flight->port, flight->local,
                            nuna_flight_wire_bytes(flight, gpu->spec->control_bytes), handle);
}

/* In at the port at `time`. */
static void enter(struct nuna_gpu *gpu, uint32_t handle, nuna_time time)
{
    if (nuna_flight(&gpu->flights, handle)->phase == NUNA_PHASE_ACK)
        answer_in(gpu, handle, time);
    else
        request_in(gpu, handle, time);
}

void nuna_gate_enter(struct nuna_gpu *gpu, uint32_t handle)
{
    enter(gpu, handle, gpu->lp->now);
}

void nuna_gate_at_switch(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    /* What a group's GPUs answer to a fetch the switch adds up: the last one's packet comes out. */
    if (__builtin_expect(flight->marks & NUNA_FLIGHT_CAST, 0) &&
        flight->kind == NUNA_FLIGHT_FETCH && --flight->local > 0)
        return;
    nuna_time in = nuna_scaleup_arrive(&gpu->scaleup, flight->port, gpu->lp->now,
                                       nuna_flight_wire_bytes(flight, gpu->spec->control_bytes));
    if (gpu->spec->straight_in) {
        gpu->lp->events++; /* the one that this saves */
        enter(gpu, handle, in);
        return;
    }
    if (__builtin_expect(flight->npa & (flight->phase == NUNA_PHASE_STORE), 0)) {
        nuna_translation_arrive(gpu, handle, in);
        return;
    }
    struct nuna_event event = nuna_event_make(NUNA_EV_PORT_IN, handle);
    nuna_lp_schedule(gpu->lp, in, event);
}
