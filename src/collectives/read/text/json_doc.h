/* A JSON file read with care. The text is validated before cJSON sees it (json_scan.h); cJSON alone
 * takes trailing text, repeated keys and any letter case, and rounds numbers. */
#ifndef NUNA_COLLECTIVES_READ_TEXT_JSON_DOC_H
#define NUNA_COLLECTIVES_READ_TEXT_JSON_DOC_H

#include "collectives/read/text/json_scan.h"
#include <cjson/cJSON.h>

struct nuna_json_doc {
    const char *path;
    cJSON *root;
    struct nuna_json_exacts exacts;
};

/* Where a value stands, for messages; a chain that ends at the top level with NULL. */
struct nuna_json_path {
    const struct nuna_json_path *up;
    const char *key; /* NULL: an array element */
    size_t index;
};

/* Scans, parses, and refuses repeated keys. Frees the text in any case. */
bool nuna_json_parse(struct nuna_plan_text *text, struct nuna_json_doc *ret,
                     struct nuna_error *err);
void nuna_json_close(struct nuna_json_doc *doc);

/* `file: gpus[3].id: ...`; returns false. */
bool nuna_json_fail(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                    struct nuna_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The member of exactly this name, or NULL. */
const cJSON *nuna_json_get(const cJSON *object, const char *key);

/* The getters below take the object and its place, and name the member in their messages. */
enum nuna_json_need { NUNA_JSON_OPTIONAL, NUNA_JSON_REQUIRED };

bool nuna_json_is_object(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                         const cJSON *value, struct nuna_error *err);

/* An optional array that is absent gives NULL. */
bool nuna_json_array(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                     const cJSON *object, const char *key, enum nuna_json_need need,
                     const cJSON **ret, struct nuna_error *err);
bool nuna_json_string(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                      const cJSON *object, const char *key, enum nuna_json_need need,
                      const char **ret, struct nuna_error *err);
/* Optional ones that are absent leave *ret alone. */
bool nuna_json_bool(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                    const cJSON *object, const char *key, enum nuna_json_need need, bool *ret,
                    struct nuna_error *err);
bool nuna_json_u32(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                   const cJSON *object, const char *key, enum nuna_json_need need, uint32_t min,
                   uint32_t max, uint32_t *ret, struct nuna_error *err);

/* A number itself, at `at`. */
bool nuna_json_value_u32(const struct nuna_json_doc *doc, const struct nuna_json_path *at,
                         const cJSON *value, uint32_t min, uint32_t max, uint32_t *ret,
                         struct nuna_error *err);

/* An optional member of the top-level object, exact over the whole 64 bits. */
bool nuna_json_top_u64(const struct nuna_json_doc *doc, const char *key, uint64_t *ret,
                       struct nuna_error *err);

#endif
