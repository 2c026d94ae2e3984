/* The CU's side: cuts a threadblock's transfers into lines, issues loads and stores, counts what
 * comes back. */
#include "pod/move.h"
#include "pod/translation.h"

static const struct nuna_op *op_of(const struct nuna_gpu_lp *gpu, const struct nuna_tb *tb)
{
    return &gpu->pod->plan->ops[tb->op];
}

void nuna_cu_kick(struct nuna_gpu_lp *gpu, uint32_t cu_index)
{
    struct nuna_cu *cu = &gpu->cus[cu_index];
    if (cu->scheduled || !nuna_cu_can_issue(cu, gpu->pod->max_outstanding))
        return;
    cu->scheduled = true;
    nuna_time now = gpu->lp->now;
    struct nuna_event event = nuna_event_make(NUNA_EV_CU_ISSUE, cu_index);
    nuna_lp_schedule(gpu->lp, cu->free_at > now ? cu->free_at : now, event);
}

static void push_tb(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t tb)
{
    gpu->tbs[tb].next = NUNA_NO_TB;
    if (cu->tb_head == NUNA_NO_TB)
        cu->tb_head = tb;
    else
        gpu->tbs[cu->tb_tail].next = tb;
    cu->tb_tail = tb;
}

/* The threadblock has lines to issue. */
void nuna_cu_enqueue(struct nuna_gpu_lp *gpu, uint32_t tb)
{
    uint32_t cu = gpu->tbs[tb].cu;
    push_tb(gpu, &gpu->cus[cu], tb);
    nuna_cu_kick(gpu, cu);
}

/* Opens chunk `chunk` of pair `pair`; its bytes, 0 when there is nothing to move. */
static uint64_t open_chunk(struct nuna_gpu_lp *gpu, struct nuna_tb *tb, const struct nuna_op *op)
{
    const struct nuna_range *ranges = gpu->pod->plan->ranges;
    const struct nuna_range *src = &ranges[op->src_at + tb->pair];
    const struct nuna_range *dst = &ranges[op->dst_at + tb->pair];
    const struct nuna_layout_gpu *here = &gpu->pod->layout.gpus[src->gpu];
    const struct nuna_layout_gpu *there = &gpu->pod->layout.gpus[dst->gpu];
    const struct nuna_chunk_place *from = &here->chunks[src->buffer][src->index + tb->chunk];
    const struct nuna_chunk_place *to = &there->chunks[dst->buffer][dst->index + tb->chunk];
    tb->src_position = from->position;
    tb->dst_position = to->position;
    tb->dst_gpu = dst->gpu;
    tb->npa = nuna_pod_npa(gpu->pod, gpu->gpu, dst->gpu);
    tb->ahead = to->position;
    tb->bytes = from->bytes < to->bytes ? from->bytes : to->bytes;
    tb->line = 0;
    return tb->bytes;
}

/* Moves on to the next chunk with bytes, starting at (pair, chunk); false when the operation has no
 * more. */
static bool seek_chunk(struct nuna_gpu_lp *gpu, struct nuna_tb *tb)
{
    const struct nuna_op *op = op_of(gpu, tb);
    uint32_t pairs = op->kind == NUNA_OP_REDUCE ? 1 : op->src_count;
    for (; tb->pair < pairs; tb->pair++, tb->chunk = 0)
        for (; tb->chunk < gpu->pod->plan->ranges[op->src_at + tb->pair].count; tb->chunk++)
            if (open_chunk(gpu, tb, op) > 0)
                return true;
    return false;
}

