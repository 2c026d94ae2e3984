/* The background kernel: a matrix multiplication cut into square output tiles. Each tile's
 * threadblock loads a panel of rows of A and a panel of columns of B (each contiguous), occupies
 * its CU for a delay given by the bytes loaded, and stores its part of C. The matrices lie behind
 * the collective's memory in pages of the baseline segment. Source: NUNA section 6.6. */
#include "pod/gpu_lp.h"
#include <stdlib.h>

static uint32_t square_root(uint32_t value)
{
    uint32_t root = 0;
    while ((root + 1) * (root + 1) <= value)
        root++;
    return root;
}

bool nuna_background_init(struct nuna_gpu_lp *gpu, const uint32_t *cu)
{
    const struct nuna_params *params = gpu->pod->params;
    if (gpu->tile_count == 0)
        return true;
    gpu->tiles = calloc(gpu->tile_count, sizeof *gpu->tiles);
    if (!gpu->tiles)
        return false;
    uint64_t page = gpu->pod->map.page_size;
    uint64_t n = (uint64_t)params->background.gemm_size;
    uint64_t element = (uint64_t)params->background.element_size;
    uint32_t side = square_root(gpu->tile_count);
    uint64_t matrix = n * n * element;
    /* A whole number of pages keeps the three matrices apart; the collective's image ends before.
     */
    uint64_t a = (gpu->pod->layout.gpus[gpu->gpu].end / page + 64) * page;
    uint64_t b = a + (matrix / page + 1) * page, c = b + (matrix / page + 1) * page;
    for (uint32_t t = 0; t < gpu->tile_count; t++) {
        /* Rows and columns that do not divide go to the last tiles. */
        uint64_t rows = n * (t / side + 1) / side - n * (t / side) / side;
        uint64_t columns = n * (t % side + 1) / side - n * (t % side) / side;
        struct nuna_tile *tile = &gpu->tiles[t];
        tile->panel[0] = a + n * (t / side) / side * n * element;
        tile->panel[1] = b + n * (t % side) / side * n * element;
        tile->panel_bytes[0] = rows * n * element;
        tile->panel_bytes[1] = columns * n * element;
        tile->output = c + matrix / gpu->tile_count * t;
        tile->output_bytes = rows * columns * element;
        tile->compute = nuna_units_transfer_time(tile->panel_bytes[0] + tile->panel_bytes[1],
                                                 (uint64_t)params->background.compute_rate, NULL);
        gpu->tbs[gpu->plan_tb_count + t].cu = cu[t];
    }
    return true;
}

/* The next part of a tile's work: panel A, panel B, output. */
enum {
    PART_A,
    PART_B,
    PART_OUTPUT,
    PART_END,
};

/* Opens the next part that has bytes; false when there is none before `end`. The part is kept in
 * `pair`. */
static bool open_part(struct nuna_gpu_lp *gpu, uint32_t tb_index, uint32_t end)
{
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    const struct nuna_tile *tile = &gpu->tiles[tb_index - gpu->plan_tb_count];
    for (; tb->pair < end; tb->pair++) {
        bool output = tb->pair == PART_OUTPUT;
        tb->bytes = output ? tile->output_bytes : tile->panel_bytes[tb->pair];
        tb->src_position = output ? tile->output : tile->panel[tb->pair];
        tb->flight_kind = output ? NUNA_FLIGHT_WRITE : NUNA_FLIGHT_READ;
        tb->line = 0;
        if (tb->bytes > 0)
            return true;
    }
    return false;
}

void nuna_background_start(struct nuna_gpu_lp *gpu)
{
    for (uint32_t t = 0; t < gpu->tile_count; t++) {
        uint32_t tb_index = gpu->plan_tb_count + t;
        gpu->tbs[tb_index].pair = PART_A;
        gpu->tbs[tb_index].loading = open_part(gpu, tb_index, PART_OUTPUT);
        if (gpu->tbs[tb_index].loading)
            nuna_cu_enqueue(gpu, tb_index);
    }
}

/* Issues the tile's next line. */
void nuna_background_issue(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t tb_index)
{
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    uint32_t handle = nuna_flight_get(&gpu->flights);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint64_t rest = tb->bytes - tb->line;
    bool write = tb->flight_kind == NUNA_FLIGHT_WRITE;
    flight->start = gpu->lp->now;
    flight->tb = tb_index;
    flight->bytes = (uint16_t)(rest < gpu->pod->flit_bytes ? rest : gpu->pod->flit_bytes);
    flight->kind = tb->flight_kind;
    flight->phase = write ? NUNA_PHASE_STORE : NUNA_PHASE_LOAD;
    flight->local = nuna_address_locate(&gpu->pod->map, NULL, tb->src_position + tb->line).channel;
    tb->pending++;
    cu->outstanding++;
    uint16_t router = nuna_gpu_cu_router(gpu, tb->cu);
    nuna_noc_send(&gpu->noc, gpu->lp, router, NUNA_AT_CU,
                  nuna_gpu_stack_router(gpu, router, flight->local), NUNA_AT_MEMORY,
                  write ? flight->bytes : gpu->pod->control_bytes, handle);
    tb->line += gpu->pod->flit_bytes;
    if (tb->line >= tb->bytes) {
        tb->pair++;
        tb->loading = open_part(gpu, tb_index, write ? PART_END : PART_OUTPUT);
    }
    if (tb->loading)
        nuna_cu_enqueue(gpu, tb_index);
}

/* A line is read or written. When the panels are there the CU computes, and then stores. */
void nuna_background_line_done(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    uint32_t tb_index = nuna_flight(&gpu->flights, handle)->tb;
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    nuna_flight_put(&gpu->flights, handle);
    if (--tb->pending > 0 || tb->loading || tb->pair > PART_OUTPUT)
        return;
    struct nuna_cu *cu = &gpu->cus[tb->cu];
    nuna_time now = gpu->lp->now;
    cu->free_at =
        (cu->free_at > now ? cu->free_at : now) + gpu->tiles[tb_index - gpu->plan_tb_count].compute;
    tb->loading = open_part(gpu, tb_index, PART_END);
    if (tb->loading)
        nuna_cu_enqueue(gpu, tb_index);
}
