/* The latency histogram: bins, quantiles against sorting, moments. */
#include "core/latency.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            cr_assert_fail(__VA_ARGS__);                                                           \
    } while (0)

static struct nuna_latency *histogram(void)
{
    struct nuna_latency *latency = calloc(1, sizeof *latency);
    cr_assert_not_null(latency);
    return latency;
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Each bin starts where the one before ends, and holds what lies between. */
Test(latency, bins_are_contiguous_and_monotone)
{
    cr_assert_eq(nuna_latency_bin_start(0), 0);
    for (uint32_t bin = 0; bin + 1 < NUNA_LATENCY_BINS; bin++) {
        nuna_time first = nuna_latency_bin_start(bin), next = nuna_latency_bin_start(bin + 1);
        HOLDS(next > first, "bin %u is empty", bin);
        HOLDS(nuna_latency_bin(first) == bin, "bin %u: its first time is in bin %u", bin,
              nuna_latency_bin(first));
        HOLDS(nuna_latency_bin(next - 1) == bin, "bin %u: its last time is in bin %u", bin,
              nuna_latency_bin(next - 1));
        HOLDS(nuna_latency_bin(first + (next - first) / 2) == bin, "bin %u: its middle", bin);
        HOLDS(first < 256 ? next - first == 1 : next - first <= first / 128,
              "bin %u is %" PRIu64 " ps wide from %" PRIu64, bin, next - first, first);
    }
    cr_assert_eq(nuna_latency_bin(NUNA_TIME_MAX), NUNA_LATENCY_BINS - 1);
    cr_assert_eq(nuna_latency_bin(nuna_latency_bin_start(NUNA_LATENCY_BINS - 1)),
                 NUNA_LATENCY_BINS - 1);
}

Test(latency, whole_range_stays_inside)
{
    uint64_t random = 4711;
    for (int i = 0; i < 1000000; i++) {
        nuna_time a = draw(&random) >> draw(&random) % 64, b = draw(&random) >> draw(&random) % 64;
        uint32_t bin_a = nuna_latency_bin(a), bin_b = nuna_latency_bin(b);
        HOLDS(bin_a < NUNA_LATENCY_BINS, "%" PRIu64 " is in bin %u", a, bin_a);
        HOLDS(a <= b ? bin_a <= bin_b : bin_a >= bin_b, "%" PRIu64 " and %" PRIu64 " are swapped",
              a, b);
    }
}

Test(latency, empty_and_single)
{
    struct nuna_latency *latency = histogram();
    cr_assert_eq(nuna_latency_mean(latency), 0);
    cr_assert_eq(nuna_latency_quantile(latency, 500), 0);
    cr_assert_eq(nuna_latency_sd(latency), 0);
    cr_assert_eq(nuna_latency_skew(latency), 0);
    nuna_latency_add(latency, 919999);
    cr_assert_eq(nuna_latency_mean(latency), 919999);
    cr_assert_eq(nuna_latency_quantile(latency, 1), 919999);
    cr_assert_eq(nuna_latency_quantile(latency, 500), 919999);
    cr_assert_eq(nuna_latency_quantile(latency, 1000), 919999);
    cr_assert_eq(latency->max, 919999);
    cr_assert_eq(nuna_latency_sd(latency), 0);
    free(latency);
}

static int by_value(const void *left, const void *right)
{
    nuna_time a = *(const nuna_time *)left, b = *(const nuna_time *)right;
    return a < b ? -1 : a > b;
}

/* The nearest-rank quantile, exactly. */
static nuna_time sorted_quantile(const nuna_time *sorted, size_t count, uint32_t per_mille)
{
    size_t rank = (count * per_mille + 999) / 1000;
    return sorted[rank == 0 ? 0 : rank - 1];
}

static void check_against_sorting(nuna_time *times, size_t count)
{
    static const uint32_t per_mille[] = {1, 10, 250, 500, 750, 900, 990, 999, 1000};
    struct nuna_latency *latency = histogram();
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        nuna_latency_add(latency, times[i]);
        sum += times[i];
    }
    qsort(times, count, sizeof *times, by_value);
    for (size_t q = 0; q < COUNT(per_mille); q++) {
        nuna_time exact = sorted_quantile(times, count, per_mille[q]);
        nuna_time found = nuna_latency_quantile(latency, per_mille[q]);
        cr_assert(found >= exact && found - exact <= exact / 128,
                  "%zu times, %u per mille: %" PRIu64 ", sorting says %" PRIu64, count,
                  per_mille[q], found, exact);
    }
    cr_assert_eq(latency->max, times[count - 1]);
    cr_assert_eq(nuna_latency_quantile(latency, 1000), times[count - 1]);
    cr_assert_eq(latency->count, count);
    /* To the nearest, halves up. */
    cr_assert_eq(nuna_latency_mean(latency), (nuna_time)((2 * sum + count) / (2 * count)));
    free(latency);
}

