/* Moves with several ends: remote loads, many destinations, sums of near and far operands, packets
 * that are read as they come, messages of connections, switch groups, parts. Closed forms, and the
 * bytes that cross. */
#include "part_scene.h"

#define SLOT UINT64_C(1000)

struct times {
    nuna_time load, store; /* local, there and back */
    nuna_time push, ack;   /* a remote store's landing; its acknowledgement */
    nuna_time fetch;
};

static struct nuna_params machine(void)
{
    struct nuna_params p = pure_latency();
    p.gpu.issue_interval = SLOT;
    return p;
}

static struct times times_of(const struct nuna_params *p)
{
    nuna_time near = there_and_back(p), push = reach_peer(p), ack = peer_answers(p);
    return (struct times){near, near, push, ack, push + ack};
}

/* What the ports of a GPU carried, out and in. */
struct carried {
    uint32_t gpu;
    uint64_t out, in;
};

static bool add_carried(void *context, const struct nuna_resource *resource)
{
    struct carried *carried = context;
    if (resource->gpu == carried->gpu && resource->kind == NUNA_RESOURCE_PORT)
        carried->out += resource->bytes;
    if (resource->gpu == carried->gpu && resource->kind == NUNA_RESOURCE_SWITCH_OUTPUT)
        carried->in += resource->bytes;
    return true;
}

static void check_carried(const struct nuna_sim *sim, uint32_t gpu, uint64_t out, uint64_t in)
{
    struct carried carried = {.gpu = gpu};
    const struct nuna_view view = nuna_view_of(sim, NULL);
    nuna_visit_resources(&view, add_carried, &carried);
    cr_assert_eq(carried.out, out, "GPU %u sent %" PRIu64 " bytes, expected %" PRIu64, gpu,
                 carried.out, out);
    cr_assert_eq(carried.in, in, "GPU %u got %" PRIu64 " bytes, expected %" PRIu64, gpu, carried.in,
                 in);
}

/* Runs a plan of chunks of `bytes`, whose first operation ends at `due`. */
static struct nuna_sim *run(const struct nuna_params *p, const struct nuna_plan *plan,
                            uint64_t bytes, const char *what, nuna_time due)
{
    struct nuna_result result;
    struct nuna_sim *sim = simulate(p, plan, bytes * plan->gpus[0].chunks[NUNA_BUF_INPUT], &result);
    check_end(what, sim->log[0].end, due);
    return sim;
}

/* ---- near and far ---- */

Test(move, remote_loads)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    for (uint64_t lines = 1; lines <= 20; lines++) {
        struct script s;
        script_open(&s, 2, 1);
        script_block(&s);
        script_op(&s, NUNA_OP_GET);
        script_from(&s, 1, NUNA_BUF_INPUT, 0, 1);
        script_to(&s, 0, NUNA_BUF_OUTPUT, 0, 1);
        struct nuna_plan *plan = script_close(&s);
        struct nuna_sim *sim =
            run(&p, plan, lines * LINE, "get", t.fetch + (lines - 1) * SLOT + t.store);
        check_carried(sim, 0, lines * CONTROL, lines * LINE);
        check_carried(sim, 1, lines * LINE, lines * CONTROL);
        nuna_sim_destroy(sim);
        nuna_plan_destroy(plan);
    }
}

/* One load, then a store for each destination, slot by slot; near ones are waited for. */
Test(move, one_source_many_destinations)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    for (uint32_t far = 0; far < 8; far++) /* which of three destinations are remote: bits */
        for (uint64_t lines = 1; lines <= 5; lines++) {
            struct script s;
            nuna_time due = 0;
            script_open(&s, 2, 3);
            script_block(&s);
            script_op(&s, NUNA_OP_FORWARD);
            script_from(&s, 0, NUNA_BUF_INPUT, 0, 1);
            for (uint32_t d = 0; d < 3; d++) {
                bool remote = far >> d & 1;
                nuna_time last = t.load + ((lines - 1) * 3 + d) * SLOT + (remote ? 0 : t.store);
                script_to(&s, remote, NUNA_BUF_OUTPUT, d, 1);
                due = last > due ? last : due;
            }
            struct nuna_plan *plan = script_close(&s);
            nuna_sim_destroy(run(&p, plan, lines * LINE, "forward", due));
            nuna_plan_destroy(plan);
        }
}

