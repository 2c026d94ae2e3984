/* Uncontended latencies of one store from GPU to GPU, over all places on the die: how non-uniform
 * the network access is. Source: NUNA sections 1 and 3.1 (best, average and worst case), figure 4
 * (per CU and address). */
#ifndef NUNA_POD_REPORT_LATENCY_MAP_H
#define NUNA_POD_REPORT_LATENCY_MAP_H

#include "core/error.h"
#include "core/params.h"
#include "core/table.h"

struct nuna_spread {
    nuna_time best, mean, worst;
};

/* Spread of the round trip of a remote atomic (there as a store, back as a control packet): an
 * address is a stack and a port. `over_addresses` is the mean over the CUs of the difference
 * between a CU's slowest and fastest address, `over_cus` the mean over the addresses of that
 * between an address's slowest and fastest CU. */
struct nuna_atomic_spread {
    nuna_time over_addresses, over_cus;
};

/* NoC part: CU to port, port to stack, and the memory access; transfer: that and the scale-up
 * network. Over all combinations of CU, port and stack. */
struct nuna_latency_map {
    struct nuna_spread noc, transfer;
    uint32_t cus, stacks;
    struct nuna_atomic_spread atomic;
    /* [cu * stacks + stack]: round trip of an atomic, mean over the ports; the map's. */
    nuna_time *by_cu_stack;
};

bool nuna_latency_map_make(const struct nuna_params *params, struct nuna_latency_map *ret_map,
                           struct nuna_error *err);
void nuna_latency_map_finish(struct nuna_latency_map *map);

extern const struct nuna_table nuna_latency_map_table;

/* latency_map.csv. False when writing failed. */
bool nuna_report_latency_map(FILE *out, const struct nuna_latency_map *map);

#endif
