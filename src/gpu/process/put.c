#include "gpu/process/put.h"
#include "core/units.h"
#include "gpu/die.h"
#include "gpu/probe.h"
#include "gpu/process/proxy.h"
#include "gpu/translate/prefetch.h"

#define LOCAL_STORES (NUNA_FLIGHT_SET(COPY) | NUNA_FLIGHT_SET(REDUCE) | NUNA_FLIGHT_SET(KEEP))

static const struct nuna_op *op_of(const struct nuna_gpu *gpu, const struct nuna_tb *tb)
{
    return &gpu->spec->plan->ops[tb->op];
}

/* Opens chunk `chunk` of pair `pair`; its bytes, 0 when there is nothing to move. */
static uint64_t open_chunk(struct nuna_gpu *gpu, struct nuna_tb *tb, const struct nuna_op *op)
{
    const struct nuna_range *ranges = gpu->spec->plan->ranges;
    const struct nuna_range *src = &ranges[op->src_at + tb->pair];
    const struct nuna_range *dst = &ranges[op->dst_at + tb->pair];
    const struct nuna_layout_gpu *here = &gpu->spec->layout->gpus[src->gpu];
    const struct nuna_layout_gpu *there = &gpu->spec->layout->gpus[dst->gpu];
    const struct nuna_chunk_place *from = &here->chunks[src->buffer][src->index + tb->chunk];
    const struct nuna_chunk_place *to = &there->chunks[dst->buffer][dst->index + tb->chunk];
    tb->src_position = from->position;
    tb->dst_position = to->position;
    tb->dst_gpu = (uint16_t)dst->gpu;
    tb->npa = nuna_spec_npa(gpu->spec, gpu->index, dst->gpu);
    tb->ahead = to->position;
    tb->bytes = from->bytes < to->bytes ? from->bytes : to->bytes;
    tb->line = 0;
    return tb->bytes;
}

/* Moves on to the next chunk with bytes, starting at (pair, chunk); false when the operation has no
 * more. */
static bool seek_chunk(struct nuna_gpu *gpu, struct nuna_tb *tb)
{
    const struct nuna_op *op = op_of(gpu, tb);
    uint32_t pairs = op->kind == NUNA_OP_REDUCE ? 1 : op->src_count;
    for (; tb->pair < pairs; tb->pair++, tb->chunk = 0)
        for (; tb->chunk < gpu->spec->plan->ranges[op->src_at + tb->pair].count; tb->chunk++)
            if (open_chunk(gpu, tb, op) > 0)
                return true;
    return false;
}

static uint8_t line_kind(const struct nuna_op *op)
{
    return op->kind == NUNA_OP_PUT    ? NUNA_FLIGHT_PUT
           : op->kind == NUNA_OP_COPY ? NUNA_FLIGHT_COPY
                                      : NUNA_FLIGHT_REDUCE;
}

bool nuna_put_start(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t op)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    tb->op = op;
    tb->pair = tb->chunk = 0;
    tb->operand = 0;
    tb->line_kind = line_kind(op_of(gpu, tb));
    tb->work = NUNA_WORK_PUT;
    if (!seek_chunk(gpu, tb))
        return true;
    if (gpu->spec->prefetch != NUNA_AHEAD_OFF)
        nuna_prefetch_flags(gpu, tb_index, 0);
    tb->loading = true;
    nuna_cu_enqueue(gpu, tb_index);
    return false;
}

/* ---- loads ---- */

static uint16_t load_channel(struct nuna_gpu *gpu, const struct nuna_tb *tb)
{
    uint64_t position = tb->src_position;
    if (tb->operand > 0) {
        const struct nuna_range *src =
            &gpu->spec->plan->ranges[op_of(gpu, tb)->src_at + tb->operand];
        position =
            gpu->spec->layout->gpus[src->gpu].chunks[src->buffer][src->index + tb->chunk].position;
    }
    return nuna_spec_locate(gpu->spec, gpu->index, position + tb->line).channel;
}

/* After a line (or operand): on to the next; the threadblock queues again while it has lines. A
 * line's operands come one right after the other, whatever is outstanding: half a line that waited
 * for the other half to find room could wait for ever. */
static void advance(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    const struct nuna_op *op = op_of(gpu, tb);
    if (op->kind == NUNA_OP_REDUCE && ++tb->operand < op->src_count) {
        nuna_cu_requeue(gpu, tb_index, true);
        return;
    }
    tb->operand = 0;
    tb->line += gpu->spec->flit_bytes;
    if (tb->line >= tb->bytes) {
        tb->chunk++;
        tb->loading = seek_chunk(gpu, tb);
    }
    if (tb->loading)
        nuna_cu_requeue(gpu, tb_index, false);
}

