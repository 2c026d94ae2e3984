/* A compute unit: issue slots, stores before loads, threadblocks in turn, the window of outstanding
 * requests, reductions that occupy it. Closed forms, and random work against a second model. */
#include "part_scene.h"

/* Adds an operation of one chunk, whatever its number of lines. */
static void add_move(struct script *s, enum nuna_op_kind kind, uint32_t operands)
{
    script_op(s, kind);
    for (uint32_t i = 0; i < operands; i++)
        script_from(s, 0, NUNA_BUF_INPUT, i, 1);
    script_to(s, kind == NUNA_OP_PUT ? 1 : 0, NUNA_BUF_OUTPUT, 0, 1);
}

static nuna_time end_of_one(const struct nuna_params *p, enum nuna_op_kind kind, uint32_t operands,
                            uint64_t lines)
{
    struct script s;
    struct nuna_result result;
    script_open(&s, 2, operands);
    script_block(&s);
    add_move(&s, kind, operands);
    struct nuna_plan *plan = script_close(&s);
    nuna_time *ends = ends_of(p, plan, lines * LINE, &result), end = ends[0];
    free(ends);
    nuna_plan_destroy(plan);
    return end;
}

/* ---- closed forms ---- */

Test(cu, a_slot_for_each_load_and_store)
{
    struct nuna_params p = pure_latency();
    nuna_time round = there_and_back(&p);
    for (uint64_t lines = 1; lines <= 9; lines++) {
        /* All loads are out before the first is back: then the stores go, slot by slot. */
        p.gpu.issue_interval = 1500;
        check_end("copy", end_of_one(&p, NUNA_OP_COPY, 1, lines), 2 * round + (lines - 1) * 1500);
        check_end("put", end_of_one(&p, NUNA_OP_PUT, 1, lines), round + (lines - 1) * 1500);
        /* Slots are rarer than answers: a load and its store in turn. */
        p.gpu.issue_interval = 900000;
        check_end("slow copy", end_of_one(&p, NUNA_OP_COPY, 1, lines),
                  (2 * lines - 1) * 900000 + round);
        check_end("slow put", end_of_one(&p, NUNA_OP_PUT, 1, lines), (2 * lines - 1) * 900000);
    }
}

/* Data that come back while loads are left go out first: the loads wait. */
Test(cu, stores_go_before_loads)
{
    struct nuna_params p = pure_latency();
    nuna_time round = there_and_back(&p);
    const uint64_t before = 5; /* loads in the slots until the first is back */
    p.gpu.issue_interval = (int64_t)(round / before + 1);
    nuna_time slot = (nuna_time)p.gpu.issue_interval;
    cr_assert(round < before * slot && round > (before - 1) * slot);
    for (uint64_t lines = before; lines <= 2 * before; lines++) {
        /* Five loads, five stores, the rest: their stores find the unit idle, unless it still loads
         * when the first of them is back. */
        uint64_t rest = lines - before;
        nuna_time last = rest == 0        ? (2 * before - 1) * slot
                         : rest == before ? (4 * before - 1) * slot
                                          : (2 * before + rest - 1) * slot + round;
        check_end("copy", end_of_one(&p, NUNA_OP_COPY, 1, lines), last + round);
    }
}

/* A line keeps its place in the window from its load to its last acknowledgement. */
Test(cu, a_window_of_outstanding_lines)
{
    struct nuna_params p = pure_latency();
    nuna_time load = there_and_back(&p), copy = 2 * load;
    nuna_time put = load + reach_peer(&p) + peer_answers(&p);
    p.gpu.issue_interval = 1000;
    for (int64_t window = 1; window <= 6; window++)
        for (uint64_t lines = 1; lines <= 20; lines++) {
            p.gpu.max_outstanding = window;
            uint64_t turns = (lines - 1) / (uint64_t)window;
            nuna_time in_turn = (lines - 1) % (uint64_t)window * 1000;
            check_end("copy", end_of_one(&p, NUNA_OP_COPY, 1, lines),
                      turns * copy + in_turn + copy);
            check_end("put", end_of_one(&p, NUNA_OP_PUT, 1, lines), turns * put + in_turn + load);
        }
}

/* A line's operands take a slot each; the sum takes the unit, and only then is it stored. */
Test(cu, reductions_occupy_it)
{
    struct nuna_params p = pure_latency();
    nuna_time round = there_and_back(&p);
    p.gpu.issue_interval = 1000;
    p.gpu.reduce_rate = 7000000000; /* 36.6 ns an operand */
    for (uint32_t operands = 2; operands <= 5; operands++)
        for (uint64_t lines = 1; lines <= 6; lines++) {
            nuna_time work = wire((uint64_t)operands * LINE, p.gpu.reduce_rate);
            nuna_time first = (operands - 1) * UINT64_C(1000) + round;
            cr_assert_lt(lines * operands * 1000, round);
            p.gpu.max_outstanding = 700;
            check_end("reduce", end_of_one(&p, NUNA_OP_REDUCE, operands, lines),
                      first + lines * work + (lines - 1) * 1000 + round);
            /* One line at a time, but that one whole. */
            p.gpu.max_outstanding = 1;
            check_end("a window of one", end_of_one(&p, NUNA_OP_REDUCE, operands, lines),
                      lines * (first + work + round));
        }
}

