/* What a plan is at a size, with the default parameters. */
#ifndef NUNA_TESTS_DEFAULT_SHAPE_H
#define NUNA_TESTS_DEFAULT_SHAPE_H

#include "collectives/check/check.h"
#include "collectives/plan/shape.h"

static inline struct nuna_params default_params(void)
{
    struct nuna_params params;
    nuna_params_defaults(&params);
    return params;
}

static inline struct nuna_shape default_shape(const struct nuna_plan *plan, uint64_t size)
{
    struct nuna_shape shape;
    struct nuna_params params = default_params();
    nuna_shape_init(&shape, plan, size, &params);
    return shape;
}

static inline uint64_t remote_bytes(const struct nuna_plan *plan, uint64_t size)
{
    struct nuna_shape shape = default_shape(plan, size);
    return nuna_shape_remote_bytes(&shape);
}

/* At any size. */
static inline bool check_plan(const struct nuna_plan *plan, struct nuna_plan_verdict *ret_verdict,
                              struct nuna_error *err)
{
    struct nuna_params params = default_params();
    return nuna_plan_check(plan, &params, NULL, ret_verdict, err);
}

#endif
