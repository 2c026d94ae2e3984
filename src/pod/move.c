#include "pod/move.h"
#include "core/units.h"
#include "pod/translation.h"
#include <stdlib.h>

static uint32_t place_of_slot(const struct nuna_gpu_lp *gpu, uint32_t at, uint32_t channel,
                              uint32_t slot)
{
    return gpu->pod->plan->gpus[at].chunks[NUNA_BUF_SCRATCH] + channel * gpu->pod->shape.slots +
           slot;
}

uint32_t nuna_move_most_ends(const struct nuna_plan *plan)
{
    uint32_t most = 2;
    for (size_t i = 0; i < plan->op_count; i++) {
        uint32_t ends = (uint32_t)plan->ops[i].src_count + plan->ops[i].dst_count + 2;
        most = ends > most && nuna_op_lanes(&plan->ops[i]) == 1 ? ends : most;
    }
    return most;
}

bool nuna_movers_init(struct nuna_gpu_lp *gpu)
{
    const struct nuna_plan_gpu *g = &gpu->pod->plan->gpus[gpu->gpu];
    size_t places =
        (size_t)g->chunks[NUNA_BUF_SCRATCH] + (size_t)g->channel_count * gpu->pod->shape.slots;
    gpu->movers = calloc(nuna_proxy_tb(gpu) + 1, sizeof *gpu->movers);
    gpu->arrivals = calloc(places + 1, sizeof *gpu->arrivals);
    if (!gpu->movers || !gpu->arrivals)
        return false;
    for (size_t i = 0; i < places; i++)
        gpu->arrivals[i].waiter = NUNA_NO_TB;
    return true;
}

struct nuna_mover *nuna_mover_of(struct nuna_gpu_lp *gpu, uint32_t tb)
{
    struct nuna_mover **mover = &gpu->movers[tb];
    if (!*mover) {
        *mover = calloc(1, sizeof **mover + gpu->pod->move_ends * sizeof *(*mover)->ends);
        if (*mover)
            (*mover)->end_cap = gpu->pod->move_ends;
        else
            gpu->flights.out_of_memory = true; /* and with it the run */
    }
    return *mover;
}

void nuna_movers_finish(struct nuna_gpu_lp *gpu)
{
    for (uint32_t t = 0; gpu->movers && t <= nuna_proxy_tb(gpu); t++)
        free(gpu->movers[t]);
    free(gpu->movers);
    free(gpu->arrivals);
}

/* ---- ends of a segment ---- */

static struct nuna_end *add_end(struct nuna_mover *m)
{
    struct nuna_end *end = &m->ends[m->end_count++];
    *end = (struct nuna_end){.arrival = NUNA_NONE, .wrap = UINT64_MAX};
    return end;
}

static void add_range(struct nuna_gpu_lp *gpu, struct nuna_mover *m, const struct nuna_range *range)
{
    const struct nuna_layout *layout = &gpu->pod->layout;
    struct nuna_end *end = add_end(m);
    uint32_t chunk = range->index + m->segment.chunk;
    /* A group is addressed as this GPU sees its own buffer; each member has its own place. */
    uint32_t at = range->is_group ? gpu->gpu : range->gpu;
    end->gpu = range->gpu;
    end->group = range->is_group;
    end->chunk = chunk;
    end->buffer = range->buffer;
    end->form = range->form;
    if (chunk < gpu->pod->plan->gpus[at].chunks[range->buffer])
        end->base = layout->gpus[at].chunks[range->buffer][chunk].position;
    if (range->buffer == NUNA_BUF_SCRATCH)
        end->wrap = layout->scratch_wrap;
    if (range->form != NUNA_FORM_DATA)
        end->arrival = chunk;
}