/* Local sources of data, one destination, all of the ranges: what this file does itself. */
static bool is_plain(const struct nuna_gpu_lp *gpu, const struct nuna_op *op,
                     const struct nuna_move *move)
{
    bool kind = op->kind == NUNA_OP_PUT || op->kind == NUNA_OP_COPY ||
                (op->kind == NUNA_OP_REDUCE && op->dst_count == 1);
    if (!kind || !move->whole || op->flags != 0 || gpu->pod->plan->reuse_scratch)
        return false;
    const struct nuna_range *ranges = gpu->pod->plan->ranges;
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *range = &ranges[op->src_at + i];
        if (range->form != NUNA_FORM_DATA || range->is_group || range->gpu != gpu->gpu)
            return false;
    }
    for (uint32_t i = 0; i < op->dst_count; i++) {
        const struct nuna_range *range = &ranges[op->dst_at + i];
        bool here = range->gpu == gpu->gpu;
        if (range->form != NUNA_FORM_DATA || range->is_group || here != (op->kind != NUNA_OP_PUT))
            return false;
    }
    return true;
}

static bool transfer(void *context, uint32_t tb_index, uint32_t op, const struct nuna_move *move)
{
    struct nuna_gpu_lp *gpu = context;
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    const struct nuna_op *plan_op = &gpu->pod->plan->ops[op];
    if (plan_op->flags & NUNA_OP_PORT)
        return nuna_proxy_move(gpu, tb_index, op, move);
    if (!is_plain(gpu, plan_op, move))
        return nuna_move_start(gpu, tb_index, op, move, 0, nuna_op_lanes(plan_op));
    tb->op = op;
    tb->pair = tb->chunk = tb->operand = 0;
    switch (plan_op->kind) {
    case NUNA_OP_PUT:
        tb->flight_kind = NUNA_FLIGHT_PUT;
        break;
    case NUNA_OP_COPY:
        tb->flight_kind = NUNA_FLIGHT_COPY;
        break;
    default:
        tb->flight_kind = NUNA_FLIGHT_REDUCE;
    }
    if (!seek_chunk(gpu, tb))
        return true;
    if (gpu->pod->prefetch != NUNA_AHEAD_OFF)
        nuna_prefetch_flags(gpu, tb_index);
    tb->loading = true;
    nuna_cu_enqueue(gpu, tb_index);
    return false;
}

void nuna_cu_send_flags(struct nuna_gpu_lp *gpu, uint32_t tb_index, uint32_t op_index,
                        const uint32_t *channels, uint32_t count)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    uint32_t cu = gpu->tbs[tb_index].cu;
    if (nuna_flag_counts(gpu->pod, op_index))
        gpu->flags_out += count;
    for (uint32_t i = 0; i < count; i++) {
        const struct nuna_channel *channel =
            &plan->channels[plan->gpus[gpu->gpu].channel_at + channels[i]];
        struct nuna_location flag = nuna_pod_locate(
            gpu->pod, channel->peer,
            nuna_layout_flag(&gpu->pod->layout, channel->peer, channel->peer_channel));
        uint32_t handle = nuna_flight_get(&gpu->flights);
        struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
        flight->start = gpu->lp->now;
        flight->kind = NUNA_FLIGHT_FLAG;
        flight->phase = NUNA_PHASE_STORE;
        flight->tb = op_index;
        flight->target = flag.channel;
        flight->port = (uint8_t)flag.port;
        flight->npa = nuna_pod_npa(gpu->pod, gpu->gpu, channel->peer) & 1u;
        flight->stamp[NUNA_STAMP_LENT_PAGE] = flag.page;
        flight->gpu = (uint16_t)channel->peer;
        flight->bytes = (uint16_t)gpu->pod->control_bytes;
        nuna_cu_push_store(&gpu->cus[cu], &gpu->flights, handle);
        /* Not queued under `link`: the peer's channel is put there when it is issued. */
        flight->stamp[NUNA_STAMP_LOAD_BACK] = channel->peer_channel;
    }
    nuna_cu_kick(gpu, cu);
}

static bool signal_peers(void *context, uint32_t tb_index, uint32_t op, const uint32_t *channels,
                         uint32_t count, bool ordered)
{
    struct nuna_gpu_lp *gpu = context;
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    if (gpu->pod->plan->ops[op].flags & NUNA_OP_PORT)
        return nuna_proxy_signal(gpu, tb_index, op, channels, count);
    tb->op = op;
    if (ordered && tb->unacked > 0) {
        tb->signal_waits = true;
        gpu->signals[tb_index].channels = channels;
        gpu->signals[tb_index].count = count;
        return false;
    }
    nuna_cu_send_flags(gpu, tb_index, op, channels, count);
    return true;
}

