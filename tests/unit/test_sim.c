/* Whole simulations against closed forms that are computed here. */
#include "sim_scene.h"

#include "pod/report/latency_map.h"

/* ---- closed forms ---- */

static void check_single_store(const struct nuna_params *p, uint32_t to, uint32_t idle,
                               int64_t *least, int64_t *most)
{
    const uint32_t chunks = 512, from = (to * 7 + 3) % chunks;
    struct nuna_plan *plan = one_way(chunks, from, to, 1, idle);
    struct nuna_result result;
    struct nuna_sim *sim = simulate(p, plan, chunks * LINE, &result);

    const struct nuna_layout_gpu *here = &sim->pod.layout.gpus[0], *there = here + 1;
    struct nuna_location source =
        nuna_address_locate(&sim->pod.spec.map, NULL, here->chunks[NUNA_BUF_INPUT][from].position);
    struct nuna_location target =
        nuna_address_locate(&sim->pod.spec.map, NULL, there->chunks[NUNA_BUF_OUTPUT][to].position);
    struct nuna_location flag = nuna_address_locate(&sim->pod.spec.map, NULL, there->flags);
    struct spot cu = spot_of_cu(p, nuna_tb_of(&sim->gpus[0], idle)->cu->index);
    struct spot local = spot_of_stack(p, cu, source.channel);
    struct spot port = spot_of_port(p, target.port), flag_port = spot_of_port(p, flag.port);
    struct spot remote = spot_of_stack(p, port, target.channel);
    struct spot flag_stack = spot_of_stack(p, flag_port, flag.channel);

    nuna_time load = noc(p, cu, local, CONTROL) + memory(p, LINE) + noc(p, local, cu, LINE);
    nuna_time store = noc(p, cu, port, LINE) + to_switch(p, LINE) + from_switch(p, LINE) +
                      noc(p, port, remote, LINE) + memory(p, LINE);
    nuna_time ack = noc(p, remote, port, CONTROL) + to_switch(p, CONTROL) +
                    from_switch(p, CONTROL) + noc(p, port, cu, CONTROL);
    nuna_time signal = noc(p, cu, flag_port, CONTROL) + to_switch(p, CONTROL) +
                       from_switch(p, CONTROL) + noc(p, flag_port, flag_stack, CONTROL) +
                       memory(p, CONTROL);
    cr_assert_eq(result.stores, 1);
    cr_assert_eq(result.latency->max, store, "store to line %u: %" PRIu64 " ps, by hand %" PRIu64,
                 to, result.latency->max, store);
    cr_assert_eq(result.time, load + store + ack + signal, "%" PRIu64 " ps, by hand %" PRIu64,
                 result.time, load + store + ack + signal);
    cr_assert_eq(result.drained, result.time);
    const nuna_time parts[NUNA_PATH_PARTS] = {
        [NUNA_PATH_LOAD_NOC] = noc(p, cu, local, CONTROL) + noc(p, local, cu, LINE),
        [NUNA_PATH_LOAD_HBM] = memory(p, LINE),
        [NUNA_PATH_STORE_NOC] = noc(p, cu, port, LINE) + noc(p, cu, flag_port, CONTROL),
        [NUNA_PATH_PORT] = to_switch(p, LINE) + to_switch(p, CONTROL),
        [NUNA_PATH_SWITCH] = from_switch(p, LINE) + from_switch(p, CONTROL),
        [NUNA_PATH_REMOTE_NOC] =
            noc(p, port, remote, LINE) + noc(p, flag_port, flag_stack, CONTROL),
        [NUNA_PATH_REMOTE_HBM] = memory(p, LINE) + memory(p, CONTROL),
        [NUNA_PATH_ACK] = ack,
    };
    const struct nuna_breakdown breakdown = breakdown_of(sim, &result);
    for (int part = 0; part < NUNA_PATH_PARTS; part++)
        cr_assert_eq(breakdown.path[part], parts[part], "%s: %" PRIu64 " ps, by hand %" PRIu64,
                     nuna_path_part_name((enum nuna_path_part)part), breakdown.path[part],
                     parts[part]);
    int64_t way = hops(cu, port) + hops(port, remote);
    *least = way < *least ? way : *least;
    *most = way > *most ? way : *most;
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
}

Test(closed_form, single_store_and_its_collective)
{
    static const uint32_t lines[] = {0, 5, 16, 77, 130, 256, 301, 511}, idle[] = {0, 1, 2, 3, 30};
    const struct nuna_params params[] = {params_of(24, 6, 4, 16, 12), params_of(24, 6, 4, 8, 7),
                                         params_of(6, 4, 2, 4, 2), params_of(2, 1, 1, 2, 1)};
    int64_t least = INT64_MAX, most = 0;
    for (size_t p = 0; p < COUNT(params); p++)
        for (size_t l = 0; l < COUNT(lines); l++)
            for (size_t i = 0; i < COUNT(idle); i++)
                check_single_store(&params[p], lines[l], idle[i], &least, &most);
    cr_assert_leq(least, 3, "no near path: %" PRId64 " hops", least);
    cr_assert_gt(most, 25, "no far path: %" PRId64 " hops", most);
}

