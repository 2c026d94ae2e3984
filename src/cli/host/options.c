#include "cli/host/options.h"
#include "core/units.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool relays_are_named(const char *text)
{
    return strpbrk(text, ",g") != NULL;
}

bool nuna_host_options_apply(const struct nuna_host_options *options, struct nuna_config *config,
                             struct nuna_error *err)
{
    const struct {
        const char *key, *value, *origin;
    } keys[] = {
        {"host.engine", options->engine, "--engine"},
        {"host.relays",
         options->relays && !relays_are_named(options->relays) ? options->relays : NULL,
         "--relays"},
        {"host.chunk_size", options->chunk, "--chunk"},
        {"host.queue_depth", options->depth, "--depth"},
        {"host.buffer", options->buffer, "--buffer"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].value &&
            !nuna_config_set(config, keys[i].key, keys[i].value, keys[i].origin, err))
            return false;
    return true;
}

static bool read_requests(const struct nuna_opt_list *list, const char *option, bool background,
                          uint32_t gpus, struct nuna_host_plan *plan, struct nuna_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (plan->request_count == NUNA_HOST_TRANSFERS_MAX)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: more than %u transfers in all, expected fewer", option,
                             NUNA_HOST_TRANSFERS_MAX);
        if (!nuna_host_request_parse(option, list->items[i], background, gpus,
                                     &plan->requests[plan->request_count], err))
            return false;
        plan->request_count++;
    }
    return true;
}

bool nuna_host_options_plan(const struct nuna_host_options *options,
                            const struct nuna_params *params, uint32_t gpus,
                            struct nuna_host_plan *ret_plan, struct nuna_error *err)
{
    memset(ret_plan, 0, sizeof *ret_plan);
    if (options->transfers.count == 0)
        return true;
    if (!nuna_host_shape_check(params, gpus, err))
        return false;
    if (options->relays && !relays_are_named(options->relays) && params->host.relays >= gpus)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--relays %.40s: expected at most %u, the GPUs without the target",
                         options->relays, gpus - 1);
    if (options->relays && !relays_are_named(options->relays) && params->host.relays > 0 &&
        params->host.engine == NUNA_HOST_NATIVE)
        return nuna_host_relays_refuse_native(err);
    return read_requests(&options->transfers, "--transfer", false, gpus, ret_plan, err) &&
           read_requests(&options->backgrounds, "--background", true, gpus, ret_plan, err) &&
           (!options->relays || !relays_are_named(options->relays) ||
            nuna_host_relays_parse(options->relays, gpus, &ret_plan->paths, err)) &&
           (!options->ratios || nuna_host_shares_parse(options->ratios, &ret_plan->paths, err)) &&
           nuna_host_plan_check(ret_plan, params, gpus, err);
}
