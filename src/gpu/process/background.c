#include "gpu/process/background.h"
#include "core/units.h"
#include "gpu/cu.h"
#include "gpu/die.h"
#include <stdlib.h>

static uint32_t square_root(uint32_t value)
{
    uint32_t root = 0;
    while ((root + 1) * (root + 1) <= value)
        root++;
    return root;
}

/* Which panels each tile reads, and what it writes. */
static void lay_out(struct nuna_gpu *gpu)
{
    const struct nuna_params *params = gpu->spec->params;
    struct nuna_background *background = gpu->background;
    uint64_t page = gpu->spec->map.page_size;
    uint64_t n = (uint64_t)params->background.gemm_size;
    uint64_t element = (uint64_t)params->background.element_size;
    uint32_t side = square_root(background->tile_count);
    uint64_t matrix = n * n * element;
    /* A whole number of pages keeps the three matrices apart; the collective's image ends before.
     */
    uint64_t a = (gpu->spec->layout->gpus[gpu->index].end / page + 64) * page;
    uint64_t b = a + (matrix / page + 1) * page, c = b + (matrix / page + 1) * page;
    for (uint32_t t = 0; t < background->tile_count; t++) {
        /* Rows and columns that do not divide go to the last tiles. */
        uint64_t rows = n * (t / side + 1) / side - n * (t / side) / side;
        uint64_t columns = n * (t % side + 1) / side - n * (t % side) / side;
        struct nuna_tile *tile = &background->tiles[t];
        tile->panel[0] = a + n * (t / side) / side * n * element;
        tile->panel[1] = b + n * (t % side) / side * n * element;
        tile->panel_bytes[0] = rows * n * element;
        tile->panel_bytes[1] = columns * n * element;
        tile->output = c + matrix / background->tile_count * t;
        tile->output_bytes = rows * columns * element;
        tile->compute = nuna_units_transfer_time(tile->panel_bytes[0] + tile->panel_bytes[1],
                                                 (uint64_t)params->background.compute_rate, NULL);
    }
}

bool nuna_background_create(struct nuna_gpu *gpu, uint32_t first_tb, uint32_t tile_count)
{
    if (tile_count == 0)
        return true;
    gpu->background = calloc(1, sizeof *gpu->background);
    if (!gpu->background)
        return false;
    gpu->background->first_tb = first_tb;
    gpu->background->tile_count = tile_count;
    gpu->background->tiles = calloc(tile_count, sizeof *gpu->background->tiles);
    if (gpu->background->tiles)
        lay_out(gpu);
    return gpu->background->tiles != NULL;
}

void nuna_background_destroy(struct nuna_gpu *gpu)
{
    if (gpu->background)
        free(gpu->background->tiles);
    free(gpu->background);
}

/* The next part of a tile's work: panel A, panel B, output. */
enum {
    PART_A,
    PART_B,
    PART_OUTPUT,
    PART_END,
};

static const struct nuna_tile *tile_of(const struct nuna_gpu *gpu, uint32_t tb)
{
    return &gpu->background->tiles[tb - gpu->background->first_tb];
}

/* Opens the next part that has bytes; false when there is none before `end`. The part is kept in
 * `pair`. */
static bool open_part(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t end)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    const struct nuna_tile *tile = tile_of(gpu, tb_index);
    for (; tb->pair < end; tb->pair++) {
        bool output = tb->pair == PART_OUTPUT;
        tb->bytes = output ? tile->output_bytes : tile->panel_bytes[tb->pair];
        tb->src_position = output ? tile->output : tile->panel[tb->pair];
        tb->line_kind = output ? NUNA_FLIGHT_WRITE : NUNA_FLIGHT_READ;
        tb->line = 0;
        if (tb->bytes > 0)
            return true;
    }
    return false;
}

void nuna_background_start(struct nuna_gpu *gpu)
{
    uint32_t first = gpu->background ? gpu->background->first_tb : 0;
    uint32_t count = gpu->background ? gpu->background->tile_count : 0;
    for (uint32_t tb_index = first; tb_index < first + count; tb_index++) {
        struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
        tb->work = NUNA_WORK_BACKGROUND;
        tb->pair = PART_A;
        tb->loading = open_part(gpu, tb_index, PART_OUTPUT);
        if (tb->loading)
            nuna_cu_enqueue(gpu, tb_index);
    }
}

void nuna_background_issue(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    bool write = tb->line_kind == NUNA_FLIGHT_WRITE;
    uint32_t handle = nuna_flight_get(&gpu->flights, (enum nuna_flight_kind)tb->line_kind,
                                      write ? NUNA_LEG_STORE : NUNA_LEG_LOAD);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint64_t rest = tb->bytes - tb->line;
    nuna_flight_begin(flight, gpu->lp->now);
    nuna_out(flight)->tb = tb_index;
    flight->bytes = (uint16_t)(rest < gpu->spec->flit_bytes ? rest : gpu->spec->flit_bytes);
    flight->channel =
        nuna_address_locate(&gpu->spec->map, NULL, tb->src_position + tb->line).channel;
    tb->pending++;
    tb->cu->outstanding++;
    nuna_die_cu_to_memory(gpu, tb->cu->router, flight->channel,
                          write ? flight->bytes : gpu->spec->control_bytes, handle);
    tb->line += gpu->spec->flit_bytes;
    if (tb->line >= tb->bytes) {
        tb->pair++;
        tb->loading = open_part(gpu, tb_index, write ? PART_END : PART_OUTPUT);
    }
    if (tb->loading)
        nuna_cu_enqueue(gpu, tb_index);
}

void nuna_background_line_done(struct nuna_gpu *gpu, uint32_t handle)
{
    uint32_t tb_index = nuna_out(nuna_flight(&gpu->flights, handle))->tb;
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    nuna_flight_put(&gpu->flights, handle);
    if (--tb->pending > 0 || tb->loading || tb->pair > PART_OUTPUT)
        return;
    nuna_cu_occupy(gpu, tb->cu, tile_of(gpu, tb_index)->compute);
    tb->loading = open_part(gpu, tb_index, PART_END);
    if (tb->loading)
        nuna_cu_enqueue(gpu, tb_index);
}
