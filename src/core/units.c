#include "core/units.h"

#include "core/text.h"
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

struct unit {
    const char *name;
    uint64_t scale; /* stored units, or bits where `bits` */
    bool bits;
};

#define KILO 1000ull
#define KIBI 1024ull

static const struct unit time_units[] = {
    {"ps", 1, false},
    {"ns", KILO, false},
    {"us", KILO *KILO, false},
    {"ms", KILO *KILO *KILO, false},
    {"s", KILO *KILO *KILO *KILO, false},
};

static const struct unit size_units[] = {
    {"B", 1, false},
    {"kB", KILO, false},
    {"MB", KILO *KILO, false},
    {"GB", KILO *KILO *KILO, false},
    {"TB", KILO *KILO *KILO *KILO, false},
    {"KiB", KIBI, false},
    {"MiB", KIBI *KIBI, false},
    {"GiB", KIBI *KIBI *KIBI, false},
    {"TiB", KIBI *KIBI *KIBI *KIBI, false},
    {"KB", KILO, false}, /* last: read, never written */
};

static const struct unit rate_units[] = {
    {"B/s", 1, false},
    {"kB/s", KILO, false},
    {"MB/s", KILO *KILO, false},
    {"GB/s", KILO *KILO *KILO, false},
    {"TB/s", KILO *KILO *KILO *KILO, false},
    {"KiB/s", KIBI, false},
    {"MiB/s", KIBI *KIBI, false},
    {"GiB/s", KIBI *KIBI *KIBI, false},
    {"TiB/s", KIBI *KIBI *KIBI *KIBI, false},
    {"b/s", 1, true},
    {"kb/s", KILO, true},
    {"Mb/s", KILO *KILO, true},
    {"Gb/s", KILO *KILO *KILO, true},
    {"Tb/s", KILO *KILO *KILO *KILO, true},
};

static const struct kind {
    const char *name;
    const char *expected;
    const struct unit *units;
    size_t count;
} kinds[] = {
    [NUNA_Q_COUNT] = {"number", "a whole number, such as 64", NULL, 0},
    [NUNA_Q_TIME] = {"time", "a time with a unit, such as 12.8ns", time_units,
                     sizeof(time_units) / sizeof(time_units[0])},
    [NUNA_Q_RATE] = {"rate", "a rate with a unit, such as 150GB/s", rate_units,
                     sizeof(rate_units) / sizeof(rate_units[0])},
    [NUNA_Q_SIZE] = {"size", "a size with a unit, such as 256B or 1MiB", size_units,
                     sizeof(size_units) / sizeof(size_units[0])},
};

/* A number as written: digits, perhaps a point and more digits, then the unit. */
struct number {
    const char *whole, *fraction;
    size_t whole_length, fraction_length; /* the fraction without trailing zeros */
    bool point;
    const char *unit;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool refuse(struct nuna_error *err, const char *text, const char *problem,
                   const struct kind *kind)
{
    char shown[NUNA_EXCERPT_SIZE];
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "\"%s\" %s; expected %s",
                     nuna_text_excerpt(text, shown, sizeof(shown)), problem, kind->expected);
}

static bool split_number(const char *text, const struct kind *kind, struct number *ret,
                         struct nuna_error *err)
{
    const char *at = text;

    if (*text == '\0')
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "no value; expected %s", kind->expected);
    if (strpbrk(text, " \t\r\n") != NULL)
        return refuse(err, text, "has a blank in it", kind);
    if (*text == '-' || *text == '+')
        return refuse(err, text, "has a sign", kind);

    ret->whole = at;
    while (is_digit(*at))
        at++;
    ret->whole_length = (size_t)(at - ret->whole);
    ret->point = *at == '.';
    ret->fraction = at + ret->point;
    if (ret->point)
        for (at++; is_digit(*at); at++) {
        }
    ret->fraction_length = (size_t)(at - ret->fraction);
    ret->unit = at;
    if (ret->whole_length == 0 || (ret->point && ret->fraction_length == 0))
        return refuse(err, text, "is not a number", kind);
    /* 010 is eight to a YAML 1.1 reader and ten to a person. */
    if (ret->whole_length > 1 && ret->whole[0] == '0')
        return refuse(err, text, "has a leading zero", kind);
    while (ret->fraction_length > 0 && ret->fraction[ret->fraction_length - 1] == '0')
        ret->fraction_length--;
    return true;
}

static const struct unit *find_unit(const struct kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->count; i++)
        if (strcmp(kind->units[i].name, name) == 0)
            return &kind->units[i];
    return NULL;
}

/* How many letters agree in case when the words are equal but for case; else 0. */
static size_t same_but_case(const char *a, const char *b)
{
    size_t same = 1;
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        if (lower(*a) != lower(*b))
            return 0;
        same += *a == *b;
    }
    return *a == *b ? same : 0;
}