/* As a signal without flags. */
static bool fence(void *context, uint32_t tb_index, uint32_t op)
{
    struct nuna_gpu_lp *gpu = context;
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    tb->op = op;
    tb->signal_waits = tb->unacked > 0;
    gpu->signals[tb_index].count = 0;
    return !tb->signal_waits;
}

static bool flush_proxy(void *context, uint32_t tb, uint32_t op)
{
    return nuna_proxy_flush(context, tb, op);
}

/* A blocked WAIT is over: keep where its flag's time went. */
static void waited(void *context, uint32_t op, uint32_t channel)
{
    struct nuna_gpu_lp *gpu = context;
    gpu->trace[op] = gpu->channel_trace[channel];
}

const struct nuna_machine nuna_gpu_machine = {
    .transfer = transfer,
    .signal = signal_peers,
    .fence = fence,
    .flush = flush_proxy,
    .waited = waited,
};

static uint32_t load_channel(struct nuna_gpu_lp *gpu, const struct nuna_tb *tb)
{
    uint64_t position = tb->src_position;
    if (tb->operand > 0) {
        const struct nuna_range *src =
            &gpu->pod->plan->ranges[op_of(gpu, tb)->src_at + tb->operand];
        position =
            gpu->pod->layout.gpus[src->gpu].chunks[src->buffer][src->index + tb->chunk].position;
    }
    return nuna_pod_locate(gpu->pod, gpu->gpu, position + tb->line).channel;
}

/* After a line (or operand): on to the next; the threadblock queues again while it has lines. A
 * line's operands come one right after the other, whatever is outstanding: half a line that waited
 * for the other half to find room could wait for ever. */
static void advance(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t tb_index)
{
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    const struct nuna_op *op = op_of(gpu, tb);
    cu->inside_line = op->kind == NUNA_OP_REDUCE && ++tb->operand < op->src_count;
    if (cu->inside_line) {
        tb->next = cu->tb_head;
        if (cu->tb_head == NUNA_NO_TB)
            cu->tb_tail = tb_index;
        cu->tb_head = tb_index;
        return;
    }
    tb->operand = 0;
    tb->line += gpu->pod->flit_bytes;
    if (tb->line >= tb->bytes) {
        tb->chunk++;
        tb->loading = seek_chunk(gpu, tb);
    }
    if (tb->loading)
        push_tb(gpu, cu, tb_index);
}

static void issue_load(struct nuna_gpu_lp *gpu, struct nuna_cu *cu)
{
    uint32_t tb_index = cu->tb_head;
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    cu->tb_head = tb->next;
    if (tb_index >= gpu->plan_tb_count) {
        if (tb->moving)
            nuna_move_issue(gpu, cu, tb_index);
        else
            nuna_background_issue(gpu, cu, tb_index);
        return;
    }
    if (tb->moving) {
        nuna_move_issue(gpu, cu, tb_index);
        return;
    }
    uint32_t handle = nuna_flight_get(&gpu->flights);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint64_t rest = tb->bytes - tb->line;
    flight->start = gpu->lp->now;
    flight->tb = tb_index;
    flight->bytes = (uint16_t)(rest < gpu->pod->flit_bytes ? rest : gpu->pod->flit_bytes);
    flight->phase = NUNA_PHASE_LOAD;
    flight->local = (uint16_t)load_channel(gpu, tb);
    if (tb->operand > 0) {
        flight->kind = NUNA_FLIGHT_OPERAND;
        flight->link = tb->leader;
    } else {
        struct nuna_location target =
            nuna_pod_locate(gpu->pod, tb->dst_gpu, tb->dst_position + tb->line);
        flight->kind = tb->flight_kind;
        flight->target = target.channel;
        flight->port = (uint8_t)target.port;
        flight->npa = tb->npa & 1u;
        flight->stamp[NUNA_STAMP_LENT_PAGE] = target.page;
        flight->gpu = (uint16_t)tb->dst_gpu;
        if (gpu->pod->prefetch != NUNA_AHEAD_OFF && tb->npa)
            nuna_prefetch_pages(gpu, tb_index);
        tb->pending++;
        if (flight->kind == NUNA_FLIGHT_REDUCE) {
            flight->gpu = op_of(gpu, tb)->src_count;
            tb->leader = handle;
        }
    }
    cu->outstanding++;
    uint16_t router = nuna_gpu_cu_router(gpu, tb->cu);
    nuna_noc_send(&gpu->noc, gpu->lp, router, NUNA_AT_CU,
                  nuna_gpu_stack_router(gpu, router, flight->local), NUNA_AT_MEMORY,
                  gpu->pod->control_bytes, handle);
    advance(gpu, cu, tb_index);
}

