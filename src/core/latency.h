/* A histogram of times with 1/128 relative resolution over the whole 64-bit range: plain counting
 * while the model runs, statistics afterwards. */
#ifndef NUNA_CORE_LATENCY_H
#define NUNA_CORE_LATENCY_H

#include "core/types.h"

#define NUNA_LATENCY_SUB_BITS 7u
#define NUNA_LATENCY_BINS     ((64u - NUNA_LATENCY_SUB_BITS + 1u) << NUNA_LATENCY_SUB_BITS)

struct nuna_latency {
    uint64_t count, sum, max; /* ps */
    uint64_t bins[NUNA_LATENCY_BINS];
};

/* Bin of a time: exact below 2^(SUB_BITS + 1) ps, then 128 bins an octave. */
static inline uint32_t nuna_latency_bin(nuna_time time)
{
    if (time < 1u << (NUNA_LATENCY_SUB_BITS + 1))
        return (uint32_t)time;
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(time) - NUNA_LATENCY_SUB_BITS;
    return (octave << NUNA_LATENCY_SUB_BITS) + (uint32_t)(time >> octave);
}

static inline void nuna_latency_add(struct nuna_latency *latency, nuna_time time)
{
    latency->count++;
    latency->sum += time;
    if (time > latency->max)
        latency->max = time;
    latency->bins[nuna_latency_bin(time)]++;
}

/* First time of a bin; of bin + 1, the bin's end. */
nuna_time nuna_latency_bin_start(uint32_t bin);

void nuna_latency_merge(struct nuna_latency *into, const struct nuna_latency *from);

/* Mean, rounded to the nearest ps; 0 when empty. */
nuna_time nuna_latency_mean(const struct nuna_latency *latency);

/* The time that `per_mille` of 1,000 do not exceed: the last time of its bin, at most the maximum.
 * 0 when empty. */
nuna_time nuna_latency_quantile(const struct nuna_latency *latency, uint32_t per_mille);

/* Standard deviation in ps and skewness of the binned times; 0 when there are fewer than 2 (3). */
double nuna_latency_sd(const struct nuna_latency *latency);
double nuna_latency_skew(const struct nuna_latency *latency);

#endif
