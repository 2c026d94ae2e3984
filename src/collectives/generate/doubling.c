/* Recursive doubling and halving, by distances, so for any number of GPUs. */
#include "collectives/generate/staged.h"

static void doubling_gather(struct nuna_staged *staged, uint32_t gpus)
{
    for (uint32_t step = 1; step < gpus; step *= 2, staged->count++) {
        struct nuna_send *send = nuna_staged_send(staged, step, step);
        uint32_t count = gpus - step < step ? gpus - step : step;
        for (uint32_t x = 0; send != NULL && x < count; x++)
            send->items[send->count++] = x;
    }
}

static void doubling_exchange(struct nuna_staged *staged, uint32_t gpus)
{
    for (uint32_t step = 1; step < gpus; step *= 2, staged->count++) {
        struct nuna_send *send = nuna_staged_send(staged, step, gpus);
        for (uint32_t d = 1; send != NULL && d < gpus; d++)
            if (d & step)
                send->items[send->count++] = d;
    }
}

static bool prepare(struct gen *gen, struct nuna_error *err)
{
    return nuna_staged_prepare(gen, doubling_gather, doubling_exchange, err);
}

const struct nuna_generator nuna_generator_doubling = {
    .collectives = NUNA_EVERY_COLLECTIVE,
    .prepare = prepare,
    .gpu = nuna_staged_gpu,
    .let_go = nuna_staged_free,
};
