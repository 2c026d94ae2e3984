/* Every model parameter, one row each. The struct, the YAML keys, the range checks, `nunasim
 * params` and docs/parameters.md all come from the rows of core/param_table.h. */
#ifndef NUNA_CORE_PARAMS_H
#define NUNA_CORE_PARAMS_H

#include "core/param_table.h"
#include "core/types.h"
#include "core/units.h"

/* Words of the ENUM rows, in the rows' order. */
enum nuna_fabric {
    NUNA_FABRIC_MESH,
    NUNA_FABRIC_UNIFORM,
};

#define NUNA_POLICY_ID(id, ...) NUNA_POLICY_##id,
enum nuna_policy { NUNA_POLICIES(NUNA_POLICY_ID) NUNA_POLICY_COUNT };
#undef NUNA_POLICY_ID

enum nuna_translation_mode {
    NUNA_TRANSLATION_OFF,
    NUNA_TRANSLATION_IDEAL,
    NUNA_TRANSLATION_FULL,
};

enum nuna_page_order {
    NUNA_PAGE_ORDER_NEIGHBOURS,
    NUNA_PAGE_ORDER_DIES,
};

enum nuna_numa_near {
    NUNA_NUMA_NEAR_FIRST,
    NUNA_NUMA_NEAR_ALL,
};

enum nuna_mshr_holds {
    NUNA_MSHR_REQUEST,
    NUNA_MSHR_PAGE,
};

/* Into which TLBs a mitigation brings a page. */
enum nuna_translate_ahead {
    NUNA_AHEAD_OFF,
    NUNA_AHEAD_L2,
    NUNA_AHEAD_L1_L2,
};

enum nuna_host_engine_kind {
    NUNA_HOST_NATIVE,
    NUNA_HOST_STATIC,
    NUNA_HOST_MMA,
};

enum nuna_host_relay_scope {
    NUNA_HOST_ANY_SOCKET,
    NUNA_HOST_SAME_SOCKET,
};

enum nuna_host_switch { /* host.direct, host.direct_priority */
                        NUNA_HOST_ON,
                        NUNA_HOST_OFF,
};

enum nuna_host_task_queue {
    NUNA_HOST_QUEUE_SHARED,
    NUNA_HOST_QUEUE_PER_TRANSFER,
};

enum nuna_host_buffer {
    NUNA_HOST_BUFFER_TARGET,
    NUNA_HOST_BUFFER_OTHER,
    NUNA_HOST_BUFFER_INTERLEAVED,
    NUNA_HOST_BUFFER_EACH,
};

enum nuna_host_copies {
    NUNA_HOST_ASYNC,
    NUNA_HOST_SYNC,
};

/* The parameters, by section: params.noc.hop_latency etc. All fields are int64_t in the unit above.
 */
#define NUNA_FIELD(section, field, quantity, def, min, max, words, doc, source) int64_t field;
struct nuna_params {
#define NUNA_SECTION(section, doc)                                                                 \
    struct {                                                                                       \
        NUNA_PARAMS_##section(NUNA_FIELD)                                                          \
    } section;
    NUNA_PARAM_SECTIONS(NUNA_SECTION)
#undef NUNA_SECTION
};
#undef NUNA_FIELD

struct nuna_param_desc {
    const char *section; /* "noc" */
    const char *field;   /* "hop_latency" */
    enum nuna_quantity quantity;
    size_t offset; /* of the int64_t in struct nuna_params */
    const char *default_text;
    const char *min_text, *max_text;
    const char *words; /* ENUM: "mesh|uniform"; else "" */
    const char *doc;
    const char *source;
};

/* The table, in declaration order; static storage. */
extern const struct nuna_param_desc nuna_param_table[];
extern const size_t nuna_param_count;

/* Formats one value, "noc.fabric" say, as a user would write it; returns `buffer`. The key must
 * exist. */
char *nuna_params_format(const struct nuna_params *params, const char *key, char *buffer,
                         size_t size);

/* Fills every field with its default. */
void nuna_params_defaults(struct nuna_params *params);
/* The value of a row of the table. */
int64_t nuna_param_value(const struct nuna_params *params, size_t param);

#endif
