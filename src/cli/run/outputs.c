/* The files of a run. */
#include "cli/run/outputs.h"
#include "cli/common/output_dir.h"
#include "host/report.h"
#include "pod/report/links.h"
#include "pod/report/placement.h"
#include "pod/report/round_trip.h"
#include "pod/report/store_latency.h"
#include "pod/report/tlb.h"
#include "pod/report/translation.h"
#include "pod/report/translation_trace.h"
#include <stdio.h>
#include <string.h>

static bool write_csv(struct nuna_run *run, const char *name, const struct nuna_result *result,
                      struct nuna_error *err)
{
    struct nuna_output_file file;
    const struct nuna_view view = nuna_view_of(run->sim, result);
    if (!nuna_output_open(run->out, name, &file, err))
        return false;
    bool written;
    if (strcmp(name, "config.yaml") == 0)
        written = nuna_config_write_effective(run->config, file.stream);
    else if (strcmp(name, "links.csv") == 0)
        written = nuna_report_links(file.stream, &view);
    else if (strcmp(name, "store_latency.csv") == 0)
        written = nuna_report_store_latency(file.stream, result);
    else if (strcmp(name, "placement.csv") == 0)
        written = nuna_report_placement(file.stream, &view);
    else if (strcmp(name, "translation.csv") == 0)
        written = nuna_report_translation(file.stream, &view);
    else if (strcmp(name, "tlb.csv") == 0)
        written = nuna_report_tlb(file.stream, &view);
    else if (strcmp(name, "round_trip.csv") == 0)
        written = nuna_report_round_trip(file.stream, &view);
    else if (strcmp(name, "translation_trace.csv") == 0)
        written = nuna_report_translation_trace(file.stream, &view);
    else
        written = nuna_report_summary(file.stream, &run->info, result, &run->breakdown);
    return nuna_output_close(&file, written, err);
}

/* What only some runs write. */
static const char *const translation_files[] = {"translation.csv", "tlb.csv", "round_trip.csv",
                                                "translation_trace.csv"};
static const char *const transfer_files[] = {"transfers.csv", "host_links.csv"};

static size_t translation_count(const struct nuna_run *run)
{
    const struct nuna_params *params = nuna_config_params(run->config);
    return params->translation.mode == NUNA_TRANSLATION_OFF ? 0
           : params->translation.trace > 0                  ? 4
                                                            : 3;
}

static bool remove_others(const struct nuna_run *run, struct nuna_error *err)
{
    size_t written = translation_count(run);
    return nuna_output_remove(run->out, translation_files + written, 4 - written, err) &&
           nuna_output_remove(run->out, transfer_files, run->transfers.request_count > 0 ? 0 : 2,
                              err);
}

static bool write_translation(struct nuna_run *run, const struct nuna_result *result,
                              struct nuna_error *err)
{
    size_t count = translation_count(run);
    for (size_t i = 0; i < count; i++)
        if (!write_csv(run, translation_files[i], result, err))
            return false;
    if (!run->options.quiet && count > 0)
        printf("          translation.csv, tlb.csv, round_trip.csv%s\n",
               count == 4 ? ", translation_trace.csv" : "");
    return true;
}

static bool write_transfers(const struct nuna_run *run, const struct nuna_result *result,
                            struct nuna_error *err)
{
    struct nuna_output_file file;
    struct nuna_csv csv;
    if (run->transfers.request_count == 0)
        return true;
    struct nuna_host_view view = nuna_sim_transfers(run->sim);
    nuna_time elapsed = nuna_host_elapsed(view, result->drained);
    if (!nuna_output_open(run->out, transfer_files[0], &file, err) ||
        !nuna_output_close(&file,
                           nuna_host_report_summary_head(file.stream, &csv) &&
                               nuna_host_report_summary(&csv, view, elapsed),
                           err) ||
        !nuna_output_open(run->out, transfer_files[1], &file, err) ||
        !nuna_output_close(&file, nuna_host_report_links(file.stream, view, elapsed), err))
        return false;
    if (!run->options.quiet)
        printf("          transfers.csv, host_links.csv\n");
    return true;
}

bool nuna_run_write(struct nuna_run *run, const struct nuna_result *result, struct nuna_error *err)
{
    static const char *const names[] = {"config.yaml", "links.csv", "placement.csv",
                                        "store_latency.csv", "summary.csv"};
    if (!remove_others(run, err))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!write_csv(run, names[i], result, err))
            return false;
    if (!run->options.quiet)
        printf("output    %s/: summary.csv, links.csv, store_latency.csv, placement.csv, "
               "config.yaml\n",
               run->out);
    return write_translation(run, result, err) && write_transfers(run, result, err);
}
