/* Placement: Algorithm 1 line by line, the other policies, routing domains. */
#include "placement/logical_allocation.h"
#include "placement/placement.h"
#include "placement/policy.h"
#include "placement/ua.h"
#include <criterion/criterion.h>
#include <string.h>

#define PAGE 4096u
#define LINE 256u

/* A default GPU and a workload that each test fills. */
struct scene {
    struct nuna_params params;
    struct nuna_noc_shape noc;
    struct nuna_topology topology;
    struct nuna_address_map map;
    struct nuna_placement_spec spec;
    struct nuna_workload workload;
    struct nuna_work works[64];
    struct nuna_access accesses[256];
    struct nuna_chunk chunks[128];
    uint64_t image_bytes[8];
    struct nuna_placement placement;
};

static struct scene *scene_make(enum nuna_policy policy, uint32_t domains, uint32_t gpus)
{
    struct scene *s = calloc(1, sizeof *s);
    cr_assert_not_null(s);
    nuna_params_defaults(&s->params);
    cr_assert(nuna_noc_shape_init(&s->noc, &s->params));
    cr_assert(nuna_topology_init(&s->topology, &s->noc, &s->params));
    nuna_address_map_init(&s->map, &s->params);
    s->spec = (struct nuna_placement_spec){
        .topology = &s->topology,
        .map = &s->map,
        .policy = policy,
        .domains = domains,
        .cu_budget = 700,
        .stack_budget = 400000,
        .line_bytes = LINE,
    };
    s->workload = (struct nuna_workload){
        .gpu_count = gpus,
        .image_bytes = s->image_bytes,
        .works = s->works,
        .accesses = s->accesses,
        .chunks = s->chunks,
    };
    for (uint32_t g = 0; g < gpus; g++)
        s->image_bytes[g] = 1 << 20;
    return s;
}

static void scene_free(struct scene *s)
{
    nuna_placement_finish(&s->placement);
    nuna_topology_finish(&s->topology);
    nuna_noc_shape_finish(&s->noc);
    free(s);
}

static uint32_t add_chunk(struct scene *s, uint32_t gpu, uint64_t position, uint64_t bytes)
{
    s->chunks[s->workload.chunk_count] = (struct nuna_chunk){gpu, position, bytes};
    return s->workload.chunk_count++;
}

static uint32_t add_work(struct scene *s, uint32_t gpu)
{
    s->works[s->workload.work_count] =
        (struct nuna_work){.gpu = gpu, .access_at = s->workload.access_count};
    return s->workload.work_count++;
}

static void touch(struct scene *s, uint32_t chunk, enum nuna_access_kind kind)
{
    s->accesses[s->workload.access_count++] =
        (struct nuna_access){.chunk = chunk, .kind = (uint8_t)kind};
    s->works[s->workload.work_count - 1].access_count++;
}

/* A threadblock that loads `from` and stores to `to`. */
static uint32_t add_copy(struct scene *s, uint32_t gpu, uint32_t from, uint32_t to)
{
    uint32_t work = add_work(s, gpu);
    touch(s, from, NUNA_ACCESS_LOAD);
    touch(s, to, s->chunks[to].gpu == gpu ? NUNA_ACCESS_STORE : NUNA_ACCESS_REMOTE_STORE);
    return work;
}

static uint32_t hops_to_ports(const struct scene *s, uint32_t cu, uint32_t domain)
{
    uint32_t per = s->topology.port_count / s->spec.domains, sum = 0;
    for (uint32_t p = domain * per; p < (domain + 1) * per; p++)
        sum += nuna_noc_hops(&s->noc, s->topology.cu_router[cu], s->topology.port_router[p]);
    return sum;
}

/* Figure 7: two GPUs, two channels. Threadblocks w and x of GPU 0 load chunks a and b and store
 * them to GPU 1, y and z of GPU 1 chunks c and d to GPU 0, all in one buffer of four chunks per
 * GPU. Four domains. */
