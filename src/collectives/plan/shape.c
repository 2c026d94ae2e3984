#include "collectives/plan/shape.h"

#include <string.h>

#define WHOLE UINT64_MAX

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

uint64_t nuna_shape_window(const struct nuna_plan *plan, const struct nuna_params *params)
{
    switch (plan->protocol) {
    case NUNA_FORM_DATA:
        return (uint64_t)params->fifo.simple_window;
    case NUNA_FORM_LL:
        return (uint64_t)params->fifo.ll_window;
    case NUNA_FORM_LL128:
        return (uint64_t)params->fifo.ll128_window;
    }
    return 1;
}

uint32_t nuna_shape_operations(const struct nuna_plan *plan, const struct nuna_params *params)
{
    int64_t slots = params->fifo.slots;
    int64_t held = plan->protocol == NUNA_FORM_DATA ? slots / params->fifo.simple_slots : slots;
    return held < 1 ? 1 : (uint32_t)held;
}

uint32_t nuna_shape_chunks_per_message(const struct nuna_plan *plan, uint64_t size, uint64_t window)
{
    uint64_t chunk = divide_up(size, plan->chunks_per_loop == 0 ? 1 : plan->chunks_per_loop);
    uint64_t fit = chunk == 0 ? NUNA_CHUNKS_PER_MESSAGE_MAX : window / chunk;
    if (fit > NUNA_CHUNKS_PER_MESSAGE_MAX)
        fit = NUNA_CHUNKS_PER_MESSAGE_MAX;
    return fit < 1 ? 1 : (uint32_t)fit;
}

uint64_t nuna_shape_largest_size(const struct nuna_plan *plan, uint32_t chunks, uint64_t window)
{
    return window / chunks * plan->chunks_per_loop;
}

uint32_t nuna_shape_line_data(const struct nuna_shape *shape, enum nuna_form form)
{
    uint32_t data = form == NUNA_FORM_LL      ? shape->line_bytes / 2
                    : form == NUNA_FORM_LL128 ? shape->line_bytes * shape->ll128_data / 128
                                              : shape->line_bytes;
    return data < 1 ? 1 : data;
}

uint64_t nuna_shape_wire_bytes(const struct nuna_shape *shape, enum nuna_form form, uint64_t data)
{
    if (form == NUNA_FORM_DATA)
        return data;
    uint32_t line = nuna_shape_line_data(shape, form);
    uint64_t rest = data % line;
    uint64_t last =
        form == NUNA_FORM_LL ? divide_up(rest, 8) * 16 : divide_up(rest, shape->ll128_data) * 128;
    return data / line * shape->line_bytes + (last < shape->line_bytes ? last : shape->line_bytes);
}

uint32_t nuna_op_lanes(const struct nuna_op *op)
{
    switch (op->kind) {
    case NUNA_OP_PUT:
    case NUNA_OP_COPY:
    case NUNA_OP_GET:
        return op->src_count < op->dst_count ? op->src_count : op->dst_count;
    case NUNA_OP_REDUCE:
    case NUNA_OP_FORWARD:
    case NUNA_OP_FIFO:
        return 1;
    default:
        return 0;
    }
}

const struct nuna_range *nuna_lane_range(const struct nuna_plan *plan, const struct nuna_op *op,
                                         uint32_t lane, uint32_t n)
{
    bool pairs = op->kind == NUNA_OP_PUT || op->kind == NUNA_OP_COPY || op->kind == NUNA_OP_GET;
    if (pairs)
        return n == 0   ? &plan->ranges[op->src_at + lane]
               : n == 1 ? &plan->ranges[op->dst_at + lane]
                        : NULL;
    if (n < op->src_count)
        return &plan->ranges[op->src_at + n];
    n -= op->src_count;
    return n < op->dst_count ? &plan->ranges[op->dst_at + n] : NULL;
}

/* The GPU whose layout a range has: any of its group. */
static uint32_t gpu_of(const struct nuna_plan *plan, const struct nuna_range *range)
{
    return range->is_group ? plan->group_ranks[plan->groups[range->gpu].rank_at] : range->gpu;
}

