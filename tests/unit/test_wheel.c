/* The timing wheel against a naive reference: a plain list, sorted by (time, insertion). */
#include "core/wheel.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#define SECOND 1000000000000ull

/* Like cr_assert, but an assertion that holds costs nothing: these are checked millions of times.
 */
#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            cr_assert_fail(__VA_ARGS__);                                                           \
    } while (0)

struct item {
    nuna_time time;
    uint32_t serial;
};

struct bench {
    struct nuna_wheel wheel;
    struct nuna_arena arena;
    struct nuna_block_pool pool;
    struct item *pending;
    size_t count, capacity;
    uint32_t next_serial;
    uint64_t random;
};

static uint64_t draw(struct bench *bench)
{
    bench->random ^= bench->random << 13;
    bench->random ^= bench->random >> 7;
    bench->random ^= bench->random << 17;
    return bench->random;
}

static struct bench *bench_new(uint64_t seed)
{
    struct bench *bench = calloc(1, sizeof *bench);
    cr_assert_not_null(bench);
    nuna_wheel_init(&bench->wheel);
    nuna_arena_init(&bench->arena);
    bench->pool.arena = &bench->arena;
    bench->random = seed * 0x9e3779b97f4a7c15ull + 1;
    return bench;
}

static void bench_free(struct bench *bench)
{
    nuna_wheel_finish(&bench->wheel);
    nuna_arena_finish(&bench->arena);
    free(bench->pending);
    free(bench);
}

static void insert(struct bench *bench, nuna_time time)
{
    if (bench->count == bench->capacity) {
        bench->capacity = bench->capacity ? 2 * bench->capacity : 256;
        bench->pending = realloc(bench->pending, bench->capacity * sizeof *bench->pending);
        cr_assert_not_null(bench->pending);
    }
    uint32_t serial = bench->next_serial++;
    bench->pending[bench->count++] = (struct item){time, serial};
    struct nuna_event event =
        nuna_event_packet(serial % 251, serial % 7, serial & 0xffff, 1, 2, serial);
    nuna_wheel_insert(&bench->wheel, &bench->pool, time, event);
}

static int by_time(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static nuna_time first_bucket(const struct bench *bench)
{
    if (bench->count == 0)
        return NUNA_TIME_MAX;
    nuna_time least = NUNA_TIME_MAX;
    for (size_t i = 0; i < bench->count; i++)
        least = bench->pending[i].time < least ? bench->pending[i].time : least;
    return least / NUNA_BUCKET_PS * NUNA_BUCKET_PS;
}

/* Takes the items of one bucket out of the reference, in order. */
static struct item *expected_bucket(struct bench *bench, nuna_time bucket, size_t *ret_count)
{
    struct item *due = malloc((bench->count + 1) * sizeof *due);
    cr_assert_not_null(due);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < bench->count; i++)
        if (bench->pending[i].time - bucket < NUNA_BUCKET_PS)
            due[count++] = bench->pending[i];
        else
            bench->pending[kept++] = bench->pending[i];
    bench->count = kept;
    qsort(due, count, sizeof *due, by_time);
    *ret_count = count;
    return due;
}

static void compare_event(struct nuna_event event, struct item due, nuna_time bucket)
{
    HOLDS(nuna_event_handle(event) == due.serial,
          "bucket %" PRIu64 ": serial %u came, %u was due at %" PRIu64, bucket,
          nuna_event_handle(event), due.serial, due.time);
    HOLDS(nuna_event_when(event) == (uint32_t)due.time, "serial %u: low time %u", due.serial,
          nuna_event_when(event));
    HOLDS(nuna_event_kind(event) == due.serial % 251 && nuna_event_tag(event) == due.serial % 7 &&
              nuna_event_bytes(event) == (due.serial & 0xffff) && nuna_event_here(event) == 1 &&
              nuna_event_there(event) == 2,
          "serial %u: contents changed", due.serial);
}

/* Runs one bucket; returns its start, NUNA_TIME_MAX when there is none. */
static nuna_time run_bucket(struct bench *bench, size_t *ret_count)
{
    nuna_time bucket = nuna_wheel_next(&bench->wheel), expected = first_bucket(bench);
    HOLDS(bucket == expected, "next() is %" PRIu64 ", expected %" PRIu64, bucket, expected);
    *ret_count = 0;
    if (bucket == NUNA_TIME_MAX)
        return bucket;
    nuna_wheel_advance(&bench->wheel, &bench->pool, bucket);
    size_t count, size = nuna_wheel_bucket_size(&bench->wheel);
    struct item *due = expected_bucket(bench, bucket, &count);
    HOLDS(size == count, "bucket %" PRIu64 " has %zu events, expected %zu", bucket, size, count);
    struct nuna_event *events = malloc(2 * count * sizeof *events);
    cr_assert_not_null(events);
    nuna_wheel_take(&bench->wheel, &bench->pool, count, events, events + count);
    for (size_t i = 0; i < count; i++)
        compare_event(events[i], due[i], bucket);
    HOLDS(nuna_wheel_bucket_size(&bench->wheel) == 0, "the bucket is not empty afterwards");
    free(events);
    free(due);
    *ret_count = count;
    return bucket;
}