Test(placement, figure_7)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_NAR, 4, 2);
    uint32_t chunk[2][4];
    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t c = 0; c < 4; c++)
            chunk[g][c] = add_chunk(s, g, c * PAGE, PAGE);
    const char names[] = "wxyz";
    for (uint32_t t = 0; t < 4; t++) {
        uint32_t gpu = t / 2;
        cr_assert_eq(add_copy(s, gpu, chunk[gpu][t], chunk[1 - gpu][t]), t);
    }
    uint32_t group[4], order[4];
    cr_assert_eq(nuna_logical_allocation(&s->workload, group, order), 4);
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    for (uint32_t t = 0; t < 4; t++) {
        /* Each is a group of its own, with its chunk on both GPUs. */
        cr_expect_eq(group[t], t, "%c", names[t]);
        cr_expect_eq(order[t], t);
        /* Line 12 counts up before the first group is placed: w comes to domain 1, z back to 0.
         * (The figure's own numbers are one lower.) */
        uint32_t domain = (t + 1) % 4;
        cr_expect_eq(s->placement.domain[t], domain, "%c", names[t]);
        /* The nearest CU to the domain's ports, and the nearest stack to that CU, on both GPUs. */
        uint32_t cu = s->placement.cu[t];
        for (uint32_t other = 0; other < s->topology.cu_count; other++)
            cr_expect_leq(hops_to_ports(s, cu, domain), hops_to_ports(s, other, domain));
        for (uint32_t g = 0; g < 2; g++) {
            struct nuna_frame frame = s->placement.pages[g][t];
            cr_expect_eq(frame.domains, 4);
            cr_expect_eq(frame.domain, domain);
            uint16_t router = s->topology.cu_router[cu];
            for (uint32_t k = 0; k < s->topology.stack_count; k++)
                cr_expect_leq(
                    nuna_noc_hops(&s->noc, router,
                                  nuna_topology_stack_router(&s->topology, router, frame.stack)),
                    nuna_noc_hops(&s->noc, router,
                                  nuna_topology_stack_router(&s->topology, router, k)));
        }
    }
    scene_free(s);
}

Test(placement, groups_share_most_chunks)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_NAR, 4, 1);
    uint32_t c[6];
    for (uint32_t i = 0; i < 6; i++)
        c[i] = add_chunk(s, 0, i * PAGE, PAGE);
    add_copy(s, 0, c[0], c[1]); /* group 0 */
    add_copy(s, 0, c[2], c[3]); /* group 1 */
    add_work(s, 0);             /* shares 1 with group 0 and 2 with group 1 */
    touch(s, c[0], NUNA_ACCESS_LOAD);
    touch(s, c[2], NUNA_ACCESS_LOAD);
    touch(s, c[3], NUNA_ACCESS_STORE);
    touch(s, c[4], NUNA_ACCESS_STORE);
    add_copy(s, 0, c[4], c[5]); /* c[4] went along into group 1 */
    add_copy(s, 0, c[2], c[0]); /* one each: the older group */
    add_work(s, 0);             /* touches nothing: alone */
    uint32_t group[6], order[6];
    cr_assert_eq(nuna_logical_allocation(&s->workload, group, order), 3);
    const uint32_t expected[] = {0, 1, 1, 1, 0, 2};
    cr_expect_arr_eq(group, expected, sizeof expected);
    /* By size: group 1 has three threadblocks, group 0 two, group 2 one. */
    const uint32_t by_size[] = {1, 0, 2};
    cr_expect_arr_eq(order, by_size, sizeof by_size);
    scene_free(s);
}

Test(placement, domains_go_round_and_groups_stay_together)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_NAR, 3, 1);
    for (uint32_t g = 0; g < 7; g++) {
        uint32_t from = add_chunk(s, 0, 2 * g * PAGE, LINE);
        for (uint32_t t = 0; t < 2; t++)
            add_copy(s, 0, from, add_chunk(s, 0, (2 * g + 1) * PAGE + t * LINE, LINE));
    }
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    for (uint32_t w = 0; w < 14; w++)
        cr_expect_eq(s->placement.domain[w], (w / 2 + 1) % 3);
    scene_free(s);
}

