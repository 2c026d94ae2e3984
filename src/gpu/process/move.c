#include "gpu/process/move.h"
#include "core/units.h"
#include "gpu/arrivals.h"
#include "gpu/die.h"
#include "gpu/probe.h"
#include "gpu/translate/prefetch.h"
#include <stdlib.h>

uint32_t nuna_move_most_ends(const struct nuna_plan *plan)
{
    uint32_t most = 2;
    for (size_t i = 0; i < plan->op_count; i++) {
        uint32_t ends = (uint32_t)plan->ops[i].src_count + plan->ops[i].dst_count + 2;
        most = ends > most && nuna_op_lanes(&plan->ops[i]) == 1 ? ends : most;
    }
    return most;
}

bool nuna_move_needed(const struct nuna_gpu_spec *spec, uint32_t gpu, const struct nuna_op *op,
                      bool whole)
{
    bool plain = op->kind == NUNA_OP_PUT || op->kind == NUNA_OP_COPY ||
                 (op->kind == NUNA_OP_REDUCE && op->dst_count == 1);
    if (!plain || !whole || op->flags != 0 || spec->plan->reuse_scratch)
        return true;
    const struct nuna_range *ranges = spec->plan->ranges;
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *range = &ranges[op->src_at + i];
        if (range->form != NUNA_FORM_DATA || range->is_group || range->gpu != gpu)
            return true;
    }
    for (uint32_t i = 0; i < op->dst_count; i++) {
        const struct nuna_range *range = &ranges[op->dst_at + i];
        if (range->form != NUNA_FORM_DATA || range->is_group ||
            (range->gpu == gpu) != (op->kind != NUNA_OP_PUT))
            return true;
    }
    return false;
}

/* Most threadblocks of most plans never move anything that way. */
static bool may_move(const struct nuna_gpu *gpu, const struct nuna_threadblock *block)
{
    const struct nuna_op *ops = &gpu->spec->plan->ops[block->op_at];
    bool loops = false, moves = false;
    for (uint32_t i = 0; i < block->op_count; i++)
        loops |= ops[i].kind == NUNA_OP_LOOP;
    for (uint32_t i = 0; i < block->op_count; i++) {
        bool whole = !loops && ops[i].parts <= 1 && gpu->spec->shape.windows == 1;
        bool data = nuna_op_lanes(&ops[i]) > 0 && !(ops[i].flags & NUNA_OP_PORT);
        moves |= data && nuna_move_needed(gpu->spec, gpu->index, &ops[i], whole);
    }
    return moves;
}

static bool make_mover(struct nuna_gpu *gpu, uint32_t index)
{
    struct nuna_mover **mover = &gpu->movers->of[index];
    *mover = calloc(1, sizeof **mover + gpu->spec->move_ends * sizeof *(*mover)->ends);
    return *mover != NULL;
}

bool nuna_movers_create(struct nuna_gpu *gpu, bool proxy)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    const struct nuna_plan_gpu *part = &plan->gpus[gpu->index];
    struct nuna_movers *movers = gpu->movers = calloc(1, sizeof *movers);
    if (!movers)
        return false;
    movers->count = part->tb_count;
    movers->of = calloc((size_t)movers->count + 1, sizeof *movers->of);
    if (!movers->of)
        return false;
    for (uint32_t t = 0; t < movers->count; t++)
        if (may_move(gpu, &plan->threadblocks[part->tb_at + t]) && !make_mover(gpu, t))
            return false;
    return !proxy || make_mover(gpu, movers->count);
}

void nuna_movers_destroy(struct nuna_gpu *gpu)
{
    if (!gpu->movers)
        return;
    for (uint32_t t = 0; gpu->movers->of && t <= gpu->movers->count; t++)
        free(gpu->movers->of[t]);
    free(gpu->movers->of);
    free(gpu->movers);
}

static struct nuna_mover *mover_of(const struct nuna_gpu *gpu, uint32_t tb)
{
    return gpu->movers->of[tb == NUNA_TB_PROXY ? gpu->movers->count : tb];
}

/* ---- ends of a segment ---- */

