/* Ports, links and switch planes: what a packet's two halves of the way take. */
#include "scaleup/clos.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

enum { LINE = 256, CONTROL = 16, PORTS = 5 };
#define RATE   UINT64_C(170000000000) /* a line takes 1505.88 ps */
#define LINK   UINT64_C(151003)
#define SWITCH UINT64_C(99001)
#define SECOND UINT64_C(1000000000000)

struct side {
    struct nuna_clos clos;
    struct nuna_scaleup scaleup;
};

static void open_side(struct side *side)
{
    struct nuna_params p;
    nuna_params_defaults(&p);
    memset(side, 0, sizeof *side);
    p.noc.flit_size = LINE;
    p.noc.control_size = CONTROL;
    p.scaleup.ports = PORTS;
    p.scaleup.port_rate = RATE;
    p.scaleup.link_latency = LINK;
    p.scaleup.switch_latency = SWITCH;
    nuna_clos_init(&side->clos, &p);
    cr_assert(nuna_scaleup_init(&side->scaleup, &side->clos));
}

static uint64_t wire(uint64_t bytes)
{
    return bytes * SECOND / RATE;
}

/* A lone packet is stored and forwarded: its bytes twice, both links, the switch once. */
Test(clos, a_lone_packet)
{
    static const uint32_t sizes[] = {LINE, CONTROL, 100};
    for (uint32_t i = 0; i < 3; i++) {
        struct side side;
        open_side(&side);
        uint64_t at_switch = nuna_scaleup_depart(&side.scaleup, 2, 5000, sizes[i]);
        cr_assert_eq(at_switch, 5000 + wire(sizes[i]) + LINK + SWITCH);
        uint64_t in = nuna_scaleup_arrive(&side.scaleup, 2, at_switch, sizes[i]);
        cr_assert_eq(in, at_switch + wire(sizes[i]) + LINK);
        nuna_scaleup_finish(&side.scaleup);
    }
}

/* Both ends of the link serve their packets one after the other, to the exact rate; a packet is
 * never at the switch sooner than the kernel's lookahead after it left its GPU. */
Test(clos, queues_take_their_bytes)
{
    struct side side;
    open_side(&side);
    cr_assert_eq(nuna_clos_lookahead(&side.clos), LINK + SWITCH);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 600; i++) {
        uint32_t size = i % 3 == 1 ? CONTROL : i % 7 == 0 ? 99 : LINE;
        bytes += size;
        uint64_t at_switch = nuna_scaleup_depart(&side.scaleup, 0, 70, size);
        cr_assert_eq(at_switch, 70 + wire(bytes) + LINK + SWITCH, "packet %u", i);
        cr_assert_geq(at_switch, 70 + nuna_clos_lookahead(&side.clos));
        cr_assert_eq(nuna_scaleup_arrive(&side.scaleup, 0, 900000, size),
                     900000 + wire(bytes) + LINK, "packet %u", i);
    }
    cr_assert_eq(side.scaleup.egress[0].bytes, bytes);
    cr_assert_eq(side.scaleup.output[0].bytes, bytes);
    nuna_scaleup_finish(&side.scaleup);
}

/* A plane has ports of its own, and out and in are two directions. */
Test(clos, ports_and_directions_are_apart)
{
    struct side side;
    open_side(&side);
    for (uint64_t i = 1; i <= 9; i++)
        for (uint32_t port = 0; port < PORTS; port++) {
            cr_assert_eq(nuna_scaleup_depart(&side.scaleup, port, 0, LINE),
                         wire(i * LINE) + LINK + SWITCH);
            cr_assert_eq(nuna_scaleup_arrive(&side.scaleup, port, 0, LINE), wire(i * LINE) + LINK);
        }
    nuna_scaleup_finish(&side.scaleup);
}

/* What a blocked port did not take crosses the second link once more, and only that one; whole
 * lines each, from when the port goes on or what is on the link is through. */
Test(clos, a_repeat_costs_the_second_link)
{
    struct side side;
    open_side(&side);
    const uint64_t line = wire(LINE);
    nuna_scaleup_repeat(&side.scaleup, 3, 40000, 7);
    cr_assert_eq(side.scaleup.output[3].free_at, 40000 + 7 * line);
    nuna_scaleup_repeat(&side.scaleup, 3, 40001, 2);
    cr_assert_eq(side.scaleup.output[3].free_at, 40000 + 9 * line);
    nuna_scaleup_repeat(&side.scaleup, 3, 90000, 0);
    cr_assert_eq(side.scaleup.output[3].free_at, 90000);
    cr_assert_eq(nuna_scaleup_arrive(&side.scaleup, 3, 60000, LINE), 90000 + line + LINK);
    cr_assert_eq(side.scaleup.output[3].bytes, LINE);
    cr_assert_eq(side.scaleup.egress[3].free_at, 0);
    cr_assert_eq(side.scaleup.output[2].free_at, 0);
    nuna_scaleup_finish(&side.scaleup);
}
