/* The thread that drives port channels: takes requests in order, starts each a latency after the
 * one before, and lets a copy engine move the data. A signal follows the data of all earlier
 * requests. Source: MSCCL++ (docs/plan-formats.md). */
#include "pod/move.h"
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
    struct request *queue; /* a ring */
    uint32_t head, count, cap;
    uint32_t limit;   /* requests that the real queue holds */
    uint32_t waiting; /* threadblocks that found it full, through `next` */
    uint32_t last_waiting;
    bool working;
    nuna_time latency;
};

bool nuna_proxy_init(struct nuna_gpu_lp *gpu)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    bool ports = false;
    for (size_t i = 0; i < plan->op_count; i++)
        ports |= (plan->ops[i].flags & NUNA_OP_PORT) != 0;
    if (!ports)
        return true;
    gpu->proxy = calloc(1, sizeof *gpu->proxy);
    if (!gpu->proxy)
        return false;
    gpu->proxy->limit = (uint32_t)gpu->pod->params->proxy.queue;
    gpu->proxy->latency = (nuna_time)gpu->pod->params->proxy.request_latency;
    gpu->proxy->waiting = gpu->proxy->last_waiting = NUNA_NO_TB;
    gpu->proxy->cap = 64;
    gpu->proxy->queue = malloc(gpu->proxy->cap * sizeof *gpu->proxy->queue);
    return gpu->proxy->queue != NULL;
}

void nuna_proxy_finish(struct nuna_gpu_lp *gpu)
{
    if (gpu->proxy)
        free(gpu->proxy->queue);
    free(gpu->proxy);
}

bool nuna_proxy_idle(const struct nuna_gpu_lp *gpu)
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

static void wake(struct nuna_gpu_lp *gpu)
{
    struct nuna_proxy *proxy = gpu->proxy;
    if (proxy->working || proxy->count == 0)
        return;
    proxy->working = true;
    nuna_lp_schedule(gpu->lp, gpu->lp->now + proxy->latency, nuna_event_make(NUNA_EV_PROXY, 0));
}

static void push(struct nuna_gpu_lp *gpu, const struct request *request)
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
static bool goes_on(struct nuna_gpu_lp *gpu, uint32_t tb, bool releases)
{
    struct nuna_proxy *proxy = gpu->proxy;
    if (releases)
        return false;
    if (proxy->count <= proxy->limit)
        return true;
    gpu->tbs[tb].next = NUNA_NO_TB;
    if (proxy->waiting == NUNA_NO_TB)
        proxy->waiting = tb;
    else
        gpu->tbs[proxy->last_waiting].next = tb;
    proxy->last_waiting = tb;
    return false;
}

static void push_moves(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op_index,
                       const struct nuna_move *move)
{
    const struct nuna_plan *plan = gpu->pod->plan;
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

/* The block waits for the packets before it asks. */
static void await(struct nuna_gpu_lp *gpu, uint32_t tb, const struct nuna_op *op)
{
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *range = &gpu->pod->plan->ranges[op->src_at + i];
        for (uint32_t c = 0; c < range->count; c++) {
            struct nuna_arrival *arrival = &gpu->arrivals[range->index + c];
            uint64_t data = nuna_lane_chunk_bytes(&gpu->pod->shape, op, i, c);
            if (arrival->bytes >=
                nuna_shape_wire_bytes(&gpu->pod->shape, (enum nuna_form)range->form, data))
                continue;
            gpu->tbs[tb].next = arrival->waiter;
            arrival->waiter = tb;
            return;
        }
    }
}

bool nuna_proxy_move(struct nuna_gpu_lp *gpu, uint32_t tb_index, uint32_t op_index,
                     const struct nuna_move *move)
{
    const struct nuna_op *op = &gpu->pod->plan->ops[op_index];
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    tb->op = op_index;
    struct nuna_mover *mover = nuna_mover_of(gpu, tb_index);
    if (!mover)
        return true;
    mover->awaiting = false;
    if ((op->flags & NUNA_OP_AWAITS) && !nuna_move_has_all(gpu, op)) {
        mover->awaiting = true;
        mover->move = *move;
        await(gpu, tb_index, op);
        return false;
    }
    push_moves(gpu, tb_index, op_index, move);
    return goes_on(gpu, tb_index, (op->flags & NUNA_OP_FLUSHES) != 0);
}

void nuna_proxy_retry(struct nuna_gpu_lp *gpu, uint32_t tb)
{
    struct nuna_move move = gpu->movers[tb]->move;
    if (nuna_proxy_move(gpu, tb, gpu->tbs[tb].op, &move))
        nuna_exec_op_done(&gpu->exec, tb, gpu->lp->now);
}

bool nuna_proxy_signal(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op, const uint32_t *channels,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct request request = {
            .tb = tb, .op = op, .channel = &channels[i], .kind = REQUEST_SIGNAL, .signals = true};
        push(gpu, &request);
    }
    return goes_on(gpu, tb, false);
}

bool nuna_proxy_flush(struct nuna_gpu_lp *gpu, uint32_t tb, uint32_t op)
{
    struct request request = {.tb = tb, .op = op, .kind = REQUEST_FLUSH, .releases = true};
    push(gpu, &request);
    return false;
}

/* The head is done with; the first block that found the queue full goes on. */
static void pop(struct nuna_gpu_lp *gpu)
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
        proxy->waiting = gpu->tbs[tb].next;
        nuna_exec_op_done(&gpu->exec, tb, gpu->lp->now);
    }
}

/* Signals and releases come when all data so far are acknowledged. */
static void conclude(struct nuna_gpu_lp *gpu)
{
    struct nuna_proxy *proxy = gpu->proxy;
    const struct request *head = head_of(proxy);
    struct nuna_tb *tb = &gpu->tbs[nuna_proxy_tb(gpu)];
    bool last = head->signals || head->releases;
    if (last && tb->unacked > 0) {
        tb->signal_waits = true;
        return;
    }
    if (head->signals)
        nuna_cu_send_flags(gpu, nuna_proxy_tb(gpu), head->op, head->channel, 1);
    pop(gpu);
}

void nuna_proxy_moved(struct nuna_gpu_lp *gpu)
{
    conclude(gpu);
}

void nuna_proxy_acked(struct nuna_gpu_lp *gpu)
{
    conclude(gpu);
}

void nuna_proxy_event(struct nuna_gpu_lp *gpu)
{
    const struct request *head = head_of(gpu->proxy);
    if (head->kind == REQUEST_MOVE && !nuna_move_start(gpu, nuna_proxy_tb(gpu), head->op,
                                                       &head->move, head->lane, head->lane + 1))
        return;
    conclude(gpu);
}
