/* The order of a symbolic run. */
#ifndef NUNA_COLLECTIVES_CHECK_SCHEDULE_H
#define NUNA_COLLECTIVES_CHECK_SCHEDULE_H

#include "core/types.h"

/* How adversarial one run is. */
struct nuna_schedule {
    bool lazy;        /* stores land as late as signals and waits allow; otherwise at once */
    bool descending;  /* threadblocks start from the last */
    uint32_t starved; /* a threadblock that runs only when no other can, or NUNA_NONE */
    uint32_t chunks_per_message; /* of a FIFO operation; 0: all */
    uint32_t operations;         /* that a connection holds; 0: any number */
    uint32_t turns;              /* of every loop; values are followed only when it is 1 */
};

#endif