/* A store that no flag follows and nobody waits for: the collective lasts until it has landed, and
 * so does a run that a background kernel would keep going. */
Test(closed_form, store_that_nobody_waits_for)
{
    struct nuna_params p = params_of(6, 4, 2, 4, 2);
    struct nuna_plan *plan = one_way(8, 0, 5, 1, 0);
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].kind == NUNA_OP_SIGNAL || plan->ops[i].kind == NUNA_OP_WAIT)
            plan->ops[i].kind = NUNA_OP_NOP;
    for (int64_t gemm = 0; gemm <= 512; gemm += 512) {
        struct nuna_result result;
        p.background.gemm_size = gemm;
        struct nuna_sim *sim = simulate(&p, plan, 8 * LINE, &result);
        nuna_time issued = sim->log[plan->threadblocks[0].op_at].end, parts = 0;
        cr_assert_gt(issued, 0);
        cr_assert_eq(result.stores, 1);
        cr_assert_eq(result.bytes_delivered, result.bytes_requested);
        cr_assert_eq(result.time, issued + result.latency->max,
                     "%" PRIu64 " ps, issued at %" PRIu64 ", %" PRIu64 " on its way", result.time,
                     issued, result.latency->max);
        const struct nuna_breakdown breakdown = breakdown_of(sim, &result);
        for (int part = 0; part < NUNA_PATH_PARTS; part++)
            parts += breakdown.path[part];
        cr_assert_eq(parts, result.time);
        if (gemm == 0)
            cr_assert_eq(breakdown.path[NUNA_PATH_REMOTE_HBM], memory(&p, LINE));
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* One router, one stack, one port. */
static struct nuna_params tiny(void)
{
    struct nuna_params p = params_of(1, 1, 1, 1, 1);
    p.hbm.channel_rate = 256000000000;
    return p;
}

static void check_port_bound(const uint32_t *lines, size_t count, uint32_t streams)
{
    struct nuna_params p = tiny();
    p.scaleup.port_rate = 1000000000; /* a line takes 256 ns */
    struct nuna_plan *plan = one_way(streams, 0, 0, streams, 0);
    nuna_time first = time_of(&p, plan, (uint64_t)streams * lines[0] * LINE);
    for (size_t i = 1; i < count; i++) {
        nuna_time more = time_of(&p, plan, (uint64_t)streams * lines[i] * LINE) - first;
        cr_assert_eq(more, (uint64_t)streams * (lines[i] - lines[0]) * 256000,
                     "%u streams: %u lines more take %" PRIu64 " ps", streams, lines[i] - lines[0],
                     more);
    }
    nuna_plan_destroy(plan);
}

Test(closed_form, port_bound_streams)
{
    /* Before the first load is back, and with loads under way then. */
    static const uint32_t few[] = {2, 3, 10, 50}, many[] = {300, 301, 650, 1500, 4000};
    for (uint32_t streams = 1; streams <= 5; streams++) {
        check_port_bound(few, COUNT(few), streams);
        check_port_bound(many, COUNT(many), streams);
    }
}

Test(closed_form, ring_of_eight)
{
    struct nuna_params p = tiny();
    struct spot o = {0, 0};
    nuna_time load = noc(&p, o, o, CONTROL) + noc(&p, o, o, LINE) + memory(&p, LINE);
    nuna_time across =
        to_switch(&p, CONTROL) + from_switch(&p, CONTROL) + 2 * noc(&p, o, o, CONTROL);
    nuna_time store =
        to_switch(&p, LINE) + from_switch(&p, LINE) + 2 * noc(&p, o, o, LINE) + memory(&p, LINE);
    nuna_time step = load + store + across + across + memory(&p, CONTROL);
    /* Two loads, one issue interval apart, the CU's work, a local store and its acknowledgement. */
    nuna_time reduce = (nuna_time)p.gpu.issue_interval + load + wire(2 * LINE, p.gpu.reduce_rate) +
                       noc(&p, o, o, LINE) + noc(&p, o, o, CONTROL) + memory(&p, LINE);
    static const enum nuna_collective collectives[] = {NUNA_ALLGATHER, NUNA_REDUCESCATTER,
                                                       NUNA_ALLREDUCE};
    const nuna_time due[] = {7 * step, 7 * (step + reduce), 14 * step + 7 * reduce};
    for (size_t c = 0; c < COUNT(collectives); c++) {
        struct nuna_plan *plan = generate(collectives[c], NUNA_RING, 8, 1);
        nuna_time time = time_of(&p, plan, 8 * LINE);
        cr_assert_eq(time, due[c], "%s: %" PRIu64 " ps, closed form %" PRIu64, plan->name, time,
                     due[c]);
        nuna_plan_destroy(plan);
    }
}

/* ---- ends other than the good one ---- */

Test(ends, deadlock_names_who_waits)
{
    struct nuna_params p = tiny();
    struct nuna_plan *plan = one_way(2, 0, 0, 2, 0);
    for (size_t i = 0; i < plan->op_count;
         i++) /* the second stream signals on the first's channel */
        if (plan->ops[i].kind == NUNA_OP_SIGNAL)
            plan->ids[plan->ops[i].id_at] = 0;
    struct nuna_result result;
    struct nuna_sim *sim = simulate_until(&p, plan, 2 * LINE, 1, NULL, &result);
    cr_assert_eq(result.status, NUNA_SIM_DEADLOCK);
    cr_assert_str_eq(result.waiters,
                     "\n  GPU 1 threadblock 1 op 0 (wait): a signal from GPU 0 on channel 1");
    cr_assert_eq(result.time, result.drained);
    cr_assert_eq(result.bytes_delivered, 2 * LINE);
    const struct nuna_breakdown breakdown = breakdown_of(sim, &result);
    for (int part = 0; part < NUNA_PATH_PARTS; part++)
        cr_assert_eq(breakdown.path[part], 0);
    nuna_sim_destroy(sim);
    nuna_plan_destroy(plan);
}

Test(ends, stop_flag_interrupts)
{
    volatile sig_atomic_t stop = 1;
    struct nuna_params p = tiny();
    struct nuna_plan *plan = generate(NUNA_ALLGATHER, NUNA_ALLPAIRS, 8, 8);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct nuna_result result;
        struct nuna_sim *sim = simulate_until(&p, plan, 100000, threads, &stop, &result);
        cr_assert_eq(result.status, NUNA_SIM_INTERRUPTED);
        cr_assert_eq(result.bytes_delivered, 0);
        nuna_sim_destroy(sim);
    }
    nuna_plan_destroy(plan);
}

