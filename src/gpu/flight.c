#include "gpu/flight.h"

const char *nuna_flight_kind_name(enum nuna_flight_kind kind)
{
    static const char *const names[NUNA_FLIGHT_KINDS] = {
        [NUNA_FLIGHT_NONE] = "none",
        [NUNA_FLIGHT_PUT] = "put",
        [NUNA_FLIGHT_COPY] = "copy",
        [NUNA_FLIGHT_REDUCE] = "reduce",
        [NUNA_FLIGHT_OPERAND] = "operand",
        [NUNA_FLIGHT_SOURCE] = "source",
        [NUNA_FLIGHT_FETCH] = "fetch",
        [NUNA_FLIGHT_STORE] = "store",
        [NUNA_FLIGHT_KEEP] = "keep",
        [NUNA_FLIGHT_READ] = "read",
        [NUNA_FLIGHT_WRITE] = "write",
        [NUNA_FLIGHT_FLAG] = "flag",
        [NUNA_FLIGHT_AHEAD_L2] = "ahead into L2",
        [NUNA_FLIGHT_AHEAD_L1] = "ahead into L1",
        [NUNA_FLIGHT_CAST_FETCH] = "fetch from a group",
        [NUNA_FLIGHT_CAST_STORE] = "store to a group",
        [NUNA_FLIGHT_STORE_IN] = "store, at its destination",
        [NUNA_FLIGHT_ARRIVAL_IN] = "packets, at their destination",
        [NUNA_FLIGHT_FETCH_IN] = "fetch, at its destination",
        [NUNA_FLIGHT_FLAG_IN] = "flag, at its destination",
        [NUNA_FLIGHT_AHEAD_L2_IN] = "ahead into L2, at its destination",
        [NUNA_FLIGHT_AHEAD_L1_IN] = "ahead into L1, at its destination",
        [NUNA_FLIGHT_ANSWER] = "answer",
        [NUNA_FLIGHT_LINE] = "line of a move",
        [NUNA_FLIGHT_CAST] = "order to a group",
    };
    return names[kind];
}
