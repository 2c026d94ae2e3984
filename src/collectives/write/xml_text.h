/* XML writer: the file. */
#ifndef NUNA_COLLECTIVES_WRITE_XML_TEXT_H
#define NUNA_COLLECTIVES_WRITE_XML_TEXT_H

#include "collectives/write/xml_writer.h"
#include <stdio.h>

void nuna_xml_print(struct nuna_xml_writer *w, FILE *out);

#endif
