/* Races within a GPU: accesses of two threadblocks to one chunk, at least one of them a write, that
 * neither a dependency nor a chain of messages orders. One fair run with vector clocks finds them
 * all, whatever order it happens to take. Two-sided plans only: what orders one-sided ones is tried
 * out by schedules (plan_check.c). */
#include "collectives/check/races.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_ENTRIES_MAX (UINT64_C(1) << 26)
#define RACES_LISTED      3

/* The newest accesses to a slot: the last write, and of each threadblock that has read since, its
 * last read. */
struct access {
    uint32_t writer, write_time; /* threadblock + 1 (0: none), its clock */
    uint32_t write_op;
    uint32_t first_reader; /* in the list of readers since that write, or NUNA_NONE */
};

struct reader {
    uint32_t tb, time, op, next;
};

struct race_run {
    const struct nuna_slots *slots;
    const struct nuna_plan *plan;
    uint32_t tbs;
    uint32_t *clocks;    /* [tb][tb] */
    uint32_t *snapshots; /* [snapshot][tb] */
    uint32_t snapshot_count;
    uint32_t *post_of;         /* operation -> snapshot, or NUNA_NONE */
    uint32_t *sent, *received; /* [channel of the receiving end] messages */
    uint32_t *message_at;      /* [channel] first of its messages in message_of */
    uint32_t *message_of;      /* -> snapshot */
    uint32_t *pc;              /* [tb] */
    struct access *accesses;   /* [slot] */
    struct reader *readers;
    size_t reader_count, reader_cap;
    char *text;
    size_t room, races;
    bool no_memory;
};

static uint32_t receiving_end(const struct race_run *r, uint32_t tb, bool receiving)
{
    const struct nuna_threadblock *block = &r->plan->threadblocks[tb];
    uint32_t at = r->plan->gpus[r->slots->tb_gpu[tb]].channel_at;
    if (receiving)
        return at + block->recv_channel;
    const struct nuna_channel *end = &r->plan->channels[at + block->send_channel];
    return r->plan->gpus[end->peer].channel_at + end->peer_channel;
}

static void keep_clock(struct race_run *r, uint32_t tb, uint32_t *ret)
{
    *ret = r->snapshot_count++;
    memcpy(&r->snapshots[(size_t)*ret * r->tbs], &r->clocks[(size_t)tb * r->tbs],
           r->tbs * sizeof *r->clocks);
}

static void join(struct race_run *r, uint32_t tb, uint32_t snapshot)
{
    uint32_t *clock = &r->clocks[(size_t)tb * r->tbs];
    const uint32_t *other = &r->snapshots[(size_t)snapshot * r->tbs];
    for (uint32_t i = 0; i < r->tbs; i++)
        clock[i] = clock[i] > other[i] ? clock[i] : other[i];
}

static bool ordered(const struct race_run *r, uint32_t tb, uint32_t before, uint32_t time)
{
    return before == tb || r->clocks[(size_t)tb * r->tbs + before] >= time;
}

static void report(struct race_run *r, const char *verb, uint32_t tb, uint32_t op, uint32_t other,
                   uint32_t other_op, const struct nuna_range *range, uint32_t chunk,
                   const char *other_verb)
{
    uint32_t gpu = r->slots->tb_gpu[tb];
    if (++r->races > RACES_LISTED)
        return;
    size_t used = strlen(r->text);
    snprintf(r->text + used, r->room - used,
             "gpu%u/tb%u/s%u %s %s chunk %u while gpu%u/tb%u/s%u %s it, with no dependency between "
             "them\n",
             gpu, nuna_check_local_tb(r->slots, tb), r->plan->ops[op].step, verb,
             nuna_buffer_name(range->buffer), range->index + chunk, gpu,
             nuna_check_local_tb(r->slots, other), r->plan->ops[other_op].step, other_verb);
}

