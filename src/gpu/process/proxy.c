#include "gpu/process/proxy.h"
#include "gpu/arrivals.h"
#include "gpu/events.h"
#include "gpu/process/move.h"
#include "gpu/process/signals.h"
#include <stdlib.h>

enum request_kind { REQUEST_MOVE, REQUEST_SIGNAL, REQUEST_FLUSH };

struct request {
    struct nuna_move move;
    uint32_t tb, op;
    uint32_t lane;
    const uint32_t *channel;
    uint8_t kind;  /* enum request_kind */
    bool signals;  /* MOVE: on `channel`, when the data are there */
    bool releases; /* the block waits for the end */
};

struct nuna_proxy {
    struct nuna_cu engine;     /* copies the data */
    struct request *queue;     /* a ring */
    struct nuna_move *awaited; /* [threadblock]: what it asks for once its packets have come */
    uint32_t head, count, cap;
    uint32_t limit;   /* requests that the real queue holds */
    uint32_t waiting; /* threadblocks that found it full, through `next` */
    uint32_t last_waiting;
    bool working;
    nuna_time latency;
};

bool nuna_proxy_create(struct nuna_gpu *gpu)
{
    const struct nuna_gpu_spec *spec = gpu->spec;
    bool ports = false;
    for (size_t i = 0; i < spec->plan->op_count; i++)
        ports |= (spec->plan->ops[i].flags & NUNA_OP_PORT) != 0;
    if (!ports)
        return true;
    struct nuna_proxy *proxy = gpu->proxy = calloc(1, sizeof *proxy);
    if (!proxy)
        return false;
    nuna_cu_init(&proxy->engine, spec->topology.engine_router, NUNA_EV_ENGINE_ISSUE, 0);
    nuna_tb_of(gpu, NUNA_TB_PROXY)->cu = &proxy->engine;
    proxy->limit = (uint32_t)spec->params->proxy.queue;
    proxy->latency = (nuna_time)spec->params->proxy.request_latency;
    proxy->waiting = proxy->last_waiting = NUNA_NO_TB;
    proxy->cap = 64;
    proxy->queue = malloc(proxy->cap * sizeof *proxy->queue);
    proxy->awaited =
        calloc((size_t)spec->plan->gpus[gpu->index].tb_count + 1, sizeof *proxy->awaited);
    return proxy->queue && proxy->awaited;
}

void nuna_proxy_destroy(struct nuna_gpu *gpu)
{
    if (!gpu->proxy)
        return;
    free(gpu->proxy->queue);
    free(gpu->proxy->awaited);
    free(gpu->proxy);
}

bool nuna_proxy_idle(const struct nuna_gpu *gpu)
{
    return !gpu->proxy || gpu->proxy->count == 0;
}

static struct request *head_of(struct nuna_proxy *proxy)
{
    return &proxy->queue[proxy->head];
}

/* At most one request per block is beyond the limit: the block waits. */
static bool grow(struct nuna_proxy *proxy)
{
    struct request *queue = malloc(2 * (size_t)proxy->cap * sizeof *queue);
    if (!queue)
        return false;
    for (uint32_t i = 0; i < proxy->count; i++)
        queue[i] = proxy->queue[(proxy->head + i) % proxy->cap];
    free(proxy->queue);
    proxy->queue = queue;
    proxy->head = 0;
    proxy->cap *= 2;
    return true;
}

static void wake(struct nuna_gpu *gpu)
{
    struct nuna_proxy *proxy = gpu->proxy;
    if (proxy->working || proxy->count == 0)
        return;
    proxy->working = true;
    nuna_lp_schedule(gpu->lp, gpu->lp->now + proxy->latency, nuna_event_make(NUNA_EV_PROXY, 0));
}

static void push(struct nuna_gpu *gpu, const struct request *request)
{
    struct nuna_proxy *proxy = gpu->proxy;
    if (proxy->count == proxy->cap && !grow(proxy)) {
        gpu->lp->out_of_memory = true;
        return;
    }
    proxy->queue[(proxy->head + proxy->count++) % proxy->cap] = *request;
    wake(gpu);
}

/* A block goes on at once unless the queue is full or it waits for the request's end. */
static bool goes_on(struct nuna_gpu *gpu, uint32_t tb, bool releases)
{
    struct nuna_proxy *proxy = gpu->proxy;
    if (releases)
        return false;
    if (proxy->count <= proxy->limit)
        return true;
    nuna_tb_of(gpu, tb)->next = NUNA_NO_TB;
    if (proxy->waiting == NUNA_NO_TB)
        proxy->waiting = tb;
    else
        nuna_tb_of(gpu, proxy->last_waiting)->next = tb;
    proxy->last_waiting = tb;
    return false;
}

