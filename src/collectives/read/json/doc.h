/* A JSON file read with care. The text is validated here, strictly and with positions, before cJSON
 * sees it; cJSON alone takes trailing text, repeated keys and any letter case, and rounds numbers.
 */
#ifndef NUNA_COLLECTIVES_READ_JSON_DOC_H
#define NUNA_COLLECTIVES_READ_JSON_DOC_H

#include "core/error.h"
#include <cjson/cJSON.h>

#define NUNA_JSON_DEPTH_MAX 64

struct nuna_json_text {
    const char *path;
    char *text;
    size_t length;
};

/* A member of the top-level object whose number is beyond what cJSON's doubles hold. */
struct nuna_json_exact {
    char key[32];
    uint64_t value;
    bool overflow;
};

struct nuna_json_doc {
    const char *path;
    cJSON *root;
    struct nuna_json_exact exact[16];
    size_t exact_count;
};

/* Where a value stands, for messages; a chain that ends at the top level with NULL. */
struct nuna_json_path {
    const struct nuna_json_path *up;
    const char *key; /* NULL: an array element */
    size_t index;
};

/* Whole file, up to 512 MiB; skips a UTF-8 mark and refuses what is not text. */
bool nuna_json_load(const char *path, struct nuna_json_text *ret, struct nuna_error *err);

/* Validates the text; on success it also lists the exact large numbers. */
bool nuna_json_scan(const struct nuna_json_text *text, struct nuna_json_doc *ret,
                    struct nuna_error *err);

/* Scans, parses, and refuses repeated keys. Frees the text in any case. */
bool nuna_json_parse(struct nuna_json_text *text, struct nuna_json_doc *ret,
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