/* Two threadblocks on one unit: line by line in turn, then the longer one alone. */
Test(cu, threadblocks_take_turns)
{
    struct nuna_params p = pure_latency();
    nuna_time round = there_and_back(&p);
    p.gpu.issue_interval = 1000;
    for (uint32_t a = 1; a <= 6; a++)
        for (uint32_t b = 1; b <= 6; b++) {
            struct script s;
            struct nuna_result result;
            const uint32_t count[] = {a, b};
            script_open(&s, 1, 6);
            for (int t = 0; t < 2; t++) {
                script_block(&s);
                script_op(&s, NUNA_OP_COPY);
                script_from(&s, 0, NUNA_BUF_INPUT, 0, count[t]);
                script_to(&s, 0, NUNA_BUF_OUTPUT, 0, count[t]);
            }
            struct nuna_plan *plan = script_close(&s);
            nuna_time *ends = ends_of(&p, plan, LINE, &result);
            uint32_t last_a = a <= b ? 2 * a - 1 : a + b, last_b = b < a ? 2 * b : a + b;
            check_end("first", ends[0], (last_a - 1) * UINT64_C(1000) + 2 * round);
            check_end("second", ends[1], (last_b - 1) * UINT64_C(1000) + 2 * round);
            free(ends);
            nuna_plan_destroy(plan);
        }
}

/* ---- a second model ---- */

enum {
    BLOCKS = 3,
    OPS = 3,
    OPERANDS = 4,
    LINES = 9,
    FLIGHTS = BLOCKS * OPS * LINES * OPERANDS * 2
};

/* An operation, and how far it is. */
struct job {
    enum nuna_op_kind kind;
    uint32_t operands, lines;
    uint32_t loaded, operand, done;
    struct line *line; /* being loaded */
    nuna_time end;
};

struct line {
    uint32_t block, missing; /* operands */
    struct job *job;
};

struct arrival {
    nuna_time time;
    struct line *line;
    bool acknowledges;
};

struct model {
    struct job jobs[BLOCKS][OPS];
    uint32_t current[BLOCKS]; /* job */
    nuna_time slot, load, copied, put, work[OPERANDS + 1];
    uint32_t window;
    nuna_time now, free_at, issue_at;
    bool issues, inside;
    uint32_t outstanding, queued, line_count, arrival_count, ready_head, ready_tail;
    uint32_t queue[BLOCKS];
    struct line lines[FLIGHTS], *ready[FLIGHTS];
    struct arrival arrivals[FLIGHTS]; /* in no order */
};

static bool model_can_load(const struct model *m)
{
    return m->queued > 0 && (m->outstanding < m->window || m->inside);
}

static void model_kick(struct model *m)
{
    if (m->issues || !(m->ready_head < m->ready_tail || model_can_load(m)))
        return;
    m->issues = true;
    m->issue_at = m->free_at > m->now ? m->free_at : m->now;
}

static void model_line_done(struct model *m, const struct line *line)
{
    if (++line->job->done < line->job->lines)
        return;
    line->job->end = m->now;
    if (++m->current[line->block] < OPS)
        m->queue[m->queued++] = line->block;
}

static void model_expect(struct model *m, nuna_time after, struct line *line, bool acknowledges)
{
    m->arrivals[m->arrival_count++] = (struct arrival){m->now + after, line, acknowledges};
}

static void model_load(struct model *m)
{
    uint32_t block = m->queue[0];
    struct job *job = &m->jobs[block][m->current[block]];
    if (job->operand == 0) {
        job->line = &m->lines[m->line_count++];
        *job->line = (struct line){block, job->operands, job};
    }
    model_expect(m, m->load, job->line, false);
    m->outstanding++;
    m->inside = ++job->operand < job->operands;
    if (m->inside)
        return;
    job->operand = 0;
    m->queued--;
    memmove(m->queue, m->queue + 1, m->queued * sizeof *m->queue);
    if (++job->loaded < job->lines)
        m->queue[m->queued++] = block;
}

/* A put's line is done when its store is issued: its acknowledgement only frees its place. */
static void model_store(struct model *m)
{
    struct line *line = m->ready[m->ready_head++];
    bool put = line->job->kind == NUNA_OP_PUT;
    model_expect(m, put ? m->put : m->copied, line, true);
    if (put)
        model_line_done(m, line);
}