Test(latency, quantiles_and_mean_against_sorting)
{
    static const size_t counts[] = {1, 2, 3, 10, 99, 100, 101, 1000, 20000};
    static const nuna_time scales[] = {1, 100, 300, 4096, 1000000, 1000000000};
    static nuna_time times[20000];
    uint64_t random = 31;
    for (size_t c = 0; c < COUNT(counts); c++)
        for (size_t s = 0; s < COUNT(scales); s++)
            for (int shape = 0; shape < 3; shape++) {
                for (size_t i = 0; i < counts[c]; i++) {
                    uint64_t u = draw(&random) % 10000, v = draw(&random) % 10000;
                    times[i] = shape == 0   ? scales[s] + scales[s] * u / 10000
                               : shape == 1 ? scales[s] * u / 10000 * v / 10000
                                            : scales[s] << draw(&random) % 20;
                }
                check_against_sorting(times, counts[c]);
            }
}

Test(latency, mean_rounds_to_the_nearest)
{
    struct nuna_latency *latency = histogram();
    nuna_latency_add(latency, 10);
    nuna_latency_add(latency, 11);
    cr_assert_eq(nuna_latency_mean(latency), 11);
    nuna_latency_add(latency, 10);
    cr_assert_eq(nuna_latency_mean(latency), 10);
    free(latency);
}

/* Steps of `step` from `from` to `to`, `weight` of each. */
static void add_run(struct nuna_latency *latency, nuna_time from, nuna_time to, nuna_time step,
                    int weight)
{
    for (nuna_time time = from; time <= to; time += step)
        for (int i = 0; i < weight; i++)
            nuna_latency_add(latency, time);
}

Test(latency, spread_and_skew)
{
    struct nuna_latency *even = histogram(), *right = histogram(), *left = histogram();
    add_run(even, 100, 200, 1, 3); /* bins of one ps: exact */
    cr_assert_float_eq(nuna_latency_skew(even), 0, 1e-9);
    /* The population's is sqrt((101^2 - 1) / 12) = 29.155; of a sample of 303 a little more. */
    cr_assert_float_eq(nuna_latency_sd(even), 29.155, 0.4);
    add_run(right, 800000, 900000, 1000, 10);
    add_run(right, 900000, 1400000, 10000, 1);
    cr_assert_gt(nuna_latency_skew(right), 1.0, "a tail of long times is positive");
    add_run(left, 800000, 900000, 1000, 10);
    add_run(left, 300000, 800000, 10000, 1);
    cr_assert_lt(nuna_latency_skew(left), -1.0, "a tail of short times is negative");
    double sd = nuna_latency_sd(right);
    cr_assert(sd > 30000 && sd < 150000, "%f", sd);
    free(even);
    free(right);
    free(left);
}

Test(latency, merge_is_adding_all)
{
    struct nuna_latency *parts[3] = {histogram(), histogram(), histogram()}, *all = histogram(),
                        *merged = histogram();
    uint64_t random = 8;
    for (int i = 0; i < 30000; i++) {
        nuna_time time = draw(&random) >> (20 + draw(&random) % 40);
        nuna_latency_add(parts[draw(&random) % 2], time); /* the third stays empty */
        nuna_latency_add(all, time);
    }
    for (int i = 0; i < 3; i++) {
        nuna_latency_merge(merged, parts[i]);
        free(parts[i]);
    }
    cr_assert_eq(memcmp(merged, all, sizeof *all), 0);
    free(all);
    free(merged);
}
