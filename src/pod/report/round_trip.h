/* round_trip.csv: parts of the way of a store to another node and back. */
#ifndef NUNA_POD_REPORT_ROUND_TRIP_H
#define NUNA_POD_REPORT_ROUND_TRIP_H

#include "core/table.h"
#include "pod/result.h"

extern const struct nuna_table nuna_round_trip_table;

/* False when writing failed. */
bool nuna_report_round_trip(FILE *out, const struct nuna_view *view);

#endif
