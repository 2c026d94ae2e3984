/* The thread behind port channels: one request after the other, each a latency after the one
 * before, data by a copy engine of its own, signals behind all earlier data, a queue of so many
 * requests. Closed forms. */
#include "part_scene.h"

#define SLOT UINT64_C(1000)

static struct nuna_params machine(int64_t latency)
{
    struct nuna_params p = pure_latency();
    p.gpu.issue_interval = SLOT;
    p.proxy.request_latency = latency;
    return p;
}

static nuna_time later(nuna_time a, nuna_time b)
{
    return a > b ? a : b;
}

/* GPU 0's blocks ask, and GPU 1's one block waits, both on port channels 0, 1, ... */
static void open_pair(struct script *s, uint32_t channels, uint32_t chunks)
{
    script_open(s, 2, chunks);
    for (uint32_t c = 0; c < channels; c++)
        script_channel(s, 1, NUNA_CHANNEL_PORT);
}

static struct nuna_plan *close_pair(struct script *s, uint32_t channels, uint32_t waits)
{
    script_next_gpu(s);
    for (uint32_t c = 0; c < channels; c++)
        script_channel(s, 0, NUNA_CHANNEL_PORT);
    script_block(s);
    for (uint32_t w = 0; w < waits; w++)
        script_sync(s, NUNA_OP_WAIT, w % channels);
    return script_close(s);
}

static void add_put(struct script *s, uint8_t flags, uint32_t count)
{
    script_op(s, NUNA_OP_PUT)->flags = NUNA_OP_PORT | flags;
    script_from(s, 0, NUNA_BUF_INPUT, 0, count);
    script_to(s, 1, NUNA_BUF_OUTPUT, 0, count);
    nuna_builder_id(&s->b, 0);
}

static void add_signal(struct script *s, uint32_t channel)
{
    script_sync(s, NUNA_OP_SIGNAL, channel);
    nuna_builder_newest(&s->b)->flags = NUNA_OP_PORT;
}

static const int64_t latencies[] = {0, 5000, 700001, 10000003};

/* A put with its signal: the latency, the loads, the last store's acknowledgement, the flag. The
 * block itself goes on at once, or, when it flushes, at the acknowledgement. */
Test(proxy, one_put)
{
    for (size_t l = 0; l < COUNT(latencies); l++)
        for (uint64_t lines = 1; lines <= 20; lines++)
            for (int flushes = 0; flushes < 2; flushes++) {
                struct nuna_params p = machine(latencies[l]);
                struct script s;
                struct nuna_result result;
                open_pair(&s, 1, 1);
                script_block(&s);
                add_put(&s, (uint8_t)(NUNA_OP_SIGNALS | (flushes ? NUNA_OP_FLUSHES : 0)), 1);
                struct nuna_plan *plan = close_pair(&s, 1, 1);
                nuna_time *ends = ends_of(&p, plan, lines * LINE, &result);
                nuna_time acked = (nuna_time)latencies[l] + there_and_back(&p) +
                                  (lines - 1) * SLOT + reach_peer(&p) + peer_answers(&p);
                check_end("block", ends[0], flushes ? acked : 0);
                check_end("flag", ends[1], acked + reach_peer(&p));
                free(ends);
                nuna_plan_destroy(plan);
            }
}

/* A request begins a latency after the one before is done with: a put when its last store is out,
 * a flush or signal when all that went before is acknowledged. */
