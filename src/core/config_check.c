/* What needs the whole configuration: checks across values, and writing it all down. */
#include "core/config.h"
#include "core/config_keys.h"
#include "core/config_state.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Fails with the blame on `key`, or on `other` when only that was given by the user. */
static bool blame(const struct nuna_config *config, struct nuna_error *err, const char *key,
                  const char *other, const char *format, ...) __attribute__((format(printf, 5, 6)));

static bool blame(const struct nuna_config *config, struct nuna_error *err, const char *key,
                  const char *other, const char *format, ...)
{
    char problem[512];
    va_list args;

    if (!nuna_config_is_set(config, key) && nuna_config_is_set(config, other))
        key = other;
    va_start(args, format);
    vsnprintf(problem, sizeof(problem), format, args);
    va_end(args);
    const char *where = config->origins[nuna_config_find_key(key)].where;
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: %s: %s", where != NULL ? where : "default", key,
                     problem);
}

static bool check_stacks(const struct nuna_config *config, struct nuna_error *err)
{
    const struct nuna_params *p = &config->params;
    bool both_edges = p->hbm.stacks % 2 == 0;
    int64_t on_edge = both_edges ? p->hbm.stacks / 2 : p->hbm.stacks;

    if (on_edge <= p->noc.columns)
        return true;
    return blame(config, err, "hbm.stacks", "noc.columns",
                 "%" PRId64 " stacks put %" PRId64 " on %s of the mesh, expected at most one for "
                 "each of the %" PRId64 " columns (noc.columns)",
                 p->hbm.stacks, on_edge, both_edges ? "each long edge" : "the upper edge",
                 p->noc.columns);
}

static bool check_ports(const struct nuna_config *config, struct nuna_error *err)
{
    const struct nuna_params *p = &config->params;

    if (p->scaleup.ports != 1 && p->scaleup.ports % 2 != 0)
        return blame(config, err, "scaleup.ports", "scaleup.ports",
                     "%" PRId64 " ports are odd, expected 1 or an even number: half are on the "
                     "left edge, half on the right",
                     p->scaleup.ports);
    if (p->scaleup.ports > 2 * p->noc.rows)
        return blame(config, err, "scaleup.ports", "noc.rows",
                     "%" PRId64 " ports on the left and right edges, expected at most one on each "
                     "edge for each of the %" PRId64 " rows (noc.rows)",
                     p->scaleup.ports, p->noc.rows);
    return true;
}

static bool check_port_grain(const struct nuna_config *config, struct nuna_error *err)
{
    int64_t grain = config->params.scaleup.port_grain;

    return (grain & (grain - 1)) == 0 ||
           blame(config, err, "scaleup.port_grain", "scaleup.port_grain",
                 "%" PRId64 " lines are no power of two, expected 1, 2, 4, ...", grain);
}

static bool check_domains(const struct nuna_config *config, struct nuna_error *err)
{
    const struct nuna_params *p = &config->params;

    if (p->placement.nar_domains == 0)
        return true;
    if (p->scaleup.ports % p->placement.nar_domains != 0)
        return blame(config, err, "placement.nar_domains", "scaleup.ports",
                     "%" PRId64 " domains do not divide the %" PRId64
                     " ports (scaleup.ports), expected a divisor, or 0 to try all",
                     p->placement.nar_domains, p->scaleup.ports);
    return p->placement.nar_domains <= p->hbm.stacks ||
           blame(config, err, "placement.nar_domains", "hbm.stacks",
                 "%" PRId64 " domains leave some without a stack of their own: there are %" PRId64
                 " (hbm.stacks), expected at most as many domains as stacks",
                 p->placement.nar_domains, p->hbm.stacks);
}

static bool check_tiles(const struct nuna_config *config, struct nuna_error *err)
{
    int64_t tiles = config->params.background.gemm_tiles, side = 0;

    while (side * side < tiles)
        side++;
    return side * side == tiles ||
           blame(config, err, "background.gemm_tiles", "background.gemm_tiles",
                 "%" PRId64 " tiles do not make a square, expected a square number such as 100",
                 tiles);
}

static bool check_nodes(const struct nuna_config *config, struct nuna_error *err)
{
    const struct nuna_params *p = &config->params;

    return p->pod.gpus % p->pod.gpus_per_node == 0 ||
           blame(config, err, "pod.gpus_per_node", "pod.gpus",
                 "%" PRId64 " GPUs per node do not divide %" PRId64
                 " GPUs (pod.gpus), expected a divisor",
                 p->pod.gpus_per_node, p->pod.gpus);
}