/* The right spelling of a unit in the wrong case, with "ps" for "/s", or with a micro sign. */
static const char *respell(const struct kind *kind, const char *name)
{
    char spelling[8];
    const char *best = NULL;
    size_t best_same = 0;
    size_t length = strlen(name);

    if (strcmp(name, "\xC2\xB5s") == 0 || strcmp(name, "\xCE\xBCs") == 0)
        name = "us", length = 2;
    if (length >= sizeof(spelling))
        return NULL;
    memcpy(spelling, name, length + 1);
    if (length > 2 && lower(name[length - 1]) == 's' && lower(name[length - 2]) == 'p')
        spelling[length - 2] = '/';
    for (size_t i = 0; i < kind->count; i++) {
        size_t same = same_but_case(spelling, kind->units[i].name);
        if (same > best_same) {
            best_same = same;
            best = kind->units[i].name;
        }
    }
    return best;
}

/* Says why the unit is none of this quantity's. */
static bool refuse_unit(const char *text, const struct number *number, enum nuna_quantity quantity,
                        struct nuna_error *err)
{
    const struct kind *kind = &kinds[quantity];
    char problem[NUNA_EXCERPT_SIZE + 64];
    char shown[16];

    if (*number->unit == '\0')
        return refuse(err, text, "has no unit", kind);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (find_unit(&kinds[i], number->unit) != NULL) {
            snprintf(problem, sizeof(problem), "is a %s", kinds[i].name);
            return refuse(err, text, problem, kind);
        }
    }
    const char *right = respell(kind, number->unit);
    nuna_text_excerpt(number->unit, shown, sizeof(shown));
    if (right != NULL && quantity == NUNA_Q_SIZE && strchr(number->unit, 'b') != NULL)
        snprintf(problem, sizeof(problem), "has the unit \"%s\", where b is bit (did you mean %s?)",
                 shown, right);
    else if (right != NULL)
        snprintf(problem, sizeof(problem), "has an unknown unit \"%s\" (did you mean %s?)", shown,
                 right);
    else
        snprintf(problem, sizeof(problem), "has an unknown unit \"%s\"", shown);
    return refuse(err, text, problem, kind);
}

/* The whole digits as an integer; false when it is too large for any quantity. */
static bool read_whole(const struct number *number, uint128 *ret_value)
{
    *ret_value = 0;
    for (size_t i = 0; i < number->whole_length; i++) {
        *ret_value = *ret_value * 10 + (unsigned)(number->whole[i] - '0');
        if (*ret_value >> 67 != 0) /* beyond int64, also when counted in bits */
            return false;
    }
    return true;
}

/* 0.FRACTION times `scale`; false when that is no integer. */
static bool scale_fraction(const struct number *number, uint64_t scale, uint64_t *ret_value)
{
    /* Long multiplication from the last digit: what stays right of the point must be zeros. */
    uint64_t carry = 0;
    bool exact = true;

    for (size_t i = number->fraction_length; i-- > 0;) {
        uint64_t product = (uint64_t)(number->fraction[i] - '0') * scale + carry;
        exact = exact && product % 10 == 0;
        carry = product / 10;
    }
    *ret_value = carry;
    return exact;
}

static bool parse_word(const char *text, const char *words, int64_t *ret_value,
                       struct nuna_error *err)
{
    enum { WORDS_MAX = 32 };
    char list[256], expected[320] = "", shown[NUNA_EXCERPT_SIZE];
    const char *candidates[WORDS_MAX];
    size_t count = 0, used = 0;
    char *rest = NULL;

    snprintf(list, sizeof(list), "%s", words);
    for (char *word = strtok_r(list, "|", &rest); word != NULL && count < WORDS_MAX;
         word = strtok_r(NULL, "|", &rest)) {
        if (strcmp(word, text) == 0) {
            *ret_value = (int64_t)count;
            return true;
        }
        used += (size_t)snprintf(expected + used, sizeof(expected) - used, "%s%s",
                                 count > 0 ? ", " : "", word);
        candidates[count++] = word;
    }
    const char *near = nuna_nearest(text, candidates, count);
    const char *one_of = count > 1 ? "one of " : "";
    if (*text == '\0')
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "no value; expected %s%s", one_of, expected);
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "\"%s\" is not known%s%s%s; expected %s%s",
                     nuna_text_excerpt(text, shown, sizeof(shown)),
                     near != NULL ? " (did you mean " : "", near != NULL ? near : "",
                     near != NULL ? "?)" : "", one_of, expected);
}