static void add_reader(struct race_run *r, struct access *access, uint32_t tb, uint32_t op)
{
    for (uint32_t i = access->first_reader; i != NUNA_NONE; i = r->readers[i].next)
        if (r->readers[i].tb == tb) {
            r->readers[i].time = r->clocks[(size_t)tb * r->tbs + tb];
            r->readers[i].op = op;
            return;
        }
    if (r->reader_count == r->reader_cap) {
        size_t cap = r->reader_cap == 0 ? 1024 : 2 * r->reader_cap;
        struct reader *grown = cap > UINT32_MAX ? NULL : realloc(r->readers, cap * sizeof *grown);
        if (grown == NULL) {
            r->no_memory = true;
            return;
        }
        r->readers = grown;
        r->reader_cap = cap;
    }
    r->readers[r->reader_count] =
        (struct reader){tb, r->clocks[(size_t)tb * r->tbs + tb], op, access->first_reader};
    access->first_reader = (uint32_t)r->reader_count++;
}

/* One race of a chunk is enough. */
static void touch(struct race_run *r, uint32_t tb, uint32_t op, const struct nuna_range *range,
                  bool writes)
{
    uint32_t slot = nuna_slot(r->slots, range->gpu, range);
    for (uint32_t c = 0; c < range->count * r->slots->parts; c++) {
        struct access *access = &r->accesses[slot + c];
        uint32_t chunk = c / r->slots->parts;
        bool raced = access->writer != 0 && !ordered(r, tb, access->writer - 1, access->write_time);
        if (raced)
            report(r, writes ? "writes" : "reads", tb, op, access->writer - 1, access->write_op,
                   range, chunk, "writes");
        for (uint32_t i = access->first_reader; writes && !raced && i != NUNA_NONE;
             i = r->readers[i].next) {
            const struct reader *reader = &r->readers[i];
            raced = !ordered(r, tb, reader->tb, reader->time);
            if (raced)
                report(r, "writes", tb, op, reader->tb, reader->op, range, chunk, "reads");
        }
        if (writes)
            *access = (struct access){tb + 1, r->clocks[(size_t)tb * r->tbs + tb], op, NUNA_NONE};
        else
            add_reader(r, access, tb, op);
    }
}

/* The first post of the other threadblock that satisfies the dependency, or NUNA_NONE. */
static uint32_t satisfied_by(const struct race_run *r, uint32_t tb, const struct nuna_op *op)
{
    const struct nuna_plan_gpu *gpu = &r->plan->gpus[r->slots->tb_gpu[tb]];
    const struct nuna_threadblock *other = &r->plan->threadblocks[gpu->tb_at + op->dep_tb];
    uint32_t done = r->pc[gpu->tb_at + op->dep_tb];
    for (uint32_t o = other->op_at; o < other->op_at + done; o++)
        if (r->plan->ops[o].kind == NUNA_OP_POST && r->plan->ops[o].dep_step >= op->dep_step)
            return r->post_of[o];
    return NUNA_NONE;
}

static bool run_op(struct race_run *r, uint32_t tb, uint32_t index)
{
    const struct nuna_op *op = &r->plan->ops[index];
    uint32_t *clock = &r->clocks[(size_t)tb * r->tbs];
    uint32_t in = 0;
    if (op->kind == NUNA_OP_DEPEND) {
        uint32_t snapshot = satisfied_by(r, tb, op);
        if (snapshot == NUNA_NONE)
            return false;
        join(r, tb, snapshot);
    }
    if (op->kind == NUNA_OP_FIFO && (op->flags & NUNA_OP_RECEIVES)) {
        in = receiving_end(r, tb, true);
        if (r->received[in] == r->sent[in])
            return false;
        join(r, tb, r->message_of[r->message_at[in] + r->received[in]++]);
    }
    clock[tb]++;
    for (uint32_t i = 0; i < op->src_count; i++)
        touch(r, tb, index, &r->plan->ranges[op->src_at + i], false);
    for (uint32_t i = 0; i < op->dst_count; i++)
        touch(r, tb, index, &r->plan->ranges[op->dst_at + i], true);
    if (op->kind == NUNA_OP_POST)
        keep_clock(r, tb, &r->post_of[index]);
    if (op->kind == NUNA_OP_FIFO && (op->flags & NUNA_OP_SENDS)) {
        uint32_t out = receiving_end(r, tb, false);
        keep_clock(r, tb, &r->message_of[r->message_at[out] + r->sent[out]++]);
    }
    return true;
}

