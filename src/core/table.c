#include "core/table.h"
#include <inttypes.h>
#include <string.h>

uint64_t nuna_millionths(uint64_t part, unsigned __int128 whole)
{
    return whole ? (uint64_t)((unsigned __int128)part * 1000000 / whole) : 0;
}

static void print_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_decimal(FILE *out, uint64_t count, int decimals)
{
    uint64_t one = 1;
    for (int i = 0; i < decimals; i++)
        one *= 10;
    fprintf(out, "%" PRIu64, count / one);
    if (decimals > 0)
        fprintf(out, ".%0*" PRIu64, decimals, count % one);
}

static void print_value(FILE *out, struct nuna_value value)
{
    switch (value.kind) {
    case NUNA_VALUE_NONE:
        break;
    case NUNA_VALUE_TEXT:
        print_text(out, value.text);
        break;
    case NUNA_VALUE_NUMBERED:
        fprintf(out, "%s%" PRIu64, value.text, value.count);
        break;
    case NUNA_VALUE_DECIMAL:
        print_decimal(out, value.count, value.decimals);
        break;
    case NUNA_VALUE_REAL:
        fprintf(out, "%.*f", value.decimals, value.real);
        break;
    }
}

bool nuna_csv_begin(struct nuna_csv *csv, FILE *stream, const struct nuna_table *table,
                    bool all_columns)
{
    *csv = (struct nuna_csv){stream, table, all_columns ? table->column_count : table->always};
    for (size_t c = 0; c < csv->columns; c++)
        fprintf(stream, "%s%s", c > 0 ? "," : "", table->columns[c].name);
    fputc('\n', stream);
    return !ferror(stream);
}

bool nuna_csv_row(const struct nuna_csv *csv, const void *row)
{
    for (size_t c = 0; c < csv->columns; c++) {
        if (c > 0)
            fputc(',', csv->stream);
        print_value(csv->stream, csv->table->columns[c].value(row));
    }
    fputc('\n', csv->stream);
    return !ferror(csv->stream);
}

/* A cell ends at a bar. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

bool nuna_table_markdown(FILE *out, const struct nuna_table *table)
{
    fputs("| column | unit | meaning |\n|---|---|---|\n", out);
    for (size_t c = 0; c < table->column_count; c++) {
        const struct nuna_column *column = &table->columns[c];
        fprintf(out, "| `%s` | %s | ", column->name, column->unit);
        print_cell(out, column->meaning);
        fputs(" |\n", out);
    }
    return !ferror(out);
}