uint64_t nuna_lane_chunk_bytes(const struct nuna_shape *shape, const struct nuna_op *op,
                               uint32_t lane, uint32_t chunk)
{
    const struct nuna_plan *plan = shape->plan;
    if (plan->even)
        return nuna_plan_even_bytes(plan, shape->size);
    uint64_t bytes = UINT64_MAX;
    const struct nuna_range *range;
    for (uint32_t n = 0; (range = nuna_lane_range(plan, op, lane, n)) != NULL; n++) {
        uint64_t here =
            nuna_plan_chunk_bytes(plan, shape->size, gpu_of(plan, range),
                                  (enum nuna_buffer)range->buffer, range->index + chunk);
        bytes = here < bytes ? here : bytes;
    }
    return bytes == UINT64_MAX ? 0 : bytes;
}

static uint32_t lane_chunks(const struct nuna_plan *plan, const struct nuna_op *op, uint32_t lane)
{
    const struct nuna_range *range = nuna_lane_range(plan, op, lane, 0);
    return range == NULL ? 0 : range->count;
}

static uint64_t lane_bytes(const struct nuna_shape *shape, const struct nuna_op *op, uint32_t lane)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < lane_chunks(shape->plan, op, lane); c++)
        bytes += nuna_lane_chunk_bytes(shape, op, lane, c);
    return bytes;
}

/* Where part `part` of `parts` begins: whole grains, the first parts one more. */
static uint64_t part_start(uint64_t bytes, uint64_t grain, uint32_t parts, uint32_t part)
{
    uint64_t grains = bytes / grain, extra = grains % parts;
    return part == parts ? bytes : (grains / parts * part + (part < extra ? part : extra)) * grain;
}

uint64_t nuna_shape_turns(const struct nuna_shape *shape, const struct nuna_op *loop)
{
    const struct nuna_plan *plan = shape->plan;
    uint64_t chunk = 0;
    /* The first chunks are the longest, but for the odd bytes of the last. */
    for (int b = 0; b < NUNA_BUFFER_COUNT; b++) {
        uint32_t count = plan->gpus[0].chunks[b];
        for (uint32_t i = 0; count > 0 && i < 2; i++) {
            uint64_t here = nuna_plan_chunk_bytes(plan, shape->size, 0, (enum nuna_buffer)b,
                                                  i == 0 ? 0 : count - 1);
            chunk = here > chunk ? here : chunk;
        }
    }
    uint64_t upper = divide_up(chunk, plan->grain) * plan->grain;
    if (upper > UINT64_MAX / loop->loop_chunks)
        return UINT64_MAX / loop->loop_unit;
    return divide_up(loop->loop_chunks * upper, loop->loop_unit);
}

static bool moves_packets(const struct nuna_plan *plan, const struct nuna_op *op)
{
    for (uint32_t i = 0; i < op->src_count; i++)
        if (plan->ranges[op->src_at + i].form != NUNA_FORM_DATA)
            return true;
    for (uint32_t i = 0; i < op->dst_count; i++)
        if (plan->ranges[op->dst_at + i].form != NUNA_FORM_DATA)
            return true;
    return false;
}

void nuna_shape_piece(const struct nuna_shape *shape, const struct nuna_op *op,
                      const struct nuna_op *loop, uint64_t turn, struct nuna_piece *ret)
{
    *ret = (struct nuna_piece){0, UINT32_MAX, 0, WHOLE, 0, WHOLE};
    if (op->parts > 1) {
        /* Lanes of one operation have one length. */
        uint64_t bytes = lane_bytes(shape, op, 0);
        ret->skip = part_start(bytes, shape->plan->grain, op->parts, op->part);
        ret->take = part_start(bytes, shape->plan->grain, op->parts, op->part + 1u) - ret->skip;
    }
    /* Packets carry no window: they are moved whole each time. */
    if (loop == NULL || moves_packets(shape->plan, op))
        return;
    uint64_t start = turn * loop->loop_unit;
    uint64_t left = start < ret->take ? ret->take - start : 0;
    ret->skip += start;
    ret->take = left < loop->loop_unit ? left : loop->loop_unit;
}

