#include "core/params.h"
#include "core/units.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

#define TIME_DUE   "expected a time with a unit, such as 12.8ns"
#define RATE_DUE   "expected a rate with a unit, such as 150GB/s"
#define SIZE_DUE   "expected a size with a unit, such as 256B or 1MiB"
#define NUMBER_DUE "expected a whole number, such as 64"

static const struct accepted {
    const char *text;
    enum nuna_quantity quantity;
    int64_t value;
} accepted[] = {
    {"0", NUNA_Q_COUNT, 0},
    {"64", NUNA_Q_COUNT, 64},
    {"9223372036854775807", NUNA_Q_COUNT, INT64_MAX},
    {"0ps", NUNA_Q_TIME, 0},
    {"1ps", NUNA_Q_TIME, 1},
    {"12.8ns", NUNA_Q_TIME, 12800},
    {"9.6ns", NUNA_Q_TIME, 9600},
    {"0.001ns", NUNA_Q_TIME, 1},
    {"1.50000000000000000000000000000000000000000000000000000000000000000000000ns", NUNA_Q_TIME,
     1500},
    {"1us", NUNA_Q_TIME, 1000000},
    {"1ms", NUNA_Q_TIME, 1000000000},
    {"1s", NUNA_Q_TIME, 1000000000000},
    {"0.000000000001s", NUNA_Q_TIME, 1},
    {"9223372.036854775807s", NUNA_Q_TIME, INT64_MAX},
    {"1B/s", NUNA_Q_RATE, 1},
    {"1kB/s", NUNA_Q_RATE, 1000},
    {"1MB/s", NUNA_Q_RATE, 1000000},
    {"150GB/s", NUNA_Q_RATE, 150000000000},
    {"1.6TB/s", NUNA_Q_RATE, 1600000000000},
    {"1KiB/s", NUNA_Q_RATE, 1024},
    {"1MiB/s", NUNA_Q_RATE, 1048576},
    {"1GiB/s", NUNA_Q_RATE, 1073741824},
    {"1TiB/s", NUNA_Q_RATE, 1099511627776},
    {"8b/s", NUNA_Q_RATE, 1},
    {"1kb/s", NUNA_Q_RATE, 125},
    {"1Mb/s", NUNA_Q_RATE, 125000},
    {"800Gb/s", NUNA_Q_RATE, 100000000000},
    {"1.6Tb/s", NUNA_Q_RATE, 200000000000},
    {"0.008kb/s", NUNA_Q_RATE, 1},
    {"73786976294838206456b/s", NUNA_Q_RATE, INT64_MAX},
    {"0B", NUNA_Q_SIZE, 0},
    {"256B", NUNA_Q_SIZE, 256},
    {"1kB", NUNA_Q_SIZE, 1000},
    {"1KB", NUNA_Q_SIZE, 1000},
    {"1MB", NUNA_Q_SIZE, 1000000},
    {"1GB", NUNA_Q_SIZE, 1000000000},
    {"1TB", NUNA_Q_SIZE, 1000000000000},
    {"4KiB", NUNA_Q_SIZE, 4096},
    {"1MiB", NUNA_Q_SIZE, 1048576},
    {"6GiB", NUNA_Q_SIZE, 6442450944},
    {"1TiB", NUNA_Q_SIZE, 1099511627776},
    {"0.0009765625KiB", NUNA_Q_SIZE, 1},
    {"0.0000000000009094947017729282379150390625TiB", NUNA_Q_SIZE, 1},
    {"2147483647B", NUNA_Q_SIZE, 2147483647},
    {"4294967297B", NUNA_Q_SIZE, 4294967297},
    {"9223372036854775807B", NUNA_Q_SIZE, INT64_MAX},
    {"mesh", NUNA_Q_ENUM, 0},
    {"uniform", NUNA_Q_ENUM, 1},
};

static const char words[] = "mesh|uniform";

Test(units, accepted)
{
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        struct nuna_error err = {0};
        int64_t value = -1;
        bool ok = nuna_units_parse(accepted[i].text, accepted[i].quantity, words, &value, &err);
        cr_assert(ok, "%s: %s", accepted[i].text, err.message);
        cr_assert(value == accepted[i].value, "%s is %" PRId64, accepted[i].text, value);
    }
}

