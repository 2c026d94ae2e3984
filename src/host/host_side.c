#include "host/host_side.h"
#include "host/gpu_side.h"
#include <stdlib.h>

enum step {
    STEP_DRAM,
    STEP_FAR_GPU,
    STEP_FAR,
    STEP_LINK,
    STEP_PCIE,
    STEP_END,
};

/* The way of a piece by operation (read, write) and place (near, far). */
static const uint8_t routes[2][2][6] = {
    {{STEP_DRAM, STEP_PCIE, STEP_END},
     {STEP_DRAM, STEP_FAR_GPU, STEP_FAR, STEP_LINK, STEP_PCIE, STEP_END}},
    {{STEP_DRAM, STEP_END}, {STEP_FAR_GPU, STEP_FAR, STEP_LINK, STEP_DRAM, STEP_END}},
};

struct nuna_message *nuna_host_message_to(struct nuna_lp *lp, const struct nuna_host_shape *shape,
                                          uint32_t gpu, uint32_t kind, nuna_time time)
{
    struct nuna_message *message = nuna_lp_send(lp, (uint16_t)gpu);
    message->time = time;
    message->source = (uint16_t)shape->gpus;
    message->rel = (uint16_t)shape->gpus; /* after the GPUs' */
    message->kind = (uint8_t)kind;
    message->tag = 0;
    return message;
}

/* The resource of a step, and the time from its end to the next step. */
static struct nuna_link *resource(struct nuna_host_side *side, const struct nuna_host_piece *piece,
                                  enum step step, nuna_time *ret_latency)
{
    const struct nuna_host_shape *shape = side->shape;
    bool write = piece->op == NUNA_COPY_WRITE;
    uint32_t socket = nuna_host_socket(shape, piece->gpu);
    uint32_t from = write ? socket : piece->home, to = write ? piece->home : socket;
    *ret_latency = 0;
    switch (step) {
    case STEP_FAR_GPU:
        return write ? &side->far_gpu_out[piece->gpu] : &side->far_gpu_in[piece->gpu];
    case STEP_FAR:
        return write ? &side->far_write[socket] : &side->far_read[socket];
    case STEP_LINK:
        *ret_latency = shape->socket_link_latency;
        return &side->socket_link[from * shape->sockets + to];
    case STEP_PCIE:
        *ret_latency = shape->pcie_latency;
        return &side->pcie_down[piece->gpu];
    case STEP_DRAM:
    case STEP_END:
        break;
    }
    *ret_latency = shape->dram_latency;
    return &side->dram[piece->home];
}

void nuna_host_side_advance(struct nuna_host_side *side, uint32_t handle)
{
    const struct nuna_host_shape *shape = side->shape;
    struct nuna_host_piece *piece = nuna_piece(&side->pieces, handle);
    bool write = piece->op == NUNA_COPY_WRITE;
    bool far = piece->home != nuna_host_socket(shape, piece->gpu);
    const uint8_t *route = routes[write][far];
    nuna_time latency;
    struct nuna_link *link = resource(side, piece, (enum step)route[piece->step], &latency);
    nuna_time end = nuna_link_take(link, side->lp->now, piece->bytes) + latency;
    if (route[++piece->step] != STEP_END) {
        nuna_lp_schedule(side->lp, end, nuna_event_make(NUNA_HOST_EV_STEP, handle));
        return;
    }
    /* A posted write is acknowledged by its credit. */
    piece->phase = write ? NUNA_PIECE_ACK : NUNA_PIECE_DATA;
    if (write)
        end += shape->pcie_latency;
    nuna_piece_pack(piece,
                    nuna_host_message_to(side->lp, shape, piece->gpu, NUNA_HOST_EV_FROM_HOST, end));
    nuna_piece_put(&side->pieces, handle);
}

static struct nuna_link *create_links(size_t count, const struct nuna_rate *rate,
                                      nuna_time interval)
{
    struct nuna_link *links = calloc(count, sizeof *links);
    for (size_t i = 0; links && i < count; i++)
        nuna_link_init(&links[i], rate, interval);
    return links;
}

bool nuna_host_side_init(struct nuna_host_side *side, const struct nuna_host_shape *shape,
                         struct nuna_lp *lp, struct nuna_arena *arena)
{
    nuna_time interval = shape->interval;
    *side = (struct nuna_host_side){
        .shape = shape,
        .lp = lp,
        .dram = create_links(shape->sockets, &shape->dram, interval),
        .socket_link =
            create_links((size_t)shape->sockets * shape->sockets, &shape->socket_link, interval),
        .far_read = create_links(shape->sockets, &shape->far_read, interval),
        .far_write = create_links(shape->sockets, &shape->far_write, interval),
        .far_gpu_in = create_links(shape->gpus, &shape->far_gpu, interval),
        .far_gpu_out = create_links(shape->gpus, &shape->far_gpu, interval),
        .pcie_down = create_links(shape->gpus, &shape->pcie, interval),
    };
    return side->dram && side->socket_link && side->far_read && side->far_write &&
           side->far_gpu_in && side->far_gpu_out && side->pcie_down &&
           nuna_piece_pool_init(&side->pieces, arena);
}

void nuna_host_side_finish(struct nuna_host_side *side)
{
    nuna_slab_pool_finish(&side->pieces);
    free(side->dram);
    free(side->socket_link);
    free(side->far_read);
    free(side->far_write);
    free(side->far_gpu_in);
    free(side->far_gpu_out);
    free(side->pcie_down);
}