/* ---- latency map ---- */

/* 3x2 routers, a stack above and one below, a port left and one right, both in row 0. CU to port:
 * 0 1 2 / 1 2 3 hops from the left one and mirrored from the right one, 1.5 on average; port to
 * stack: 0 or 1. */
Test(latency_map, small_die_by_hand)
{
    struct nuna_params p = params_of(3, 2, 1, 2, 2);
    struct nuna_latency_map map;
    struct nuna_error err;
    cr_assert(nuna_latency_map_make(&p, &map, &err));
    nuna_time base = 2 * noc(&p, (struct spot){0, 0}, (struct spot){0, 0}, LINE) + memory(&p, LINE);
    nuna_time across = to_switch(&p, LINE) + from_switch(&p, LINE);
    cr_assert_eq(map.noc.best, base);
    cr_assert_eq(map.noc.mean, base + 2 * 9100);
    cr_assert_eq(map.noc.worst, base + 4 * 9100);
    cr_assert_eq(map.transfer.best, base + across);
    cr_assert_eq(map.transfer.mean, base + across + 2 * 9100);
    cr_assert_eq(map.transfer.worst, base + across + 4 * 9100);
    cr_assert(map.cus == 42 && map.stacks == 2);
    static const nuna_time halves[] = {2, 2, 2, 4, 4, 4}; /* both ports' hops, by router */
    /* An atomic goes the same hops back, as a control packet. */
    nuna_time back = 2 * noc(&p, (struct spot){0, 0}, (struct spot){0, 0}, CONTROL) +
                     to_switch(&p, CONTROL) + from_switch(&p, CONTROL);
    for (uint32_t cu = 0; cu < 42; cu++)
        for (uint32_t stack = 0; stack < 2; stack++)
            cr_assert_eq(map.by_cu_stack[cu * 2 + stack],
                         base + across + back + (halves[cu / 7] + 2 * stack) * 9100);
    /* Of a CU in columns 0, 1, 2: 3, 1, 3 hops between its best and worst address; of an address: 3
     * between its best and worst CU. Each counts twice. */
    cr_assert_eq(map.atomic.over_addresses, 7 * 2 * 9100 / 3);
    cr_assert_eq(map.atomic.over_cus, 3 * 2 * 9100);
    nuna_latency_map_finish(&map);
}

static void within(const char *what, nuna_time value, double target, nuna_time best)
{
    double ratio = (double)value / (double)best;
    cr_assert(ratio > 0.9 * target && ratio < 1.1 * target, "%s: %.3f times the best, target %.2f",
              what, ratio, target);
}

/* The NUNA study's ratios, with the parameters that nunasim ships. */
Test(latency_map, ratios_of_the_published_die)
{
    struct nuna_params p;
    struct nuna_latency_map map;
    struct nuna_error err;
    nuna_params_defaults(&p);
    cr_assert(nuna_latency_map_make(&p, &map, &err));
    within("NoC, mean", map.noc.mean, 2, map.noc.best);
    within("NoC, worst", map.noc.worst, 3, map.noc.best);
    within("transfer, mean", map.transfer.mean, 1.45, map.transfer.best);
    within("transfer, worst", map.transfer.worst, 1.8, map.transfer.best);
    nuna_latency_map_finish(&map);
}