static void check_sum(uint32_t operands, uint32_t far, uint64_t lines)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    struct script s;
    nuna_time in = 0;
    p.gpu.reduce_rate = 3000000000;
    script_open(&s, 2, 3);
    script_block(&s);
    script_op(&s, NUNA_OP_REDUCE);
    for (uint32_t i = 0; i < operands; i++) {
        nuna_time back = i * SLOT + (far >> i & 1 ? t.fetch : t.load);
        script_from(&s, far >> i & 1, NUNA_BUF_INPUT, i, 1);
        in = back > in ? back : in;
    }
    script_to(&s, 1, NUNA_BUF_OUTPUT, 0, 1);
    script_to(&s, 0, NUNA_BUF_OUTPUT, 1, 1);
    struct nuna_plan *plan = script_close(&s);
    nuna_time work = wire((uint64_t)operands * LINE, p.gpu.reduce_rate);
    nuna_sim_destroy(
        run(&p, plan, lines * LINE, "sum", in + lines * work + (2 * lines - 1) * SLOT + t.store));
    nuna_plan_destroy(plan);
}

/* The sum waits for the last operand, takes the unit for all of them, and goes to every
 * destination. */
Test(move, sums_of_near_and_far)
{
    for (uint32_t operands = 2; operands <= 3; operands++)
        for (uint32_t far = 1; far < 1u << operands; far++)
            for (uint64_t lines = 1; lines <= 4; lines++)
                check_sum(operands, far, lines);
}

/* The unit's window counts every load and every store of a move. */
Test(move, a_window_of_one)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    p.gpu.max_outstanding = 1;
    for (uint64_t lines = 1; lines <= 5; lines++) {
        struct script s;
        script_open(&s, 2, 1);
        script_block(&s);
        script_op(&s, NUNA_OP_GET);
        script_from(&s, 1, NUNA_BUF_INPUT, 0, 1);
        script_to(&s, 0, NUNA_BUF_OUTPUT, 0, 1);
        struct nuna_plan *plan = script_close(&s);
        nuna_sim_destroy(run(&p, plan, lines * LINE, "get", lines * (t.fetch + t.store)));
        nuna_plan_destroy(plan);
    }
}

/* Lanes follow each other, lines of chunks begin anew, and what is left of a chunk is a packet. */
Test(move, chunks_that_are_no_lines)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    for (uint64_t bytes = 16; bytes <= 3 * LINE; bytes += 16) {
        struct script s;
        uint64_t packets = (bytes + LINE - 1) / LINE * 4;
        script_open(&s, 2, 4);
        script_block(&s);
        script_op(&s, NUNA_OP_GET);
        for (uint32_t lane = 0; lane < 4; lane += 2)
            script_from(&s, 1, NUNA_BUF_INPUT, lane, 2);
        for (uint32_t lane = 0; lane < 4; lane += 2)
            script_to(&s, 0, NUNA_BUF_OUTPUT, lane, 2);
        struct nuna_plan *plan = script_close(&s);
        struct nuna_sim *sim =
            run(&p, plan, bytes, "chunks", t.fetch + (packets - 1) * SLOT + t.store);
        check_carried(sim, 0, packets * CONTROL, 4 * bytes);
        nuna_sim_destroy(sim);
        nuna_plan_destroy(plan);
    }
}

