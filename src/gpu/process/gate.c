#include "gpu/process/gate.h"
#include "gpu/cu.h"
#include "gpu/die.h"
#include "gpu/events.h"
#include "gpu/probe.h"
#include "gpu/translate/translation.h"
#include <string.h>

/* What a message carries, and a flight is made of where it arrives. */
struct request_payload {
    uint32_t start_low, start_high; /* issue of the store */
    uint32_t at_port, at_switch;    /* stamps */
    uint32_t owner, subject, page;  /* first fields of struct nuna_visit */
    uint16_t target, bytes;
    uint8_t kind, port, npa, waited;
};

struct answer_payload {
    uint32_t start_low, start_high;
    struct nuna_store_stamps store;
    uint32_t owner, translation;
    uint16_t bytes;
    uint8_t port;
    uint8_t npa : 1, waited : 1;
};

_Static_assert(sizeof(struct request_payload) <= sizeof((struct nuna_message){0}.payload), "fits");
_Static_assert(sizeof(struct answer_payload) <= sizeof((struct nuna_message){0}.payload), "fits");

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

/* What the packet is at the other GPU. */
static uint8_t kind_there(struct nuna_flight *flight)
{
    static const uint8_t kinds[NUNA_FLIGHT_KINDS] = {
        [NUNA_FLIGHT_PUT] = NUNA_FLIGHT_STORE_IN,
        [NUNA_FLIGHT_STORE] = NUNA_FLIGHT_STORE_IN,
        [NUNA_FLIGHT_CAST_STORE] = NUNA_FLIGHT_STORE_IN,
        [NUNA_FLIGHT_FETCH] = NUNA_FLIGHT_FETCH_IN,
        [NUNA_FLIGHT_CAST_FETCH] = NUNA_FLIGHT_FETCH_IN,
        [NUNA_FLIGHT_FLAG] = NUNA_FLIGHT_FLAG_IN,
        [NUNA_FLIGHT_AHEAD_L2] = NUNA_FLIGHT_AHEAD_L2_IN,
        [NUNA_FLIGHT_AHEAD_L1] = NUNA_FLIGHT_AHEAD_L1_IN,
    };
    bool waits = nuna_flight_is(flight, NUNA_FLIGHTS_WAITING);
    return __builtin_expect(waits, 0) && nuna_out(flight)->place != NUNA_NONE
               ? NUNA_FLIGHT_ARRIVAL_IN
               : kinds[flight->kind];
}

/* A request as it leaves, but for whom it is about and where it goes. */
static inline struct request_payload request_of(struct nuna_gpu *gpu, uint32_t handle,
                                                nuna_time at_switch)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    bool waits = nuna_flight_is(flight, NUNA_FLIGHTS_WAITING);
    uint64_t start = flight->start;
    return (struct request_payload){
        .start_low = (uint32_t)start,
        .start_high = (uint32_t)(start >> 32),
        .at_port = nuna_flight_since(flight, gpu->lp->now),
        .at_switch = nuna_flight_since(flight, at_switch),
        .owner = waits ? handle : nuna_out(flight)->tb,
        .bytes = flight->bytes,
        .kind = kind_there(flight),
        .port = flight->port,
        .waited = waits,
    };
}

/* A packet for a switch group: out once, and a message to each member, which is to access its own
 * copy of the chunk. All take the plane, and so the port, that this GPU's copy has. */
static void cast_out(struct nuna_gpu *gpu, uint32_t handle, nuna_time at_switch)
{
    const struct nuna_gpu_spec *spec = gpu->spec;
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    const struct nuna_out *out = nuna_out(flight);
    const struct nuna_cast *cast = nuna_cast(nuna_flight(&gpu->flights, out->cast));
    const struct nuna_switch_group *group = &spec->plan->groups[out->group];
    uint64_t offset = (uint64_t)cast->offset_high << 32 | cast->offset_low;
    struct request_payload request = request_of(gpu, handle, at_switch);
    request.subject = out->place;
    if (flight->kind == NUNA_FLIGHT_CAST_STORE)
        nuna_probe_stores_out(gpu, group->rank_count - 1u);
    for (uint32_t i = 0; i < group->rank_count; i++) {
        uint32_t rank = spec->plan->group_ranks[group->rank_at + i];
        uint64_t base = spec->layout->gpus[rank].chunks[cast->buffer][cast->chunk].position;
        struct nuna_location location = nuna_spec_locate(spec, rank, base + offset);
        request.page = location.page;
        request.target = location.channel;
        request.npa = nuna_spec_npa(spec, gpu->index, rank);
        struct nuna_message *message = message_to(gpu, rank, at_switch);
        message->tag = NUNA_LEG_STORE;
        memcpy(message->payload, &request, sizeof request);
    }
}