static struct nuna_end *add_end(struct nuna_mover *m)
{
    struct nuna_end *end = &m->ends[m->end_count++];
    *end = (struct nuna_end){.arrival = NUNA_NONE, .wrap = UINT64_MAX};
    return end;
}

static void add_range(struct nuna_gpu *gpu, struct nuna_mover *m, const struct nuna_range *range)
{
    const struct nuna_layout *layout = gpu->spec->layout;
    struct nuna_end *end = add_end(m);
    uint32_t chunk = range->index + m->segment.chunk;
    /* A group is addressed as this GPU sees its own buffer; each member has its own place. */
    uint32_t at = range->is_group ? gpu->index : range->gpu;
    end->gpu = range->gpu;
    end->group = range->is_group;
    end->chunk = chunk;
    end->buffer = range->buffer;
    end->form = range->form;
    if (chunk < gpu->spec->plan->gpus[at].chunks[range->buffer])
        end->base = layout->gpus[at].chunks[range->buffer][chunk].position;
    if (range->buffer == NUNA_BUF_SCRATCH)
        end->wrap = layout->scratch_wrap;
    if (range->form != NUNA_FORM_DATA)
        end->arrival = chunk;
}

/* The incoming slot is in this GPU's memory, the outgoing one in the peer's. */
static void add_slot(struct nuna_gpu *gpu, struct nuna_mover *m, uint32_t channel, bool incoming)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    struct nuna_end *end = add_end(m);
    uint32_t slot = incoming ? m->move.recv_slot : m->move.send_slot;
    end->gpu = gpu->index;
    if (!incoming) {
        const struct nuna_channel *mine =
            &plan->channels[plan->gpus[gpu->index].channel_at + channel];
        end->gpu = mine->peer;
        channel = mine->peer_channel;
    }
    end->slot = true;
    end->form = (uint8_t)plan->protocol;
    end->base = nuna_layout_slot(gpu->spec->layout, end->gpu, channel, slot);
    if (plan->protocol != NUNA_FORM_DATA)
        end->arrival = nuna_arrivals_slot(gpu->spec, end->gpu, channel, slot);
}

static void open_ends(struct nuna_gpu *gpu, struct nuna_mover *m, uint32_t tb)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    const struct nuna_op *op = m->op;
    const struct nuna_range *range;
    uint32_t sources = op->kind == NUNA_OP_FIFO || op->kind == NUNA_OP_REDUCE ? op->src_count : 1;
    uint32_t n = 0;
    m->end_count = 0;
    const struct nuna_threadblock *block = NULL;
    if (op->kind == NUNA_OP_FIFO)
        block = &plan->threadblocks[plan->gpus[gpu->index].tb_at + tb];
    if (block && (op->flags & NUNA_OP_RECEIVES))
        add_slot(gpu, m, block->recv_channel, true);
    for (; n < sources && (range = nuna_lane_range(plan, op, m->lane, n)) != NULL; n++)
        add_range(gpu, m, range);
    m->source_count = m->end_count;
    for (; (range = nuna_lane_range(plan, op, m->lane, n)) != NULL; n++)
        add_range(gpu, m, range);
    if (block && (op->flags & NUNA_OP_SENDS))
        add_slot(gpu, m, block->send_channel, false);
    m->line_data = gpu->spec->flit_bytes;
    for (uint32_t e = 0; e < m->end_count; e++) {
        uint32_t data = nuna_shape_line_data(&gpu->spec->shape, (enum nuna_form)m->ends[e].form);
        m->line_data = data < m->line_data ? data : m->line_data;
    }
}

static uint64_t wire(const struct nuna_gpu *gpu, uint8_t form, uint64_t data)
{
    return nuna_shape_wire_bytes(&gpu->spec->shape, (enum nuna_form)form, data);
}

/* On to the next segment with bytes; false at the end of the move. */
static bool next_segment(struct nuna_gpu *gpu, struct nuna_mover *m, uint32_t tb)
{
    m->slot_offset += wire(gpu, (uint8_t)gpu->spec->plan->protocol, m->segment.bytes);
    for (; m->lane < m->last_lane; m->lane++) {
        if (nuna_piece_next(&gpu->spec->shape, m->op, m->lane, &m->move.piece, &m->segment)) {
            open_ends(gpu, m, tb);
            m->line = 0;
            m->source = 0;
            return true;
        }
        m->segment = (struct nuna_segment){0};
    }
    /* What a received message brought is used up. */
    if (m->op->kind == NUNA_OP_FIFO && (m->op->flags & NUNA_OP_RECEIVES) && m->end_count > 0 &&
        m->ends[0].arrival != NUNA_NONE)
        nuna_arrivals_take(gpu, m->ends[0].arrival, m->slot_offset);
    return false;
}

