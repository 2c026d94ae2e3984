/* The keys of a configuration by name, and what to say of names that are none. Private to src/core.
 */
#ifndef NUNA_CORE_CONFIG_KEYS_H
#define NUNA_CORE_CONFIG_KEYS_H

#include "core/error.h"

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

#endif