static void run(struct race_run *r)
{
    for (bool moved = true; moved && !r->no_memory;) {
        moved = false;
        for (uint32_t tb = 0; tb < r->tbs; tb++) {
            const struct nuna_threadblock *block = &r->plan->threadblocks[tb];
            while (r->pc[tb] < block->op_count && run_op(r, tb, block->op_at + r->pc[tb])) {
                r->pc[tb]++;
                moved = true;
            }
        }
    }
}

/* Room for every message of every connection, and for a clock with each message and post. */
static bool prepare(struct race_run *r)
{
    const struct nuna_plan *plan = r->plan;
    uint64_t snapshots = 0;
    uint32_t *sends = calloc(plan->channel_count + 1, sizeof *sends);
    for (uint32_t tb = 0; sends != NULL && tb < r->tbs; tb++) {
        const struct nuna_threadblock *block = &plan->threadblocks[tb];
        for (uint32_t o = block->op_at; o < block->op_at + block->op_count; o++) {
            bool message =
                plan->ops[o].kind == NUNA_OP_FIFO && (plan->ops[o].flags & NUNA_OP_SENDS) != 0;
            snapshots += message || plan->ops[o].kind == NUNA_OP_POST;
            if (message)
                sends[receiving_end(r, tb, false)]++;
        }
    }
    bool fits = (snapshots + r->tbs) * r->tbs <= CLOCK_ENTRIES_MAX;
    r->clocks = calloc((size_t)(fits ? r->tbs : 0) * r->tbs + 1, sizeof *r->clocks);
    r->snapshots = malloc(((fits ? snapshots : 0) * r->tbs + 1) * sizeof *r->snapshots);
    r->post_of = calloc(plan->op_count + 1, sizeof *r->post_of);
    r->sent = calloc(plan->channel_count + 1, sizeof *r->sent);
    r->received = calloc(plan->channel_count + 1, sizeof *r->received);
    r->message_at = calloc(plan->channel_count + 1, sizeof *r->message_at);
    r->message_of = malloc((snapshots + 1) * sizeof *r->message_of);
    r->pc = calloc(r->tbs + 1u, sizeof *r->pc);
    r->accesses = calloc((size_t)r->slots->count + 1, sizeof *r->accesses);
    r->no_memory = sends == NULL || r->clocks == NULL || r->snapshots == NULL ||
                   r->post_of == NULL || r->sent == NULL || r->received == NULL ||
                   r->message_at == NULL || r->message_of == NULL || r->pc == NULL ||
                   r->accesses == NULL;
    for (size_t c = 0; !r->no_memory && c + 1 < plan->channel_count; c++)
        r->message_at[c + 1] = r->message_at[c] + sends[c];
    for (uint32_t s = 0; !r->no_memory && s < r->slots->count; s++)
        r->accesses[s].first_reader = NUNA_NONE;
    free(sends);
    return fits && !r->no_memory;
}

bool nuna_check_races(const struct nuna_slots *slots, char *text, size_t room, bool *ret_checked,
                      struct nuna_error *err)
{
    struct race_run r = {.slots = slots,
                         .plan = slots->plan,
                         .tbs = (uint32_t)slots->plan->threadblock_count,
                         .text = text,
                         .room = room};
    text[0] = '\0';
    *ret_checked = prepare(&r);
    if (*ret_checked)
        run(&r);
    size_t used = strlen(text);
    if (r.races > RACES_LISTED)
        snprintf(text + used, room - used, "and %zu more such accesses\n", r.races - RACES_LISTED);
    free(r.clocks);
    free(r.snapshots);
    free(r.post_of);
    free(r.sent);
    free(r.received);
    free(r.message_at);
    free(r.message_of);
    free(r.pc);
    free(r.accesses);
    free(r.readers);
    return !r.no_memory || nuna_fail_memory(err, "the check of a plan");
}