/* Lines 16 and 17: the first CU that fits, then the next. */
Test(placement, cu_budget)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_STAR, 1, 1);
    uint32_t from = add_chunk(s, 0, 0, 100 * LINE);
    for (uint32_t t = 0; t < 8; t++)
        add_copy(s, 0, from, add_chunk(s, 0, (t + 8) * 8 * PAGE, 100 * LINE));
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    /* 200 requests each: three to a CU of 700, and a smaller one would still have fitted. */
    const uint32_t *cu = s->placement.cu;
    for (uint32_t t = 0; t < 8; t++)
        cr_expect_eq(cu[t], cu[t / 3 * 3]);
    cr_expect_neq(cu[0], cu[3]);
    cr_expect_neq(cu[3], cu[6]);
    cr_expect_leq(hops_to_ports(s, cu[0], 0), hops_to_ports(s, cu[3], 0));
    cr_expect_leq(hops_to_ports(s, cu[3], 0), hops_to_ports(s, cu[6], 0));
    scene_free(s);
}

Test(placement, threadblocks_beyond_a_cu_budget_take_one_each)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_STAR, 12, 1);
    s->spec.cu_budget = 10;
    uint32_t from = add_chunk(s, 0, 0, 100 * LINE);
    for (uint32_t t = 0; t < 20; t++)
        add_copy(s, 0, from, add_chunk(s, 0, (t + 8) * 8 * PAGE, LINE));
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    for (uint32_t t = 0; t < 20; t++)
        for (uint32_t u = 0; u < t; u++)
            cr_expect_neq(s->placement.cu[t], s->placement.cu[u]);
    scene_free(s);
}

/* Line 18: a full stack sends the next chunk to the next nearest one. */
Test(placement, stack_budget)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_NAR, 1, 1);
    s->spec.stack_budget = 3 * PAGE;
    uint32_t from = add_chunk(s, 0, 0, PAGE);
    for (uint32_t t = 0; t < 6; t++)
        add_copy(s, 0, from, add_chunk(s, 0, (t + 1) * PAGE, PAGE));
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    uint32_t held[16] = {0};
    for (uint32_t p = 0; p < 7; p++)
        held[s->placement.pages[0][p].stack]++;
    for (uint32_t k = 0; k < 16; k++)
        cr_expect_leq(held[k], 3);
    cr_expect_eq(s->placement.pages[0][0].stack, s->placement.pages[0][2].stack);
    cr_expect_neq(s->placement.pages[0][2].stack, s->placement.pages[0][3].stack);
    scene_free(s);
}

/* Section 4.2.2: the first chunk on a page fixes it, later ones follow; the last page of a chunk
 * may already be fixed. */
Test(placement, first_chunk_fixes_the_page)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_NAR, 4, 1);
    uint32_t a = add_chunk(s, 0, 0, PAGE + 512);         /* pages 0 and 1 */
    uint32_t b = add_chunk(s, 0, PAGE + 512, 512);       /* page 1 */
    uint32_t c = add_chunk(s, 0, PAGE + 1024, 2 * PAGE); /* pages 1 to 3 */
    add_copy(s, 0, a, a);
    add_copy(s, 0, b, b);
    add_copy(s, 0, c, c);
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    const struct nuna_frame *pages = s->placement.pages[0];
    cr_expect_eq(pages[0].domain, 1);
    cr_expect_eq(pages[1].domain, 1);
    cr_expect_eq(pages[2].domain, 3);
    cr_expect_eq(pages[3].domain, 3);
    /* A page that nothing touches keeps its default frame. */
    cr_expect_eq(pages[9].domains, 1);
    cr_expect_eq(pages[9].stack, 9);
    scene_free(s);
}

Test(placement, nap_without_routing_stays_in_the_baseline_segment)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP, 4, 2);
    add_copy(s, 0, add_chunk(s, 0, 0, PAGE), add_chunk(s, 1, 0, PAGE));
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    cr_expect_eq(s->placement.pages[1][0].domains, 1);
    cr_expect_eq(s->placement.domain[0], 1);
    scene_free(s);
}

Test(placement, nap_star_leaves_memory_alone)
{
    struct scene *s = scene_make(NUNA_POLICY_NAP_STAR, 4, 2);
    add_copy(s, 0, add_chunk(s, 0, 0, PAGE), add_chunk(s, 1, 0, PAGE));
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    cr_expect_null(s->placement.pages);
    cr_expect_eq(s->placement.domain[0], 1);
    scene_free(s);
}