static void drain(struct bench *bench)
{
    size_t count;
    while (run_bucket(bench, &count) != NUNA_TIME_MAX)
        ;
    cr_assert_eq(bench->count, 0);
    cr_assert_eq(bench->pool.in_use, 0, "%" PRIu64 " blocks were not returned", bench->pool.in_use);
    cr_assert(!bench->pool.out_of_memory);
    cr_assert_eq(bench->wheel.above, 0);
    cr_assert_eq(bench->wheel.far_count, 0);
}

/* A delay from `now` of one of many magnitudes, or to the border of a level, one ps about it. */
static nuna_time random_time(struct bench *bench, nuna_time now, unsigned most_bits)
{
    static const unsigned borders[] = {NUNA_BUCKET_BITS, NUNA_EPOCH0_BITS, NUNA_EPOCH1_BITS,
                                       NUNA_EPOCH2_BITS};
    nuna_time first = (now / NUNA_BUCKET_PS + 1) * NUNA_BUCKET_PS;
    uint64_t kind = draw(bench) % 4;
    nuna_time time;
    if (kind == 0) {
        time = now + draw(bench) % (4 * NUNA_BUCKET_PS);
    } else if (kind == 1) {
        unsigned bits = borders[draw(bench) % 4];
        nuna_time border = ((now >> bits) + draw(bench) % 4) << bits;
        time = border + draw(bench) % 3 - 1;
    } else {
        time = now + (draw(bench) >> (64 - 1 - draw(bench) % most_bits));
    }
    return time < first || time > now + (8ull << most_bits) ? first : time;
}

static void random_schedule(uint64_t seed, unsigned most_bits, uint32_t events)
{
    struct bench *bench = bench_new(seed);
    for (int i = 0; i < 200; i++)
        insert(bench, draw(bench) % 5 == 0 ? 0 : random_time(bench, 0, most_bits));
    for (;;) {
        size_t count;
        nuna_time bucket = run_bucket(bench, &count);
        if (bucket == NUNA_TIME_MAX)
            break;
        for (size_t i = 0; i < count; i++)
            for (uint64_t n = draw(bench) % 3; n-- > 0 && bench->next_serial < events;)
                insert(bench, random_time(bench, bucket, most_bits));
        if (bench->count < 50 && bench->next_serial < events)
            for (int i = 0; i < 50; i++)
                insert(bench, random_time(bench, bucket, most_bits));
    }
    drain(bench);
    bench_free(bench);
}

Test(wheel, random_schedules_within_a_level)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        random_schedule(seed, 20, 4000);
}

Test(wheel, random_schedules_over_two_levels)
{
    for (uint64_t seed = 11; seed <= 20; seed++)
        random_schedule(seed, 28, 4000);
}

Test(wheel, random_schedules_over_three_levels)
{
    for (uint64_t seed = 21; seed <= 30; seed++)
        random_schedule(seed, 36, 4000);
}

Test(wheel, random_schedules_with_the_far_list)
{
    for (uint64_t seed = 31; seed <= 36; seed++)
        random_schedule(seed, 42, 2000);
}

/* Few events, so that the wheel leaps over any number of epochs, with some of each level pending.
 */
Test(wheel, random_schedules_far_apart)
{
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (unsigned most_bits = 24; most_bits <= 44; most_bits += 4) {
            struct bench *bench = bench_new(seed);
            size_t count;
            for (uint64_t i = 0; i <= seed % 6; i++)
                insert(bench, random_time(bench, 0, most_bits));
            for (nuna_time at; (at = run_bucket(bench, &count)) != NUNA_TIME_MAX;)
                for (size_t i = 0; i < count && bench->next_serial < 600; i++) {
                    nuna_time time = random_time(bench, at, most_bits);
                    /* Pairs that come in through different levels. */
                    insert(bench, time);
                    if (bench->count > 0 && bench->count < 4)
                        insert(bench, bench->pending[draw(bench) % bench->count].time);
                }
            drain(bench);
            bench_free(bench);
        }
}

/* Hours in which nothing happens cost no more than a bucket: two thousand of them, walked epoch by
 * epoch, would take an hour. */
Test(wheel, empty_time_takes_one_step, .timeout = 60)
{
    struct bench *bench = bench_new(8);
    size_t count;
    insert(bench, 2500 * 3600 * SECOND);
    for (uint64_t hour = 1; hour <= 2000; hour++) {
        insert(bench, hour * 3600 * SECOND);
        cr_assert_neq(run_bucket(bench, &count), NUNA_TIME_MAX);
        cr_assert_eq(count, 1);
    }
    drain(bench);
    bench_free(bench);
}

