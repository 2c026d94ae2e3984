/* Where the plan's chunks lie in each GPU's memory.
 *
 * The image of a GPU holds its input, output and scratch buffer and its flags, each from a page
 * boundary. Frames are given out chunk by chunk: a chunk begins on a page of its own, unless it
 * fits behind its predecessors on theirs. The blocks of a buffer that has one block per rank come
 * in relative order (own rank first, then own + 1, ...), which makes every GPU's memory look the
 * same from its own seat. Where a chunk lies in virtual memory is the plan's business, where its
 * frames lie is the driver's choice. In a plan that runs in place the smaller of input and output
 * is the GPU's own block of the larger. Scratch that holds packets is twice as long. The slots of
 * the connections that the GPU receives from lie between the buffers and the flags.
 */
#ifndef NUNA_PLACEMENT_LAYOUT_H
#define NUNA_PLACEMENT_LAYOUT_H

#include "gpu/image.h"

/* `shape` must live as long as the layout. */
bool nuna_layout_init(struct nuna_layout *layout, const struct nuna_shape *shape,
                      uint64_t page_size, uint32_t line_size);
/* Lays the chunks out again for a placement by domains: chunks shorter than a page share pages only
 * with chunks of their own domain. `domain` has an entry per chunk, GPU by GPU, buffer by buffer;
 * `domains` and more stand for none. */
void nuna_layout_pack(struct nuna_layout *layout, const struct nuna_plan *plan, uint64_t page_size,
                      const uint32_t *domain, uint32_t domains);

void nuna_layout_finish(struct nuna_layout *layout);

#endif