/* A store, a flag, a request. It stays here as well when it waits for its answer. */
static void request_out(struct nuna_gpu *gpu, uint32_t handle, nuna_time at_switch)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    const struct nuna_out *out = nuna_out(flight);
    struct nuna_message *message = message_to(gpu, out->peer, at_switch);
    struct request_payload request = request_of(gpu, handle, at_switch);
    request.page = out->page;
    request.target = out->target;
    request.npa = flight->npa;
    if (flight->kind == NUNA_FLIGHT_FLAG) {
        request.owner = out->peer_channel;
        request.subject = nuna_spec_op(gpu->spec, out->op, gpu->index, message->source);
    } else if (request.waited) {
        request.subject = out->place;
    }
    message->tag = NUNA_LEG_STORE;
    memcpy(message->payload, &request, sizeof request);
    if (!request.waited)
        nuna_flight_put(&gpu->flights, handle);
}

/* An acknowledgement, or the data that a fetch asked for. */
static void answer_out(struct nuna_gpu *gpu, uint32_t handle, nuna_time at_switch)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    const struct nuna_visit *visit = nuna_visit(flight);
    struct nuna_message *message = message_to(gpu, visit->source, at_switch);
    uint64_t start = flight->start;
    struct answer_payload answer = {
        .start_low = (uint32_t)start,
        .start_high = (uint32_t)(start >> 32),
        .store = visit->store,
        .owner = visit->owner,
        .translation = visit->translation,
        .bytes = (uint16_t)nuna_flight_wire_bytes(flight, gpu->spec->control_bytes),
        .port = flight->port,
        .npa = flight->npa,
        .waited = visit->waited & 1u,
    };
    message->tag = NUNA_LEG_BACK;
    memcpy(message->payload, &answer, sizeof answer);
    nuna_flight_put(&gpu->flights, handle);
}

void nuna_gate_leave(struct nuna_gpu *gpu, uint32_t handle)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_time at_switch =
        nuna_scaleup_depart(&gpu->scaleup, flight->port, gpu->lp->now,
                            nuna_flight_wire_bytes(flight, gpu->spec->control_bytes));
    if (__builtin_expect(nuna_flight_is(flight, NUNA_FLIGHTS_CAST), 0))
        cast_out(gpu, handle, at_switch);
    else if (flight->leg == NUNA_LEG_BACK)
        answer_out(gpu, handle, at_switch);
    else
        request_out(gpu, handle, at_switch);
}

/* ---- in ---- */

void nuna_gate_expect(const struct nuna_gpu *gpu, const struct nuna_message *message)
{
    struct answer_payload answer;
    if (message->tag != NUNA_LEG_BACK)
        return;
    memcpy(&answer, message->payload, sizeof answer);
    if (answer.waited)
        nuna_flight_prefetch(&gpu->flights, answer.owner);
}

static uint32_t answer_delivered(struct nuna_gpu *gpu, const struct nuna_message *message)
{
    struct answer_payload answer;
    memcpy(&answer, message->payload, sizeof answer);
    uint32_t handle = nuna_flight_get(&gpu->flights, NUNA_FLIGHT_ANSWER, NUNA_LEG_BACK);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_flight_begin(flight, (nuna_time)answer.start_high << 32 | answer.start_low);
    flight->bytes = answer.bytes;
    flight->npa = answer.npa;
    flight->port = answer.port;
    *nuna_answer(flight) = (struct nuna_answer){
        .owner = answer.owner,
        .translation = answer.translation,
        .store = answer.store,
        .waited = answer.waited,
    };
    return handle;
}

