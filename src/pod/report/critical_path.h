/* Where a collective's time went. */
#ifndef NUNA_POD_REPORT_CRITICAL_PATH_H
#define NUNA_POD_REPORT_CRITICAL_PATH_H

#include "pod/result.h"

/* Components of a collective's critical path, in ps. */
enum nuna_path_part {
    NUNA_PATH_ISSUE, /* waiting for the CU: issue slots, the outstanding limit, other threadblocks
                      */
    NUNA_PATH_LOAD_NOC,    /* local load: request to the stack and data back */
    NUNA_PATH_LOAD_HBM,    /* local load: memory */
    NUNA_PATH_STORE_NOC,   /* CU to I/O port */
    NUNA_PATH_PORT,        /* port queue, serialisation, first link, switch */
    NUNA_PATH_SWITCH,      /* switch output queue, serialisation, second link */
    NUNA_PATH_TRANSLATION, /* of the address, at the destination */
    NUNA_PATH_REMOTE_NOC,  /* destination's port to its stack */
    NUNA_PATH_REMOTE_HBM,  /* memory at the destination (or local memory, for local stores) */
    NUNA_PATH_ACK,         /* acknowledgement back to the CU */
    NUNA_PATH_SYNC,        /* barriers, semaphores, and what has no better name */
    NUNA_PATH_PARTS,
};
const char *nuna_path_part_name(enum nuna_path_part part);

/* Follows the critical path back from the operation that ended last. The parts sum to
 * view->result->time. False on lack of memory. */
bool nuna_critical_path(const struct nuna_view *view, nuna_time ret_parts[NUNA_PATH_PARTS],
                        uint32_t *ret_ops);

#endif
