#include "pod/report/request_class.h"
#include "mmu/link_mmu.h"

/* How the L2 and the walk answered a request that missed in the L1, or joined one that did. */
static uint32_t via_of(uint32_t class)
{
    bool merged = class >= NUNA_CLASS_L1_MERGED;
    return class - (merged ? (uint32_t)NUNA_CLASS_L1_MERGED : (uint32_t)NUNA_CLASS_L1_MISS);
}

struct nuna_value nuna_class_l1(uint32_t class)
{
    return nuna_text(class == NUNA_CLASS_L1_HIT      ? "hit"
                     : class >= NUNA_CLASS_L1_MERGED ? "mshr_hit"
                                                     : "miss");
}

struct nuna_value nuna_class_l2(uint32_t class)
{
    if (class == NUNA_CLASS_L1_HIT)
        return nuna_empty();
    uint32_t via = via_of(class);
    return nuna_text(via == NUNA_VIA_L2_HIT          ? "hit"
                     : via == NUNA_VIA_L2_UNDER_MISS ? "hit_under_miss"
                                                     : "miss");
}

struct nuna_value nuna_class_walk_steps(uint32_t class)
{
    if (class == NUNA_CLASS_L1_HIT)
        return nuna_empty();
    uint32_t via = via_of(class);
    bool walked = via != NUNA_VIA_L2_HIT && via != NUNA_VIA_L2_UNDER_MISS;
    return nuna_if(walked, nuna_count(via - (uint32_t)NUNA_VIA_WALK_0));
}
