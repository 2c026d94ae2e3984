/* Rate-limited servers against exact rational arithmetic in 128 bits. */
#include "core/server.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            cr_assert_fail(__VA_ARGS__);                                                           \
    } while (0)

typedef unsigned __int128 wide;

static const uint64_t rates[] = {1,
                                 3,
                                 7,
                                 1000003,
                                 150000000000,
                                 200000000000,
                                 256000000000,
                                 333333333333,
                                 512000000000,
                                 999999999999,
                                 1000000000000,
                                 1000000000000000};

/* Exact: bytes * 10^12 / rate ps. */
static nuna_time exact_time(wide bytes, uint64_t rate)
{
    return (nuna_time)(bytes * NUNA_PS_PER_S / rate);
}

static struct nuna_rate rate_of(uint64_t bytes_per_s)
{
    struct nuna_rate rate;
    nuna_rate_init(&rate, bytes_per_s, 256, 16);
    return rate;
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A queue that never runs empty is as fast as one transfer of all its bytes, after every packet. */
static void check_back_to_back(uint64_t bytes_per_s, const uint32_t *sizes, size_t size_count)
{
    struct nuna_rate rate = rate_of(bytes_per_s);
    struct nuna_server server = {0};
    uint64_t random = 12345;
    wide sum = 0;
    const nuna_time first = 777;
    for (int i = 0; i < 20000; i++) {
        uint32_t bytes = sizes[draw(&random) % size_count];
        nuna_time start = nuna_server_take(&server, &rate, first, bytes);
        HOLDS(start == first + exact_time(sum, bytes_per_s),
              "%" PRIu64 " B/s: packet %d starts at %" PRIu64, bytes_per_s, i, start);
        sum += bytes;
        HOLDS(server.free_at == first + exact_time(sum, bytes_per_s),
              "%" PRIu64 " B/s: packet %d ends at %" PRIu64 ", expected %" PRIu64, bytes_per_s, i,
              server.free_at, first + exact_time(sum, bytes_per_s));
        HOLDS(server.remainder == sum * NUNA_PS_PER_S % bytes_per_s,
              "%" PRIu64 " B/s: remainder after packet %d", bytes_per_s, i);
    }
    cr_assert_eq(server.bytes, (uint64_t)sum);
    cr_assert_eq(nuna_server_busy(&server, &rate), exact_time(sum, bytes_per_s));
    cr_assert_leq(nuna_server_busy(&server, &rate), server.free_at - first);
}

Test(server, packets_take_as_long_as_one_large_transfer)
{
    static const uint32_t flits[] = {256}, control[] = {16}, common[] = {256, 16},
                          mixed[] = {256, 16, 1, 17, 100, 255, 257, 4096, 3};
    for (size_t r = 0; r < COUNT(rates); r++) {
        if (rates[r] < 1000) /* slower ones would leave 64 bits of time */
            continue;
        check_back_to_back(rates[r], flits, COUNT(flits));
        check_back_to_back(rates[r], control, COUNT(control));
        check_back_to_back(rates[r], common, COUNT(common));
        check_back_to_back(rates[r], mixed, COUNT(mixed));
    }
}

Test(server, slow_rates)
{
    for (size_t r = 0; r < 3; r++) {
        struct nuna_rate rate = rate_of(rates[r]);
        struct nuna_server server = {0};
        wide sum = 0;
        for (int i = 0; i < 1000; i++) {
            uint32_t bytes = i % 3 == 0 ? 256 : i % 3 == 1 ? 16 : 1;
            nuna_server_take(&server, &rate, 0, bytes);
            sum += bytes;
            HOLDS(server.free_at == exact_time(sum, rates[r]), "%" PRIu64 " B/s, packet %d",
                  rates[r], i);
        }
    }
}

/* Each busy period starts with a fresh remainder: the reference starts anew, and sums up inside it.
 */
Test(server, random_arrivals_against_exact_busy_periods)
{
    for (size_t r = 3; r < COUNT(rates); r++) {
        struct nuna_rate rate = rate_of(rates[r]);
        struct nuna_server server = {0};
        uint64_t random = 99 + r, total = 0, most = 0;
        nuna_time now = 0, period_start = 0;
        nuna_time mean = exact_time(256, rates[r]) + 1;
        wide in_period = 0;
        uint64_t idle = 0, queued = 0;
        for (int i = 0; i < 20000; i++) {
            now += draw(&random) % 5 == 0 ? draw(&random) % (8 * mean) : draw(&random) % mean;
            uint32_t bytes = draw(&random) % 4 == 0 ? 16 : (uint32_t)(draw(&random) % 256 + 1);
            nuna_time free_at = period_start + exact_time(in_period, rates[r]);
            nuna_time due = now;
            if (free_at < now) {
                period_start = now;
                in_period = 0;
                idle++;
            } else {
                due = free_at;
                queued++;
            }
            most = due - now > most ? due - now : most;
            nuna_time start = nuna_server_take(&server, &rate, now, bytes);
            HOLDS(start == due, "%" PRIu64 " B/s: packet %d starts at %" PRIu64 ", due %" PRIu64,
                  rates[r], i, start, due);
            in_period += bytes;
            total += bytes;
            HOLDS(server.free_at == period_start + exact_time(in_period, rates[r]),
                  "%" PRIu64 " B/s: packet %d ends at %" PRIu64, rates[r], i, server.free_at);
        }
        cr_assert(idle > 100 && queued > 100, "both cases occur: %" PRIu64 " %" PRIu64, idle,
                  queued);
        cr_assert_eq(server.max_wait, most);
        cr_assert_eq(server.bytes, total);
        cr_assert_eq(nuna_server_busy(&server, &rate), exact_time(total, rates[r]));
        cr_assert_leq(nuna_server_busy(&server, &rate), server.free_at);
    }
}

Test(server, k_flows_on_one_link_take_k_times)
{
    for (size_t r = 3; r < COUNT(rates); r++)
        for (uint32_t k = 1; k <= 9; k++) {
            struct nuna_rate rate = rate_of(rates[r]);
            struct nuna_server server = {0};
            for (uint32_t packet = 0; packet < 1000; packet++)
                for (uint32_t flow = 0; flow < k; flow++)
                    nuna_server_take(&server, &rate, 0, 256);
            cr_assert_eq(server.free_at, exact_time((wide)256000 * k, rates[r]),
                         "%u flows at %" PRIu64 " B/s end at %" PRIu64, k, rates[r],
                         server.free_at);
        }
    /* At a rate that divides, exactly k times. */
    struct nuna_rate rate = rate_of(1000000000);
    struct nuna_server one = {0}, five = {0};
    for (int i = 0; i < 100; i++)
        nuna_server_take(&one, &rate, 0, 256);
    for (int i = 0; i < 500; i++)
        nuna_server_take(&five, &rate, 0, 256);
    cr_assert_eq(one.free_at, 100 * 256000);
    cr_assert_eq(five.free_at, 5 * one.free_at);
}

/* 256 B at 150 GB/s are 1,706 2/3 ps. */
Test(server, idle_gap_drops_the_remainder)
{
    struct nuna_rate rate = rate_of(150000000000);
    struct nuna_server server = {0};
    nuna_server_take(&server, &rate, 0, 256);
    cr_assert_eq(server.free_at, 1706);
    nuna_server_take(&server, &rate, 0, 256);
    cr_assert_eq(server.free_at, 3413); /* 3,413 1/3 */
    nuna_server_take(&server, &rate, 0, 256);
    cr_assert_eq(server.free_at, 5120);
    nuna_server_take(&server, &rate, 0, 256);
    cr_assert_eq(server.free_at, 6826); /* 6,826 2/3 */
    nuna_server_take(&server, &rate, 6827, 256);
    cr_assert_eq(server.free_at, 8533, "a gap of a third of a ps: no carry");
    nuna_server_take(&server, &rate, 8533, 256);
    cr_assert_eq(server.free_at, 10240, "no gap: two thirds and two thirds carry");
    nuna_server_take(&server, &rate, 100000, 256);
    cr_assert_eq(server.free_at, 101706);
}

/* Free at t: a packet at t starts at t and waits for nothing, one at t - 1 waits 1 ps. */
Test(server, tight_gate)
{
    for (size_t r = 3; r < COUNT(rates); r++) {
        struct nuna_rate rate = rate_of(rates[r]);
        struct nuna_server first = {0};
        nuna_server_take(&first, &rate, 5000, 4096);
        nuna_time t = 5000 + exact_time(4096, rates[r]);
        cr_assert_eq(first.free_at, t);
        struct nuna_server early = first, exact = first, late = first;
        cr_assert_eq(nuna_server_take(&early, &rate, t - 1, 256), t);
        cr_assert_eq(early.max_wait, 1);
        cr_assert_eq(nuna_server_take(&exact, &rate, t, 256), t);
        cr_assert_eq(exact.max_wait, 0);
        cr_assert_eq(nuna_server_take(&late, &rate, t + 1, 256), t + 1);
        cr_assert_eq(late.max_wait, 0);
        cr_assert_eq(late.free_at, t + 1 + exact_time(256, rates[r]));
    }
}

Test(server, fresh_server_starts_at_once)
{
    struct nuna_rate rate = rate_of(7000000);
    struct nuna_server server = {0};
    cr_assert_eq(nuna_server_take(&server, &rate, 0, 16), 0);
    cr_assert_eq(server.free_at, 2285714);
    cr_assert_eq(server.max_wait, 0);
    cr_assert_eq(nuna_server_take(&server, &rate, 14, 16), 2285714);
    cr_assert_eq(server.max_wait, 2285700);
    nuna_server_take(&server, &rate, 4571427, 16);
    cr_assert_eq(server.max_wait, 2285700, "the longest wait stays");
    cr_assert_eq(server.bytes, 48);
}
