/* XML writer: lanes, and the order between them. */
#ifndef NUNA_COLLECTIVES_WRITE_XML_ORDER_H
#define NUNA_COLLECTIVES_WRITE_XML_ORDER_H

#include "collectives/write/xml_writer.h"

enum nuna_xml_move { NUNA_XML_SENDS, NUNA_XML_RECEIVES, NUNA_XML_LOCAL };

/* Gives every threadblock its lanes. False when the plan cannot be expressed, or without memory. */
bool nuna_xml_make_lanes(struct nuna_xml_writer *w);
/* The lane of the threadblock that has this end of a channel. */
uint32_t nuna_xml_lane_of(const struct nuna_xml_writer *w, uint32_t tb, uint32_t channel,
                          bool sending);

/* Before the steps of a GPU, and after. */
void nuna_xml_begin_order(struct nuna_xml_writer *w, uint32_t gpu);
void nuna_xml_end_order(struct nuna_xml_writer *w, uint32_t gpu);
/* Adds a step behind what it needs; NULL without memory. */
struct nuna_xml_out_step *nuna_xml_add_step(struct nuna_xml_writer *w, uint32_t tb, uint32_t lane,
                                            const char *type, enum nuna_xml_move move);
/* Threadblocks whose next operation is this barrier: what follows comes after all they have done.
 * `barriers` is [threadblock of the GPU]. */
void nuna_xml_join(struct nuna_xml_writer *w, uint32_t gpu, const uint32_t *barriers,
                   uint32_t barrier);

#endif