/* Threadblocks that share a chunk move it once, in whole grains. */
Test(move, parts_of_a_range)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    const uint16_t parts = 3;
    for (uint64_t bytes = 16; bytes < 4096; bytes += 1040) {
        struct script s;
        script_open(&s, 2, 1);
        for (uint16_t part = 0; part < parts; part++) {
            script_block(&s);
            struct nuna_op *op = script_op(&s, NUNA_OP_PUT);
            op->part = part;
            op->parts = parts;
            script_from(&s, 0, NUNA_BUF_INPUT, 0, 1);
            script_to(&s, 1, NUNA_BUF_OUTPUT, 0, 1);
        }
        struct nuna_plan *plan = script_close(&s);
        struct nuna_result result;
        struct nuna_sim *sim = simulate(&p, plan, bytes, &result);
        uint64_t grains = bytes / 16, packets = 0, turn_of_last = 0;
        for (uint64_t part = 0; part < parts; part++) {
            uint64_t own = (grains / parts + (part < grains % parts)) * 16;
            uint64_t lines = (own + LINE - 1) / LINE;
            packets += lines;
            turn_of_last = lines > 0 ? packets : turn_of_last;
        }
        cr_assert_eq(result.bytes_delivered, bytes);
        cr_assert_eq(result.stores, packets, "%" PRIu64 " bytes: %" PRIu64 " packets", bytes,
                     result.stores);
        /* All loads go out in turn, and the last store is the last load's. */
        nuna_time last = 0;
        for (uint16_t part = 0; part < parts; part++)
            last = sim->log[part].end > last ? sim->log[part].end : last;
        check_end("parts", last, t.load + (packets - 1) * SLOT);
        nuna_sim_destroy(sim);
        nuna_plan_destroy(plan);
    }
}

/* ---- packets ---- */

/* GPU 0 writes a chunk as packets into GPU 1's scratch, and `readers` blocks there copy it out,
 * each after loading `idle` lines from afar. */
static struct nuna_plan *packets(uint32_t readers, uint32_t idle)
{
    struct script s;
    script_open(&s, 2, idle > 1 ? idle : 1);
    s.b.plan->protocol = NUNA_FORM_LL;
    script_block(&s);
    script_op(&s, NUNA_OP_FORWARD);
    script_from(&s, 0, NUNA_BUF_INPUT, 0, 1);
    script_to(&s, 1, NUNA_BUF_SCRATCH, 0, 1);
    script_range(&s)->form = NUNA_FORM_LL;
    script_next_gpu(&s);
    for (uint32_t r = 0; r < readers; r++) {
        script_block(&s);
        if (idle > 0) {
            script_op(&s, NUNA_OP_GET);
            script_from(&s, 0, NUNA_BUF_INPUT, 0, idle);
            script_to(&s, 1, NUNA_BUF_OUTPUT, 0, idle);
        }
        script_op(&s, NUNA_OP_COPY);
        script_from(&s, 1, NUNA_BUF_SCRATCH, 0, 1);
        script_range(&s)->form = NUNA_FORM_LL;
        script_to(&s, 1, NUNA_BUF_OUTPUT, 0, 1);
    }
    return script_close(&s);
}

/* Half of a packet is data, the last one has whole units of eight bytes; each is read as it comes.
 */
Test(move, packets_are_read_as_they_come)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    for (uint64_t bytes = 16; bytes <= 5 * LINE; bytes += 48) {
        struct nuna_plan *plan = packets(1, 0);
        struct nuna_result result;
        uint64_t count = (bytes + LINE / 2 - 1) / (LINE / 2);
        nuna_time *ends = ends_of(&p, plan, bytes, &result);
        check_end("written", ends[0], t.load + (count - 1) * SLOT);
        check_end("read", ends[1], t.load + t.push + (count - 1) * SLOT + t.load + t.store);
        cr_assert_eq(result.bytes_delivered, (bytes + 7) / 8 * 16);
        cr_assert_eq(result.stores, count);
        free(ends);
        nuna_plan_destroy(plan);
    }
}

/* Who comes late finds them there; who comes early is woken, and so is everybody else. */
Test(move, packets_wait_for_readers_and_readers_for_packets)
{
    struct nuna_params p = machine();
    struct times t = times_of(&p);
    struct nuna_result result;
    struct nuna_plan *plan = packets(1, 3);
    nuna_time *ends = ends_of(&p, plan, LINE / 2, &result);
    nuna_time free_again = t.fetch + 2 * SLOT + t.store;
    cr_assert_gt(free_again, t.load + t.push);
    check_end("idle", ends[1], free_again);
    check_end("late", ends[2], free_again + t.load + t.store);
    free(ends);
    nuna_plan_destroy(plan);
    plan = packets(3, 0);
    ends = ends_of(&p, plan, LINE / 2, &result);
    /* All three looked before it came, and the last to look is the first to be woken. */
    for (uint32_t r = 0; r < 3; r++)
        check_end("early", ends[1 + r], t.load + t.push + (2 - r) * SLOT + t.load + t.store);
    free(ends);
    nuna_plan_destroy(plan);
}

