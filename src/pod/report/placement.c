#include "pod/report/placement.h"
#include "gpu/topology.h"
#include "noc/mesh.h"
#include "placement/layout.h"
#include "placement/placement.h"
#include <inttypes.h>
#include <stdlib.h>

static uint32_t x_of(const struct nuna_view *view, uint16_t router)
{
    return router & ((1u << view->noc->x_bits) - 1);
}

static uint32_t y_of(const struct nuna_view *view, uint16_t router)
{
    return (uint32_t)router >> view->noc->x_bits;
}

static struct nuna_frame frame_of(const struct nuna_view *view, uint32_t gpu, uint64_t page)
{
    return view->placement->pages ? view->placement->pages[gpu][page]
                                  : nuna_address_default_frame(view->map, page);
}

/* Each domain's flags begin on a page of their own, which the image's end does not count. */
static uint64_t page_count(const struct nuna_view *view, uint32_t gpu)
{
    const struct nuna_layout_gpu *places = &view->layout->gpus[gpu];
    uint64_t end = places->end;
    for (uint32_t c = 0; c < view->plan->gpus[gpu].channel_count; c++) {
        uint64_t flag_end = nuna_layout_flag(view->layout, gpu, c) + view->layout->flag_stride;
        end = flag_end > end ? flag_end : end;
    }
    return (end + view->map->page_size - 1) / view->map->page_size;
}

static bool same_route(struct nuna_frame a, struct nuna_frame b)
{
    return a.domains == b.domains && a.domain == b.domain;
}

/* The pages from `first` on that lie alike: in one stack, or round-robin, whichever is more. */
static uint64_t run_length(const struct nuna_view *view, uint32_t gpu, uint64_t first,
                           uint64_t count, bool *ret_round_robin)
{
    struct nuna_frame frame = frame_of(view, gpu, first);
    uint64_t fixed = first, turning = first;
    if (!view->placement->pages)
        turning = count;
    while (turning < count && same_route(frame_of(view, gpu, turning), frame) &&
           frame_of(view, gpu, turning).stack ==
               nuna_address_default_frame(view->map, turning).stack)
        turning++;
    while (fixed < count && view->placement->pages &&
           same_route(frame_of(view, gpu, fixed), frame) &&
           frame_of(view, gpu, fixed).stack == frame.stack)
        fixed++;
    *ret_round_robin = turning > fixed;
    return (turning > fixed ? turning : fixed) - first;
}

struct place {
    const struct nuna_view *view;
    uint32_t gpu;
    uint64_t index, count;
    /* A threadblock's, else NULL. */
    const uint32_t *cu;
    uint16_t router;
    /* Pages'. */
    bool round_robin;
    uint32_t stack;
    uint32_t domains, domain;
};

static struct nuna_value stack_of(const struct place *place)
{
    if (place->cu)
        return nuna_empty();
    return place->round_robin ? nuna_text("round-robin") : nuna_count(place->stack);
}

#define PLACE_COLUMNS(X)                                                                           \
    X(place, gpu, "", "whose", nuna_count(row->gpu))                                               \
    X(place, kind, "", "`threadblock` or `pages`", nuna_text(row->cu ? "threadblock" : "pages"))   \
    X(place, index, "",                                                                            \
      "number of the threadblock in the plan, or of the first page in the GPU's image",            \
      nuna_count(row->index))                                                                      \
    X(place, count, "", "how many", nuna_count(row->count))                                        \
    X(place, cu, "", "compute unit", row->cu ? nuna_count(*row->cu) : nuna_empty())                \
    X(place, x, "", "column of its router",                                                        \
      nuna_if(row->cu, nuna_count(x_of(row->view, row->router))))                                  \
    X(place, y, "", "row of its router",                                                           \
      nuna_if(row->cu, nuna_count(y_of(row->view, row->router))))                                  \
    X(place, stack, "",                                                                            \
      "memory stack that holds the pages, or `round-robin`: page p in stack p mod stacks",         \
      stack_of(row))                                                                               \
    X(place, domains, "", "NAR granularity of the pages' segment (1: baseline)",                   \
      nuna_count(row->domains))                                                                    \
    X(place, domain, "",                                                                           \
      "their domain; of a threadblock: the domain it was placed for, and, with NAR, through "      \
      "which its stores go",                                                                       \
      nuna_count(row->domain))
NUNA_COLUMNS(place, PLACE_COLUMNS)
const struct nuna_table nuna_placement_table =
    NUNA_TABLE(place, "placement.csv",
               "one row per threadblock, then one per run of pages that lie alike, GPU by GPU", 0);

