/* A run's output folder: each file is written under a temporary name and renamed when it is whole,
 * so that a reader never sees half a file and runs in one folder do not clash. */
#ifndef NUNA_CLI_COMMON_OUTPUT_DIR_H
#define NUNA_CLI_COMMON_OUTPUT_DIR_H

#include "core/error.h"
#include <stdio.h>

/* Makes the folder, with its parents, and proves that a file can be written there: call it before a
 * long run. */
bool nuna_output_prepare(const char *dir, struct nuna_error *err);

struct nuna_output_file {
    FILE *stream;
    char path[4096], temporary[4096 + 32];
};

bool nuna_output_open(const char *dir, const char *name, struct nuna_output_file *ret_file,
                      struct nuna_error *err);

/* Closes and renames; with `written` false, or when closing fails, removes the temporary and
 * reports. */
bool nuna_output_close(struct nuna_output_file *file, bool written, struct nuna_error *err);

/* Removes an earlier run's files that this run does not write: beside its own they would look like
 * its. */
bool nuna_output_remove(const char *dir, const char *const *names, size_t count,
                        struct nuna_error *err);

#endif