/* A line of the operation is through; when it was the last, the operation is over. */
static void line_done(struct nuna_gpu_lp *gpu, uint32_t tb_index, const struct nuna_flight *last,
                      bool has_store)
{
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    tb->pending--;
    if (tb->pending > 0 || tb->loading)
        return;
    struct nuna_op_trace *trace = &gpu->trace[tb->op];
    nuna_trace_take(trace, last, true, has_store);
    if (has_store)
        trace->acked = nuna_flight_since(last, gpu->lp->now);
    if (tb_index >= gpu->plan_tb_count)
        nuna_proxy_moved(gpu);
    else
        nuna_exec_op_done(&gpu->exec, tb_index, gpu->lp->now);
}

static void issue_store(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t cu_index)
{
    uint32_t handle = nuna_cu_pop_store(cu, &gpu->flights);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint16_t router = nuna_gpu_cu_router(gpu, cu_index);
    if (flight->kind == NUNA_FLIGHT_FLAG) {
        flight->link = flight->stamp[NUNA_STAMP_LOAD_BACK];
    } else {
        nuna_flight_stamp(flight, NUNA_STAMP_STORE_ISSUED, gpu->lp->now);
        flight->start = gpu->lp->now;
        flight->phase = NUNA_PHASE_STORE;
    }
    if (flight->kind == NUNA_FLIGHT_COPY || flight->kind == NUNA_FLIGHT_REDUCE) {
        flight->local = flight->target;
        flight->stamp[NUNA_STAMP_AT_PORT] =
            flight->stamp[NUNA_STAMP_LANDED]; /* a COUNTED one's place */
        nuna_noc_send(&gpu->noc, gpu->lp, router, NUNA_AT_CU,
                      nuna_gpu_stack_router(gpu, router, flight->local), NUNA_AT_MEMORY,
                      flight->bytes, handle);
        return;
    }
    uint16_t port = gpu->pod->topology.port_router[flight->port];
    nuna_noc_send(&gpu->noc, gpu->lp, router, NUNA_AT_CU, port, NUNA_AT_PORT, flight->bytes,
                  handle);
    if (flight->kind == NUNA_FLIGHT_PUT) {
        gpu->tbs[flight->tb].unacked++;
        gpu->stores_out++;
        line_done(gpu, flight->tb, flight, false);
    }
}

void nuna_cu_issue(struct nuna_gpu_lp *gpu, uint32_t cu_index)
{
    struct nuna_cu *cu = &gpu->cus[cu_index];
    cu->scheduled = false;
    nuna_time now = gpu->lp->now;
    /* A reduction may have taken the unit since this slot was booked. */
    if (now >= cu->free_at) {
        cu->free_at = now + gpu->pod->issue_interval;
        if (cu->store_head != NUNA_NO_FLIGHT)
            issue_store(gpu, cu, cu_index);
        else if (nuna_cu_can_load(cu, gpu->pod->max_outstanding))
            issue_load(gpu, cu);
    }
    nuna_cu_kick(gpu, cu_index);
}

