#include "gpu/address_map.h"

/* Stacks by their place among those of one die and edge, then by edge, then by die: neighbours in
 * this order are on different dies. Floor plan: gpu/topology.h. */
static void order_by_dies(struct nuna_address_map *map, const struct nuna_params *params)
{
    uint32_t above = map->stacks % 2 == 0 ? map->stacks / 2 : map->stacks;
    uint32_t columns = (uint32_t)params->noc.columns, dies = (uint32_t)params->noc.dies;
    uint32_t next = 0;
    for (uint32_t place = 0; next < map->stacks; place++)
        for (uint32_t edge = 0; edge < map->stacks; edge += above) {
            uint32_t die = UINT32_MAX, among = 0;
            for (uint32_t along = 0; along < above; along++) {
                uint32_t of = along * columns / above / (columns / dies);
                among = of == die ? among + 1 : 0;
                die = of;
                if (among == place)
                    map->stack_order[next++] = (uint8_t)(edge + along);
            }
        }
}

void nuna_address_map_init(struct nuna_address_map *map, const struct nuna_params *params)
{
    *map = (struct nuna_address_map){
        .page_size = (uint64_t)params->hbm.page_size,
        .line_size = (uint32_t)params->noc.flit_size,
        .stacks = (uint32_t)params->hbm.stacks,
        .channels = (uint32_t)params->hbm.channels_per_stack,
        .ports = (uint32_t)params->scaleup.ports,
    };
    while (1u << map->port_shift < (uint32_t)params->scaleup.port_grain)
        map->port_shift++;
    if (params->hbm.page_order == NUNA_PAGE_ORDER_DIES)
        order_by_dies(map, params);
    else
        for (uint32_t s = 0; s < map->stacks; s++)
            map->stack_order[s] = (uint8_t)s;
}
