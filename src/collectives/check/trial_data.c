/* What the operations of a plan do to values. */
#include "collectives/check/trial_data.h"
#include "collectives/plan/shape.h"

#include <stdlib.h>
#include <string.h>

static void store_late(struct nuna_trial *m, uint32_t stream, uint32_t slot, uint32_t value)
{
    uint32_t i = m->stores.free;
    if (i != NUNA_NONE)
        m->stores.free = store_at(m, i)->next;
    else if ((i = nuna_pool_add(m, &m->stores, sizeof(struct store))) == NUNA_NONE)
        return;
    *store_at(m, i) = (struct store){slot, value, NUNA_NONE};
    struct stream *s = stream_at(m, stream);
    if (s->first == NUNA_NONE)
        s->first = i;
    else
        store_at(m, s->last)->next = i;
    s->last = i;
    s->stored++;
}

/* ---- values ---- */

/* A sum of values that are the newest terms from `term_at` on. */
static uint32_t make_sum(struct nuna_trial *m, uint32_t term_at)
{
    struct nuna_sum sum = {.term_at = term_at, .term_count = (uint32_t)m->terms.count - term_at};
    const uint32_t *terms = m->terms.items;
    if (m->no_memory || sum.term_count == 0)
        return 0;
    if (sum.term_count == 1) {
        m->terms.count--;
        return terms[term_at];
    }
    for (uint32_t i = 0; i < sum.term_count; i++) {
        struct nuna_print print = print_of(m, terms[term_at + i]);
        sum.print.low += print.low;
        sum.print.high += print.high;
    }
    uint32_t made = nuna_pool_add(m, &m->sums, sizeof sum);
    if (m->no_memory || made >= NUNA_NONE - m->slots->count) {
        m->no_memory = true;
        return 0;
    }
    ((struct nuna_sum *)m->sums.items)[made] = sum;
    return m->slots->count + made;
}

static void add_term(struct nuna_trial *m, uint32_t value)
{
    uint32_t term = nuna_pool_add(m, &m->terms, sizeof(uint32_t));
    if (!m->no_memory)
        ((uint32_t *)m->terms.items)[term] = value;
}

/* What a range holds at one of its slots: terms, of a group one for each GPU. */
static void add_range(struct nuna_trial *m, const struct nuna_range *range, uint32_t offset)
{
    const struct nuna_plan *plan = m->slots->plan;
    if (!range->is_group) {
        add_term(m, m->memory[nuna_slot(m->slots, range->gpu, range) + offset]);
        return;
    }
    const struct nuna_switch_group *group = &plan->groups[range->gpu];
    for (uint32_t i = 0; i < group->rank_count; i++)
        add_term(
            m,
            m->memory[nuna_slot(m->slots, plan->group_ranks[group->rank_at + i], range) + offset]);
}

static void packets_come(struct nuna_trial *m, uint32_t gpu, uint32_t slot)
{
    m->arrived[slot] = true;
    uint32_t tb = m->packet_waiters[gpu];
    m->packet_waiters[gpu] = NUNA_NONE;
    while (tb != NUNA_NONE) {
        uint32_t next = m->blocks[tb].next;
        m->blocks[tb].waits_for = NUNA_NONE;
        nuna_trial_ready(m, tb);
        tb = next;
    }
}

/* Packets say themselves when they are there; a switch stores at once. Other stores to a peer may
 * be late. */
static void write_one(struct nuna_trial *m, uint32_t tb, const struct nuna_range *range,
                      uint32_t gpu, uint32_t offset, uint32_t value)
{
    uint32_t slot = nuna_slot(m->slots, gpu, range) + offset;
    bool late = m->schedule.lazy && range->form == NUNA_FORM_DATA && !range->is_group &&
                gpu != m->slots->tb_gpu[tb];
    if (late) {
        uint32_t stream = nuna_trial_stream(m, tb, gpu, true);
        if (!m->no_memory)
            store_late(m, stream, slot, value);
        return;
    }
    m->memory[slot] = value;
    if (range->form != NUNA_FORM_DATA)
        packets_come(m, gpu, slot);
}

static void write_range(struct nuna_trial *m, uint32_t tb, const struct nuna_range *range,
                        uint32_t offset, uint32_t value)
{
    const struct nuna_plan *plan = m->slots->plan;
    if (!range->is_group) {
        write_one(m, tb, range, range->gpu, offset, value);
        return;
    }
    const struct nuna_switch_group *group = &plan->groups[range->gpu];
    for (uint32_t i = 0; i < group->rank_count; i++)
        write_one(m, tb, range, plan->group_ranks[group->rank_at + i], offset, value);
}

/* ---- operations ---- */

/* The slots of a range that the operation's part covers. */
static void span_of(const struct nuna_trial *m, const struct nuna_op *op, uint32_t count,
                    uint32_t *ret_from, uint32_t *ret_to)
{
    uint64_t all = (uint64_t)count * m->slots->parts;
    *ret_from = op->parts > 1 ? (uint32_t)(all * op->part / op->parts) : 0;
    *ret_to = op->parts > 1 ? (uint32_t)(all * (op->part + 1u) / op->parts) : (uint32_t)all;
}

