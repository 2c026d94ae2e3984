/* The contract that every part keeps: when a run has drained, its pools are empty, its servers and
 * queues idle, and as much has come out of it as went in. sim_scene.h holds every simulation of the
 * tests to it. */
#ifndef NUNA_TESTS_DRAINED_H
#define NUNA_TESTS_DRAINED_H

#include "gpu/arrivals.h"
#include "gpu/cu.h"
#include "gpu/process/proxy.h"
#include "gpu/translate/translation.h"
#include "pod/result.h"
#include "pod/sim_private.h"

#include <criterion/criterion.h>
#include <inttypes.h>

struct drained_bytes {
    uint64_t out, in;       /* ports; switch outputs */
    uint64_t stores, flags; /* sent, less those that landed */
};

/* No transfer ends after the run, and none is left. */
static inline void drained_servers(const struct nuna_server *servers, uint32_t count, nuna_time end,
                                   const char *what, uint32_t gpu)
{
    for (uint32_t i = 0; i < count; i++)
        cr_assert_leq(servers[i].free_at, end,
                      "GPU %u: %s %u is busy until %" PRIu64 " of %" PRIu64, gpu, what, i,
                      servers[i].free_at, end);
}

static inline uint64_t drained_sum(const struct nuna_server *servers, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += servers[i].bytes;
    return bytes;
}

static inline void drained_noc(const struct nuna_gpu *gpu, nuna_time end)
{
    if (gpu->noc.shape->uniform)
        return;
    uint32_t all = gpu->noc.shape->codes * NUNA_ATTACHMENTS;
    drained_servers(gpu->noc.inject, all, end, "injection link", gpu->index);
    drained_servers(gpu->noc.eject, all, end, "ejection link", gpu->index);
    cr_assert_eq(drained_sum(gpu->noc.inject, all), drained_sum(gpu->noc.eject, all),
                 "GPU %u: the mesh keeps bytes", gpu->index);
}

static inline void drained_cu(const struct nuna_cu *cu, uint32_t gpu)
{
    cr_assert_eq(cu->outstanding, 0, "GPU %u: CU %u keeps %u requests", gpu, cu->index,
                 cu->outstanding);
    cr_assert(cu->store_head == NUNA_NO_FLIGHT && cu->tb_head == NUNA_NO_TB && !cu->scheduled &&
                  !cu->inside_line,
              "GPU %u: CU %u has something to issue", gpu, cu->index);
}

static inline void drained_tb(const struct nuna_tb *tb, uint32_t gpu)
{
    cr_assert(tb->unacked == 0 && tb->pending == 0 && !tb->loading && !tb->held && !tb->awaiting,
              "GPU %u: a threadblock is at work", gpu);
}

static inline void drained_cus(struct nuna_gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->spec->topology.cu_count; i++)
        drained_cu(nuna_cu_at(gpu, i), gpu->index);
    for (uint32_t i = 0; i < gpu->cus->tb_count; i++)
        drained_tb(nuna_tb_of(gpu, i), gpu->index);
    drained_tb(nuna_tb_of(gpu, NUNA_TB_PROXY), gpu->index);
    if (gpu->proxy)
        drained_cu(nuna_proxy_engine(gpu), gpu->index);
    cr_assert(nuna_proxy_idle(gpu), "GPU %u: its proxy has requests", gpu->index);
}

/* Nobody waits for packets, and messages are used up: what came into slots was taken. */
static inline void drained_arrivals(const struct nuna_gpu *gpu)
{
    const struct nuna_plan_gpu *part = &gpu->spec->plan->gpus[gpu->index];
    for (uint32_t i = 0; i < gpu->arrivals->count; i++) {
        const struct nuna_arrival *arrival = &gpu->arrivals->places[i];
        cr_assert_eq(arrival->waiter, NUNA_NO_TB, "GPU %u: place %u is waited for", gpu->index, i);
        if (i >= part->chunks[NUNA_BUF_SCRATCH])
            cr_assert_eq(arrival->bytes, arrival->taken, "GPU %u: slot place %u keeps bytes",
                         gpu->index, i);
    }
}

static inline void drained_translation(const struct nuna_gpu *gpu)
{
    if (gpu->spec->translation != NUNA_TRANSLATION_FULL)
        return;
    const struct nuna_mmu *mmu = &gpu->translation->mmu;
    cr_assert(mmu->waiters.in_use == 0 && mmu->l2_mshrs.in_use == 0 && mmu->walkers.busy == 0 &&
                  mmu->l2_stalled.count == 0,
              "GPU %u: its MMU is at work", gpu->index);
    for (uint32_t i = 0; i < mmu->shape->ports; i++)
        cr_assert(mmu->ports[i].mshrs.in_use == 0 && mmu->ports[i].waiting == 0 &&
                      mmu->ports[i].stalled.count == 0 && !mmu->ports[i].resuming,
                  "GPU %u: requests wait at port %u", gpu->index, i);
}

static inline void drained_gpu(struct nuna_gpu *gpu, nuna_time end)
{
    uint32_t ports = gpu->spec->clos.ports;
    cr_assert_eq(gpu->exec.unfinished, 0);
    cr_assert_eq(gpu->flights.in_use, 0, "GPU %u keeps %" PRIu64 " flights", gpu->index,
                 gpu->flights.in_use);
    cr_assert_eq(gpu->lp->blocks.in_use, 0, "GPU %u keeps blocks of events", gpu->index);
    drained_servers(gpu->hbm.channel, gpu->hbm.channel_count, end, "channel", gpu->index);
    drained_servers(gpu->scaleup.egress, ports, end, "port", gpu->index);
    drained_servers(gpu->scaleup.output, ports, end, "switch output", gpu->index);
    drained_noc(gpu, end);
    drained_cus(gpu);
    drained_arrivals(gpu);
    drained_translation(gpu);
}

static inline void contract_drained(const struct nuna_sim *sim, const struct nuna_result *result)
{
    struct drained_bytes sum = {0};
    uint32_t ports = sim->pod.spec.clos.ports;
    cr_assert_eq(result->bytes_delivered, result->bytes_requested);
    cr_assert_leq(result->time + sim->pod.spec.start, result->drained);
    for (uint32_t lp = 0; lp < sim->pod.fold.lp_count; lp++) {
        struct nuna_gpu *gpu = &sim->gpus[lp];
        drained_gpu(gpu, result->drained);
        sum.out += drained_sum(gpu->scaleup.egress, ports);
        sum.in += drained_sum(gpu->scaleup.output, ports);
        sum.stores += gpu->probe->stores_out - gpu->probe->latency.count;
        sum.flags += gpu->probe->flags_out - gpu->probe->flags_in;
    }
    cr_assert(sum.stores == 0 && sum.flags == 0, "stores or flags did not land");
    if (sim->pod.spec.plan->group_count == 0) /* a switch copies what goes to a group */
        cr_assert_eq(sum.out, sum.in, "%" PRIu64 " bytes left ports, %" PRIu64 " came in", sum.out,
                     sum.in);
}

#endif