Test(placement, ua_round_robin_over_dies_then_free_cus)
{
    struct scene *s = scene_make(NUNA_POLICY_UA, 1, 1);
    uint32_t cus = s->topology.cu_count, *cu = calloc(2 * cus, sizeof *cu);
    uint32_t *used = calloc(cus, sizeof *used);
    cr_assert(nuna_placement_ua(&s->topology, 2 * cus, cu));
    for (uint32_t t = 0; t < 2 * cus; t++) {
        cr_assert_lt(cu[t], cus);
        cr_expect_eq(nuna_topology_die(&s->topology, s->topology.cu_router[cu[t]]), t % 4);
        cr_assert_eq(used[cu[t]]++, t / cus, "threadblock %u on a CU that is not free", t);
    }
    /* The first threadblocks of a die spread over its routers. */
    for (uint32_t t = 0; t < 4 * 36; t += 4)
        for (uint32_t u = 0; u < t; u += 4)
            cr_assert_neq(s->topology.cu_router[cu[t]], s->topology.cu_router[cu[u]]);
    free(cu);
    free(used);
    scene_free(s);
}

Test(placement, numa_near_the_loaded_stack_one_to_a_cu)
{
    struct scene *s = scene_make(NUNA_POLICY_NUMA, 1, 1);
    for (uint32_t t = 0; t < 48; t++) {
        uint32_t chunk = add_chunk(s, 0, t % 16 * PAGE, LINE);
        add_copy(s, 0, chunk, chunk);
    }
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    for (uint32_t t = 0; t < 48; t++) {
        uint16_t router = s->topology.cu_router[s->placement.cu[t]];
        cr_expect_eq(nuna_noc_hops(&s->noc, router,
                                   nuna_topology_stack_router(&s->topology, router, t % 16)),
                     0);
        for (uint32_t u = 0; u < t; u++)
            cr_expect_neq(s->placement.cu[t], s->placement.cu[u]);
    }
    scene_free(s);
}

/* Near to all pages of a chunk over the whole upper edge: in its middle. */
Test(placement, numa_near_to_all_pages)
{
    struct scene *s = scene_make(NUNA_POLICY_NUMA, 1, 1);
    s->spec.numa_near = NUNA_NUMA_NEAR_ALL;
    uint32_t chunk = add_chunk(s, 0, 0, 8 * PAGE), row = s->noc.columns * 7;
    for (uint32_t t = 0; t < 8; t++)
        add_copy(s, 0, chunk, chunk);
    cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
    for (uint32_t t = 0; t < 8; t++) {
        uint32_t x = s->placement.cu[t] / 7 % s->noc.columns;
        cr_expect_lt(s->placement.cu[t], row);
        cr_expect(x >= 9 && x <= 14, "column %u", x);
    }
    scene_free(s);
}

/* Sixteen stacks over four dies: above, then below, then each die's other stack. */
Test(placement, pages_go_over_the_dies)
{
    struct scene *s = scene_make(NUNA_POLICY_UA, 1, 1);
    s->params.hbm.page_order = NUNA_PAGE_ORDER_DIES;
    nuna_address_map_init(&s->map, &s->params);
    static const uint8_t order[] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
    for (uint64_t page = 0; page < 48; page++) {
        cr_expect_eq(nuna_address_default_stack(&s->map, page), order[page % 16]);
        cr_expect_eq(nuna_address_locate(&s->map, NULL, page * PAGE).channel / 16,
                     order[page % 16]);
    }
    /* Whatever does not divide: each stack has one turn. */
    static const uint8_t stacks[] = {1, 3, 5, 6, 10, 24};
    for (size_t i = 0; i < sizeof stacks; i++) {
        s->params.hbm.stacks = stacks[i];
        nuna_address_map_init(&s->map, &s->params);
        uint32_t seen = 0;
        for (uint64_t page = 0; page < stacks[i]; page++)
            seen |= 1u << nuna_address_default_stack(&s->map, page);
        cr_expect_eq(seen, (1u << stacks[i]) - 1, "%u stacks", stacks[i]);
    }
    scene_free(s);
}

/* So many lines in a row take a port; then the next one's turn comes. */
Test(placement, port_grain)
{
    struct scene *s = scene_make(NUNA_POLICY_UA, 1, 1);
    s->params.scaleup.port_grain = 4;
    nuna_address_map_init(&s->map, &s->params);
    for (uint64_t at = 0; at < 64 * PAGE; at += LINE) {
        uint32_t line = (uint32_t)(at % PAGE / LINE);
        uint32_t first = nuna_address_locate(&s->map, NULL, at - line * LINE).port;
        cr_expect_eq(nuna_address_locate(&s->map, NULL, at).port, (first + line / 4) % 12);
    }
    scene_free(s);
}

