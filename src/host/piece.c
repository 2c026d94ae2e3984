#include "host/piece.h"
#include <string.h>

/* What a message carries. */
struct payload {
    uint32_t offset_low, offset_high, bytes, engine;
    uint16_t gpu;
    uint8_t op, phase, port, home;
};
_Static_assert(sizeof(struct payload) <= sizeof((struct nuna_message){0}.payload), "fits");

void nuna_piece_pack(const struct nuna_host_piece *piece, struct nuna_message *message)
{
    struct payload payload = {
        .offset_low = (uint32_t)piece->offset,
        .offset_high = (uint32_t)(piece->offset >> 32),
        .bytes = piece->bytes,
        .engine = piece->engine,
        .gpu = piece->gpu,
        .op = piece->op,
        .phase = piece->phase,
        .port = piece->port,
        .home = piece->home,
    };
    memcpy(message->payload, &payload, sizeof payload);
}

void nuna_piece_unpack(struct nuna_host_piece *piece, const struct nuna_message *message)
{
    struct payload payload;
    memcpy(&payload, message->payload, sizeof payload);
    *piece = (struct nuna_host_piece){
        .offset = (uint64_t)payload.offset_high << 32 | payload.offset_low,
        .bytes = payload.bytes,
        .engine = payload.engine,
        .gpu = payload.gpu,
        .op = payload.op,
        .phase = payload.phase,
        .port = payload.port,
        .home = payload.home,
    };
}
