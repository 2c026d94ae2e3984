#include "collectives/read/msccl_xml/msccl_xml.h"
#include "collectives/read/msccl_xml/build.h"
#include "collectives/read/msccl_xml/parse.h"

#include <stdlib.h>

struct nuna_plan *nuna_read_msccl_xml(struct nuna_plan_text *text, struct nuna_error *err)
{
    struct nuna_xml xml;
    struct nuna_plan *plan = nuna_xml_parse(text, &xml, err) ? nuna_xml_build(&xml, err) : NULL;
    free(xml.gpus);
    free(xml.tbs);
    free(xml.steps);
    free(xml.warnings);
    return plan;
}
