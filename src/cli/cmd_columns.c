#include "cli/cmd_columns.h"
#include "cli/common/messages.h"
#include "host/report.h"
#include "pod/report/latency_map.h"
#include "pod/report/links.h"
#include "pod/report/placement.h"
#include "pod/report/round_trip.h"
#include "pod/report/store_latency.h"
#include "pod/report/summary.h"
#include "pod/report/tlb.h"
#include "pod/report/translation.h"
#include "pod/report/translation_trace.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct nuna_table *const tables[] = {
    &nuna_summary_table,          &nuna_links_table,
    &nuna_store_latency_table,    &nuna_placement_table,
    &nuna_translation_table,      &nuna_tlb_table,
    &nuna_round_trip_table,       &nuna_translation_trace_table,
    &nuna_latency_map_table,      &nuna_host_summary_table,
    &nuna_host_paths_table,       &nuna_host_links_table,
    &nuna_host_utilisation_table,
};

enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

struct columns_options {
    bool markdown;
};

static const struct nuna_table *find(const char *name, struct nuna_error *err)
{
    const char *names[TABLE_COUNT];
    for (size_t t = 0; t < TABLE_COUNT; t++) {
        names[t] = tables[t]->name;
        if (strcmp(name, names[t]) == 0)
            return tables[t];
    }
    const char *near = nuna_nearest(name, names, TABLE_COUNT);
    nuna_fail(err, NUNA_EXIT_BAD_INPUT, "columns: no file \"%.80s\" is written%s%s%s", name,
              near ? ", did you mean " : "", near ? near : "",
              near ? "?" : "; nunasim columns lists them");
    return NULL;
}

static void print_table(const struct nuna_table *table)
{
    printf("%s (%s)\n", table->name, table->rows);
    for (size_t c = 0; c < table->column_count; c++)
        printf("  %-30s %-6s %s\n", table->columns[c].name, table->columns[c].unit,
               table->columns[c].meaning);
}

static int run(struct nuna_call *call)
{
    const struct columns_options *o = call->state;
    struct nuna_error err;
    const struct nuna_table *one = call->operand ? find(call->operand, &err) : NULL;
    if (call->operand && !one)
        return nuna_cli_report(&err);
    for (size_t t = 0; t < TABLE_COUNT; t++) {
        if (one && tables[t] != one)
            continue;
        if (!one && t > 0)
            printf("\n");
        if (!o->markdown)
            print_table(tables[t]);
        else if (!nuna_table_markdown(stdout, tables[t]))
            break;
    }
    return NUNA_EXIT_OK;
}

static const struct nuna_opt options[] = {
    {"markdown", NULL, "print them as docs/output.md does", NUNA_OPT_FLAG,
     offsetof(struct columns_options, markdown), NUNA_VALUES_FREE, NULL},
};

const struct nuna_verb nuna_verb_columns = {
    .name = "columns",
    .summary = "list every column of the files that runs write, with unit and meaning",
    .synopsis = "columns [FILE] [--markdown]",
    .about = "Lists the columns of every CSV file, or of one, such as links.csv or "
             "host/links.csv: name, unit, meaning.",
    .operand = "FILE",
    .operand_values = NUNA_VALUES_WORDS,
    .operand_words = "summary.csv|links.csv|store_latency.csv|placement.csv|translation.csv|"
                     "tlb.csv|round_trip.csv|translation_trace.csv|latency_map.csv|"
                     "host/summary.csv|host/paths.csv|host/links.csv|host/utilisation.csv",
    .options = {options, sizeof options / sizeof options[0]},
    .state_size = sizeof(struct columns_options),
    .run = run,
};