static bool check_translation(const struct nuna_config *config, struct nuna_error *err)
{
    const struct nuna_params *p = &config->params;
    const struct {
        const char *entries_key, *ways_key;
        int64_t entries, ways;
    } caches[] = {
        {"translation.l1_entries", "translation.l1_ways", p->translation.l1_entries,
         p->translation.l1_ways},
        {"translation.l2_entries", "translation.l2_ways", p->translation.l2_entries,
         p->translation.l2_ways},
        {"translation.walk_cache_1", "translation.walk_cache_ways", p->translation.walk_cache_1,
         p->translation.walk_cache_ways},
        {"translation.walk_cache_2", "translation.walk_cache_ways", p->translation.walk_cache_2,
         p->translation.walk_cache_ways},
        {"translation.walk_cache_3", "translation.walk_cache_ways", p->translation.walk_cache_3,
         p->translation.walk_cache_ways},
        {"translation.walk_cache_4", "translation.walk_cache_ways", p->translation.walk_cache_4,
         p->translation.walk_cache_ways},
    };

    for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++)
        if (caches[i].ways > 0 && caches[i].entries % caches[i].ways != 0)
            return blame(config, err, caches[i].entries_key, caches[i].ways_key,
                         "%" PRId64 " entries are no multiple of %" PRId64
                         " ways (%s), expected one, or 0 ways for full associativity",
                         caches[i].entries, caches[i].ways, caches[i].ways_key);
    if (p->translation.trace > 0 && p->translation.trace_gpu >= p->pod.gpus)
        return blame(config, err, "translation.trace_gpu", "pod.gpus",
                     "GPU %" PRId64 " of %" PRId64 " (pod.gpus), expected a number below that",
                     p->translation.trace_gpu, p->pod.gpus);
    return true;
}

bool nuna_config_check(const struct nuna_config *config, struct nuna_error *err)
{
    const struct nuna_params *p = &config->params;
    char size[32], flit[32];

    bool mesh = p->noc.fabric == NUNA_FABRIC_MESH; /* nothing else has edges */
    nuna_units_format(p->noc.flit_size, NUNA_Q_SIZE, "", flit, sizeof(flit));
    if (p->noc.columns % p->noc.dies != 0)
        return blame(config, err, "noc.dies", "noc.columns",
                     "%" PRId64 " dies (noc.dies) do not divide %" PRId64 " columns (noc.columns), "
                     "expected the same number of columns on every die",
                     p->noc.dies, p->noc.columns);
    if (p->noc.control_size > p->noc.flit_size)
        return blame(config, err, "noc.control_size", "noc.flit_size",
                     "control packets of %s (noc.control_size), expected at most one flit, %s "
                     "(noc.flit_size)",
                     nuna_units_format(p->noc.control_size, NUNA_Q_SIZE, "", size, sizeof(size)),
                     flit);
    if (p->hbm.page_size % p->noc.flit_size != 0)
        return blame(config, err, "hbm.page_size", "noc.flit_size",
                     "pages of %s (hbm.page_size), expected a multiple of the flit, %s "
                     "(noc.flit_size)",
                     nuna_units_format(p->hbm.page_size, NUNA_Q_SIZE, "", size, sizeof(size)),
                     flit);
    return (!mesh || check_stacks(config, err)) && check_ports(config, err) &&
           check_port_grain(config, err) && check_domains(config, err) &&
           check_tiles(config, err) && check_nodes(config, err) && check_translation(config, err);
}

static size_t write_value(const struct nuna_config *config, size_t param, char *line, size_t size)
{
    const struct nuna_param_desc *row = &nuna_param_table[param];
    char value[64];

    nuna_units_format(nuna_param_value(&config->params, param), row->quantity, row->words, value,
                      sizeof(value));
    return (size_t)snprintf(line, size, "  %s: %s", row->field, value);
}

bool nuna_config_write_effective(const struct nuna_config *config, FILE *out)
{
    char line[160];
    size_t width = 0;
    const char *section = "";

    for (size_t i = 0; i < nuna_param_count; i++) {
        size_t length = write_value(config, i, line, sizeof(line));
        width = length > width ? length : width;
    }
    fprintf(out, "# Every parameter of this run and where its value came from.\n"
                 "schema_version: 1\n");
    for (size_t i = 0; i < nuna_param_count; i++) {
        const char *origin = config->origins[i].name;
        if (strcmp(section, nuna_param_table[i].section) != 0) {
            section = nuna_param_table[i].section;
            fprintf(out, "\n%s:\n", section);
        }
        write_value(config, i, line, sizeof(line));
        fprintf(out, "%-*s  # %s\n", (int)width, line, origin != NULL ? origin : "default");
    }
    return fflush(out) == 0 && !ferror(out);
}