/* What every policy owes, be it made of what it may: a CU of the GPU for each threadblock, a domain
 * and a frame within bounds, tables where it routes or chooses stacks and only there, and the same
 * answer to the same question. */
Test(placement, every_policy_keeps_to_the_machine)
{
    for (uint32_t p = 0; p < NUNA_POLICY_COUNT; p++) {
        enum nuna_policy policy = (enum nuna_policy)p;
        struct scene *s = scene_make(policy, nuna_policy_uses_domains(policy) ? 4 : 1, 3);
        const char *word = nuna_policy_row(policy)->word;
        for (uint32_t g = 0; g < 3; g++)
            for (uint32_t t = 0; t < 12; t++)
                add_copy(s, g, add_chunk(s, g, t * PAGE, PAGE),
                         add_chunk(s, (g + t) % 3, (12 + 12 * g + t) * PAGE, 3 * PAGE));
        struct nuna_placement again;
        cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
        cr_assert(nuna_placement_make(&s->spec, &s->workload, &again));
        for (uint32_t w = 0; w < s->workload.work_count; w++) {
            cr_expect_lt(s->placement.cu[w], s->topology.cu_count, "%s", word);
            cr_expect_lt(s->placement.domain[w], s->spec.domains, "%s", word);
            cr_expect_eq(s->placement.cu[w], again.cu[w], "%s", word);
        }
        cr_expect_eq(s->placement.pages != NULL, nuna_policy_has_tables(policy), "%s", word);
        cr_expect_eq(s->placement.domain_stack != NULL, nuna_policy_uses_domains(policy), "%s",
                     word);
        for (uint32_t g = 0; s->placement.pages && g < 3; g++)
            for (uint32_t page = 0; page <= (1 << 20) / PAGE; page++) {
                struct nuna_frame frame = s->placement.pages[g][page];
                bool routed = frame.domains == s->spec.domains && nuna_policy_routes(policy);
                cr_expect(routed || frame.domains == 1, "%s", word);
                cr_expect_lt(frame.domain, frame.domains, "%s", word);
                cr_expect_lt(frame.stack, s->topology.stack_count, "%s", word);
                cr_expect_arr_eq(&frame, &again.pages[g][page], sizeof frame, "%s", word);
            }
        nuna_placement_finish(&again);
        scene_free(s);
    }
}

/* Words of the rows, by what their names say: "+NAR" routes, "NAP" without a star places pages. */
Test(placement, policies_are_told_apart_by_what_they_do)
{
    char routed[512], plain[512], all[512];
    nuna_policy_words(nuna_policy_routes, true, routed, sizeof routed);
    nuna_policy_words(nuna_policy_routes, false, plain, sizeof plain);
    size_t length = 0;
    for (uint32_t p = 0; p < NUNA_POLICY_COUNT; p++) {
        const char *word = nuna_policy_row((enum nuna_policy)p)->word;
        cr_expect_eq(strstr(word, "+NAR") != NULL, nuna_policy_routes((enum nuna_policy)p));
        cr_expect(strstr(nuna_policy_routes((enum nuna_policy)p) ? routed : plain, word), "%s",
                  word);
        length += strlen(word) + 2;
    }
    cr_expect_eq(strlen(routed) + strlen(plain) + 4, length, "each once, commas between");
    for (enum nuna_policy p = NUNA_POLICY_UA; p <= NUNA_POLICY_NAP_STAR_NAR; p++) {
        bool nap = strstr(nuna_policy_row(p)->word, "NAP") != NULL;
        bool star = strchr(nuna_policy_row(p)->word, '*') != NULL;
        cr_expect_eq(nuna_policy_chooses_stacks(p), nap && !star);
        cr_expect_eq(nuna_policy_uses_domains(p), nap || nuna_policy_routes(p));
        cr_expect_eq(nuna_policy_has_tables(p), (nap && !star) || nuna_policy_routes(p));
    }
    nuna_policy_words(nuna_policy_routes, true, all, 9);
    cr_expect_str_eq(all, "UA+NAR, ", "cut, and ended");
}

