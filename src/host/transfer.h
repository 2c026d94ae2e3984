/* Transfers that a user asks for, and what becomes of them. */
#ifndef NUNA_HOST_TRANSFER_H
#define NUNA_HOST_TRANSFER_H

#include "core/error.h"
#include "core/params.h"

enum nuna_host_direction {
    NUNA_HOST_H2D, /* host memory to a GPU's */
    NUNA_HOST_D2H, /* a GPU's memory to the host's */
    NUNA_HOST_P2P, /* a GPU's memory to another's; always native, to see what relays take from it */
    NUNA_HOST_DIRECTIONS,
};
const char *nuna_host_direction_name(enum nuna_host_direction direction);

#define NUNA_HOST_TRANSFERS_MAX 64u
#define NUNA_HOST_ENDLESS       (UINT64_MAX >> 8) /* bytes of background traffic */

struct nuna_host_request {
    enum nuna_host_direction direction;
    uint64_t bytes;
    uint32_t gpu;    /* target of H2D, source of D2H and P2P */
    uint32_t peer;   /* destination of P2P; else equal to gpu */
    nuna_time start; /* ps */
    uint32_t stream; /* of the application; transfers of one stream of a GPU take turns, in the
                        order of the requests; 0: in none */
    bool background; /* native, without an end: it stops with the last other transfer */
};

/* Reads "h2d:1GB:gpu0", "d2h:64MB:gpu3", "p2p:1GB:gpu0:gpu1", each optionally with ",start=1ms"
 * behind. With `background` there is no size: "h2d:gpu3". Messages name `option` and the text. */
bool nuna_host_request_parse(const char *option, const char *text, bool background, uint32_t gpus,
                             struct nuna_host_request *ret_request, struct nuna_error *err);

/* Who carries the transfers out, beyond the parameters. */
struct nuna_host_paths {
    uint16_t relay[256]; /* these relay, in this order; count 0: host.relays decides */
    uint32_t relay_count;
    uint32_t share[257]; /* static: of every path, the target's own link first (unless host.direct
                            is off), then the relays; count 0: equal shares */
    uint32_t share_count;
};

/* Reads "1:2:2" as shares; "gpu4,gpu5" or a number as relays. */
bool nuna_host_shares_parse(const char *text, struct nuna_host_paths *paths,
                            struct nuna_error *err);
bool nuna_host_relays_parse(const char *text, uint32_t gpus, struct nuna_host_paths *paths,
                            struct nuna_error *err);

#endif
