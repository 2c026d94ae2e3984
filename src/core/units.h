/* The only place where text becomes a quantity, and where bytes over a rate become time. */
#ifndef NUNA_CORE_UNITS_H
#define NUNA_CORE_UNITS_H

#include "core/error.h"
#include "core/types.h"

/* What a value measures. The stored unit is in brackets. */
enum nuna_quantity {
    NUNA_Q_COUNT, /* a bare integer [1] */
    NUNA_Q_TIME,  /* 12.8ns, 1us [ps] */
    NUNA_Q_RATE,  /* 150GB/s, 800Gb/s; 0GB/s is refused unless the row's minimum is 0 [bytes/s] */
    NUNA_Q_SIZE,  /* 256B, 4KiB, 1MB [bytes] */
    NUNA_Q_ENUM,  /* one of the row's words [index of the word] */
};

/* Parses `text` as a value of `quantity` into the stored unit. Decimal fractions are
 * exact ("12.8ns" is 12,800 ps); a value that is no whole number of stored units is refused, as are
 * bare numbers where a unit is due, units of another quantity, signs, blanks inside, and overflow.
 * GB is 10^9 and GiB 2^30; b is bit and B byte, and only rates take bits. For ENUM `words` is the
 * row's list. On failure `err` holds what is wrong and what was expected, without a position. */
bool nuna_units_parse(const char *text, enum nuna_quantity quantity, const char *words,
                      int64_t *ret_value, struct nuna_error *err);

/* Reads a whole number from 1 to `max` (at most 2^28), plain digits only; false when `text` is
 * anything else. */
bool nuna_units_whole(const char *text, uint32_t max, uint32_t *ret_number);

/* Writes the value in the shortest exact form that nuna_units_parse reads back to the same value
 * ("12.8ns", "150GB/s", "4KiB"). Returns `buffer`. */
char *nuna_units_format(int64_t value, enum nuna_quantity quantity, const char *words, char *buffer,
                        size_t size);

/* Time in ps to move `bytes` at `rate` bytes/s, rounded down, in 128-bit arithmetic; the remainder,
 * in units of 1/rate ps, goes to `*ret_remainder` (0 <= remainder < rate) unless NULL. rate > 0. A
 * result beyond 64 bits saturates to NUNA_TIME_MAX. */
nuna_time nuna_units_transfer_time(uint64_t bytes, uint64_t rate, uint64_t *ret_remainder);

#endif
