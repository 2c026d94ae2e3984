#include "gpu/process/work.h"
#include "gpu/arrivals.h"
#include "gpu/probe.h"
#include "gpu/process/background.h"
#include "gpu/process/move.h"
#include "gpu/process/proxy.h"
#include "gpu/process/put.h"
#include "gpu/process/signals.h"

/* ---- operations ---- */

static bool transfer(void *context, uint32_t tb, uint32_t op, const struct nuna_move *move)
{
    struct nuna_gpu *gpu = context;
    const struct nuna_op *plan_op = &gpu->spec->plan->ops[op];
    if (plan_op->flags & NUNA_OP_PORT)
        return nuna_proxy_move(gpu, tb, op, move);
    if (nuna_move_needed(gpu->spec, gpu->index, plan_op, move->whole))
        return nuna_move_start(gpu, tb, op, move, 0, nuna_op_lanes(plan_op));
    return nuna_put_start(gpu, tb, op);
}

static bool signal_peers(void *context, uint32_t tb, uint32_t op, const uint32_t *channels,
                         uint32_t count, bool ordered)
{
    struct nuna_gpu *gpu = context;
    if (gpu->spec->plan->ops[op].flags & NUNA_OP_PORT)
        return nuna_proxy_signal(gpu, tb, op, channels, count);
    return nuna_signals_signal(gpu, tb, op, channels, count, ordered);
}

static bool fence(void *context, uint32_t tb, uint32_t op)
{
    return nuna_signals_fence(context, tb, op);
}

static bool flush(void *context, uint32_t tb, uint32_t op)
{
    return nuna_proxy_flush(context, tb, op);
}

static void waited(void *context, uint32_t op, uint32_t channel)
{
    nuna_probe_waited(context, op, channel);
}

const struct nuna_machine nuna_work_machine = {
    .transfer = transfer,
    .signal = signal_peers,
    .fence = fence,
    .flush = flush,
    .waited = waited,
};

/* ---- issue slots ---- */

static void issue_load(struct nuna_gpu *gpu, uint32_t tb)
{
    switch ((enum nuna_tb_work)nuna_tb_of(gpu, tb)->work) {
    case NUNA_WORK_PUT:
        nuna_put_load(gpu, tb);
        break;
    case NUNA_WORK_MOVE:
        nuna_move_load(gpu, tb);
        break;
    case NUNA_WORK_BACKGROUND:
        nuna_background_issue(gpu, tb);
        break;
    }
}

void nuna_work_issue(struct nuna_gpu *gpu, struct nuna_cu *cu)
{
    uint32_t what;
    switch (nuna_cu_take_turn(gpu, cu, &what)) {
    case NUNA_TURN_STORE:
        nuna_put_store(gpu, cu, what);
        break;
    case NUNA_TURN_LOAD:
        issue_load(gpu, what);
        break;
    case NUNA_TURN_IDLE:
        break;
    }
    nuna_cu_kick(gpu, cu);
}

/* ---- what comes back ---- */

static void load_back(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_flight_stamp(flight, NUNA_STAMP_LOAD_BACK, gpu->lp->now);
    if (flight->kind == NUNA_FLIGHT_SOURCE) {
        nuna_move_loaded(gpu, cu, handle);
    } else if (flight->kind == NUNA_FLIGHT_READ) {
        cu->outstanding--;
        nuna_background_line_done(gpu, handle);
    } else {
        nuna_put_loaded(gpu, cu, handle);
    }
}

static void remote_store_acked(struct nuna_gpu *gpu, const struct nuna_flight *flight)
{
    if (!nuna_signals_acked(gpu, flight))
        return;
    if (flight->tb == NUNA_TB_PROXY)
        nuna_proxy_acked(gpu);
    else
        nuna_signals_release(gpu, flight);
}

/* A store of a move is acknowledged. False: a group still owes answers, and the flight goes on. */
static bool marked_store_acked(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if ((flight->marks & NUNA_FLIGHT_CAST) && --flight->local > 0)
        return false;
    /* Packets for the GPU itself have come when they are stored. */
    if ((flight->marks & NUNA_FLIGHT_COUNTED) && flight->kind == NUNA_FLIGHT_COPY)
        nuna_work_arrived(gpu, flight->stamp[NUNA_STAMP_AT_PORT], flight->bytes);
    return true;
}

static void store_back(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (__builtin_expect(flight->marks != 0, 0) && !marked_store_acked(gpu, handle))
        return;
    cu->outstanding--;
    if (flight->kind == NUNA_FLIGHT_WRITE) {
        nuna_background_line_done(gpu, handle);
        return;
    }
    if (flight->kind == NUNA_FLIGHT_PUT)
        remote_store_acked(gpu, flight);
    else
        nuna_put_line_done(gpu, flight, true);
    nuna_flight_put(&gpu->flights, handle);
}

void nuna_work_back(struct nuna_gpu *gpu, uint32_t handle)
{
    const struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_cu *cu = nuna_tb_of(gpu, flight->tb)->cu;
    if (flight->phase == NUNA_PHASE_LOAD)
        load_back(gpu, cu, handle);
    else if (flight->kind == NUNA_FLIGHT_FETCH)
        nuna_move_loaded(gpu, cu, handle);
    else
        store_back(gpu, cu, handle);
    nuna_cu_kick(gpu, cu);
}

void nuna_work_arrived(struct nuna_gpu *gpu, uint32_t place, uint32_t bytes)
{
    uint32_t tb = nuna_arrivals_add(gpu, place, bytes);
    while (tb != NUNA_NO_TB) {
        uint32_t next = nuna_tb_of(gpu, tb)->next;
        if (nuna_tb_of(gpu, tb)->awaiting)
            nuna_proxy_retry(gpu, tb);
        else
            nuna_cu_enqueue(gpu, tb);
        tb = next;
    }
}
