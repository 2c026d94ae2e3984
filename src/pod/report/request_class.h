/* Requests for translation by what answered them, in words. */
#ifndef NUNA_POD_REPORT_REQUEST_CLASS_H
#define NUNA_POD_REPORT_REQUEST_CLASS_H

#include "core/table.h"

/* Of a class of mmu/link_mmu.h: the L1 TLB of the port; the L2; the steps of the walk. */
struct nuna_value nuna_class_l1(uint32_t class);
struct nuna_value nuna_class_l2(uint32_t class);
struct nuna_value nuna_class_walk_steps(uint32_t class);

#endif