/* An operand of a reduced line is there; with the last one the unit reduces, and then stores. */
static void operand_back(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t leader_handle)
{
    struct nuna_flight *leader = nuna_flight(&gpu->flights, leader_handle);
    if (--leader->gpu > 0)
        return;
    nuna_time now = gpu->lp->now;
    uint32_t operands = op_of(gpu, &gpu->tbs[leader->tb])->src_count;
    nuna_time work =
        nuna_units_transfer_time((uint64_t)operands * leader->bytes, gpu->pod->reduce_rate, NULL);
    cu->free_at = (cu->free_at > now ? cu->free_at : now) + work;
    nuna_cu_push_store(cu, &gpu->flights, leader_handle);
}

static void load_back(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    nuna_flight_stamp(flight, NUNA_STAMP_LOAD_BACK, gpu->lp->now);
    if (flight->kind == NUNA_FLIGHT_REDUCE) {
        operand_back(gpu, cu, handle);
    } else if (flight->kind == NUNA_FLIGHT_SOURCE) {
        nuna_move_loaded(gpu, cu, handle);
    } else if (flight->kind == NUNA_FLIGHT_READ) {
        cu->outstanding--;
        nuna_background_line_done(gpu, handle);
    } else if (flight->kind == NUNA_FLIGHT_OPERAND) {
        uint32_t leader = flight->link;
        nuna_flight_put(&gpu->flights, handle);
        cu->outstanding--;
        operand_back(gpu, cu, leader);
    } else {
        nuna_cu_push_store(cu, &gpu->flights, handle);
    }
}

static void remote_store_acked(struct nuna_gpu_lp *gpu, const struct nuna_flight *flight)
{
    struct nuna_tb *tb = &gpu->tbs[flight->tb];
    if (flight->npa)
        nuna_translation_acked(gpu, flight);
    if (--tb->unacked > 0 || !tb->signal_waits)
        return;
    tb->signal_waits = false;
    if (flight->tb >= gpu->plan_tb_count) {
        nuna_proxy_acked(gpu);
        return;
    }
    struct nuna_op_trace *trace = &gpu->trace[tb->op];
    nuna_trace_take(trace, flight, true, true);
    trace->translation = flight->link;
    trace->acked = nuna_flight_since(flight, gpu->lp->now);
    uint32_t tb_index = flight->tb;
    nuna_cu_send_flags(gpu, tb_index, tb->op, gpu->signals[tb_index].channels,
                       gpu->signals[tb_index].count);
    nuna_exec_op_done(&gpu->exec, tb_index, gpu->lp->now);
}

/* A store of a move is acknowledged. False: a group still owes answers, and the flight goes on. */
static bool marked_store_acked(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if ((flight->marks & NUNA_FLIGHT_CAST) && --flight->local > 0)
        return false;
    /* Packets for the GPU itself have come when they are stored. */
    if ((flight->marks & NUNA_FLIGHT_COUNTED) && flight->kind == NUNA_FLIGHT_COPY)
        nuna_move_arrived(gpu, flight->stamp[NUNA_STAMP_AT_PORT], flight->bytes);
    return true;
}

/* A packet reaches its CU: the data of a load, or the acknowledgement of a store. */
void nuna_cu_arrival(struct nuna_gpu_lp *gpu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint32_t cu_index = gpu->tbs[flight->tb].cu;
    struct nuna_cu *cu = &gpu->cus[cu_index];
    if (flight->phase == NUNA_PHASE_LOAD) {
        load_back(gpu, cu, handle);
    } else if (flight->kind == NUNA_FLIGHT_FETCH) {
        nuna_move_loaded(gpu, cu, handle);
    } else if (__builtin_expect(flight->marks == 0, 1) || marked_store_acked(gpu, handle)) {
        cu->outstanding--;
        if (flight->kind == NUNA_FLIGHT_WRITE) {
            nuna_background_line_done(gpu, handle);
        } else {
            if (flight->kind == NUNA_FLIGHT_PUT)
                remote_store_acked(gpu, flight);
            else
                line_done(gpu, flight->tb, flight, true);
            nuna_flight_put(&gpu->flights, handle);
        }
    }
    nuna_cu_kick(gpu, cu_index);
}