bool nuna_units_whole(const char *text, uint32_t max, uint32_t *ret_number)
{
    uint32_t number = 0;
    bool good = text[0] != '\0';
    for (const char *at = text; good && *at != '\0'; at++) {
        good = *at >= '0' && *at <= '9' && number <= max;
        number = number * 10 + (uint32_t)(*at - '0');
    }
    if (good && number >= 1 && number <= max)
        *ret_number = number;
    return good && number >= 1 && number <= max;
}

bool nuna_units_parse(const char *text, enum nuna_quantity quantity, const char *words,
                      int64_t *ret_value, struct nuna_error *err)
{
    static const struct unit one = {"", 1, false};
    struct number number = {0};
    uint128 value = 0;
    uint64_t fraction = 0;

    if (quantity == NUNA_Q_ENUM)
        return parse_word(text, words, ret_value, err);

    const struct kind *kind = &kinds[quantity];
    const struct unit *unit = &one;
    if (!split_number(text, kind, &number, err))
        return false;
    if (quantity == NUNA_Q_COUNT) {
        if (*number.unit != '\0')
            return refuse(err, text, "has something after the number", kind);
        if (number.point)
            return refuse(err, text, "has a decimal point", kind);
    } else {
        unit = find_unit(kind, number.unit);
        if (unit == NULL)
            return refuse_unit(text, &number, quantity, err);
    }

    if (!read_whole(&number, &value))
        return refuse(err, text, "is too large", kind);
    bool exact = scale_fraction(&number, unit->scale, &fraction);
    value = value * unit->scale + fraction; /* below 2^108 */
    if (unit->bits) {
        exact = exact && value % 8 == 0;
        value /= 8;
    }
    if (!exact)
        return refuse(err, text,
                      quantity == NUNA_Q_TIME   ? "is not a whole number of picoseconds"
                      : quantity == NUNA_Q_SIZE ? "is not a whole number of bytes"
                                                : "is not a whole number of bytes per second",
                      kind);
    if (value > INT64_MAX)
        return refuse(err, text, "is too large", kind);
    *ret_value = (int64_t)value;
    return true;
}

/* The value in one unit, as digits with a fraction when needed. False when it needs more room than
 * the buffer has: then it is not the shortest. */
static bool write_in_unit(uint64_t value, const struct unit *unit, char *buffer, size_t size)
{
    uint64_t rest = value % unit->scale;
    int length = snprintf(buffer, size, "%llu", (unsigned long long)(value / unit->scale));
    size_t used = (size_t)length;

    if (rest > 0 && used + 1 < size)
        buffer[used++] = '.';
    for (; rest > 0 && used + 1 < size; used++) {
        rest *= 10;
        buffer[used] = (char)('0' + rest / unit->scale);
        rest %= unit->scale;
    }
    if (rest > 0 || used + strlen(unit->name) >= size)
        return false;
    strcpy(buffer + used, unit->name);
    return true;
}

char *nuna_units_format(int64_t value, enum nuna_quantity quantity, const char *words, char *buffer,
                        size_t size)
{
    char best[48] = "", candidate[48];
    const struct kind *kind = quantity == NUNA_Q_ENUM ? NULL : &kinds[quantity];

    if (quantity == NUNA_Q_ENUM) {
        const char *word = words;
        for (int64_t i = 0; i < value && word != NULL; i++) {
            word = strchr(word, '|');
            word = word != NULL ? word + 1 : NULL;
        }
        if (word == NULL || value < 0)
            word = "?";
        snprintf(buffer, size, "%.*s", (int)strcspn(word, "|"), word);
        return buffer;
    }
    /* Negative values are never parsed; shown for debugging only. */
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    if (quantity == NUNA_Q_COUNT)
        snprintf(best, sizeof(best), "%llu", (unsigned long long)magnitude);
    for (size_t i = 0; i < kind->count; i++) {
        /* Rates are told in bytes, whatever they were given in: one bandwidth, one look. */
        if (kind->units[i].bits ||
            !write_in_unit(magnitude, &kind->units[i], candidate, sizeof(candidate)))
            continue;
        size_t new_length = strlen(candidate), old_length = strlen(best);
        bool plainer = strchr(best, '.') != NULL && strchr(candidate, '.') == NULL;
        if (*best == '\0' || new_length < old_length || (new_length == old_length && plainer))
            strcpy(best, candidate);
    }
    snprintf(buffer, size, "%s%s", value < 0 ? "-" : "", best);
    return buffer;
}

nuna_time nuna_units_transfer_time(uint64_t bytes, uint64_t rate, uint64_t *ret_remainder)
{
    uint128 work = (uint128)bytes * NUNA_PS_PER_S; /* below 2^104 */
    uint128 time = work / rate;

    if (ret_remainder != NULL)
        *ret_remainder = (uint64_t)(work % rate);
    return time > NUNA_TIME_MAX ? NUNA_TIME_MAX : (nuna_time)time;
}