/* False when packets are missing; the threadblock then waits for them. */
static bool packets_there(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op)
{
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *range = &m->slots->plan->ranges[op->src_at + i];
        /* Who hands packets to the proxy has them, unless it says that it awaits them. */
        if (range->form == NUNA_FORM_DATA ||
            (op->flags & (NUNA_OP_PORT | NUNA_OP_AWAITS)) == NUNA_OP_PORT)
            continue;
        uint32_t from, to, slot = nuna_slot(m->slots, range->gpu, range);
        span_of(m, op, range->count, &from, &to);
        for (uint32_t s = from; s < to; s++) {
            if (m->arrived[slot + s])
                continue;
            m->blocks[tb].waits_for = slot + s;
            m->blocks[tb].next = m->packet_waiters[range->gpu];
            m->packet_waiters[range->gpu] = tb;
            return false;
        }
    }
    return true;
}

/* A copy reads all before it writes: its ranges may overlap. */
static void move_lane(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op, uint32_t lane)
{
    const struct nuna_plan *plan = m->slots->plan;
    uint32_t sources = op->kind == NUNA_OP_REDUCE ? op->src_count : 1;
    const struct nuna_range *first = nuna_lane_range(plan, op, lane, 0), *range;
    uint32_t from, to;
    span_of(m, op, first->count, &from, &to);
    for (uint32_t s = 0; s < to - from && !m->no_memory; s++) {
        /* Upwards or downwards, as overlapping ranges need it. */
        const struct nuna_range *into = nuna_lane_range(plan, op, lane, sources);
        bool down =
            into->gpu == first->gpu && into->buffer == first->buffer && into->index > first->index;
        uint32_t offset = down ? to - 1 - s : from + s;
        uint32_t term_at = (uint32_t)m->terms.count, value = 0, n = 0;
        if (m->schedule.turns == 1 && sources == 1 && !first->is_group) {
            value = m->memory[nuna_slot(m->slots, first->gpu, first) + offset];
        } else if (m->schedule.turns == 1) {
            for (; n < sources; n++)
                add_range(m, nuna_lane_range(plan, op, lane, n), offset);
            value = make_sum(m, term_at);
        }
        for (n = sources; (range = nuna_lane_range(plan, op, lane, n)) != NULL; n++)
            write_range(m, tb, range, offset, value);
    }
}

bool nuna_trial_move(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op)
{
    if (!packets_there(m, tb, op))
        return false;
    for (uint32_t lane = 0; lane < nuna_op_lanes(op); lane++)
        move_lane(m, tb, op, lane);
    return true;
}

/* ---- connections ---- */

static void enqueue(struct nuna_trial *m, struct fifo *fifo, uint32_t value)
{
    uint32_t i = m->stores.free;
    if (i != NUNA_NONE)
        m->stores.free = store_at(m, i)->next;
    else if ((i = nuna_pool_add(m, &m->stores, sizeof(struct store))) == NUNA_NONE)
        return;
    *store_at(m, i) = (struct store){0, value, NUNA_NONE};
    if (fifo->first == NUNA_NONE)
        fifo->first = i;
    else
        store_at(m, fifo->last)->next = i;
    fifo->last = i;
}

static uint32_t dequeue(struct nuna_trial *m, struct fifo *fifo)
{
    uint32_t i = fifo->first;
    if (i == NUNA_NONE)
        return 0; /* only when memory has run out */
    struct store *store = store_at(m, i);
    fifo->first = store->next;
    store->next = m->stores.free;
    m->stores.free = i;
    return store->value;
}

static void wake(struct nuna_trial *m, uint32_t *waiter)
{
    uint32_t tb = *waiter;
    *waiter = NUNA_NONE;
    if (tb != NUNA_NONE)
        nuna_trial_ready(m, tb);
}

/* Chunks [from, to) of the operation: out of one connection, into another. */
static void exchange(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op, uint32_t from,
                     uint32_t to, struct fifo *in, struct fifo *out)
{
    const struct nuna_plan *plan = m->slots->plan;
    for (uint32_t c = from * m->slots->parts; c < to * m->slots->parts && !m->no_memory; c++) {
        uint32_t term_at = (uint32_t)m->terms.count;
        if (in != NULL)
            add_term(m, dequeue(m, in));
        for (uint32_t n = 0; n < op->src_count; n++)
            add_range(m, &plan->ranges[op->src_at + n], c);
        uint32_t value = make_sum(m, term_at);
        for (uint32_t n = 0; n < op->dst_count; n++)
            write_range(m, tb, &plan->ranges[op->dst_at + n], c, value);
        if (out != NULL)
            enqueue(m, out, value);
    }
}

bool nuna_trial_exchange(struct nuna_trial *m, uint32_t tb, const struct nuna_op *op)
{
    struct block *block = &m->blocks[tb];
    struct fifo *in = op->flags & NUNA_OP_RECEIVES ? nuna_trial_fifo(m, tb, true) : NULL;
    struct fifo *out = op->flags & NUNA_OP_SENDS ? nuna_trial_fifo(m, tb, false) : NULL;
    uint32_t count = nuna_lane_range(m->slots->plan, op, 0, 0)->count;
    uint32_t step = m->schedule.chunks_per_message == 0 ? count : m->schedule.chunks_per_message;
    while (block->done_ids * step < count) {
        if (in != NULL && in->sent == in->received) {
            in->receiver = tb;
            return false;
        }
        if (out != NULL && m->schedule.operations != 0 &&
            out->sent - out->received >= m->schedule.operations) {
            out->sender = tb;
            return false;
        }
        uint32_t from = block->done_ids * step, to = from + step < count ? from + step : count;
        exchange(m, tb, op, from, to, in, out);
        block->done_ids++;
        if (in != NULL) {
            in->received++;
            wake(m, &in->sender);
        }
        if (out != NULL) {
            out->sent++;
            wake(m, &out->receiver);
        }
    }
    block->done_ids = 0;
    return true;
}