static uint32_t request_delivered(struct nuna_gpu *gpu, const struct nuna_message *message)
{
    struct request_payload request;
    memcpy(&request, message->payload, sizeof request);
    uint32_t handle =
        nuna_flight_get(&gpu->flights, (enum nuna_flight_kind)request.kind, NUNA_LEG_STORE);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_visit *visit = nuna_visit(flight);
    nuna_flight_begin(flight, (nuna_time)request.start_high << 32 | request.start_low);
    flight->bytes = request.bytes;
    flight->npa = request.npa & 1u;
    flight->port = request.port;
    flight->channel = request.target;
    visit->owner = request.owner;
    visit->place = request.subject;
    visit->page = request.npa ? request.page : 0; /* 0: nothing is translated */
    visit->store.at_port = request.at_port;
    visit->store.at_switch = request.at_switch;
    assert(message->source < gpu->spec->gpu_count && request.port < gpu->spec->clos.ports);
    visit->source = message->source;
    visit->waited = request.waited;
    return handle;
}

uint32_t nuna_gate_deliver(struct nuna_gpu *gpu, const struct nuna_message *message)
{
    return message->tag == NUNA_LEG_BACK ? answer_delivered(gpu, message)
                                         : request_delivered(gpu, message);
}

/* To the CU of the threadblock that waits for it. */
static void answer_in(struct nuna_gpu *gpu, uint32_t handle, nuna_time time)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint32_t owner = nuna_answer(flight)->owner;
    uint32_t tb =
        nuna_answer(flight)->waited ? nuna_out(nuna_flight(&gpu->flights, owner))->tb : owner;
    nuna_die_port_to_cu(gpu, time, flight->port, nuna_tb_of(gpu, tb)->cu->router, flight->bytes,
                        handle);
}

/* To memory. */
static void request_in(struct nuna_gpu *gpu, uint32_t handle, nuna_time time)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_visit(flight)->store.at_peer = nuna_flight_since(flight, time);
    if (__builtin_expect(gpu->spec->translation == NUNA_TRANSLATION_FULL, 0) &&
        nuna_translation_holds(gpu, handle, time))
        return;
    nuna_die_port_to_memory(gpu, time, flight->port, flight->channel,
                            nuna_flight_wire_bytes(flight, gpu->spec->control_bytes), handle);
}

/* In at the port at `time`. */
static void enter(struct nuna_gpu *gpu, uint32_t handle, nuna_time time)
{
    if (nuna_flight(&gpu->flights, handle)->leg == NUNA_LEG_BACK)
        answer_in(gpu, handle, time);
    else
        request_in(gpu, handle, time);
}

void nuna_gate_enter(struct nuna_gpu *gpu, uint32_t handle)
{
    enter(gpu, handle, gpu->lp->now);
}

/* What a group's GPUs answer to a fetch the switch adds up: the last one's packet comes out. */
static bool is_joined(struct nuna_gpu *gpu, struct nuna_flight *flight)
{
    if (flight->kind != NUNA_FLIGHT_ANSWER || !nuna_answer(flight)->waited)
        return false;
    struct nuna_flight *fetch = nuna_flight(&gpu->flights, nuna_answer(flight)->owner);
    return fetch->kind == NUNA_FLIGHT_CAST_FETCH &&
           --nuna_cast(nuna_flight(&gpu->flights, nuna_out(fetch)->cast))->missing > 0;
}

void nuna_gate_at_switch(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (is_joined(gpu, flight)) {
        nuna_flight_put(&gpu->flights, handle);
        return;
    }
    nuna_time in = nuna_scaleup_arrive(&gpu->scaleup, flight->port, gpu->lp->now,
                                       nuna_flight_wire_bytes(flight, gpu->spec->control_bytes));
    if (gpu->spec->straight_in) {
        gpu->lp->events++; /* the one that this saves */
        enter(gpu, handle, in);
        return;
    }
    if (__builtin_expect(flight->npa & (flight->leg == NUNA_LEG_STORE), 0)) {
        nuna_translation_arrive(gpu, handle, in);
        return;
    }
    nuna_lp_schedule(gpu->lp, in, nuna_event_make(NUNA_EV_PORT_IN, handle));
}