/* Threadblocks of one round come side by side, whatever the number of them on a GPU. */
Test(placement, works_in_turn)
{
    struct scene *s = scene_make(NUNA_POLICY_UA, 1, 3);
    const uint32_t counts[] = {2, 0, 3};
    for (uint32_t g = 0; g < 3; g++)
        for (uint32_t t = 0; t < counts[g]; t++)
            add_work(s, g);
    static const struct nuna_turn expected[] = {{0, 0}, {2, 0}, {1, 1}, {3, 1}, {4, 2}};
    struct nuna_turn turns[5];
    cr_assert(nuna_works_in_turn(&s->workload, turns));
    for (uint32_t k = 0; k < 5; k++) {
        cr_expect_eq(turns[k].work, expected[k].work);
        cr_expect_eq(turns[k].round, expected[k].round);
    }
    scene_free(s);
}

Test(placement, routing_follows_the_storing_cu)
{
    for (uint32_t domains = 2; domains <= 12; domains += domains == 2 ? 1 : domains == 3 ? 1 : 2) {
        if (12 % domains != 0)
            continue;
        struct scene *s = scene_make(NUNA_POLICY_UA_NAR, domains, 2);
        for (uint32_t t = 0; t < 32; t++)
            add_copy(s, 0, add_chunk(s, 0, t * PAGE, PAGE), add_chunk(s, 1, t * PAGE, PAGE));
        cr_assert(nuna_placement_make(&s->spec, &s->workload, &s->placement));
        for (uint32_t t = 0; t < 32; t++) {
            struct nuna_frame frame = s->placement.pages[1][t];
            cr_expect_eq(frame.stack, t % 16, "memory stays round-robin");
            cr_expect_eq(frame.domains, domains);
            for (uint32_t d = 0; d < domains; d++)
                cr_expect_leq(hops_to_ports(s, s->placement.cu[t], frame.domain),
                              hops_to_ports(s, s->placement.cu[t], d));
            /* What is only loaded needs no route. */
            cr_expect_eq(s->placement.pages[0][t].domains, 1);
        }
        scene_free(s);
    }
}

/* Hashing stays within the domain's ports and uses them evenly; the baseline uses all. */
Test(placement, lines_spread_over_a_domains_ports)
{
    struct scene *s = scene_make(NUNA_POLICY_UA, 1, 1);
    const uint32_t granularities[] = {1, 2, 3, 4, 6, 12};
    for (size_t i = 0; i < 6; i++) {
        uint32_t g = granularities[i], per = 12 / g;
        struct nuna_frame *pages = calloc(600, sizeof *pages);
        for (uint32_t d = 0; d < g; d++) {
            uint32_t lines[12] = {0};
            for (uint32_t p = 0; p < 600; p++) {
                pages[p] = (struct nuna_frame){(uint8_t)g, (uint8_t)d, (uint8_t)(p % 16)};
                for (uint32_t l = 0; l < PAGE / LINE; l++) {
                    struct nuna_location where =
                        nuna_address_locate(&s->map, pages, (uint64_t)p * PAGE + l * LINE);
                    lines[where.port]++;
                    cr_assert_eq(where.channel / 16, p % 16);
                }
            }
            for (uint32_t port = 0; port < 12; port++) {
                if (port / per != d) {
                    cr_assert_eq(lines[port], 0);
                    continue;
                }
                double even = 600.0 * 16 / per;
                cr_expect(lines[port] > 0.9 * even && lines[port] < 1.1 * even);
            }
        }
        free(pages);
    }
    scene_free(s);
}

Test(placement, granularities)
{
    uint32_t list[64];
    cr_assert_eq(nuna_domains_granularities(12, 16, list), 5);
    cr_assert_eq(nuna_domains_granularities(12, 4, list), 3, "2, 3, 4: each domain has a stack");
    cr_assert_eq(nuna_domains_granularities(12, 1, list), 1);
    cr_assert_eq(list[0], 1);
    cr_assert_eq(nuna_domains_granularities(12, 16, list), 5);
    const uint32_t of_12[] = {2, 3, 4, 6, 12};
    cr_expect_arr_eq(list, of_12, sizeof of_12);
    cr_assert_eq(nuna_domains_granularities(1, 16, list), 1);
    cr_expect_eq(list[0], 1);
}
