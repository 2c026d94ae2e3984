/* Two rounds over about the square root of the GPUs. */
#include "collectives/generate/staged.h"

/* The largest divisor up to the square root. */
static uint32_t first_side(uint32_t gpus)
{
    uint32_t side = 1;
    for (uint32_t a = 2; a * a <= gpus; a++)
        if (gpus % a == 0)
            side = a;
    return side;
}

static void two_step_gather(struct nuna_staged *staged, uint32_t gpus)
{
    uint32_t side = first_side(gpus);
    for (uint32_t o = 1; o < side; o++) {
        struct nuna_send *send = nuna_staged_send(staged, o, 1);
        if (send != NULL)
            send->items[send->count++] = 0;
    }
    staged->count += side > 1;
    for (uint32_t o = side; o < gpus; o += side) {
        struct nuna_send *send = nuna_staged_send(staged, o, side);
        for (uint32_t x = 0; send != NULL && x < side; x++)
            send->items[send->count++] = x;
    }
    staged->count++;
}

static void two_step_exchange(struct nuna_staged *staged, uint32_t gpus)
{
    uint32_t side = first_side(gpus);
    for (uint32_t o = 1; o < side; o++) {
        struct nuna_send *send = nuna_staged_send(staged, o, gpus / side);
        for (uint32_t d = o; send != NULL && d < gpus; d += side)
            send->items[send->count++] = d;
    }
    staged->count += side > 1;
    for (uint32_t o = side; o < gpus; o += side) {
        struct nuna_send *send = nuna_staged_send(staged, o, side);
        for (uint32_t d = o; send != NULL && d < o + side; d++)
            send->items[send->count++] = d;
    }
    staged->count++;
}

static bool prepare(struct gen *gen, struct nuna_error *err)
{
    return nuna_staged_prepare(gen, two_step_gather, two_step_exchange, err);
}

const struct nuna_generator nuna_generator_two_step = {
    .collectives = NUNA_EVERY_COLLECTIVE,
    .prepare = prepare,
    .gpu = nuna_staged_gpu,
    .let_go = nuna_staged_free,
};
