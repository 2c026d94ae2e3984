/* Tables: header, quoting, numbers, columns that only some files have. */
#include "core/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct sample {
    const char *text;
    uint64_t count;
    double real;
    bool has;
};

#define SAMPLE_COLUMNS(X)                                                                          \
    X(sample, word, "", "any text", nuna_text(row->text))                                          \
    X(sample, whose, "", "a number behind a word", nuna_numbered("gpu", row->count))               \
    X(sample, time_ns, "ns", "a|b", nuna_ns(row->count))                                           \
    X(sample, real, "1/s", "", nuna_real(row->real, 2))                                            \
    X(sample, part, "", "", nuna_if(row->has, nuna_share(row->count, 3000)))                       \
    X(sample, extra, "", "", nuna_count(row->count))
NUNA_COLUMNS(sample, SAMPLE_COLUMNS)
static const struct nuna_table table = NUNA_TABLE(sample, "sample.csv", "samples", 1);

static void check_text(char *text, const char *due)
{
    cr_assert_str_eq(text, due);
    free(text);
}

static char *written(const struct sample *rows, size_t count, bool all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct nuna_csv csv;
    cr_assert(nuna_csv_begin(&csv, out, &table, all));
    for (size_t i = 0; i < count; i++)
        cr_assert(nuna_csv_row(&csv, &rows[i]));
    fclose(out);
    return text;
}

Test(table, header_and_rows)
{
    static const struct sample rows[] = {{"plain", 1001, 2.5, true}, {"", 0, 0, false}};
    check_text(written(rows, 2, false), "word,whose,time_ns,real,part\n"
                                        "plain,gpu1001,1.001,2.50,0.333666\n"
                                        ",gpu0,0.000,0.00,\n");
    check_text(written(rows, 1, true), "word,whose,time_ns,real,part,extra\n"
                                       "plain,gpu1001,1.001,2.50,0.333666,1001\n");
}

Test(table, text_that_means_something_to_csv_is_quoted)
{
    static const struct {
        const char *text, *due;
    } cases[] = {
        {"a,b", "\"a,b\""},     {"say \"a\"", "\"say \"\"a\"\"\""},
        {"a\nb", "\"a\nb\""},   {"a\rb", "\"a\rb\""},
        {"a;b 'c'", "a;b 'c'"}, {"\"", "\"\"\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sample row = {.text = cases[i].text};
        char due[128];
        snprintf(due, sizeof due, "word,whose,time_ns,real,part\n%s,gpu0,0.000,0.00,\n",
                 cases[i].due);
        check_text(written(&row, 1, false), due);
    }
}

Test(table, largest_numbers_are_exact)
{
    const struct sample row = {.text = "x", .count = UINT64_MAX};
    check_text(written(&row, 1, false), "word,whose,time_ns,real,part\n"
                                        "x,gpu18446744073709551615,18446744073709551.615,0.00,\n");
    cr_assert_eq(nuna_millionths(UINT64_MAX, (unsigned __int128)UINT64_MAX * 2), 500000);
    cr_assert_eq(nuna_millionths(5, 0), 0);
    cr_assert_eq(nuna_mean(5, 2), 3);
    cr_assert_eq(nuna_mean(5, 0), 0);
}

Test(table, a_full_disk_is_noticed)
{
    FILE *out = fopen("/dev/full", "w");
    struct nuna_csv csv;
    const struct sample row = {.text = "x"};
    cr_assert_not_null(out);
    setvbuf(out, NULL, _IONBF, 0);
    cr_assert_not(nuna_csv_begin(&csv, out, &table, true));
    cr_assert_not(nuna_csv_row(&csv, &row));
    fclose(out);
}

Test(table, markdown)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(nuna_table_markdown(out, &table));
    fclose(out);
    cr_assert_eq(
        strncmp(text, "| column | unit | meaning |\n|---|---|---|\n| `word` |  | any text |\n", 60),
        0);
    cr_assert_not_null(strstr(text, "| `time_ns` | ns | a\\|b |\n"));
    cr_assert_not_null(strstr(text, "| `extra` |"));
    free(text);
}