/* The incoming slot is in this GPU's memory, the outgoing one in the peer's. */
static void add_slot(struct nuna_gpu_lp *gpu, struct nuna_mover *m, uint32_t channel, bool incoming)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    struct nuna_end *end = add_end(m);
    uint32_t slot = incoming ? m->move.recv_slot : m->move.send_slot;
    end->gpu = gpu->gpu;
    if (!incoming) {
        const struct nuna_channel *mine =
            &plan->channels[plan->gpus[gpu->gpu].channel_at + channel];
        end->gpu = mine->peer;
        channel = mine->peer_channel;
    }
    end->slot = true;
    end->form = (uint8_t)plan->protocol;
    end->base = nuna_layout_slot(&gpu->pod->layout, end->gpu, channel, slot);
    if (plan->protocol != NUNA_FORM_DATA)
        end->arrival = place_of_slot(gpu, end->gpu, channel, slot);
}

static void open_ends(struct nuna_gpu_lp *gpu, struct nuna_mover *m, uint32_t tb)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    const struct nuna_op *op = m->op;
    const struct nuna_range *range;
    uint32_t sources = op->kind == NUNA_OP_FIFO || op->kind == NUNA_OP_REDUCE ? op->src_count : 1;
    uint32_t n = 0;
    m->end_count = 0;
    const struct nuna_threadblock *block = NULL;
    if (op->kind == NUNA_OP_FIFO)
        block = &plan->threadblocks[plan->gpus[gpu->gpu].tb_at + tb];
    if (block && (op->flags & NUNA_OP_RECEIVES))
        add_slot(gpu, m, block->recv_channel, true);
    for (; n < sources && (range = nuna_lane_range(plan, op, m->lane, n)) != NULL; n++)
        add_range(gpu, m, range);
    m->source_count = m->end_count;
    for (; (range = nuna_lane_range(plan, op, m->lane, n)) != NULL; n++)
        add_range(gpu, m, range);
    if (block && (op->flags & NUNA_OP_SENDS))
        add_slot(gpu, m, block->send_channel, false);
    m->line_data = gpu->pod->flit_bytes;
    for (uint32_t e = 0; e < m->end_count; e++) {
        uint32_t data = nuna_shape_line_data(&gpu->pod->shape, (enum nuna_form)m->ends[e].form);
        m->line_data = data < m->line_data ? data : m->line_data;
    }
}

static uint64_t wire(const struct nuna_gpu_lp *gpu, uint8_t form, uint64_t data)
{
    return nuna_shape_wire_bytes(&gpu->pod->shape, (enum nuna_form)form, data);
}

