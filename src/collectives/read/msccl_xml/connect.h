/* MSCCL XML: connections between threadblocks. */
#ifndef NUNA_COLLECTIVES_READ_MSCCL_XML_CONNECT_H
#define NUNA_COLLECTIVES_READ_MSCCL_XML_CONNECT_H

#include "collectives/read/msccl_xml/builder.h"

/* Lists the ends that carry messages; makes the channels; joins the two ends of each. */
bool nuna_xml_list_ends(struct nuna_xml_builder *b);
void nuna_xml_make_channels(struct nuna_xml_builder *b);
bool nuna_xml_connect(struct nuna_xml_builder *b);

#endif