static bool report_threadblocks(const struct nuna_csv *csv, const struct nuna_view *view,
                                uint32_t gpu)
{
    const struct nuna_plan_gpu *plan_gpu = &view->plan->gpus[gpu];
    for (uint32_t tb = 0; tb < plan_gpu->tb_count; tb++) {
        const uint32_t *cu = &view->placement->cu[plan_gpu->tb_at + tb];
        const struct place row = {.view = view,
                                  .gpu = gpu,
                                  .index = tb,
                                  .count = 1,
                                  .cu = cu,
                                  .router = view->topology->cu_router[*cu],
                                  .domains = view->domains,
                                  .domain = view->placement->domain[plan_gpu->tb_at + tb]};
        if (!nuna_csv_row(csv, &row))
            return false;
    }
    return true;
}

static bool report_pages(const struct nuna_csv *csv, const struct nuna_view *view, uint32_t gpu)
{
    uint64_t count = page_count(view, gpu);
    for (uint64_t page = 0, run; page < count; page += run) {
        struct nuna_frame frame = frame_of(view, gpu, page);
        struct place row = {.view = view,
                            .gpu = gpu,
                            .index = page,
                            .stack = frame.stack,
                            .domains = frame.domains,
                            .domain = frame.domain};
        row.count = run = run_length(view, gpu, page, count, &row.round_robin);
        if (!nuna_csv_row(csv, &row))
            return false;
    }
    return true;
}

bool nuna_report_placement(FILE *out, const struct nuna_view *view)
{
    struct nuna_csv csv;
    bool ok = nuna_csv_begin(&csv, out, &nuna_placement_table, true);
    for (uint32_t g = 0; ok && g < view->plan->gpu_count; g++)
        ok = report_threadblocks(&csv, view, g) && report_pages(&csv, view, g);
    return ok;
}

/* Stacks of one edge, each as wide as the routers that it spans. */
static void draw_stacks(FILE *out, const struct nuna_view *view, const uint64_t *pages, uint32_t y)
{
    bool any = false;
    for (uint32_t s = 0; s < view->topology->stack_count; s++) {
        const struct nuna_stack_place *place = &view->topology->stack[s];
        /* On a mesh of one row all stacks are above. */
        if (place->y != y || (y > 0 && view->topology->stack[0].y == y))
            continue;
        if (!any)
            fputs("pages     ", out);
        any = true;
        int width = 3 * (place->last_x - place->first_x + 1);
        char text[32];
        snprintf(text, sizeof text, "[%" PRIu64 "]", pages[s]);
        fprintf(out, "%-*s", width, text);
    }
    if (any)
        fputc('\n', out);
}

static void draw_port(FILE *out, const struct nuna_view *view, uint32_t x, uint32_t y)
{
    uint32_t per_domain = view->topology->port_count / view->domains;
    for (uint32_t p = 0; p < view->topology->port_count; p++)
        if (view->topology->port_router[p] == nuna_noc_router(view->noc, x, y)) {
            fprintf(out, " p%-2u d%-2u ", p, p / per_domain);
            return;
        }
    fputs("         ", out);
}

bool nuna_draw_placement(FILE *out, const struct nuna_view *view, uint32_t gpu)
{
    uint32_t *blocks = calloc(view->noc->codes, sizeof *blocks);
    uint64_t *pages = calloc(view->topology->stack_count, sizeof *pages);
    bool ok = blocks && pages;
    const struct nuna_plan_gpu *plan_gpu = &view->plan->gpus[gpu];
    for (uint32_t tb = 0; ok && tb < plan_gpu->tb_count; tb++)
        blocks[view->topology->cu_router[view->placement->cu[plan_gpu->tb_at + tb]]]++;
    for (uint64_t page = 0; ok && page < page_count(view, gpu); page++)
        pages[frame_of(view, gpu, page).stack]++;
    if (ok) {
        fprintf(
            out,
            "placement of GPU %u: threadblocks on each router, pages in each stack, ports (p) with "
            "their domain (d)\n",
            gpu);
        draw_stacks(out, view, pages, 0);
        uint32_t per_die = view->noc->columns / view->topology->dies;
        for (uint32_t y = 0; y < view->noc->rows; y++) {
            draw_port(out, view, 0, y);
            for (uint32_t x = 0; x < view->noc->columns; x++) {
                uint32_t n = blocks[nuna_noc_router(view->noc, x, y)];
                fputs(x % per_die == 0 ? "|" : " ", out);
                fprintf(out, n ? "%2u" : " .", n);
            }
            fputs("|", out);
            draw_port(out, view, view->noc->columns - 1, y);
            fputc('\n', out);
        }
        draw_stacks(out, view, pages, view->noc->rows - 1);
    }
    free(blocks);
    free(pages);
    return ok && !ferror(out);
}