Test(proxy, requests_in_order)
{
    for (size_t l = 0; l < COUNT(latencies); l++)
        for (uint32_t puts = 1; puts <= 6; puts++)
            for (int signals = 0; signals < 2; signals++) {
                struct nuna_params p = machine(latencies[l]);
                nuna_time latency = (nuna_time)latencies[l], out = 0, acked = 0;
                struct script s;
                struct nuna_result result;
                open_pair(&s, 1, 6);
                script_block(&s);
                for (uint32_t i = 0; i < puts; i++) {
                    add_put(&s, 0, 1 + i);
                    /* The engine has an issue slot for every load and store. */
                    nuna_time start = out + latency;
                    if (i > 0 && start < out + SLOT)
                        start = out + SLOT;
                    out = start + there_and_back(&p) + i * SLOT;
                    acked = out + reach_peer(&p) + peer_answers(&p);
                }
                nuna_time done = later(out + latency, acked);
                if (signals)
                    add_signal(&s, 0);
                else
                    script_op(&s, NUNA_OP_FLUSH);
                struct nuna_plan *plan = close_pair(&s, 1, (uint32_t)signals);
                nuna_time *ends = ends_of(&p, plan, LINE, &result);
                for (uint32_t i = 0; i < puts; i++)
                    check_end("put", ends[i], 0);
                check_end("flush or signal", ends[puts], signals ? 0 : done);
                if (signals)
                    check_end("flag", ends[puts + 1], done + reach_peer(&p));
                free(ends);
                nuna_plan_destroy(plan);
            }
}

/* Blocks go on until one request is beyond the queue's limit: its block waits for the one that is
 * taken from the other end. */
Test(proxy, a_full_queue_holds_the_block)
{
    enum { SIGNALS = 12 };
    for (int64_t limit = 1; limit <= 14; limit++) {
        struct nuna_params p = machine(1000003);
        struct script s;
        struct nuna_result result;
        p.proxy.queue = limit;
        open_pair(&s, 1, 1);
        script_block(&s);
        for (uint32_t i = 0; i < SIGNALS; i++)
            add_signal(&s, 0);
        struct nuna_plan *plan = close_pair(&s, 1, SIGNALS);
        nuna_time *ends = ends_of(&p, plan, LINE, &result);
        for (uint32_t i = 0; i < SIGNALS; i++) {
            nuna_time taken = i >= limit ? (i - (nuna_time)limit + 1) * 1000003 : 0;
            check_end("signal", ends[i], taken);
            check_end("flag", ends[SIGNALS + i], (i + 1) * UINT64_C(1000003) + reach_peer(&p));
        }
        free(ends);
        nuna_plan_destroy(plan);
    }
}

/* Beyond its first room the ring grows in order, wherever its head is. */
Test(proxy, many_requests_keep_their_order)
{
    enum { BEFORE = 40, SIGNALS = 300, CHANNELS = 7 };
    struct nuna_params p = machine(50000);
    struct script s;
    struct nuna_result result;
    open_pair(&s, CHANNELS, 1);
    script_block(&s);
    for (uint32_t i = 0; i < SIGNALS; i++) {
        if (i == BEFORE)
            script_op(&s, NUNA_OP_FLUSH);
        add_signal(&s, i % CHANNELS);
    }
    struct nuna_plan *plan = close_pair(&s, CHANNELS, SIGNALS);
    nuna_time *ends = ends_of(&p, plan, LINE, &result);
    for (uint32_t i = 0; i < SIGNALS; i++) {
        uint64_t requests = i + 1 + (i >= BEFORE);
        check_end("flag", ends[SIGNALS + 1 + i], requests * 50000 + reach_peer(&p));
    }
    free(ends);
    nuna_plan_destroy(plan);
}

