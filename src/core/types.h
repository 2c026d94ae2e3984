/* Basic quantities. Every size, count and time in the simulator is a 64-bit integer. */
#ifndef NUNA_CORE_TYPES_H
#define NUNA_CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Simulated time in picoseconds since the start of the run; 2^64 ps is 213 days. */
typedef uint64_t nuna_time;
#define NUNA_TIME_MAX UINT64_MAX

/* An index or number that is none. */
#define NUNA_NONE UINT32_MAX

#define NUNA_PS_PER_NS 1000u
#define NUNA_PS_PER_S  1000000000000ull

/* Asks for a cache line that will be written. The empty statement keeps gcc from taking a function
 * that only prefetches for one without effect, whose calls it may drop. */
static inline void nuna_prefetch(const void *address)
{
    __asm__ volatile("");
    __builtin_prefetch(address, 1);
}

#endif
