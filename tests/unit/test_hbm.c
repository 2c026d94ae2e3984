/* Memory stacks: occupancy and latency of a channel's accesses. */
#include "gpu/hbm.h"

#include <criterion/criterion.h>
#include <inttypes.h>

enum { LINE = 256, CONTROL = 16, CHANNELS = 12 };
#define RATE    UINT64_C(77000000000) /* a line takes 3324.67 ps */
#define LATENCY UINT64_C(119999)
#define SECOND  UINT64_C(1000000000000)

static struct nuna_hbm stacks(void)
{
    struct nuna_params p;
    struct nuna_hbm hbm;
    nuna_params_defaults(&p);
    p.noc.flit_size = LINE;
    p.noc.control_size = CONTROL;
    p.hbm.stacks = 3;
    p.hbm.channels_per_stack = 4;
    p.hbm.channel_rate = RATE;
    p.hbm.access_latency = LATENCY;
    cr_assert(nuna_hbm_init(&hbm, &p));
    cr_assert_eq(hbm.channel_count, CHANNELS);
    return hbm;
}

static uint64_t busy(uint64_t bytes)
{
    return bytes * SECOND / RATE;
}

/* However they are sized, accesses that queue take as long as their bytes together. */
Test(hbm, a_queue_takes_its_bytes)
{
    static const uint32_t sizes[] = {LINE, CONTROL, LINE, 1, 77, LINE, LINE, CONTROL, 255};
    struct nuna_hbm hbm = stacks();
    uint64_t bytes = 0, last = 0;
    const uint64_t from = 1000003;
    for (uint32_t i = 0; i < 900; i++) {
        uint64_t wait = busy(bytes);
        bytes += sizes[i % 9];
        uint64_t done = nuna_hbm_access(&hbm, 5, from, sizes[i % 9]);
        cr_assert_eq(done, from + busy(bytes) + LATENCY, "access %u: %" PRIu64, i, done);
        cr_assert_eq(hbm.channel[5].max_wait, wait);
        last = done;
    }
    cr_assert_eq(hbm.channel[5].bytes, bytes);
    cr_assert_eq(last - LATENCY, hbm.channel[5].free_at);
    nuna_hbm_finish(&hbm);
}

/* One that finds its channel idle owes nothing to those before. */
Test(hbm, idle_channels_start_anew)
{
    struct nuna_hbm hbm = stacks();
    for (uint64_t i = 0; i < 50; i++) {
        uint64_t at = i * 4000;
        cr_assert_eq(nuna_hbm_access(&hbm, 0, at, LINE), at + busy(LINE) + LATENCY);
    }
    cr_assert_eq(hbm.channel[0].max_wait, 0);
    /* At the very moment at which it falls idle the odd part of a picosecond is still owed. */
    uint64_t at = 1000000, done = 0;
    for (uint64_t i = 1; i <= 7; i++) {
        done = nuna_hbm_access(&hbm, 1, at, LINE);
        cr_assert_eq(done, 1000000 + busy(i * LINE) + LATENCY);
        at = done - LATENCY;
    }
    nuna_hbm_finish(&hbm);
}

/* A latency occupies nothing, and nobody waits for another channel. */
Test(hbm, channels_are_apart)
{
    struct nuna_hbm hbm = stacks();
    for (uint64_t i = 1; i <= 20; i++)
        for (uint32_t c = 0; c < CHANNELS; c++)
            cr_assert_eq(nuna_hbm_access(&hbm, c, 0, LINE), busy(i * LINE) + LATENCY, "channel %u",
                         c);
    for (uint32_t c = 0; c < CHANNELS; c++)
        cr_assert_eq(hbm.channel[c].bytes, 20 * LINE);
    nuna_hbm_finish(&hbm);
}
