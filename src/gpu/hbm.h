/* Memory stacks: each channel is occupied for a transfer's serialisation time; an access takes the
 * occupancy plus a constant latency (no reuse, every access misses the caches: NUNA section 5.1).
 */
#ifndef NUNA_GPU_HBM_H
#define NUNA_GPU_HBM_H

#include "core/params.h"
#include "core/server.h"

struct nuna_hbm {
    struct nuna_server *channel; /* [stack * channels per stack + channel] */
    uint32_t channel_count;
    struct nuna_rate rate;
    nuna_time latency;
};

bool nuna_hbm_init(struct nuna_hbm *hbm, const struct nuna_params *params);
void nuna_hbm_finish(struct nuna_hbm *hbm);

/* An access of `bytes` reaches the stack at `time`; returns when it is done (data read, or
 * written). */
static inline nuna_time nuna_hbm_access(struct nuna_hbm *hbm, uint32_t channel, nuna_time time,
                                        uint32_t bytes)
{
    struct nuna_server *server = &hbm->channel[channel];
    nuna_server_take(server, &hbm->rate, time, bytes);
    return server->free_at + hbm->latency;
}

#endif
