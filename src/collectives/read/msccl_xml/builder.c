#include "collectives/read/msccl_xml/builder.h"

#include <stdarg.h>
#include <stdio.h>

bool nuna_xml_fail(struct nuna_xml_builder *b, uint32_t line, uint32_t column, const char *format,
                   ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return nuna_fail(b->err, NUNA_EXIT_BAD_INPUT, "%s:%u:%u: %s", b->xml->path, line, column, what);
}