/* On to the next segment with bytes; false at the end of the move. */
static bool next_segment(struct nuna_gpu_lp *gpu, struct nuna_mover *m, uint32_t tb)
{
    m->slot_offset += wire(gpu, (uint8_t)gpu->pod->plan->protocol, m->segment.bytes);
    for (; m->lane < m->last_lane; m->lane++) {
        if (nuna_piece_next(&gpu->pod->shape, m->op, m->lane, &m->move.piece, &m->segment)) {
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
        gpu->arrivals[m->ends[0].arrival].taken += m->slot_offset;
    return false;
}

bool nuna_move_start(struct nuna_gpu_lp *gpu, uint32_t tb_index, uint32_t op,
                     const struct nuna_move *move, uint32_t first_lane, uint32_t end_lane)
{
    struct nuna_mover *m = nuna_mover_of(gpu, tb_index);
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    if (!m)
        return true;
    m->op = &gpu->pod->plan->ops[op];
    m->move = *move;
    m->lane = first_lane;
    m->last_lane = end_lane;
    m->segment = (struct nuna_segment){0};
    m->slot_offset = 0;
    m->end_count = 0;
    tb->op = op;
    tb->moving = true;
    if (!next_segment(gpu, m, tb_index)) {
        tb->moving = false;
        return true;
    }
    if (gpu->pod->prefetch != NUNA_AHEAD_OFF)
        nuna_prefetch_flags(gpu, tb_index);
    tb->loading = true;
    nuna_cu_enqueue(gpu, tb_index);
    return false;
}

/* ---- lines ---- */

/* Where the segment's byte `line` is. */
static uint64_t position_at(const struct nuna_gpu_lp *gpu, const struct nuna_mover *m,
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
static void prefetch_at(struct nuna_gpu_lp *gpu, const struct nuna_mover *m,
                        const struct nuna_end *end, uint32_t tb, uint32_t dest, uint64_t base,
                        uint64_t *ahead)
{
    /* Up to where a long chunk begins anew. */
    uint64_t offset = position_at(gpu, m, end, 0) - end->base;
    uint64_t bytes = wire(gpu, end->form, m->segment.bytes), at = base + offset;
    uint64_t room = end->wrap - offset;
    bytes = bytes < room ? bytes : room;
    if (!nuna_pod_npa(gpu->pod, gpu->gpu, dest))
        return;
    uint64_t next = at + *ahead;
    nuna_prefetch_stretch(gpu, tb, dest, at + bytes, at + wire(gpu, end->form, m->line), &next);
    *ahead = next - at;
}

static void prefetch_ends(struct nuna_gpu_lp *gpu, struct nuna_mover *m, uint32_t tb)
{
    const struct nuna_plan *plan = gpu->pod->plan;
    /* Slots are used again and again. */
    bool round = m->op->kind == NUNA_OP_FIFO && gpu->exec.tbs[tb].sent >= gpu->pod->shape.slots;
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
                        gpu->pod->layout.gpus[dest].chunks[end->buffer][end->chunk].position,
                        &ahead);
            if (nuna_pod_npa(gpu->pod, gpu->gpu, dest) && ahead < covered)
                covered = ahead;
        }
        end->ahead = covered;
    }
}

/* Lines are taken in the order in which they come: the n-th may be read once n have arrived. A part
 * of a chunk of scratch waits for the whole chunk. */
static bool is_there(const struct nuna_gpu_lp *gpu, const struct nuna_mover *m,
                     const struct nuna_end *end, uint64_t data)
{
    const struct nuna_arrival *arrival = &gpu->arrivals[end->arrival];
    if (end->slot)
        return arrival->bytes - arrival->taken >=
               m->slot_offset + wire(gpu, end->form, m->line + data);
    uint64_t all = nuna_lane_chunk_bytes(&gpu->pod->shape, m->op, m->lane, m->segment.chunk);
    bool whole = m->segment.offset == 0 && m->segment.bytes == all;
    return arrival->bytes >= wire(gpu, end->form, whole ? m->line + data : all);
}

static void wait_for_arrival(struct nuna_gpu_lp *gpu, uint32_t place, uint32_t tb)
{
    gpu->tbs[tb].next = gpu->arrivals[place].waiter;
    gpu->arrivals[place].waiter = tb;
}

void nuna_move_arrived(struct nuna_gpu_lp *gpu, uint32_t place, uint32_t bytes)
{
    struct nuna_arrival *arrival = &gpu->arrivals[place];
    arrival->bytes += bytes;
    uint32_t tb = arrival->waiter;
    arrival->waiter = NUNA_NO_TB;
    while (tb != NUNA_NO_TB) {
        uint32_t next = gpu->tbs[tb].next;
        if (gpu->movers[tb] && gpu->movers[tb]->awaiting)
            nuna_proxy_retry(gpu, tb);
        else
            nuna_cu_enqueue(gpu, tb);
        tb = next;
    }
}

bool nuna_move_has_all(const struct nuna_gpu_lp *gpu, const struct nuna_op *op)
{
    for (uint32_t lane = 0; lane < nuna_op_lanes(op); lane++) {
        const struct nuna_range *range = nuna_lane_range(gpu->pod->plan, op, lane, 0);
        for (uint32_t c = 0; c < range->count; c++) {
            uint64_t data = nuna_lane_chunk_bytes(&gpu->pod->shape, op, lane, c);
            uint32_t place = range->index + c;
            if (gpu->arrivals[place].bytes < wire(gpu, range->form, data))
                return false;
        }
    }
    return true;
}

