#include "gpu/process/work.h"
#include "gpu/arrivals.h"
#include "gpu/probe.h"
#include "gpu/process/background.h"
#include "gpu/process/move.h"
#include "gpu/process/proxy.h"
#include "gpu/process/put.h"
#include "gpu/process/signals.h"
#include "gpu/translate/counts.h"

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
    nuna_out(flight)->load.back = nuna_flight_since(flight, gpu->lp->now);
    if (flight->kind == NUNA_FLIGHT_SOURCE) {
        nuna_move_loaded(gpu, cu, handle);
    } else if (flight->kind == NUNA_FLIGHT_READ) {
        nuna_cu_returned(cu);
        nuna_background_line_done(gpu, handle);
    } else {
        nuna_put_loaded(gpu, cu, handle);
    }
}

static void local_store_acked(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    /* Packets for the GPU itself have come when they are stored. */
    if (flight->kind == NUNA_FLIGHT_KEEP && nuna_out(flight)->place != NUNA_NONE)
        nuna_work_arrived(gpu, nuna_out(flight)->place, flight->bytes);
    nuna_cu_returned(cu);
    if (flight->kind == NUNA_FLIGHT_WRITE) {
        nuna_background_line_done(gpu, handle);
        return;
    }
    nuna_put_line_done(gpu, flight, true);
    nuna_flight_put(&gpu->flights, handle);
}

/* `waiting`: the store, if it has waited here. */
static void remote_store_acked(struct nuna_gpu *gpu, uint32_t tb, struct nuna_flight *answer,
                               struct nuna_flight *waiting)
{
    if (waiting ? waiting->npa : answer->npa)
        nuna_counts_acked(gpu, answer);
    if (!nuna_signals_acked(gpu, tb))
        return;
    if (tb == NUNA_TB_PROXY) {
        nuna_proxy_acked(gpu);
        return;
    }
    nuna_probe_op_acked(gpu, nuna_tb_of(gpu, tb)->op, answer, waiting);
    nuna_signals_release(gpu, tb);
}

/* An answer to a flight that waited here; the unit of its threadblock. */
static struct nuna_cu *waited_answer(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *answer = nuna_flight(&gpu->flights, handle);
    uint32_t waiting_handle = nuna_answer(answer)->owner;
    struct nuna_flight *waiting = nuna_flight(&gpu->flights, waiting_handle);
    struct nuna_out *out = nuna_out(waiting);
    uint32_t tb = out->tb;
    struct nuna_cu *cu = nuna_tb_of(gpu, tb)->cu;
    if (waiting->kind == NUNA_FLIGHT_CAST_STORE &&
        --nuna_cast(nuna_flight(&gpu->flights, out->cast))->missing > 0)
        return cu; /* the group still owes others */
    if (nuna_flight_is(waiting, NUNA_FLIGHTS_CAST))
        nuna_flight_put(&gpu->flights, out->cast);
    if (nuna_flight_is(waiting, NUNA_FLIGHTS_FETCH)) {
        nuna_move_fetched(gpu, cu, waiting_handle);
        return cu;
    }
    nuna_cu_returned(cu);
    remote_store_acked(gpu, tb, answer, waiting);
    nuna_flight_put(&gpu->flights, waiting_handle);
    return cu;
}

static struct nuna_cu *answer_back(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *answer = nuna_flight(&gpu->flights, handle);
    struct nuna_cu *cu;
    if (nuna_answer(answer)->waited) {
        cu = waited_answer(gpu, handle);
    } else {
        uint32_t tb = nuna_answer(answer)->owner;
        cu = nuna_tb_of(gpu, tb)->cu;
        nuna_cu_returned(cu);
        remote_store_acked(gpu, tb, answer, NULL);
    }
    nuna_flight_put(&gpu->flights, handle);
    return cu;
}

void nuna_work_back(struct nuna_gpu *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    struct nuna_cu *cu;
    if (flight->kind == NUNA_FLIGHT_ANSWER) {
        cu = answer_back(gpu, handle);
    } else {
        cu = nuna_tb_of(gpu, nuna_out(flight)->tb)->cu;
        if (flight->leg == NUNA_LEG_LOAD)
            load_back(gpu, cu, handle);
        else
            local_store_acked(gpu, cu, handle);
    }
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
