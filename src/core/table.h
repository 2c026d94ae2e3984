/* Tables for people and programs: a list of columns, each with its name, unit, meaning and value,
 * from which come the header and the rows of a CSV file and the documentation of both.
 *
 * A table is a list of rows X(row, name, unit, meaning, value), one per column, as in
 *
 *     #define STORE_COLUMNS(X)                                                    \
 *         X(store, port, "", "I/O port that it left by", nuna_count(row->port))   \
 *         X(store, time_ns, "ns", "when it landed", nuna_ns(row->landed))
 *     NUNA_COLUMNS(store, STORE_COLUMNS)
 *
 * where `row` is a struct store. Fields of text are quoted where CSV asks for it (RFC 4180), and
 * numbers are printed from integers where they are integers, so that files are the same on every
 * machine. */
#ifndef NUNA_CORE_TABLE_H
#define NUNA_CORE_TABLE_H

#include "core/types.h"
#include <stdio.h>

enum nuna_value_kind {
    NUNA_VALUE_NONE, /* an empty field: the column does not apply to this row */
    NUNA_VALUE_TEXT,
    NUNA_VALUE_NUMBERED, /* text with a number behind it: gpu3 */
    NUNA_VALUE_DECIMAL,  /* count / 10^decimals */
    NUNA_VALUE_REAL,
};

struct nuna_value {
    enum nuna_value_kind kind;
    int decimals;
    const char *text; /* the row's */
    uint64_t count;
    double real;
};

struct nuna_column {
    const char *name;
    const char *unit; /* "" for counts, words and ratios */
    const char *meaning;
    struct nuna_value (*value)(const void *row);
};

struct nuna_table {
    const char *name; /* of the file, with a folder where two verbs write files of one name */
    const char *rows; /* what a row is */
    const struct nuna_column *columns;
    size_t column_count;
    size_t
        always; /* columns that every such table has; others end the row when they are asked for */
};

/* Where a table goes: all its columns, or those that it always has. */
struct nuna_csv {
    FILE *stream;
    const struct nuna_table *table;
    size_t columns;
};

/* Write the header, then rows. False when writing failed. */
bool nuna_csv_begin(struct nuna_csv *csv, FILE *stream, const struct nuna_table *table,
                    bool all_columns);
bool nuna_csv_row(const struct nuna_csv *csv, const void *row);

/* The columns as a table in Markdown, for the documentation. */
bool nuna_table_markdown(FILE *out, const struct nuna_table *table);

static inline struct nuna_value nuna_empty(void)
{
    return (struct nuna_value){.kind = NUNA_VALUE_NONE};
}

static inline struct nuna_value nuna_text(const char *text)
{
    return (struct nuna_value){.kind = NUNA_VALUE_TEXT, .text = text};
}

static inline struct nuna_value nuna_numbered(const char *text, uint64_t number)
{
    return (struct nuna_value){.kind = NUNA_VALUE_NUMBERED, .text = text, .count = number};
}

static inline struct nuna_value nuna_decimal(uint64_t count, int decimals)
{
    return (struct nuna_value){.kind = NUNA_VALUE_DECIMAL, .count = count, .decimals = decimals};
}

static inline struct nuna_value nuna_count(uint64_t count)
{
    return nuna_decimal(count, 0);
}

/* Picoseconds as nanoseconds, exact. */
static inline struct nuna_value nuna_ns(nuna_time ps)
{
    return nuna_decimal(ps, 3);
}

/* A part of a whole, cut to millionths; 0 of nothing. */
uint64_t nuna_millionths(uint64_t part, unsigned __int128 whole);
static inline struct nuna_value nuna_share(uint64_t part, unsigned __int128 whole)
{
    return nuna_decimal(nuna_millionths(part, whole), 6);
}

/* The mean of a sum, rounded to the nearest; 0 of nothing. */
static inline uint64_t nuna_mean(uint64_t sum, uint64_t count)
{
    return count ? (sum + count / 2) / count : 0;
}

static inline struct nuna_value nuna_real(double real, int decimals)
{
    return (struct nuna_value){.kind = NUNA_VALUE_REAL, .real = real, .decimals = decimals};
}

static inline struct nuna_value nuna_if(bool applies, struct nuna_value value)
{
    return applies ? value : nuna_empty();
}

/* From a list of columns of rows `struct row_type`: a getter per column, and the array
 * row_type##_columns. */
#define NUNA_COLUMN_GETTER(row_type, name, unit, meaning, value)                                   \
    static struct nuna_value row_type##_##name(const void *of)                                     \
    {                                                                                              \
        const struct row_type *row = of;                                                           \
        (void)row;                                                                                 \
        return value;                                                                              \
    }
#define NUNA_COLUMN_ENTRY(row_type, name, unit, meaning, value)                                    \
    {#name, unit, meaning, row_type##_##name},
#define NUNA_COLUMNS(row_type, list)                                                               \
    list(NUNA_COLUMN_GETTER) static const struct nuna_column row_type##_columns[] = {              \
        list(NUNA_COLUMN_ENTRY)};

/* The table of such columns, the last `extra` of which only come when asked for. */
#define NUNA_TABLE(row_type, file, what, extra)                                                    \
    {                                                                                              \
        .name = file, .rows = what, .columns = row_type##_columns,                                 \
        .column_count = sizeof row_type##_columns / sizeof row_type##_columns[0],                  \
        .always = sizeof row_type##_columns / sizeof row_type##_columns[0] - (extra),              \
    }

#endif