bool nuna_move_start(struct nuna_gpu *gpu, uint32_t tb_index, uint32_t op,
                     const struct nuna_move *move, uint32_t first_lane, uint32_t end_lane)
{
    struct nuna_mover *m = mover_of(gpu, tb_index);
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    m->op = &gpu->spec->plan->ops[op];
    m->move = *move;
    m->lane = first_lane;
    m->last_lane = end_lane;
    m->segment = (struct nuna_segment){0};
    m->slot_offset = 0;
    m->end_count = 0;
    tb->op = op;
    tb->work = NUNA_WORK_MOVE;
    if (!next_segment(gpu, m, tb_index))
        return true;
    if (gpu->spec->prefetch != NUNA_AHEAD_OFF)
        nuna_prefetch_flags(gpu, tb_index, m->lane);
    tb->loading = true;
    nuna_cu_enqueue(gpu, tb_index);
    return false;
}

/* ---- lines ---- */

/* Where the segment's byte `line` is. */
static uint64_t position_at(const struct nuna_gpu *gpu, const struct nuna_mover *m,
                            const struct nuna_end *end, uint64_t line)
{
    if (end->slot)
        return end->base + m->slot_offset + wire(gpu, end->form, line);
    uint64_t offset = m->segment.offset + line;
    if (end->form != NUNA_FORM_DATA)
        offset *= 2;
    return end->base + offset % end->wrap;
}

/* Requests for the pages at GPU `dest` that the end's accesses come to. */
static void prefetch_at(struct nuna_gpu *gpu, const struct nuna_mover *m,
                        const struct nuna_end *end, uint32_t tb, uint32_t dest, uint64_t base,
                        uint64_t *ahead)
{
    /* Up to where a long chunk begins anew. */
    uint64_t offset = position_at(gpu, m, end, 0) - end->base;
    uint64_t bytes = wire(gpu, end->form, m->segment.bytes), at = base + offset;
    uint64_t room = end->wrap - offset;
    bytes = bytes < room ? bytes : room;
    if (!nuna_spec_npa(gpu->spec, gpu->index, dest))
        return;
    uint64_t next = at + *ahead;
    nuna_prefetch_stretch(gpu, tb, dest, at + bytes, at + wire(gpu, end->form, m->line), &next);
    *ahead = next - at;
}

static void prefetch_ends(struct nuna_gpu *gpu, struct nuna_mover *m, uint32_t tb)
{
    const struct nuna_plan *plan = gpu->spec->plan;
    /* Slots are used again and again. */
    bool round = m->op->kind == NUNA_OP_FIFO && gpu->exec.tbs[tb].sent >= gpu->spec->shape.slots;
    for (uint32_t e = 0; e < m->end_count; e++) {
        struct nuna_end *end = &m->ends[e];
        if (!end->group) {
            if (!end->slot || !round)
                prefetch_at(gpu, m, end, tb, end->gpu, end->base, &end->ahead);
            continue;
        }
        const struct nuna_switch_group *group = &plan->groups[end->gpu];
        /* Where pages begin differently at the members, some are asked for twice. */
        uint64_t covered = UINT64_MAX;
        for (uint32_t i = 0; i < group->rank_count; i++) {
            uint32_t dest = plan->group_ranks[group->rank_at + i];
            uint64_t ahead = end->ahead;
            prefetch_at(gpu, m, end, tb, dest,
                        gpu->spec->layout->gpus[dest].chunks[end->buffer][end->chunk].position,
                        &ahead);
            if (nuna_spec_npa(gpu->spec, gpu->index, dest) && ahead < covered)
                covered = ahead;
        }
        end->ahead = covered;
    }
}

