/* Configuration: strict YAML plus --set overrides, checked against the parameter table. */
#ifndef NUNA_CORE_CONFIG_H
#define NUNA_CORE_CONFIG_H

#include "core/error.h"
#include "core/params.h"
#include <stdio.h>

struct nuna_config; /* parameters, each with where its value came from */

/* All defaults. Returns NULL on lack of memory. Free with nuna_config_destroy (NULL is fine). */
struct nuna_config *nuna_config_create(void);
void nuna_config_destroy(struct nuna_config *config);

/* Reads a YAML file over what is there; `include: other.yaml` (relative to the file) is applied
 * first. Errors: `file:line:column: key.path: what is wrong, what was expected`, code 2. On an
 * error the configuration is left unusable and only good for destruction. */
bool nuna_config_load(struct nuna_config *config, const char *path, struct nuna_error *err);

/* Sets one key, as --set does: `key` is "noc.hop_latency", `origin` names the source in messages
 * and in the effective configuration ("--set", "--size"). */
bool nuna_config_set(struct nuna_config *config, const char *key, const char *value,
                     const char *origin, struct nuna_error *err);

/* Applies --set arguments, "KEY=VALUE" each, in order. */
bool nuna_config_set_list(struct nuna_config *config, const char *const *items, size_t count,
                          struct nuna_error *err);

/* Checks that need several values (dies divide columns, stacks fit the edge, ...). Call once after
 * the last load and set; messages name the origin of the offending value. */
bool nuna_config_check(const struct nuna_config *config, struct nuna_error *err);

/* The values; valid until the configuration is destroyed. */
const struct nuna_params *nuna_config_params(const struct nuna_config *config);

/* Whether the key was given by a file or an option, not defaulted. */
bool nuna_config_is_set(const struct nuna_config *config, const char *key);

/* Writes every parameter with its origin as YAML that nuna_config_load reads back to the same
 * values. False when writing failed. */
bool nuna_config_write_effective(const struct nuna_config *config, FILE *out);

#endif
