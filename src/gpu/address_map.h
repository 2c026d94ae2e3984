/* From a position in a GPU's memory to the stack, channel and I/O port that serve it. Pure
 * functions.
 *
 * A GPU's collective buffers lie one after the other in a virtual image that starts at 0
 * (placement/layout.h); a position is a byte offset in it. The page table gives each page its
 * physical frame. The upper bits of a physical address name a segment; a segment has a NAR
 * granularity, the number of domains that it cuts the I/O ports into (1 is the baseline: all
 * ports), and is itself cut into one region per domain and stack. Within a page the channel and the
 * port follow the line number, from a start that is a hash of the page: neighbouring lines never
 * share them (unless scaleup.port_grain says so), and streams that begin at page boundaries do not
 * march in step. Source: NUNA
 * sections 4.1 and 5.3, figure 5.
 */
#ifndef NUNA_GPU_ADDRESS_MAP_H
#define NUNA_GPU_ADDRESS_MAP_H

#include "core/params.h"

/* The part of a physical page number that decides where traffic goes. */
struct nuna_frame {
    uint8_t domains; /* granularity of the segment: 1, 2, 4, ... */
    uint8_t domain;  /* below `domains` */
    uint8_t stack;
};

struct nuna_address_map {
    uint64_t page_size;
    uint32_t line_size;
    uint32_t stacks, channels; /* channels of one stack */
    uint32_t ports;
    uint32_t port_shift;         /* log2 of the lines before the next port */
    uint8_t stack_order[1 << 8]; /* [turn]: stacks as round-robin pages visit them */
};

struct nuna_location {
    uint16_t channel; /* stack * channels per stack + channel in the stack */
    uint16_t port;    /* taken by accesses from other GPUs: the switch plane */
    uint32_t page;    /* its low 32 bits: what other nodes' accesses are translated by */
};

/* Of valid parameters (core/config_check.h). */
void nuna_address_map_init(struct nuna_address_map *map, const struct nuna_params *params);

/* A multiplicative hash with a final fold; any bit of the page moves all bits of the result. */
static inline uint32_t nuna_address_mix(uint64_t page)
{
    page ^= page >> 32;
    page *= 0x9e3779b97f4a7c15ull;
    page ^= page >> 29;
    page *= 0xbf58476d1ce4e5b9ull;
    return (uint32_t)(page >> 32);
}

/* The stack whose turn it is at a page, round-robin. */
static inline uint8_t nuna_address_default_stack(const struct nuna_address_map *map, uint64_t page)
{
    return map->stack_order[page % map->stacks];
}

/* The frame of a page that no policy has placed: round-robin over the stacks, baseline segment. */
static inline struct nuna_frame nuna_address_default_frame(const struct nuna_address_map *map,
                                                           uint64_t page)
{
    return (struct nuna_frame){
        .domains = 1, .domain = 0, .stack = nuna_address_default_stack(map, page)};
}

/* `pages` is the GPU's page table, or NULL when every page has its default frame. */
static inline struct nuna_location nuna_address_locate(const struct nuna_address_map *map,
                                                       const struct nuna_frame *pages,
                                                       uint64_t position)
{
    uint64_t page = position / map->page_size;
    uint32_t line = (uint32_t)(position % map->page_size) / map->line_size;
    uint32_t mix = nuna_address_mix(page);
    struct nuna_frame frame = pages ? pages[page] : nuna_address_default_frame(map, page);
    uint32_t channel = (line + (mix & 0xffff)) % map->channels;
    uint32_t domain_ports = map->ports / frame.domains;
    uint32_t port =
        frame.domain * domain_ports + ((line >> map->port_shift) + (mix >> 16)) % domain_ports;
    return (struct nuna_location){
        .channel = (uint16_t)(frame.stack * map->channels + channel),
        .port = (uint16_t)port,
        .page = (uint32_t)page,
    };
}

#endif