/* Events at one time stay in order although they come in through different levels: the same time
 * is far at first and near at last. */
Test(wheel, order_of_insertion_survives_every_level)
{
    static const unsigned bits[] = {13, 22, 23, 30, 31, 38, 39, 40};
    for (size_t b = 0; b < sizeof bits / sizeof bits[0]; b++)
        for (nuna_time back = 0; back <= 2; back++) {
            struct bench *bench = bench_new(7);
            nuna_time goal = (1ull << bits[b]) + 1 - back;
            insert(bench, goal);
            for (unsigned step = 0; step < bits[b]; step++) {
                /* A stop half-way, a quarter before, ... each of which adds one more. */
                nuna_time stop = goal - (goal >> (step + 1));
                insert(bench, stop);
            }
            size_t count;
            for (nuna_time at; (at = run_bucket(bench, &count)) != NUNA_TIME_MAX;)
                if (goal / NUNA_BUCKET_PS > at / NUNA_BUCKET_PS && bench->next_serial < 500)
                    insert(bench, goal);
            drain(bench);
            bench_free(bench);
        }
}

/* Around every border of a level, seen from several starting times. */
Test(wheel, borders_of_levels)
{
    static const unsigned bits[] = {12, 22, 30, 38};
    static const nuna_time starts[] = {0, 1, 4095, 4096, (1ull << 22) - 1, 1ull << 22, 1ull << 30};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
        struct bench *bench = bench_new(9);
        size_t count;
        insert(bench, starts[s]);
        run_bucket(bench, &count);
        for (size_t b = 0; b < 4; b++)
            for (uint64_t multiple = 1; multiple <= 3; multiple++)
                for (nuna_time back = 0; back <= 2; back++) {
                    nuna_time span = multiple << bits[b], border = starts[s] >> bits[b] << bits[b];
                    nuna_time times[2] = {starts[s] + span + 1 - back, border + span + 1 - back};
                    for (int i = 0; i < 2; i++)
                        if (times[i] / NUNA_BUCKET_PS > starts[s] / NUNA_BUCKET_PS)
                            insert(bench, times[i]);
                }
        drain(bench);
        bench_free(bench);
    }
}

/* Many events in a bucket: several blocks, both ways of sorting, whole blocks, and many ties. */
Test(wheel, crowded_buckets)
{
    static const size_t sizes[] = {1, 2, 23, 24, 25, 62, 63, 64, 125, 126, 127, 1000, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint64_t distinct = 1; distinct <= NUNA_BUCKET_PS; distinct *= 8) {
            struct bench *bench = bench_new(i + 1);
            for (size_t n = 0; n < sizes[i]; n++)
                insert(bench, 3 * NUNA_BUCKET_PS + draw(bench) % distinct);
            for (size_t n = 0; n < sizes[i]; n++)
                insert(bench, 3ull << NUNA_EPOCH0_BITS);
            drain(bench);
            bench_free(bench);
        }
}

/* Blocks are used again: steady traffic does not make the pool grow. */
Test(wheel, blocks_are_used_again)
{
    struct bench *bench = bench_new(3);
    for (uint64_t round = 0; round < 20000; round++) {
        size_t count;
        for (int i = 0; i < 70; i++)
            insert(bench, (round + 1) * NUNA_BUCKET_PS + (nuna_time)i);
        run_bucket(bench, &count);
        HOLDS(count == 70 && bench->pool.in_use == 0, "round %" PRIu64, round);
    }
    cr_assert(bench->arena.region_count == 1 && bench->arena.used == NUNA_SLAB_BYTES);
    bench_free(bench);
}

Test(wheel, next_of_an_empty_wheel_and_of_events_hours_ahead)
{
    struct bench *bench = bench_new(5);
    size_t count;
    cr_assert_eq(nuna_wheel_next(&bench->wheel), NUNA_TIME_MAX);
    insert(bench, 5 * 3600 * SECOND + 4097);
    cr_assert_eq(nuna_wheel_next(&bench->wheel), first_bucket(bench));
    insert(bench, 3 * 3600 * SECOND + 8191);
    cr_assert_eq(nuna_wheel_next(&bench->wheel), first_bucket(bench));
    insert(bench, 10 * SECOND + 1);
    insert(bench, 10 * SECOND);
    cr_assert_eq(run_bucket(bench, &count), 10 * SECOND / NUNA_BUCKET_PS * NUNA_BUCKET_PS);
    cr_assert_eq(count, 2);
    cr_assert_eq(nuna_wheel_next(&bench->wheel), first_bucket(bench));
    insert(bench, 11 * SECOND);
    cr_assert_neq(run_bucket(bench, &count), NUNA_TIME_MAX);
    cr_assert_eq(nuna_wheel_next(&bench->wheel), first_bucket(bench));
    cr_assert_eq(bench->wheel.far_count, 2);
    bench_free(bench);
}
