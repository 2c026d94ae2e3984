#include "core/server.h"
#include <stdlib.h>
#include <string.h>

struct nuna_server *nuna_servers_create(size_t count)
{
    size_t bytes = (count * sizeof(struct nuna_server) + 63) / 64 * 64;
    struct nuna_server *servers = aligned_alloc(64, bytes);
    if (servers)
        memset(servers, 0, bytes);
    return servers;
}

void nuna_rate_init(struct nuna_rate *rate, uint64_t bytes_per_s, uint32_t flit_bytes,
                    uint32_t control_bytes)
{
    rate->bytes_per_s = bytes_per_s;
    rate->size[0] = flit_bytes;
    rate->size[1] = control_bytes;
    for (int i = 0; i < 2; i++)
        rate->time[i] = nuna_units_transfer_time(rate->size[i], bytes_per_s, &rate->remainder[i]);
    rate->exact = rate->remainder[0] == 0 && rate->remainder[1] == 0;
}
