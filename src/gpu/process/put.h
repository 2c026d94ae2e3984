/* The plain transfers: a PUT from own memory to another GPU's, a COPY within it, a REDUCE into it.
 * Cut into lines; a line is loaded, and when its data are there, stored. */
#ifndef NUNA_GPU_PROCESS_PUT_H
#define NUNA_GPU_PROCESS_PUT_H

#include "gpu/cu.h"

/* True when there is nothing to move. */
bool nuna_put_start(struct nuna_gpu *gpu, uint32_t tb, uint32_t op);

/* The threadblock's unit has an issue slot: its next line's load. */
void nuna_put_load(struct nuna_gpu *gpu, uint32_t tb);
/* A line's load, or that of an operand, has come back. With a line's last operand the unit reduces.
 */
void nuna_put_loaded(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle);

/* The unit has an issue slot for a store: of any kind, of whoever's lines. */
void nuna_put_store(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle);
/* A line is through: `stored`, and the store is done, or only issued. When it was the operation's
 * last, the operation is over. */
void nuna_put_line_done(struct nuna_gpu *gpu, struct nuna_flight *flight, bool stored);

#endif