/* Lines are taken in the order in which they come: the n-th may be read once n have arrived. A part
 * of a chunk of scratch waits for the whole chunk. */
static bool is_there(const struct nuna_gpu *gpu, const struct nuna_mover *m,
                     const struct nuna_end *end, uint64_t data)
{
    uint64_t there = nuna_arrivals_there(gpu, end->arrival);
    if (end->slot)
        return there >= m->slot_offset + wire(gpu, end->form, m->line + data);
    uint64_t all = nuna_lane_chunk_bytes(&gpu->spec->shape, m->op, m->lane, m->segment.chunk);
    bool whole = m->segment.offset == 0 && m->segment.bytes == all;
    return there >= wire(gpu, end->form, whole ? m->line + data : all);
}

/* What the flight accesses at each GPU of its group. */
static uint32_t make_cast(struct nuna_gpu *gpu, const struct nuna_end *end, uint64_t offset)
{
    uint32_t handle = nuna_flight_get(&gpu->flights, NUNA_FLIGHT_CAST, NUNA_LEG_STORE);
    *nuna_cast(nuna_flight(&gpu->flights, handle)) = (struct nuna_cast){
        .offset_low = (uint32_t)offset,
        .offset_high = (uint32_t)(offset >> 32),
        .chunk = end->chunk,
        .buffer = end->buffer,
        .missing = gpu->spec->plan->groups[end->gpu].rank_count,
    };
    return handle;
}

/* What a flight accesses: this GPU's own memory stands for a group's. */
static void aim(struct nuna_gpu *gpu, const struct nuna_mover *m, const struct nuna_end *end,
                struct nuna_flight *flight)
{
    uint64_t position = position_at(gpu, m, end, m->line);
    uint32_t at = end->group ? gpu->index : end->gpu;
    struct nuna_location location = nuna_spec_locate(gpu->spec, at, position);
    struct nuna_out *out = nuna_out(flight);
    flight->port = (uint8_t)location.port;
    flight->npa = nuna_spec_npa(gpu->spec, gpu->index, at) & 1u;
    out->target = location.channel;
    out->peer = (uint16_t)end->gpu; /* or group */
    if (end->group)
        out->cast = make_cast(gpu, end, position - end->base);
    else
        out->page = location.page;
}

static bool is_remote(const struct nuna_gpu *gpu, const struct nuna_end *end)
{
    return end->group || end->gpu != gpu->index;
}

/* The line's record with its stores, chained through `next`, the first one first. */
static void open_line(struct nuna_gpu *gpu, struct nuna_mover *m, uint32_t tb, uint64_t data)
{
    m->record = nuna_flight_get(&gpu->flights, NUNA_FLIGHT_LINE, NUNA_LEG_LOAD);
    uint32_t head = NUNA_NO_FLIGHT;
    for (uint32_t e = m->end_count; e-- > m->source_count;) {
        const struct nuna_end *end = &m->ends[e];
        enum nuna_flight_kind kind = end->group            ? NUNA_FLIGHT_CAST_STORE
                                     : is_remote(gpu, end) ? NUNA_FLIGHT_STORE
                                                           : NUNA_FLIGHT_KEEP;
        uint32_t handle = nuna_flight_get(&gpu->flights, kind, NUNA_LEG_STORE);
        struct nuna_flight *store = nuna_flight(&gpu->flights, handle);
        aim(gpu, m, end, store);
        store->bytes = (uint16_t)wire(gpu, end->form, data);
        nuna_out(store)->tb = tb;
        nuna_out(store)->place = end->arrival;
        nuna_out(store)->next = head;
        head = handle;
    }
    struct nuna_flight *record = nuna_flight(&gpu->flights, m->record);
    record->bytes = (uint16_t)data;
    *nuna_line(record) = (struct nuna_line){.tb = tb, .stores = head, .missing = m->source_count};
    nuna_tb_of(gpu, tb)->pending += m->end_count - m->source_count;
}