/* The flight that will store the line: where to. */
static void aim(struct nuna_gpu *gpu, uint32_t tb_index, struct nuna_flight *flight)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    struct nuna_location target =
        nuna_spec_locate(gpu->spec, tb->dst_gpu, tb->dst_position + tb->line);
    struct nuna_out *out = nuna_out(flight);
    flight->port = (uint8_t)target.port;
    flight->npa = tb->npa & 1u;
    out->target = target.channel;
    out->page = target.page;
    if (flight->kind == NUNA_FLIGHT_REDUCE)
        out->missing = op_of(gpu, tb)->src_count;
    else
        out->peer = tb->dst_gpu;
    if (gpu->spec->prefetch != NUNA_AHEAD_OFF && tb->npa)
        nuna_prefetch_pages(gpu, tb_index);
    tb->pending++;
}

void nuna_put_load(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    bool operand = tb->operand > 0;
    uint32_t handle = nuna_flight_get(
        &gpu->flights, operand ? NUNA_FLIGHT_OPERAND : (enum nuna_flight_kind)tb->line_kind,
        NUNA_LEG_LOAD);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    uint64_t rest = tb->bytes - tb->line;
    nuna_flight_begin(flight, gpu->lp->now);
    flight->bytes = (uint16_t)(rest < gpu->spec->flit_bytes ? rest : gpu->spec->flit_bytes);
    flight->channel = load_channel(gpu, tb);
    nuna_out(flight)->tb = tb_index;
    if (operand) {
        nuna_out(flight)->leader = tb->leader;
    } else {
        aim(gpu, tb_index, flight);
        tb->leader = handle;
    }
    tb->cu->outstanding++;
    nuna_die_cu_to_memory(gpu, tb->cu->router, flight->channel, gpu->spec->control_bytes, handle);
    advance(gpu, tb_index);
}

/* An operand of a reduced line is there; with the last one the unit reduces, and then stores. */
static void operand_back(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t leader_handle)
{
    struct nuna_flight *leader = nuna_flight(&gpu->flights, leader_handle);
    struct nuna_out *out = nuna_out(leader);
    if (--out->missing > 0)
        return;
    uint32_t operands = op_of(gpu, nuna_tb_of(gpu, out->tb))->src_count;
    nuna_cu_occupy(
        gpu, cu,
        nuna_units_transfer_time((uint64_t)operands * leader->bytes, gpu->spec->reduce_rate, NULL));
    nuna_cu_push_store(gpu, cu, leader_handle);
}

void nuna_put_loaded(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (flight->kind == NUNA_FLIGHT_REDUCE) {
        operand_back(gpu, cu, handle);
    } else if (flight->kind == NUNA_FLIGHT_OPERAND) {
        uint32_t leader = nuna_out(flight)->leader;
        nuna_flight_put(&gpu->flights, handle);
        nuna_cu_returned(cu);
        operand_back(gpu, cu, leader);
    } else {
        nuna_cu_push_store(gpu, cu, handle);
    }
}

/* ---- stores ---- */

void nuna_put_line_done(struct nuna_gpu *gpu, struct nuna_flight *flight, bool stored)
{
    uint32_t tb_index = nuna_out(flight)->tb;
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    assert(tb->pending > 0);
    tb->pending--;
    if (tb->pending > 0 || tb->loading)
        return;
    nuna_probe_op_over(gpu, tb->op, flight, stored);
    if (tb_index == NUNA_TB_PROXY)
        nuna_proxy_moved(gpu);
    else
        nuna_exec_op_done(&gpu->exec, tb_index, gpu->lp->now);
}

/* Data, of a load that was local. */
static void begin_store(struct nuna_gpu *gpu, struct nuna_flight *flight)
{
    nuna_out(flight)->load.stored = nuna_flight_since(flight, gpu->lp->now);
    nuna_flight_begin(flight, gpu->lp->now);
    flight->leg = NUNA_LEG_STORE;
}

void nuna_put_store(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    if (flight->kind == NUNA_FLIGHT_FLAG) {
        nuna_die_cu_to_port(gpu, cu->router, flight->port, flight->bytes, handle);
        return;
    }
    begin_store(gpu, flight);
    if (nuna_flight_is(flight, LOCAL_STORES)) {
        flight->channel = nuna_out(flight)->target;
        nuna_die_cu_to_memory(gpu, cu->router, flight->channel, flight->bytes, handle);
        return;
    }
    nuna_die_cu_to_port(gpu, cu->router, flight->port, flight->bytes, handle);
    nuna_tb_of(gpu, nuna_out(flight)->tb)->unacked++;
    nuna_probe_stores_out(gpu, 1);
    nuna_put_line_done(gpu, flight, false);
}