static const struct refused {
    const char *text;
    enum nuna_quantity quantity;
    const char *message;
} refused[] = {
    {"64", NUNA_Q_TIME, "\"64\" has no unit; " TIME_DUE},
    {"0", NUNA_Q_SIZE, "\"0\" has no unit; " SIZE_DUE},
    {"100", NUNA_Q_RATE, "\"100\" has no unit; " RATE_DUE},
    {"", NUNA_Q_TIME, "no value; " TIME_DUE},
    {"", NUNA_Q_ENUM, "no value; expected one of mesh, uniform"},
    {"5GB/s", NUNA_Q_TIME, "\"5GB/s\" is a rate; " TIME_DUE},
    {"5ns", NUNA_Q_RATE, "\"5ns\" is a time; " RATE_DUE},
    {"5GB", NUNA_Q_RATE, "\"5GB\" is a size; " RATE_DUE},
    {"5GB/s", NUNA_Q_SIZE, "\"5GB/s\" is a rate; " SIZE_DUE},
    {"5B", NUNA_Q_COUNT, "\"5B\" has something after the number; " NUMBER_DUE},
    {"1e3", NUNA_Q_COUNT, "\"1e3\" has something after the number; " NUMBER_DUE},
    {"0x10", NUNA_Q_COUNT, "\"0x10\" has something after the number; " NUMBER_DUE},
    {"1.0", NUNA_Q_COUNT, "\"1.0\" has a decimal point; " NUMBER_DUE},
    {"010", NUNA_Q_COUNT, "\"010\" has a leading zero; " NUMBER_DUE},
    {"-1ns", NUNA_Q_TIME, "\"-1ns\" has a sign; " TIME_DUE},
    {"+1ns", NUNA_Q_TIME, "\"+1ns\" has a sign; " TIME_DUE},
    {"1 ns", NUNA_Q_TIME, "\"1 ns\" has a blank in it; " TIME_DUE},
    {" 1ns", NUNA_Q_TIME, "\" 1ns\" has a blank in it; " TIME_DUE},
    {"1ns\n", NUNA_Q_TIME, "\"1ns?\" has a blank in it; " TIME_DUE},
    {".5ns", NUNA_Q_TIME, "\".5ns\" is not a number; " TIME_DUE},
    {"5.ns", NUNA_Q_TIME, "\"5.ns\" is not a number; " TIME_DUE},
    {"fast", NUNA_Q_TIME, "\"fast\" is not a number; " TIME_DUE},
    {"nan", NUNA_Q_COUNT, "\"nan\" is not a number; " NUMBER_DUE},
    {"1,5ns", NUNA_Q_TIME, "\"1,5ns\" has an unknown unit \",5ns\"; " TIME_DUE},
    {"1NS", NUNA_Q_TIME, "\"1NS\" has an unknown unit \"NS\" (did you mean ns?); " TIME_DUE},
    {"1\xC2\xB5s", NUNA_Q_TIME,
     "\"1\xC2\xB5s\" has an unknown unit \"\xC2\xB5s\" (did you mean us?); " TIME_DUE},
    {"5gB/s", NUNA_Q_RATE,
     "\"5gB/s\" has an unknown unit \"gB/s\" (did you mean GB/s?); " RATE_DUE},
    {"5gb/s", NUNA_Q_RATE,
     "\"5gb/s\" has an unknown unit \"gb/s\" (did you mean Gb/s?); " RATE_DUE},
    {"5GBps", NUNA_Q_RATE,
     "\"5GBps\" has an unknown unit \"GBps\" (did you mean GB/s?); " RATE_DUE},
    {"5Gbps", NUNA_Q_RATE,
     "\"5Gbps\" has an unknown unit \"Gbps\" (did you mean Gb/s?); " RATE_DUE},
    {"64gb", NUNA_Q_SIZE,
     "\"64gb\" has the unit \"gb\", where b is bit (did you mean GB?); " SIZE_DUE},
    {"64Gb", NUNA_Q_SIZE,
     "\"64Gb\" has the unit \"Gb\", where b is bit (did you mean GB?); " SIZE_DUE},
    {"4kiB", NUNA_Q_SIZE, "\"4kiB\" has an unknown unit \"kiB\" (did you mean KiB?); " SIZE_DUE},
    {"4M", NUNA_Q_SIZE, "\"4M\" has an unknown unit \"M\"; " SIZE_DUE},
    {"1.5B", NUNA_Q_SIZE, "\"1.5B\" is not a whole number of bytes; " SIZE_DUE},
    {"0.1KiB", NUNA_Q_SIZE, "\"0.1KiB\" is not a whole number of bytes; " SIZE_DUE},
    {"0.0001ns", NUNA_Q_TIME, "\"0.0001ns\" is not a whole number of picoseconds; " TIME_DUE},
    {"1b/s", NUNA_Q_RATE, "\"1b/s\" is not a whole number of bytes per second; " RATE_DUE},
    {"9223372036854775808B", NUNA_Q_SIZE, "\"9223372036854775808B\" is too large; " SIZE_DUE},
    {"18446744073709551615B", NUNA_Q_SIZE, "\"18446744073709551615B\" is too large; " SIZE_DUE},
    {"18446744073709551616B", NUNA_Q_SIZE, "\"18446744073709551616B\" is too large; " SIZE_DUE},
    {"16777216TiB", NUNA_Q_SIZE, "\"16777216TiB\" is too large; " SIZE_DUE},
    {"9223372.036854775808s", NUNA_Q_TIME, "\"9223372.036854775808s\" is too large; " TIME_DUE},
    {"340282366920938463463374607431768211456B", NUNA_Q_SIZE,
     "\"340282366920938463463374607431768211456B\" is too large; " SIZE_DUE},
    {"meshh", NUNA_Q_ENUM,
     "\"meshh\" is not known (did you mean mesh?); expected one of mesh, uniform"},
    {"Mesh", NUNA_Q_ENUM,
     "\"Mesh\" is not known (did you mean mesh?); expected one of mesh, uniform"},
    {"torus", NUNA_Q_ENUM, "\"torus\" is not known; expected one of mesh, uniform"},
    {"mesh|uniform", NUNA_Q_ENUM, "\"mesh|uniform\" is not known; expected one of mesh, uniform"},
};