static void load_source(struct nuna_gpu *gpu, struct nuna_mover *m, uint32_t tb_index,
                        uint64_t data)
{
    const struct nuna_end *end = &m->ends[m->source];
    struct nuna_cu *cu = nuna_tb_of(gpu, tb_index)->cu;
    bool remote = is_remote(gpu, end);
    enum nuna_flight_kind kind = end->group ? NUNA_FLIGHT_CAST_FETCH
                                 : remote   ? NUNA_FLIGHT_FETCH
                                            : NUNA_FLIGHT_SOURCE;
    uint32_t handle = nuna_flight_get(&gpu->flights, kind, remote ? NUNA_LEG_STORE : NUNA_LEG_LOAD);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    aim(gpu, m, end, flight);
    nuna_flight_begin(flight, gpu->lp->now);
    flight->bytes = (uint16_t)wire(gpu, end->form, data);
    nuna_out(flight)->tb = tb_index;
    nuna_out(flight)->line = m->record;
    nuna_out(flight)->place = NUNA_NONE;
    cu->outstanding++;
    if (remote) {
        nuna_die_cu_to_port(gpu, cu->router, flight->port, gpu->spec->control_bytes, handle);
        return;
    }
    flight->channel = nuna_out(flight)->target;
    nuna_die_cu_to_memory(gpu, cu->router, flight->channel, gpu->spec->control_bytes, handle);
}

void nuna_move_load(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_mover *m = mover_of(gpu, tb_index);
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    const struct nuna_end *end = &m->ends[m->source];
    uint64_t left = m->segment.bytes - m->line;
    uint64_t data = left < m->line_data ? left : m->line_data;
    /* The proxy moves packets as they are; whoever asked it made sure that they are there. */
    bool ungated = end->arrival == NUNA_NONE || tb_index == NUNA_TB_PROXY;
    if (!ungated && !is_there(gpu, m, end, data)) {
        nuna_arrivals_wait(gpu, end->arrival, tb_index);
        return;
    }
    if (m->source == 0 && gpu->spec->prefetch != NUNA_AHEAD_OFF)
        prefetch_ends(gpu, m, tb_index);
    if (m->source == 0)
        open_line(gpu, m, tb_index, data);
    load_source(gpu, m, tb_index, data);
    if (++m->source == m->source_count) {
        m->source = 0;
        m->line += data;
        if (m->line >= m->segment.bytes)
            tb->loading = next_segment(gpu, m, tb_index);
    }
    if (tb->loading)
        nuna_cu_enqueue(gpu, tb_index);
}

void nuna_move_fetched(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *fetch = nuna_flight(&gpu->flights, handle);
    uint32_t since = nuna_flight_since(fetch, gpu->lp->now);
    nuna_out(fetch)->load =
        (struct nuna_load_stamps){.at_memory = since, .read = since, .back = since};
    nuna_probe_fetched(gpu, fetch->bytes);
    nuna_move_loaded(gpu, cu, handle);
}

/* All sources are there: the stores may go. Their load is that of the last one. */
static void store_line(struct nuna_gpu *gpu, struct nuna_cu *cu, const struct nuna_line *line,
                       struct nuna_flight *last)
{
    for (uint32_t handle = line->stores; handle != NUNA_NO_FLIGHT;) {
        struct nuna_flight *store = nuna_flight(&gpu->flights, handle);
        uint32_t next = nuna_out(store)->next;
        store->start = last->start;
        nuna_out(store)->load = nuna_out(last)->load;
        cu->outstanding++;
        nuna_cu_push_store(gpu, cu, handle);
        handle = next;
    }
}

void nuna_move_loaded(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *source = nuna_flight(&gpu->flights, handle);
    uint32_t record_handle = nuna_out(source)->line;
    struct nuna_flight *record = nuna_flight(&gpu->flights, record_handle);
    struct nuna_line *line = nuna_line(record);
    nuna_cu_returned(cu);
    assert(line->missing > 0);
    if (--line->missing > 0) {
        nuna_flight_put(&gpu->flights, handle);
        return;
    }
    uint32_t operands = mover_of(gpu, line->tb)->source_count;
    if (operands > 1)
        nuna_cu_occupy(gpu, cu,
                       nuna_units_transfer_time((uint64_t)operands * record->bytes,
                                                gpu->spec->reduce_rate, NULL));
    store_line(gpu, cu, line, source);
    nuna_flight_put(&gpu->flights, handle);
    nuna_flight_put(&gpu->flights, record_handle);
}