static uint32_t fifo_chunks(const struct nuna_plan *plan, const struct nuna_op *op)
{
    const struct nuna_range *range = nuna_lane_range(plan, op, 0, 0);
    return range == NULL ? 0 : range->count;
}

bool nuna_shape_message(const struct nuna_shape *shape, const struct nuna_op *op, uint64_t window,
                        uint32_t n, struct nuna_piece *ret)
{
    uint32_t chunks = fifo_chunks(shape->plan, op);
    uint64_t first = (uint64_t)(n / shape->slices) * shape->chunks_per_message;
    if (first >= chunks)
        return false;
    ret->first = (uint32_t)first;
    ret->count = chunks - ret->first;
    if (ret->count > shape->chunks_per_message)
        ret->count = shape->chunks_per_message;
    ret->offset = window * shape->window;
    ret->length = shape->window;
    uint64_t chunk = nuna_plan_even_bytes(shape->plan, shape->size);
    uint64_t left = ret->offset < chunk ? chunk - ret->offset : 0;
    uint64_t bytes = (left < shape->window ? left : shape->window) * ret->count;
    uint64_t slice =
        divide_up(divide_up(bytes, shape->slices), shape->line_bytes) * shape->line_bytes;
    ret->skip = n % shape->slices * slice;
    if (ret->skip > bytes)
        ret->skip = bytes;
    ret->take = bytes - ret->skip < slice ? bytes - ret->skip : slice;
    return true;
}

bool nuna_piece_next(const struct nuna_shape *shape, const struct nuna_op *op, uint32_t lane,
                     const struct nuna_piece *piece, struct nuna_segment *segment)
{
    uint32_t chunks = lane_chunks(shape->plan, op, lane);
    uint64_t end = chunks > piece->first && chunks - piece->first > piece->count
                       ? (uint64_t)piece->first + piece->count
                       : chunks;
    uint64_t stop = piece->take < WHOLE - piece->skip ? piece->skip + piece->take : WHOLE;
    uint64_t chunk = segment->bytes == 0 ? piece->first : segment->chunk + 1u;
    for (; chunk < end && segment->row < stop; chunk++) {
        uint64_t whole = nuna_lane_chunk_bytes(shape, op, lane, (uint32_t)chunk);
        uint64_t there = whole > piece->offset ? whole - piece->offset : 0;
        there = there < piece->length ? there : piece->length;
        uint64_t start = segment->row;
        uint64_t from = start > piece->skip ? start : piece->skip;
        uint64_t to = start + there < stop ? start + there : stop;
        segment->row = start + there;
        if (from < to) {
            segment->chunk = (uint32_t)chunk;
            segment->offset = piece->offset + (from - start);
            segment->bytes = to - from;
            segment->before = from - piece->skip;
            return true;
        }
    }
    return false;
}

/* ---- bytes of a whole run ---- */

static uint64_t piece_bytes(const struct nuna_shape *shape, const struct nuna_op *op, uint32_t lane,
                            const struct nuna_piece *piece, enum nuna_form form)
{
    struct nuna_segment segment = {0};
    uint64_t bytes = 0;
    while (nuna_piece_next(shape, op, lane, piece, &segment))
        bytes += nuna_shape_wire_bytes(shape, form, segment.bytes);
    return bytes;
}

/* How often a range's bytes cross between GPUs. */
static uint64_t crossings(const struct nuna_plan *plan, uint32_t gpu,
                          const struct nuna_range *range, bool load)
{
    if (range->is_group)
        return load ? 1 : plan->groups[range->gpu].rank_count;
    return range->gpu != gpu;
}

