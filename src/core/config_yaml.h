/* A file of a configuration as a list of its entries, with their places. Private to src/core. */
#ifndef NUNA_CORE_CONFIG_YAML_H
#define NUNA_CORE_CONFIG_YAML_H

#include "core/error.h"
#include <sys/types.h>

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
