/* A server, some transfers, and what came of them: shared by the tests of host transfers. */
#ifndef NUNA_TESTS_HOST_SCENE_H
#define NUNA_TESTS_HOST_SCENE_H

#include "core/config.h"
#include "host/engine.h"
#include "host/host_sim.h"
#include "host/report.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct scene {
    struct nuna_params params;
    struct nuna_host_plan plan;
    struct nuna_host_sim *sim;
    nuna_time elapsed;
};

/* Eight GPUs, two sockets; rates whose pieces take whole nanoseconds. */
static inline void scene_init(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    struct nuna_params *p = &scene->params;
    nuna_params_defaults(p);
    p->pod.gpus = 8;
    p->scaleup.ports = 2;
    p->scaleup.port_rate = 25000000000; /* 400 ns a piece */
    p->scaleup.link_latency = 100000;
    p->scaleup.switch_latency = 50000;
    p->host.piece_size = 10000;
    p->host.pcie_rate = 50000000000;     /* 200 ns */
    p->host.relay_rate = 40000000000;    /* 250 ns */
    p->host.dram_rate = 500000000000;    /* 20 ns */
    p->host.memory_rate = 1000000000000; /* 10 ns */
    p->host.read_window = p->host.peer_window = 1 << 30;
    p->host.fallback_h2d = p->host.fallback_d2h = 0;
}

static inline void scene_add(struct scene *scene, const char *text)
{
    struct nuna_error err;
    struct nuna_host_plan *plan = &scene->plan;
    bool background = strncmp(text, "background ", 11) == 0;
    bool parsed = nuna_host_request_parse("--transfer", background ? text + 11 : text, background,
                                          (uint32_t)scene->params.pod.gpus,
                                          &plan->requests[plan->request_count], &err);
    cr_assert(parsed, "%s", err.message);
    plan->request_count++;
}

/* Runs; the caller ends the scene. */
static inline void scene_run(struct scene *scene)
{
    struct nuna_error err;
    enum nuna_host_status status;
    uint32_t gpus = (uint32_t)scene->params.pod.gpus;
    cr_assert(nuna_host_shape_check(&scene->params, gpus, &err), "%s", err.message);
    cr_assert(nuna_host_plan_check(&scene->plan, &scene->params, gpus, &err), "%s", err.message);
    scene->sim = nuna_host_sim_create(&scene->params, &scene->plan, 1, &err);
    cr_assert_not_null(scene->sim);
    cr_assert(nuna_host_sim_run(scene->sim, NULL, NULL, &status, &err), "%s", err.message);
    cr_assert_eq(status, NUNA_HOST_COMPLETE);
    scene->elapsed =
        nuna_host_elapsed(nuna_host_sim_view(scene->sim), nuna_host_sim_now(scene->sim));
}

static inline struct nuna_host_outcome scene_outcome(const struct scene *scene, uint32_t transfer)
{
    return nuna_host_outcome(nuna_host_sim_view(scene->sim), transfer);
}

static inline void scene_end(struct scene *scene)
{
    nuna_host_sim_destroy(scene->sim);
    scene->sim = NULL;
}

/* The time of the only transfer. */
static inline nuna_time scene_time(struct scene *scene)
{
    scene_run(scene);
    nuna_time time = scene_outcome(scene, 0).time;
    scene_end(scene);
    return time;
}

static inline uint64_t scene_draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