/* ---- connections ---- */

/* `ops` operations of one chunk each over a connection from GPU 0 to GPU 1. */
static struct nuna_plan *connection(uint32_t ops, enum nuna_form protocol)
{
    struct script s;
    script_open(&s, 2, ops);
    s.b.plan->protocol = protocol;
    s.b.plan->chunks_per_loop = ops;
    s.b.plan->even = true;
    for (uint32_t g = 0; g < 2; g++) {
        if (g == 1)
            script_next_gpu(&s);
        script_channel(&s, 1 - g, g == 0 ? NUNA_CHANNEL_SENDS : NUNA_CHANNEL_RECEIVES);
        script_block(&s);
        struct nuna_threadblock *tb = &s.b.plan->threadblocks[s.b.plan->threadblock_count - 1];
        *(g == 0 ? &tb->send_channel : &tb->recv_channel) = 0;
        for (uint32_t o = 0; o < ops; o++) {
            script_op(&s, NUNA_OP_FIFO)->flags = g == 0 ? NUNA_OP_SENDS : NUNA_OP_RECEIVES;
            if (g == 0)
                script_from(&s, 0, NUNA_BUF_INPUT, o, 1);
            else
                script_to(&s, 1, NUNA_BUF_OUTPUT, o, 1);
        }
    }
    return script_close(&s);
}

/* Simple: a message of one line needs a free slot, is announced when it is acknowledged, and gives
 * its slot back when it is copied out. Two messages an operation. */
Test(move, simple_messages_and_their_slots)
{
    enum { OPS = 5, MESSAGES = 2 * OPS };
    for (int64_t operations = 1; operations <= 4; operations++) {
        struct nuna_params p = machine();
        struct times t = times_of(&p);
        p.fifo.simple_slots = 4;
        p.fifo.slots = 4 * operations;
        uint32_t slots = 2 * (uint32_t)operations;
        nuna_time credit[MESSAGES], announced = 0, copied = 0, sent[OPS], received[OPS];
        for (uint32_t m = 0; m < MESSAGES; m++) {
            /* The flag of the message before has the slot; the load comes after it. */
            nuna_time start = m > 0 ? announced + SLOT : 0;
            if (m >= slots && credit[m - slots] > start)
                start = credit[m - slots];
            announced = start + t.load + t.push + t.ack;
            nuna_time read =
                m > 0 && copied + SLOT > announced + t.push ? copied + SLOT : announced + t.push;
            copied = read + t.load + t.store;
            credit[m] = copied + t.push;
            sent[m / 2] = announced;
            received[m / 2] = copied;
        }
        struct nuna_plan *plan = connection(OPS, NUNA_FORM_DATA);
        struct nuna_result result;
        nuna_time *ends = ends_of(&p, plan, 2 * LINE, &result);
        for (uint32_t o = 0; o < OPS; o++) {
            check_end("sent", ends[o], sent[o]);
            check_end("received", ends[OPS + o], received[o]);
        }
        cr_assert_eq(result.bytes_delivered, (uint64_t)MESSAGES * LINE);
        free(ends);
        nuna_plan_destroy(plan);
    }
}

