/* XML writer: the text. */
#include "collectives/write/xml_text.h"

#include <inttypes.h>
#include <string.h>

/* A nop with a dependency moves it to the next step if that has none: the executors want chains of
 * nops to end in a step that has one, too. */
static void join_chains(struct nuna_xml_lane *lane)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < lane->count; i++) {
        struct nuna_xml_out_step *step = &lane->steps[i], *next = step + 1;
        step->number = number;
        if (i + 1 == lane->count || strcmp(step->type, "nop") != 0 || step->depid < 0 ||
            next->depid >= 0 || step->posted) {
            number++;
            continue;
        }
        next->depid = step->depid;
        next->deps = step->deps;
        step->count = NUNA_NONE;
    }
}

static void print_lane(const struct nuna_xml_writer *w, uint32_t first, uint32_t at, FILE *out)
{
    const struct nuna_xml_lane *lane = &w->lanes[at];
    fprintf(out,
            "    <tb id=\"%" PRIu32 "\" send=\"%" PRId64 "\" recv=\"%" PRId64 "\" chan=\"%" PRIu32
            "\">\n",
            at - first, lane->send, lane->recv, lane->chan);
    for (uint32_t i = 0; i < lane->count; i++) {
        const struct nuna_xml_out_step *step = &lane->steps[i];
        /* Dependencies name posted steps, which are never left out. */
        if (step->count == NUNA_NONE)
            continue;
        /* Dependencies name posted steps, which are not left out. */
        int64_t deps = -1;
        if (step->depid >= 0)
            deps = w->lanes[first + (uint32_t)step->depid].steps[step->deps].number;
        fprintf(out,
                "      <step s=\"%" PRIu32 "\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%" PRId64
                "\" dstbuf=\"%c\" dstoff=\"%" PRId64 "\" cnt=\"%" PRIu32 "\" depid=\"%" PRId64
                "\" deps=\"%" PRId64 "\" hasdep=\"%d\"/>\n",
                step->number, step->type, step->source_buffer, step->source, step->target_buffer,
                step->target, step->count, step->depid, deps, step->posted);
    }
    fprintf(out, "    </tb>\n");
}

void nuna_xml_print(struct nuna_xml_writer *w, FILE *out)
{
    for (uint32_t at = 0; at < w->lane_count; at++)
        join_chains(&w->lanes[at]);
    const struct nuna_plan *plan = w->plan;
    const uint32_t *first = plan->gpus[0].chunks;
    uint32_t whole = first[NUNA_BUF_INPUT] > first[NUNA_BUF_OUTPUT] ? first[NUNA_BUF_INPUT]
                                                                    : first[NUNA_BUF_OUTPUT];
    fprintf(out,
            "<algo name=\"%s\" proto=\"Simple\" nchannels=\"%" PRIu32 "\" nchunksperloop=\"%" PRIu32
            "\" ngpus=\"%" PRIu32
            "\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"%" PRIu64
            "\" maxBytes=\"%" PRIu64 "\">\n",
            plan->name, w->chans == 0 ? 1 : w->chans, whole, plan->gpu_count, plan->collective_name,
            plan->inplace, !plan->inplace, plan->min_size,
            plan->max_size > INT64_MAX ? 0 : plan->max_size);
    for (uint32_t g = 0; g < plan->gpu_count; g++) {
        const struct nuna_plan_gpu *gpu = &plan->gpus[g];
        fprintf(out,
                "  <gpu id=\"%" PRIu32 "\" i_chunks=\"%" PRIu32 "\" o_chunks=\"%" PRIu32
                "\" s_chunks=\"%" PRIu32 "\">\n",
                g, gpu->chunks[0], gpu->chunks[1], gpu->chunks[2]);
        uint32_t at = nuna_xml_first_lane(w, g);
        for (uint32_t t = 0; t < nuna_xml_lane_count(w, g); t++)
            print_lane(w, at, at + t, out);
        fprintf(out, "  </gpu>\n");
    }
    fprintf(out, "</algo>\n");
}