Test(units, refused)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct nuna_error err = {0};
        int64_t value = 77;
        bool ok = nuna_units_parse(refused[i].text, refused[i].quantity, words, &value, &err);
        cr_assert(!ok, "%s was accepted as %" PRId64, refused[i].text, value);
        cr_assert_str_eq(err.message, refused[i].message);
        cr_assert_eq(err.code, NUNA_EXIT_BAD_INPUT);
        cr_assert_eq(value, 77, "%s left a value", refused[i].text);
    }
}

Test(units, one_word_is_not_one_of)
{
    struct nuna_error err = {0};
    int64_t value = 0;
    cr_assert(!nuna_units_parse("credit", NUNA_Q_ENUM, "ideal", &value, &err));
    cr_assert_str_eq(err.message, "\"credit\" is not known; expected ideal");
}

Test(units, long_text_is_shortened)
{
    char text[5000];
    struct nuna_error err = {0};
    int64_t value = 0;
    memset(text, '9', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_assert(!nuna_units_parse(text, NUNA_Q_COUNT, "", &value, &err));
    cr_assert(strstr(err.message, "...\" is too large; " NUMBER_DUE) != NULL, "%s", err.message);
    cr_assert_lt(strlen(err.message), 200);
}

Test(units, locale_does_not_matter)
{
    struct nuna_error err = {0};
    int64_t value = 0;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* decimal comma, where installed */
    cr_assert(nuna_units_parse("12.8ns", NUNA_Q_TIME, "", &value, &err), "%s", err.message);
    cr_assert_eq(value, 12800);
}

static const struct formatted {
    int64_t value;
    enum nuna_quantity quantity;
    const char *text;
} formatted[] = {
    {0, NUNA_Q_COUNT, "0"},
    {700, NUNA_Q_COUNT, "700"},
    {0, NUNA_Q_TIME, "0s"},
    {1, NUNA_Q_TIME, "1ps"},
    {100, NUNA_Q_TIME, "100ps"},
    {12800, NUNA_Q_TIME, "12.8ns"},
    {500000, NUNA_Q_TIME, "500ns"},
    {1234567, NUNA_Q_TIME, "1234567ps"},
    {0, NUNA_Q_RATE, "0B/s"},
    {150000000000, NUNA_Q_RATE, "150GB/s"},
    {100000000000, NUNA_Q_RATE, "100GB/s"},
    {1600000000000, NUNA_Q_RATE, "1.6TB/s"},
    {125000000, NUNA_Q_RATE, "125MB/s"},
    {1073741824, NUNA_Q_RATE, "1GiB/s"},
    {0, NUNA_Q_SIZE, "0B"},
    {256, NUNA_Q_SIZE, "256B"},
    {4096, NUNA_Q_SIZE, "4KiB"},
    {1000, NUNA_Q_SIZE, "1kB"},
    {1000000, NUNA_Q_SIZE, "1MB"},
    {1536, NUNA_Q_SIZE, "1536B"},
    {1610612736, NUNA_Q_SIZE, "1.5GiB"},
    {4294967297, NUNA_Q_SIZE, "4294967297B"},
    {INT64_MAX, NUNA_Q_SIZE, "9223372036854775807B"},
    {0, NUNA_Q_ENUM, "mesh"},
    {1, NUNA_Q_ENUM, "uniform"},
    {2, NUNA_Q_ENUM, "?"},
};

Test(units, formatted)
{
    for (size_t i = 0; i < sizeof(formatted) / sizeof(formatted[0]); i++) {
        char text[64];
        nuna_units_format(formatted[i].value, formatted[i].quantity, words, text, sizeof(text));
        cr_assert_str_eq(text, formatted[i].text);
    }
}

/* A generator of our own: the same numbers on every machine. */
static uint64_t step(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

Test(units, format_and_parse_are_inverse)
{
    const enum nuna_quantity quantities[] = {NUNA_Q_COUNT, NUNA_Q_TIME, NUNA_Q_RATE, NUNA_Q_SIZE};
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 40000; i++) {
        int64_t value = (int64_t)(step(&state) >> (1 + step(&state) % 63));
        /* Round numbers too: they take the units with fractions. */
        const int64_t rounds[] = {1, 100, 1024, 1000000, 1048576};
        int64_t rounding = rounds[i % 5];
        value -= value % rounding;
        enum nuna_quantity quantity = quantities[i % 4];
        char text[64];
        struct nuna_error err = {0};
        int64_t back = -1;
        nuna_units_format(value, quantity, "", text, sizeof(text));
        cr_assert(nuna_units_parse(text, quantity, "", &back, &err), "%s", err.message);
        cr_assert(back == value, "%" PRId64 " became %s", value, text);
    }
}

Test(units, table_texts_parse)
{
    for (size_t i = 0; i < nuna_param_count; i++) {
        const struct nuna_param_desc *row = &nuna_param_table[i];
        struct nuna_error err = {0};
        int64_t def = 0, min = 0, max = 0;
        cr_assert(nuna_units_parse(row->default_text, row->quantity, row->words, &def, &err), "%s",
                  err.message);
        if (row->quantity == NUNA_Q_ENUM)
            continue;
        cr_assert(nuna_units_parse(row->min_text, row->quantity, "", &min, &err), "%s",
                  err.message);
        cr_assert(nuna_units_parse(row->max_text, row->quantity, "", &max, &err), "%s",
                  err.message);
        cr_assert(min <= def && def <= max, "%s.%s", row->section, row->field);
    }
}

Test(units, transfer_time_known)
{
    uint64_t remainder = 0;
    cr_assert_eq(nuna_units_transfer_time(256, 512000000000, &remainder), 500);
    cr_assert_eq(remainder, 0);
    cr_assert_eq(nuna_units_transfer_time(1, 3, &remainder), 333333333333);
    cr_assert_eq(remainder, 1);
    cr_assert_eq(nuna_units_transfer_time(0, 1, NULL), 0);
    cr_assert_eq(nuna_units_transfer_time(UINT64_MAX, 1, NULL), NUNA_TIME_MAX);
    cr_assert_eq(nuna_units_transfer_time(UINT64_MAX, NUNA_PS_PER_S, NULL), UINT64_MAX);
}

Test(units, transfer_time_exact)
{
    uint64_t state = 123456789;
    for (int i = 0; i < 100000; i++) {
        uint64_t bytes = step(&state) >> (step(&state) % 64);
        uint64_t rate = (step(&state) >> (step(&state) % 64)) | 1;
        uint64_t remainder = 0;
        nuna_time time = nuna_units_transfer_time(bytes, rate, &remainder);
        uint128 work = (uint128)bytes * 1000000000000u;
        cr_assert_lt(remainder, rate);
        if (time == NUNA_TIME_MAX)
            cr_assert(work / rate >= NUNA_TIME_MAX);
        else
            cr_assert((uint128)time * rate + remainder == work);
    }
}

/* N transfers that carry the remainder take as long as one of N times the size. */
Test(units, remainders_add_up)
{
    const uint64_t rates[] = {3, 7, 150000000000, 512000000000, 199999999999, 1000003};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        const uint64_t rate = rates[i], bytes = 257, count = 100003;
        nuna_time total = 0;
        uint64_t carried = 0, whole_remainder = 0;
        for (uint64_t n = 0; n < count; n++) {
            uint64_t remainder = 0;
            total += nuna_units_transfer_time(bytes, rate, &remainder);
            carried += remainder;
            if (carried >= rate) {
                carried -= rate;
                total++;
            }
        }
        cr_assert_eq(total, nuna_units_transfer_time(bytes * count, rate, &whole_remainder));
        cr_assert_eq(carried, whole_remainder);
    }
}
