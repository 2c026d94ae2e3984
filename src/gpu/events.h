/* Kinds of event of a GPU's process, its own and those of the layers that it passes them on to. */
#ifndef NUNA_GPU_EVENTS_H
#define NUNA_GPU_EVENTS_H

#include "host/gpu_side.h"
#include "noc/mesh.h"

enum nuna_gpu_event {
    NUNA_EV_AT_CU = NUNA_NOC_ARRIVE + NUNA_AT_CU, /* a packet has crossed the mesh: flight */
    NUNA_EV_AT_MEMORY = NUNA_NOC_ARRIVE + NUNA_AT_MEMORY, /* likewise */
    NUNA_EV_AT_PORT = NUNA_NOC_ARRIVE + NUNA_AT_PORT,     /* likewise */
    NUNA_EV_MEMORY_DONE = NUNA_NOC_KINDS,                 /* an access is done: flight */
    NUNA_EV_PORT_IN,      /* a packet from the switch is in at the port: flight */
    NUNA_EV_SWITCH,       /* message: a packet is at the output queue towards us: flight */
    NUNA_EV_CU_ISSUE,     /* an issue slot: CU */
    NUNA_EV_ENGINE_ISSUE, /* likewise, of the proxy's copy engine */
    NUNA_EV_PROXY,        /* the proxy takes its next request */
    NUNA_EV_TRANSLATION,  /* of translate/translation.h, which says what it is about */
    NUNA_EV_PRETRANSLATE, /* time for a request before the collective: its number */
    NUNA_EV_START,        /* the collective starts */
    NUNA_EV_KINDS,
};
_Static_assert(NUNA_EV_KINDS <= 32 && NUNA_EV_KINDS <= (int)NUNA_HOST_EV_FIRST,
               "kinds fit a set, and are apart from the host's");

/* The set of kinds whose handle is a flight's, worth fetching early. */
#define NUNA_EV_OF_FLIGHTS                                                                         \
    (1u << NUNA_EV_AT_CU | 1u << NUNA_EV_AT_MEMORY | 1u << NUNA_EV_AT_PORT |                       \
     1u << NUNA_EV_MEMORY_DONE | 1u << NUNA_EV_PORT_IN | 1u << NUNA_EV_SWITCH)

static inline bool nuna_event_of_flight(uint32_t kind)
{
    return kind < NUNA_EV_KINDS && (NUNA_EV_OF_FLIGHTS >> kind & 1) != 0;
}

/* Kinds that go on to the host's side of the GPU. */
static inline bool nuna_event_of_host(uint32_t kind)
{
    return kind >= NUNA_HOST_EV_FIRST && kind < NUNA_HOST_EV_GPU_END;
}

#endif
