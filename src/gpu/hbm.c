#include "gpu/hbm.h"
#include <stdlib.h>
#include <string.h>

bool nuna_hbm_init(struct nuna_hbm *hbm, const struct nuna_params *params)
{
    hbm->channel_count = (uint32_t)(params->hbm.stacks * params->hbm.channels_per_stack);
    hbm->latency = (nuna_time)params->hbm.access_latency;
    nuna_rate_init(&hbm->rate, (uint64_t)params->hbm.channel_rate, (uint32_t)params->noc.flit_size,
                   (uint32_t)params->noc.control_size);
    hbm->channel = nuna_servers_create(hbm->channel_count);
    return hbm->channel != NULL;
}

void nuna_hbm_finish(struct nuna_hbm *hbm)
{
    free(hbm->channel);
    memset(hbm, 0, sizeof *hbm);
}
