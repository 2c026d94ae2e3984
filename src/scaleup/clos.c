#include "scaleup/clos.h"
#include <stdlib.h>
#include <string.h>

void nuna_clos_init(struct nuna_clos *clos, const struct nuna_params *params)
{
    clos->ports = (uint32_t)params->scaleup.ports;
    clos->link_latency = (nuna_time)params->scaleup.link_latency;
    clos->switch_latency = (nuna_time)params->scaleup.switch_latency;
    nuna_rate_init(&clos->port_rate, (uint64_t)params->scaleup.port_rate,
                   (uint32_t)params->noc.flit_size, (uint32_t)params->noc.control_size);
}

bool nuna_scaleup_init(struct nuna_scaleup *scaleup, const struct nuna_clos *clos)
{
    scaleup->clos = clos;
    scaleup->egress = nuna_servers_create(clos->ports);
    scaleup->output = nuna_servers_create(clos->ports);
    return scaleup->egress && scaleup->output;
}

void nuna_scaleup_finish(struct nuna_scaleup *scaleup)
{
    free(scaleup->egress);
    free(scaleup->output);
    memset(scaleup, 0, sizeof *scaleup);
}
