/* What the files of the configuration reader share. Private to src/core. */
#ifndef NUNA_CORE_CONFIG_INTERNAL_H
#define NUNA_CORE_CONFIG_INTERNAL_H

#include "core/config.h"
#include <sys/types.h>

/* Where a value came from; both NULL for a default. */
struct nuna_origin {
    char *name;  /* in the effective configuration: "a.yaml:7:16", "--set" */
    char *where; /* at the head of a message: "a.yaml:7:16", "--set noc.rows=6" */
};

struct nuna_config {
    struct nuna_params params;
    struct nuna_origin origins[]; /* one per row of the table */
};

#define NUNA_NO_PARAM SIZE_MAX

/* Row of a key, or NUNA_NO_PARAM. */
size_t nuna_config_find(const char *section, const char *field);
size_t nuna_config_find_key(const char *key);
bool nuna_config_has_section(const char *name);

/* Errors with the nearest thing that exists; `where` is the position, `section` is known in the
 * first, `name` is a key of the top level in the second. */
bool nuna_config_unknown_key(const char *where, const char *section, const char *field,
                             struct nuna_error *err);
bool nuna_config_unknown_section(const char *where, const char *name, struct nuna_error *err);
bool nuna_config_unknown_option(const char *where, const char *key, struct nuna_error *err);

int64_t nuna_config_value(const struct nuna_config *config, size_t param);

/* A mark in a file, from 1. */
struct nuna_mark {
    size_t line, column;
};

enum nuna_node { NUNA_SCALAR, NUNA_NULL, NUNA_MAPPING, NUNA_SEQUENCE };

/* One `key: value` of a file, in order of appearance. A section is an entry of its own before its
 * keys, with no field. */
struct nuna_entry {
    char *section; /* or the key, at the top level */
    char *field;   /* NULL at the top level */
    char *value;   /* of a scalar */
    enum nuna_node node;
    struct nuna_mark key_mark, value_mark;
};

/* A file's entries up to the first that is nested too deep, which every use refuses. */
struct nuna_yaml {
    struct nuna_entry *entries;
    size_t count, capacity;
    dev_t device; /* which file it is, whatever its name */
    ino_t inode;
};

/* The bytes of a file of at most 1 MiB, with a NUL behind; the message on failure is only a reason
 * ("No such file or directory"). Free with free(). */
char *nuna_config_slurp(const char *path, struct nuna_yaml *yaml, size_t *ret_size,
                        struct nuna_error *err);

/* Parses text; `yaml` is to be freed also on failure. */
bool nuna_yaml_parse(struct nuna_yaml *yaml, const char *path, const char *text, size_t size,
                     struct nuna_error *err);
void nuna_yaml_free(struct nuna_yaml *yaml);

#endif