/* A request for every channel of a signal, and for every pair of ranges of a put. */
Test(proxy, channels_and_lanes_are_requests)
{
    enum { LANES = 3 };
    struct nuna_params p = machine(2000003);
    struct script s;
    struct nuna_result result;
    const nuna_time latency = 2000003, near = there_and_back(&p);
    open_pair(&s, LANES, LANES);
    script_block(&s);
    struct nuna_op *put = script_op(&s, NUNA_OP_PUT);
    put->flags = NUNA_OP_PORT | NUNA_OP_SIGNALS | NUNA_OP_FLUSHES;
    for (uint32_t lane = 0; lane < LANES; lane++)
        script_from(&s, 0, NUNA_BUF_INPUT, lane, 1);
    for (uint32_t lane = 0; lane < LANES; lane++)
        script_to(&s, 1, NUNA_BUF_OUTPUT, lane, 1);
    for (uint32_t lane = 0; lane < LANES; lane++)
        nuna_builder_id(&s.b, lane);
    add_signal(&s, 0);
    for (uint32_t lane = 1; lane < LANES; lane++)
        nuna_builder_id(&s.b, lane);
    struct nuna_plan *plan = close_pair(&s, LANES, 2 * LANES);
    nuna_time *ends = ends_of(&p, plan, LINE, &result);
    nuna_time done = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        done += latency + near + reach_peer(&p) + peer_answers(&p);
        check_end("flag of a lane", ends[2 + lane], done + reach_peer(&p));
    }
    check_end("block", ends[0], done);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        done += latency;
        check_end("flag of a signal", ends[2 + LANES + lane], done + reach_peer(&p));
    }
    free(ends);
    nuna_plan_destroy(plan);
}

/* Its data take slots of no compute unit: a block that copies meanwhile loses nothing. */
Test(proxy, an_engine_of_its_own)
{
    struct nuna_params p = machine(0);
    struct script s;
    struct nuna_result result;
    nuna_time near = there_and_back(&p);
    open_pair(&s, 1, 40);
    script_block(&s);
    add_put(&s, NUNA_OP_SIGNALS, 40);
    script_op(&s, NUNA_OP_COPY);
    script_from(&s, 0, NUNA_BUF_INPUT, 0, 40);
    script_to(&s, 0, NUNA_BUF_OUTPUT, 0, 40);
    struct nuna_plan *plan = close_pair(&s, 1, 1);
    nuna_time *ends = ends_of(&p, plan, LINE, &result);
    check_end("copy", ends[1], 2 * near + 39 * SLOT);
    check_end("flag", ends[2], near + 39 * SLOT + 2 * reach_peer(&p) + peer_answers(&p));
    free(ends);
    nuna_plan_destroy(plan);
}

/* A put of packets that have not come is no request yet: the block waits for them. */
Test(proxy, requests_await_packets)
{
    struct nuna_params p = machine(3000001);
    struct script s;
    struct nuna_result result;
    nuna_time near = there_and_back(&p), push = reach_peer(&p), ack = peer_answers(&p);
    script_open(&s, 2, 1);
    s.b.plan->protocol = NUNA_FORM_LL;
    script_channel(&s, 1, NUNA_CHANNEL_PORT);
    script_block(&s);
    script_op(&s, NUNA_OP_FORWARD);
    script_from(&s, 0, NUNA_BUF_INPUT, 0, 1);
    script_to(&s, 1, NUNA_BUF_SCRATCH, 0, 1);
    script_range(&s)->form = NUNA_FORM_LL;
    script_sync(&s, NUNA_OP_WAIT, 0);
    script_next_gpu(&s);
    script_channel(&s, 0, NUNA_CHANNEL_PORT);
    script_block(&s);
    script_op(&s, NUNA_OP_PUT)->flags = NUNA_OP_PORT | NUNA_OP_SIGNALS | NUNA_OP_AWAITS;
    script_from(&s, 1, NUNA_BUF_SCRATCH, 0, 1);
    script_range(&s)->form = NUNA_FORM_LL;
    script_to(&s, 0, NUNA_BUF_OUTPUT, 0, 1);
    nuna_builder_id(&s.b, 0);
    struct nuna_plan *plan = script_close(&s);
    for (uint64_t packets = 1; packets <= 5; packets++) {
        nuna_time *ends = ends_of(&p, plan, packets * LINE / 2, &result);
        nuna_time come = near + (packets - 1) * SLOT + push;
        check_end("request", ends[2], come);
        check_end("flag", ends[1],
                  come + 3000001 + near + (packets - 1) * SLOT + push + ack + push);
        free(ends);
    }
    nuna_plan_destroy(plan);
}