static uint64_t one_sided_bytes(const struct nuna_shape *shape, uint32_t gpu,
                                const struct nuna_op *op, const struct nuna_op *loop)
{
    const struct nuna_plan *plan = shape->plan;
    struct nuna_piece piece;
    uint64_t turns = loop == NULL ? 1 : nuna_shape_turns(shape, loop), total = 0;
    nuna_shape_piece(shape, op, NULL, 0, &piece);
    bool packets = moves_packets(plan, op);
    /* The turns of data tile the part; those of packets repeat it. */
    if (loop != NULL && !packets && piece.take > turns * loop->loop_unit)
        piece.take = turns * loop->loop_unit;
    for (uint32_t lane = 0; lane < nuna_op_lanes(op); lane++) {
        const struct nuna_range *range;
        uint32_t sources =
            op->kind == NUNA_OP_REDUCE || op->kind == NUNA_OP_FORWARD ? op->src_count : 1;
        for (uint32_t n = 0; (range = nuna_lane_range(plan, op, lane, n)) != NULL; n++) {
            uint64_t times = crossings(plan, gpu, range, n < sources);
            if (times > 0)
                total += times * (packets ? turns : 1) *
                         piece_bytes(shape, op, lane, &piece, (enum nuna_form)range->form);
        }
    }
    return total;
}

static uint64_t fifo_bytes(const struct nuna_shape *shape, const struct nuna_op *op)
{
    if (!(op->flags & NUNA_OP_SENDS) || shape->windows == 0)
        return 0;
    struct nuna_piece piece;
    uint64_t full = 0, last = 0;
    for (uint32_t n = 0; nuna_shape_message(shape, op, shape->windows - 1, n, &piece); n++)
        last += piece_bytes(shape, op, 0, &piece, shape->plan->protocol);
    for (uint32_t n = 0; shape->windows > 1 && nuna_shape_message(shape, op, 0, n, &piece); n++)
        full += piece_bytes(shape, op, 0, &piece, shape->plan->protocol);
    return (shape->windows - 1) * full + last;
}

uint64_t nuna_shape_remote_bytes(const struct nuna_shape *shape)
{
    const struct nuna_plan *plan = shape->plan;
    uint64_t total = 0;
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            const struct nuna_op *loop = NULL;
            for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++) {
                const struct nuna_op *op = &plan->ops[o];
                if (loop != NULL && o > (uint32_t)(loop - plan->ops) + loop->loop_ops)
                    loop = NULL;
                if (op->kind == NUNA_OP_LOOP)
                    loop = op;
                else if (op->kind == NUNA_OP_FIFO)
                    total += fifo_bytes(shape, op);
                else
                    total += one_sided_bytes(shape, g, op, loop);
            }
        }
    return total;
}

void nuna_shape_init(struct nuna_shape *shape, const struct nuna_plan *plan, uint64_t size,
                     const struct nuna_params *params)
{
    memset(shape, 0, sizeof *shape);
    shape->plan = plan;
    shape->size = size;
    shape->line_bytes = (uint32_t)params->noc.flit_size;
    shape->ll128_data = (uint32_t)params->fifo.ll128_data;
    shape->windows = shape->slices = shape->slots = shape->chunks_per_message = 1;
    shape->window = WHOLE;
    if (plan->chunks_per_loop == 0)
        return;
    bool simple = plan->protocol == NUNA_FORM_DATA;
    uint64_t window = nuna_shape_window(plan, params);
    uint64_t chunk = nuna_plan_even_bytes(plan, size);
    shape->window = window;
    shape->windows = divide_up(chunk, window);
    shape->chunks_per_message = nuna_shape_chunks_per_message(plan, size, window);
    shape->slices = simple ? 2 : 1;
    shape->slots = nuna_shape_operations(plan, params) * shape->slices;
    uint32_t most = 0;
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].kind == NUNA_OP_FIFO) {
            uint32_t count = fifo_chunks(plan, &plan->ops[i]);
            most = count > most ? count : most;
        }
    most = most < shape->chunks_per_message ? most : shape->chunks_per_message;
    uint64_t data = (chunk < window ? chunk : window) * most;
    /* Every chunk of a message begins a line. */
    shape->slot_bytes =
        nuna_shape_wire_bytes(shape, plan->protocol, data) + (uint64_t)most * shape->line_bytes;
}
