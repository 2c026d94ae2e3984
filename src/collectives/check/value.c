#include "collectives/check/value.h"

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct nuna_print nuna_leaf_print(uint32_t leaf)
{
    return (struct nuna_print){mix(leaf), mix(~(uint64_t)leaf)};
}
