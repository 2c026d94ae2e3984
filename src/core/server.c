#include "core/server.h"

void nuna_rate_init(struct nuna_rate *rate, uint64_t bytes_per_s, uint32_t flit_bytes,
                    uint32_t control_bytes)
{
    rate->bytes_per_s = bytes_per_s;
    rate->size[0] = flit_bytes;
    rate->size[1] = control_bytes;
    for (int i = 0; i < 2; i++)
        rate->time[i] = nuna_units_transfer_time(rate->size[i], bytes_per_s, &rate->remainder[i]);
}
