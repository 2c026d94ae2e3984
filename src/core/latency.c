#include "core/latency.h"
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

nuna_time nuna_latency_bin_start(uint32_t bin)
{
    if (bin < 1u << (NUNA_LATENCY_SUB_BITS + 1))
        return bin;
    uint32_t octave = (bin >> NUNA_LATENCY_SUB_BITS) - 1;
    nuna_time in_octave = bin - (octave << NUNA_LATENCY_SUB_BITS);
    return in_octave << octave;
}

void nuna_latency_merge(struct nuna_latency *into, const struct nuna_latency *from)
{
    into->count += from->count;
    into->sum += from->sum;
    if (from->max > into->max)
        into->max = from->max;
    for (uint32_t i = 0; i < NUNA_LATENCY_BINS; i++)
        into->bins[i] += from->bins[i];
}

nuna_time nuna_latency_mean(const struct nuna_latency *latency)
{
    return latency->count ? (latency->sum + latency->count / 2) / latency->count : 0;
}

nuna_time nuna_latency_quantile(const struct nuna_latency *latency, uint32_t per_mille)
{
    if (latency->count == 0)
        return 0;
    unsigned __int128 due = (unsigned __int128)latency->count * per_mille;
    unsigned __int128 seen = 0;
    uint32_t bin = 0;
    for (; bin + 1 < NUNA_LATENCY_BINS; bin++) {
        seen += latency->bins[bin];
        if (seen * 1000 >= due)
            break;
    }
    nuna_time last = nuna_latency_bin_start(bin + 1) - 1;
    return last < latency->max ? last : latency->max;
}

/* The bins' middles, weighted by their counts, through GSL. */
static double weighted(const struct nuna_latency *latency,
                       double (*statistic)(const double *, size_t, const double *, size_t, size_t))
{
    double *value = malloc(NUNA_LATENCY_BINS * sizeof *value);
    double *weight = malloc(NUNA_LATENCY_BINS * sizeof *weight);
    size_t count = 0;
    for (uint32_t i = 0; value && weight && i + 1 < NUNA_LATENCY_BINS; i++) {
        if (latency->bins[i] == 0)
            continue;
        value[count] =
            ((double)nuna_latency_bin_start(i) + (double)nuna_latency_bin_start(i + 1) - 1) / 2;
        weight[count++] = (double)latency->bins[i];
    }
    double result = count > 1 ? statistic(weight, 1, value, 1, count) : 0;
    free(value);
    free(weight);
    return result;
}

double nuna_latency_sd(const struct nuna_latency *latency)
{
    return latency->count < 2 ? 0 : weighted(latency, gsl_stats_wsd);
}

double nuna_latency_skew(const struct nuna_latency *latency)
{
    return latency->count < 3 ? 0 : weighted(latency, gsl_stats_wskew);
}