static void model_issue(struct model *m)
{
    m->issues = false;
    if (m->now >= m->free_at) {
        m->free_at = m->now + m->slot;
        if (m->ready_head < m->ready_tail)
            model_store(m);
        else if (model_can_load(m))
            model_load(m);
    }
    model_kick(m);
}

static void model_arrive(struct model *m, const struct arrival *arrival)
{
    struct line *line = arrival->line;
    uint32_t operands = line->job->operands;
    if (arrival->acknowledges) {
        m->outstanding--;
        if (line->job->kind != NUNA_OP_PUT)
            model_line_done(m, line);
    } else {
        /* The line keeps the place of its first operand. */
        m->outstanding -= line->missing < operands;
        if (--line->missing == 0) {
            if (operands > 1)
                m->free_at = (m->free_at > m->now ? m->free_at : m->now) + m->work[operands];
            m->ready[m->ready_tail++] = line;
        }
    }
    model_kick(m);
}

static void model_run(struct model *m)
{
    for (uint32_t block = 0; block < BLOCKS; block++)
        m->queue[m->queued++] = block;
    model_kick(m);
    while (m->issues || m->arrival_count > 0) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < m->arrival_count; i++)
            if (m->arrivals[i].time < m->arrivals[next].time)
                next = i;
        if (m->arrival_count > 0 && (!m->issues || m->arrivals[next].time <= m->issue_at)) {
            struct arrival arrival = m->arrivals[next];
            m->arrivals[next] = m->arrivals[--m->arrival_count];
            m->now = arrival.time;
            model_arrive(m, &arrival);
        } else {
            m->now = m->issue_at;
            model_issue(m);
        }
    }
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % below;
}

static void draw_machine(struct nuna_params *p, struct model *m, uint64_t *random)
{
    static const int64_t windows[] = {1, 2, 3, 7, 20, 700};
    static const uint64_t slots[] = {1, 700, 5003, 60013, 400009};
    *p = pure_latency();
    p->gpu.max_outstanding = windows[draw(random, COUNT(windows))];
    p->gpu.issue_interval = 1 + (int64_t)draw(random, slots[draw(random, COUNT(slots))]);
    p->gpu.reduce_rate = (int64_t)(1000000000 + draw(random, 100000000000));
    m->window = (uint32_t)p->gpu.max_outstanding;
    m->slot = (nuna_time)p->gpu.issue_interval;
    m->load = m->copied = there_and_back(p);
    m->put = reach_peer(p) + peer_answers(p);
    for (uint32_t operands = 2; operands <= OPERANDS; operands++)
        m->work[operands] = wire((uint64_t)operands * LINE, p->gpu.reduce_rate);
}

static struct nuna_plan *draw_work(struct model *m, uint64_t *random)
{
    static const enum nuna_op_kind kinds[] = {NUNA_OP_COPY, NUNA_OP_PUT, NUNA_OP_REDUCE};
    struct script s;
    script_open(&s, 2, LINES);
    for (int block = 0; block < BLOCKS; block++) {
        script_block(&s);
        for (int o = 0; o < OPS; o++) {
            struct job *job = &m->jobs[block][o];
            job->kind = kinds[draw(random, COUNT(kinds))];
            job->lines = 1 + (uint32_t)draw(random, LINES);
            job->operands =
                job->kind == NUNA_OP_REDUCE ? 2 + (uint32_t)draw(random, OPERANDS - 1) : 1;
            script_op(&s, job->kind);
            for (uint32_t i = 0; i < job->operands; i++)
                script_from(&s, 0, NUNA_BUF_INPUT, 0, job->lines);
            script_to(&s, job->kind == NUNA_OP_PUT, NUNA_BUF_OUTPUT, 0, job->lines);
        }
    }
    return script_close(&s);
}

/* Any work, any machine: every operation ends when the model says. */
Test(cu, random_work_against_the_model)
{
    uint64_t random = 0x2545f4914f6cdd1d;
    struct model *m = malloc(sizeof *m);
    cr_assert_not_null(m);
    for (int round = 0; round < 600; round++) {
        struct nuna_params p;
        struct nuna_result result;
        memset(m, 0, sizeof *m);
        draw_machine(&p, m, &random);
        struct nuna_plan *plan = draw_work(m, &random);
        nuna_time *ends = ends_of(&p, plan, LINE, &result);
        model_run(m);
        for (int block = 0; block < BLOCKS; block++)
            for (int o = 0; o < OPS; o++)
                cr_assert_eq(ends[block * OPS + o], m->jobs[block][o].end,
                             "round %d, operation %d of block %d: %" PRIu64 ", model %" PRIu64,
                             round, o, block, ends[block * OPS + o], m->jobs[block][o].end);
        free(ends);
        nuna_plan_destroy(plan);
    }
    free(m);
}