/* What the flight accesses at each GPU of its group. */
static void mark_cast(struct nuna_flight *flight, const struct nuna_end *end, uint64_t offset,
                      uint32_t answers)
{
    flight->marks = (flight->marks | NUNA_FLIGHT_CAST) & 15u;
    flight->local = (uint16_t)answers;
    flight->target = end->buffer;
    flight->stamp[NUNA_STAMP_AT_PORT] = end->chunk;
    flight->stamp[NUNA_STAMP_AT_SWITCH] = (uint32_t)offset;
    flight->stamp[NUNA_STAMP_AT_PEER] = (uint32_t)(offset >> 32);
}

static void aim(struct nuna_gpu_lp *gpu, const struct nuna_mover *m, const struct nuna_end *end,
                struct nuna_flight *flight)
{
    uint64_t position = position_at(gpu, m, end, m->line);
    uint32_t at = end->group ? gpu->gpu : end->gpu;
    struct nuna_location location = nuna_pod_locate(gpu->pod, at, position);
    flight->target = location.channel;
    flight->port = (uint8_t)location.port;
    flight->npa = nuna_pod_npa(gpu->pod, gpu->gpu, at) & 1u;
    flight->stamp[NUNA_STAMP_LENT_PAGE] = location.page;
    flight->gpu = (uint16_t)end->gpu;
    if (end->group)
        mark_cast(flight, end, position - end->base, gpu->pod->plan->groups[end->gpu].rank_count);
}

/* The line's record with its stores, chained through `link`, the first one first. */
static void open_line(struct nuna_gpu_lp *gpu, struct nuna_mover *m, uint32_t tb, uint64_t data)
{
    m->record = nuna_flight_get(&gpu->flights);
    uint32_t head = NUNA_NO_FLIGHT;
    for (uint32_t e = m->end_count; e-- > m->source_count;) {
        const struct nuna_end *end = &m->ends[e];
        uint32_t handle = nuna_flight_get(&gpu->flights);
        struct nuna_flight *store = nuna_flight(&gpu->flights, handle);
        bool remote = end->group || end->gpu != gpu->gpu;
        aim(gpu, m, end, store);
        store->kind = remote ? NUNA_FLIGHT_PUT : NUNA_FLIGHT_COPY;
        store->tb = tb;
        store->bytes = (uint16_t)wire(gpu, end->form, data);
        if (end->arrival != NUNA_NONE) {
            store->marks = (store->marks | NUNA_FLIGHT_COUNTED) & 15u;
            store->stamp[NUNA_STAMP_LANDED] = end->arrival;
        }
        store->link = head;
        head = handle;
    }
    struct nuna_flight *record = nuna_flight(&gpu->flights, m->record);
    record->kind = NUNA_FLIGHT_LINE;
    record->tb = tb;
    record->bytes = (uint16_t)data;
    record->gpu = (uint16_t)m->source_count;
    record->link = head;
    gpu->tbs[tb].pending += m->end_count - m->source_count;
}

static void load_source(struct nuna_gpu_lp *gpu, struct nuna_mover *m, struct nuna_cu *cu,
                        uint32_t tb, uint64_t data)
{
    const struct nuna_end *end = &m->ends[m->source];
    uint32_t handle = nuna_flight_get(&gpu->flights);
    struct nuna_flight *flight = nuna_flight(&gpu->flights, handle);
    bool remote = end->group || end->gpu != gpu->gpu;
    uint16_t router = nuna_gpu_cu_router(gpu, gpu->tbs[tb].cu);
    aim(gpu, m, end, flight);
    flight->start = gpu->lp->now;
    flight->tb = tb;
    flight->bytes = (uint16_t)wire(gpu, end->form, data);
    flight->link = m->record;
    cu->outstanding++;
    if (remote) {
        flight->kind = NUNA_FLIGHT_FETCH;
        flight->phase = NUNA_PHASE_STORE;
        nuna_noc_send(&gpu->noc, gpu->lp, router, NUNA_AT_CU,
                      gpu->pod->topology.port_router[flight->port], NUNA_AT_PORT,
                      gpu->pod->control_bytes, handle);
        return;
    }
    flight->kind = NUNA_FLIGHT_SOURCE;
    flight->phase = NUNA_PHASE_LOAD;
    flight->local = flight->target;
    nuna_noc_send(&gpu->noc, gpu->lp, router, NUNA_AT_CU,
                  nuna_gpu_stack_router(gpu, router, flight->local), NUNA_AT_MEMORY,
                  gpu->pod->control_bytes, handle);
}