static void push_moves(struct nuna_gpu *gpu, uint32_t tb, uint32_t op_index,
                       const struct nuna_move *move)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    const struct nuna_op *op = &plan->ops[op_index];
    uint32_t lanes = nuna_op_lanes(op);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        struct request request = {
            .move = *move,
            .tb = tb,
            .op = op_index,
            .lane = lane,
            .channel = &plan->ids[op->id_at + lane],
            .kind = REQUEST_MOVE,
            .signals = (op->flags & NUNA_OP_SIGNALS) != 0,
            .releases = (op->flags & NUNA_OP_FLUSHES) != 0 && lane + 1 == lanes,
        };
        push(gpu, &request);
    }
}

bool nuna_proxy_move(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t op_index,
                     const struct nuna_move *move)
{
    const struct nuna_op *op = &gpu->spec->plan->ops[op_index];
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    tb->op = op_index;
    /* The block waits for the packets before it asks. */
    uint32_t missing = op->flags & NUNA_OP_AWAITS ? nuna_arrivals_missing(gpu, op) : NUNA_NONE;
    tb->awaiting = missing != NUNA_NONE;
    if (tb->awaiting) {
        gpu->proxy->awaited[tb_index] = *move;
        nuna_arrivals_wait(gpu, missing, tb_index);
        return false;
    }
    push_moves(gpu, tb_index, op_index, move);
    return goes_on(gpu, tb_index, (op->flags & NUNA_OP_FLUSHES) != 0);
}

void nuna_proxy_retry(struct nuna_gpu *gpu, uint32_t tb)
{
    struct nuna_move move = gpu->proxy->awaited[tb];
    if (nuna_proxy_move(gpu, tb, nuna_tb_of(gpu, tb)->op, &move))
        nuna_exec_op_done(&gpu->exec, tb, gpu->lp->now);
}

bool nuna_proxy_signal(struct nuna_gpu *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct request request = {
            .tb = tb, .op = op, .channel = &channels[i], .kind = REQUEST_SIGNAL, .signals = true};
        push(gpu, &request);
    }
    return goes_on(gpu, tb, false);
}

bool nuna_proxy_flush(struct nuna_gpu *gpu, uint32_t tb, uint32_t op)
{
    struct request request = {.tb = tb, .op = op, .kind = REQUEST_FLUSH, .releases = true};
    push(gpu, &request);
    return false;
}

/* The head is done with; the first block that found the queue full goes on. */
static void pop(struct nuna_gpu *gpu)
{
    struct nuna_proxy *proxy = gpu->proxy;
    struct request done = *head_of(proxy);
    proxy->head = (proxy->head + 1) % proxy->cap;
    proxy->count--;
    proxy->working = false;
    wake(gpu);
    if (done.releases)
        nuna_exec_op_done(&gpu->exec, done.tb, gpu->lp->now);
    uint32_t tb = proxy->waiting;
    if (tb != NUNA_NO_TB && proxy->count <= proxy->limit) {
        proxy->waiting = nuna_tb_of(gpu, tb)->next;
        nuna_exec_op_done(&gpu->exec, tb, gpu->lp->now);
    }
}

/* Signals and releases come when all data so far are acknowledged. */
static void conclude(struct nuna_gpu *gpu)
{
    struct nuna_proxy *proxy = gpu->proxy;
    const struct request *head = head_of(proxy);
    struct nuna_tb *tb = nuna_tb_of(gpu, NUNA_TB_PROXY);
    bool last = head->signals || head->releases;
    if (last && tb->unacked > 0) {
        tb->held = true;
        return;
    }
    if (head->signals)
        nuna_signals_raise(gpu, NUNA_TB_PROXY, head->op, head->channel, 1);
    pop(gpu);
}

void nuna_proxy_moved(struct nuna_gpu *gpu)
{
    conclude(gpu);
}

void nuna_proxy_acked(struct nuna_gpu *gpu)
{
    conclude(gpu);
}

void nuna_proxy_event(struct nuna_gpu *gpu)
{
    const struct request *head = head_of(gpu->proxy);
    if (head->kind == REQUEST_MOVE &&
        !nuna_move_start(gpu, NUNA_TB_PROXY, head->op, &head->move, head->lane, head->lane + 1))
        return;
    conclude(gpu);
}

struct nuna_cu *nuna_proxy_engine(struct nuna_gpu *gpu)
{
    return &gpu->proxy->engine;
}