/* LL: nothing is announced; the data are the message. */
Test(move, packet_messages)
{
    enum { OPS = 6 };
    for (int64_t slots = 1; slots <= 8; slots++) {
        struct nuna_params p = machine();
        struct times t = times_of(&p);
        p.fifo.slots = slots;
        struct nuna_plan *plan = connection(OPS, NUNA_FORM_LL);
        struct nuna_result result;
        nuna_time *ends = ends_of(&p, plan, LINE / 2, &result);
        nuna_time credit[OPS], issued = 0, copied = 0;
        for (uint32_t m = 0; m < OPS; m++) {
            nuna_time start = m > 0 ? issued + SLOT : 0;
            if (m >= slots && credit[m - slots] > start)
                start = credit[m - slots];
            issued = start + t.load;
            nuna_time landed = issued + t.push;
            /* Copied one by one; a slot looks for the packet, another one gives the last slot back.
             */
            nuna_time read = m > 0 && copied + SLOT > landed ? copied + SLOT : landed;
            copied = read + t.load + t.store;
            credit[m] = copied + t.push;
            check_end("sent", ends[m], issued);
            check_end("received", ends[OPS + m], copied);
        }
        cr_assert_eq(result.bytes_delivered, (uint64_t)OPS * LINE);
        free(ends);
        nuna_plan_destroy(plan);
    }
}

/* ---- switch groups ---- */

static void add_group(struct script *s, uint32_t members)
{
    nuna_builder_group(&s->b);
    for (uint32_t g = 0; g < members; g++)
        nuna_builder_group_rank(&s->b, g);
}

/* One packet out of the port, one into each member, one acknowledgement from each: and the store is
 * through when the last is back. */
Test(move, stores_to_a_group)
{
    for (uint32_t members = 1; members <= 5; members++)
        for (uint64_t lines = 1; lines <= 4; lines++) {
            struct nuna_params p = machine();
            struct times t = times_of(&p);
            struct script s;
            script_open(&s, 5, 1);
            add_group(&s, members);
            script_channel(&s, 1, NUNA_CHANNEL_MEMORY);
            script_block(&s);
            script_op(&s, NUNA_OP_FORWARD);
            script_from(&s, 0, NUNA_BUF_INPUT, 0, 1);
            script_to(&s, 0, NUNA_BUF_OUTPUT, 0, 1);
            script_range(&s)->is_group = 1;
            script_sync(&s, NUNA_OP_SIGNAL, 0);
            script_next_gpu(&s);
            script_channel(&s, 0, NUNA_CHANNEL_MEMORY);
            struct nuna_plan *plan = script_close(&s);
            nuna_time issued = t.load + (lines - 1) * SLOT;
            struct nuna_sim *sim = run(&p, plan, lines * LINE, "issued", issued);
            check_end("acknowledged", sim->log[1].end, issued + t.push + t.ack);
            cr_assert_eq(sim->latency.count, members * lines);
            check_carried(sim, 0, lines * LINE + lines * CONTROL + CONTROL,
                          lines * LINE + members * lines * CONTROL);
            for (uint32_t g = 1; g < members; g++)
                check_carried(sim, g, lines * CONTROL, lines * LINE + (g == 1) * CONTROL);
            nuna_sim_destroy(sim);
            nuna_plan_destroy(plan);
        }
}

/* A load from a group: asked of every member, and what they answer comes back as one packet. */
Test(move, loads_from_a_group)
{
    for (uint32_t members = 1; members <= 5; members++)
        for (uint64_t lines = 1; lines <= 4; lines++) {
            struct nuna_params p = machine();
            struct times t = times_of(&p);
            struct script s;
            script_open(&s, 5, 1);
            add_group(&s, members);
            script_block(&s);
            script_op(&s, NUNA_OP_GET);
            script_from(&s, 0, NUNA_BUF_INPUT, 0, 1);
            script_range(&s)->is_group = 1;
            script_to(&s, 0, NUNA_BUF_OUTPUT, 0, 1);
            struct nuna_plan *plan = script_close(&s);
            struct nuna_sim *sim =
                run(&p, plan, lines * LINE, "loaded", t.fetch + (lines - 1) * SLOT + t.store);
            check_carried(sim, 0, lines * CONTROL + lines * LINE, lines * CONTROL + lines * LINE);
            for (uint32_t g = 1; g < members; g++)
                check_carried(sim, g, lines * LINE, lines * CONTROL);
            nuna_sim_destroy(sim);
            nuna_plan_destroy(plan);
        }
}