void nuna_move_issue(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t tb_index)
{
    struct nuna_mover *m = gpu->movers[tb_index];
    struct nuna_tb *tb = &gpu->tbs[tb_index];
    const struct nuna_end *end = &m->ends[m->source];
    uint64_t left = m->segment.bytes - m->line;
    uint64_t data = left < m->line_data ? left : m->line_data;
    /* The proxy moves packets as they are; whoever asked it made sure that they are there. */
    bool ungated = end->arrival == NUNA_NONE || tb_index == nuna_proxy_tb(gpu);
    if (!ungated && !is_there(gpu, m, end, data)) {
        wait_for_arrival(gpu, end->arrival, tb_index);
        return;
    }
    if (m->source == 0 && gpu->pod->prefetch != NUNA_AHEAD_OFF)
        prefetch_ends(gpu, m, tb_index);
    if (m->source == 0)
        open_line(gpu, m, tb_index, data);
    load_source(gpu, m, cu, tb_index, data);
    if (++m->source == m->source_count) {
        m->source = 0;
        m->line += data;
        if (m->line >= m->segment.bytes)
            tb->loading = tb->moving = next_segment(gpu, m, tb_index);
    }
    if (tb->loading)
        nuna_cu_enqueue(gpu, tb_index);
}

void nuna_move_loaded(struct nuna_gpu_lp *gpu, struct nuna_cu *cu, uint32_t handle)
{
    struct nuna_flight *source = nuna_flight(&gpu->flights, handle);
    uint32_t record_handle = source->link;
    struct nuna_flight *record = nuna_flight(&gpu->flights, record_handle);
    nuna_time now = gpu->lp->now;
    cu->outstanding--;
    if (source->kind == NUNA_FLIGHT_FETCH) {
        uint32_t since = nuna_flight_since(source, now);
        source->stamp[NUNA_STAMP_LOAD_AT_MEMORY] = source->stamp[NUNA_STAMP_LOAD_READ] = since;
        source->stamp[NUNA_STAMP_LOAD_BACK] = since;
        gpu->bytes_delivered += source->bytes;
    }
    if (--record->gpu > 0) {
        nuna_flight_put(&gpu->flights, handle);
        return;
    }
    uint32_t operands = gpu->movers[record->tb]->source_count;
    if (operands > 1) {
        nuna_time work = nuna_units_transfer_time((uint64_t)operands * record->bytes,
                                                  gpu->pod->reduce_rate, NULL);
        cu->free_at = (cu->free_at > now ? cu->free_at : now) + work;
    }
    for (uint32_t store_handle = record->link; store_handle != NUNA_NO_FLIGHT;) {
        struct nuna_flight *store = nuna_flight(&gpu->flights, store_handle);
        uint32_t next = store->link;
        store->start = source->start;
        memcpy(store->stamp, source->stamp, 3 * sizeof store->stamp[0]);
        cu->outstanding++;
        nuna_cu_push_store(cu, &gpu->flights, store_handle);
        store_handle = next;
    }
    nuna_flight_put(&gpu->flights, handle);
    nuna_flight_put(&gpu->flights, record_handle);
}
