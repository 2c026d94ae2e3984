#include "gpu/arrivals.h"
#include "gpu/cu.h"
#include <stdlib.h>

uint32_t nuna_arrivals_slot(const struct nuna_gpu_spec *spec, uint32_t at, uint32_t channel,
                            uint32_t slot)
{
    return spec->plan->gpus[at].chunks[NUNA_BUF_SCRATCH] + channel * spec->shape.slots + slot;
}

bool nuna_arrivals_create(struct nuna_gpu *gpu)
{
    uint32_t channels = gpu->spec->plan->gpus[gpu->index].channel_count;
    struct nuna_arrivals *arrivals = gpu->arrivals = calloc(1, sizeof *arrivals);
    if (!arrivals)
        return false;
    arrivals->count = nuna_arrivals_slot(gpu->spec, gpu->index, channels, 0);
    arrivals->places = calloc((size_t)arrivals->count + 1, sizeof *arrivals->places);
    for (uint32_t i = 0; arrivals->places && i < arrivals->count; i++)
        arrivals->places[i].waiter = NUNA_NO_TB;
    return arrivals->places != NULL;
}

void nuna_arrivals_destroy(struct nuna_gpu *gpu)
{
    if (gpu->arrivals)
        free(gpu->arrivals->places);
    free(gpu->arrivals);
}

uint32_t nuna_arrivals_add(struct nuna_gpu *gpu, uint32_t place, uint32_t bytes)
{
    struct nuna_arrival *arrival = &gpu->arrivals->places[place];
    uint32_t waiter = arrival->waiter;
    arrival->bytes += bytes;
    arrival->waiter = NUNA_NO_TB;
    return waiter;
}

uint64_t nuna_arrivals_there(const struct nuna_gpu *gpu, uint32_t place)
{
    const struct nuna_arrival *arrival = &gpu->arrivals->places[place];
    return arrival->bytes - arrival->taken;
}

void nuna_arrivals_take(struct nuna_gpu *gpu, uint32_t place, uint64_t bytes)
{
    assert(nuna_arrivals_there(gpu, place) >= bytes);
    gpu->arrivals->places[place].taken += bytes;
}

void nuna_arrivals_wait(struct nuna_gpu *gpu, uint32_t place, uint32_t tb)
{
    nuna_tb_of(gpu, tb)->next = gpu->arrivals->places[place].waiter;
    gpu->arrivals->places[place].waiter = tb;
}

uint32_t nuna_arrivals_missing(const struct nuna_gpu *gpu, const struct nuna_op *op)
{
    const struct nuna_shape *shape = &gpu->spec->shape;
    for (uint32_t lane = 0; lane < nuna_op_lanes(op); lane++) {
        const struct nuna_range *range = nuna_lane_range(gpu->spec->plan, op, lane, 0);
        for (uint32_t c = 0; c < range->count; c++) {
            uint64_t data = nuna_lane_chunk_bytes(shape, op, lane, c);
            if (nuna_arrivals_there(gpu, range->index + c) <
                nuna_shape_wire_bytes(shape, (enum nuna_form)range->form, data))
                return range->index + c;
        }
    }
    return NUNA_NONE;
}

bool nuna_arrivals_idle(const struct nuna_gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->arrivals->count; i++)
        if (gpu->arrivals->places[i].waiter != NUNA_NO_TB)
            return false;
    return true;
}
