/* The background kernel: a matrix multiplication cut into square output tiles. Each tile's
 * threadblock loads a panel of rows of A and a panel of columns of B (each contiguous), occupies
 * its CU for a delay given by the bytes loaded, and stores its part of C. The matrices lie behind
 * the collective's memory in pages of the baseline segment. Source: NUNA section 6.6. */
#ifndef NUNA_GPU_PROCESS_BACKGROUND_H
#define NUNA_GPU_PROCESS_BACKGROUND_H

#include "gpu/gpu.h"

/* A tile: reads two panels, computes, writes its output. */
struct nuna_tile {
    uint64_t panel[2], output; /* positions */
    uint64_t panel_bytes[2], output_bytes;
    nuna_time compute;
};

struct nuna_background {
    struct nuna_tile *tiles;
    uint32_t first_tb, tile_count; /* their threadblocks */
};

/* Of no tiles it does nothing. False on lack of memory; destroy either way. */
bool nuna_background_create(struct nuna_gpu *gpu, uint32_t first_tb, uint32_t tile_count);
void nuna_background_destroy(struct nuna_gpu *gpu);

/* All tiles, at time 0. */
void nuna_background_start(struct nuna_gpu *gpu);
/* The tile's unit has an issue slot: its next line, read or written. */
void nuna_background_issue(struct nuna_gpu *gpu, uint32_t tb);
/* A line is read or written: its flight ends. When the panels are there the CU computes, and then
 * stores. */
void nuna_background_line_done(struct nuna_gpu *gpu, uint32_t handle);

#endif
