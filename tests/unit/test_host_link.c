/* Links that remember when they were busy, and the texts of transfers. */
#include "host_scene.h"

Test(host_link, a_timeline_keeps_all_busy_time)
{
    struct nuna_timeline timeline;
    uint64_t random = 5;
    nuna_time at = 0, busy = 0;
    nuna_timeline_init(&timeline, 1000);
    for (int i = 0; i < 5000; i++) {
        nuna_time start = at + scene_draw(&random) % 5000, end = start + scene_draw(&random) % 9000;
        nuna_timeline_add(&timeline, start, end);
        busy += end - start;
        at = end;
    }
    nuna_time sum = 0;
    for (uint32_t i = 0; i < NUNA_TIMELINE_BINS; i++) {
        cr_assert_leq(timeline.busy[i], timeline.interval);
        sum += timeline.busy[i];
    }
    cr_assert_eq(sum, busy);
    cr_assert_geq(timeline.interval * NUNA_TIMELINE_BINS, at);
    cr_assert_lt(timeline.interval * NUNA_TIMELINE_BINS / 2, at);
}

Test(host_link, intervals_are_exact)
{
    struct nuna_timeline timeline;
    nuna_timeline_init(&timeline, 100);
    nuna_timeline_add(&timeline, 50, 250);
    nuna_timeline_add(&timeline, 300, 300);
    cr_assert_eq(timeline.busy[0], 50);
    cr_assert_eq(timeline.busy[1], 100);
    cr_assert_eq(timeline.busy[2], 50);
    cr_assert_eq(timeline.busy[3], 0);
    nuna_timeline_widen(&timeline, 200);
    cr_assert_eq(timeline.busy[0], 150);
    cr_assert_eq(timeline.busy[1], 50);
    /* The last moment that fits, and the first that does not. */
    nuna_timeline_add(&timeline, 200 * NUNA_TIMELINE_BINS - 1, 200 * NUNA_TIMELINE_BINS);
    cr_assert_eq(timeline.interval, 200);
    nuna_timeline_add(&timeline, 200 * NUNA_TIMELINE_BINS, 200 * NUNA_TIMELINE_BINS + 1);
    cr_assert_eq(timeline.interval, 400);
    cr_assert_eq(timeline.busy[0], 200);
}

static bool parses(const char *text, bool background)
{
    struct nuna_host_request request;
    struct nuna_error err;
    return nuna_host_request_parse("--transfer", text, background, 8, &request, &err);
}

Test(host_link, requests)
{
    struct nuna_host_request request;
    struct nuna_error err;
    cr_assert(nuna_host_request_parse("--transfer", "p2p:3MiB:gpu7:gpu0,start=2us,stream=4", false,
                                      8, &request, &err));
    cr_assert_eq(request.direction, NUNA_HOST_P2P);
    cr_assert_eq(request.bytes, 3 << 20);
    cr_assert_eq(request.gpu, 7);
    cr_assert_eq(request.peer, 0);
    cr_assert_eq(request.start, 2000000);
    cr_assert_eq(request.stream, 4);
    static const char *const bad[] = {
        "",
        "h2d",
        "h2d:",
        "h2d:1GB",
        "h2d:1GB:",
        "h2d:1GB:gpu",
        "h2d:1GB:gpu8",
        "h2d:1GB:gpu-1",
        "h2d:1GB:gpu00",
        "h2d:1GB:1",
        "h2d:gpu0",
        "H2D:1GB:gpu0",
        "h2d:1GB:gpu0:",
        "h2d:1GB:gpu0,",
        "p2p:1GB:gpu0",
        "p2p:1GB:gpu0:gpu0",
        "h2d:1GB:gpu0,start=1",
        "h2d:1GB:gpu0,stream=-1",
        "h2d:0B:gpu0",
        "h2d::gpu0",
        "::,,",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_assert_not(parses(bad[i], false), "\"%s\" passes", bad[i]);
    cr_assert(parses("h2d:gpu3", true));
    cr_assert(parses("p2p:gpu3:gpu4", true));
    cr_assert(parses("h2d:gpu3,start=1us", true));
    cr_assert_not(parses("h2d:1GB:gpu3", true));
    cr_assert_not(parses("h2d:gpu3,stream=1", true)); /* nothing could follow it */
}

/* Nothing that a user can type crashes the readers. */
Test(host_link, any_text_is_read_or_refused)
{
    static const char letters[] = "h2dp:,gu0137=startMGBim.- \\\"";
    uint64_t random = 9;
    for (int i = 0; i < 20000; i++) {
        char text[48];
        size_t length = scene_draw(&random) % (sizeof text - 1);
        for (size_t c = 0; c < length; c++)
            text[c] = letters[scene_draw(&random) % (sizeof letters - 1)];
        text[length] = '\0';
        struct nuna_host_paths paths = {.relay_count = 0};
        struct nuna_error err;
        parses(text, false);
        parses(text, true);
        nuna_host_shares_parse(text, &paths, &err);
        nuna_host_relays_parse(text, 8, &paths, &err);
        cr_assert_leq(paths.relay_count, 8);
    }
}
