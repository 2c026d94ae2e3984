#include "collectives/write/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The format numbers things three times over: by GPU, within a threadblock, and within a list. The
 * maps give a GPU's or threadblock's number for an identity; `listed` undoes them cheaply. */
struct writer {
    const struct nuna_plan *plan;
    FILE *out;
    uint32_t *channel_local; /* GPU channel -> position in the threadblock's list */
    uint32_t *remote_of;     /* peer * NUNA_BUFFER_COUNT + buffer -> remote buffer of the GPU */
    uint32_t *remote_local;  /* remote buffer of the GPU -> position in the threadblock's list */
    uint32_t *remotes;       /* remote buffers of the GPU, as peer * NUNA_BUFFER_COUNT + buffer */
    uint32_t remote_count;
    uint32_t *tb_channels, tb_channel_count;
    uint32_t *tb_remotes, tb_remote_count;
};

static const char buffer_letter[] = "ios";

static uint32_t *filled(size_t count, uint32_t value)
{
    uint32_t *array = malloc((count + 1) * sizeof *array);
    for (size_t i = 0; array != NULL && i < count; i++)
        array[i] = value;
    return array;
}

/* The reader pairs the k-th channel of a towards b with the k-th of b towards a; a plan wired
 * otherwise, or with ranges on the wrong GPU, cannot be said in this format. */
static bool channels_expressible(const struct nuna_plan *plan)
{
    uint32_t *ordinal = filled(plan->channel_count, 0);
    uint32_t *seen = filled(plan->gpu_count, 0);
    bool good = ordinal != NULL && seen != NULL;
    for (uint32_t gpu = 0; good && gpu < plan->gpu_count; gpu++) {
        const struct nuna_plan_gpu *g = &plan->gpus[gpu];
        const struct nuna_channel *channels = &plan->channels[g->channel_at];
        for (uint32_t i = 0; i < g->channel_count; i++)
            ordinal[g->channel_at + i] = seen[channels[i].peer]++;
        for (uint32_t i = 0; i < g->channel_count; i++)
            seen[channels[i].peer] = 0;
    }
    for (uint32_t gpu = 0; good && gpu < plan->gpu_count; gpu++) {
        const struct nuna_plan_gpu *g = &plan->gpus[gpu];
        for (uint32_t i = 0; good && i < g->channel_count; i++) {
            struct nuna_channel end = plan->channels[g->channel_at + i];
            const struct nuna_plan_gpu *peer = &plan->gpus[end.peer];
            good = end.peer_channel < peer->channel_count &&
                   plan->channels[peer->channel_at + end.peer_channel].peer == gpu &&
                   ordinal[peer->channel_at + end.peer_channel] == ordinal[g->channel_at + i];
        }
    }
    free(ordinal);
    free(seen);
    return good;
}

static void write_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)*at);
        else
            putc(*at, out);
    }
    putc('"', out);
}

static void write_numbers(FILE *out, const char *key, const uint32_t *numbers, uint32_t count)
{
    fprintf(out, "\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, i == 0 ? "%" PRIu32 : ",%" PRIu32, numbers[i]);
    putc(']', out);
}

/* The position of `item` in a list that grows by first use. */
static uint32_t position(uint32_t *map, uint32_t *list, uint32_t *count, uint32_t item)
{
    if (map[item] == NUNA_NONE) {
        map[item] = *count;
        list[(*count)++] = item;
    }
    return map[item];
}

static void write_ranges(struct writer *w, uint32_t gpu, const char *key, uint32_t at,
                         uint32_t count)
{
    fprintf(w->out, ",\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++) {
        const struct nuna_range *range = &w->plan->ranges[at + i];
        if (i > 0)
            putc(',', w->out);
        if (range->gpu == gpu) {
            fprintf(w->out, "{\"type\":\"%c\"", buffer_letter[range->buffer]);
        } else {
            uint32_t remote = position(w->remote_of, w->remotes, &w->remote_count,
                                       range->gpu * NUNA_BUFFER_COUNT + range->buffer);
            fprintf(w->out, "{\"buffer_id\":%" PRIu32,
                    position(w->remote_local, w->tb_remotes, &w->tb_remote_count, remote));
        }
        fprintf(w->out, ",\"index\":%" PRIu32 ",\"size\":%" PRIu32 "}", range->index, range->count);
    }
    putc(']', w->out);
}

static void write_channel_ids(struct writer *w, const struct nuna_op *op)
{
    fprintf(w->out, ",\"channel_ids\":[");
    for (uint32_t i = 0; i < op->id_count; i++) {
        uint32_t local = position(w->channel_local, w->tb_channels, &w->tb_channel_count,
                                  w->plan->ids[op->id_at + i]);
        fprintf(w->out, i == 0 ? "%" PRIu32 : ",%" PRIu32, local);
    }
    fprintf(w->out, "],\"channel_type\":\"memory\"");
}

static void write_op(struct writer *w, uint32_t gpu, const struct nuna_op *op)
{
    static const char *const names[][2] = {
        [NUNA_OP_NOP] = {"nop", "nop"},
        [NUNA_OP_PUT] = {"put", "put"},
        [NUNA_OP_COPY] = {"copy", "copy"},
        [NUNA_OP_REDUCE] = {"re", "re"},
        [NUNA_OP_SIGNAL] = {"signal", "rlxsignal"},
        [NUNA_OP_WAIT] = {"wait", "rlxwait"},
        [NUNA_OP_BARRIER] = {"barrier", "barrier"},
        [NUNA_OP_SEM_ACQUIRE] = {"sem_acquire", "sem_acquire"},
        [NUNA_OP_SEM_RELEASE] = {"sem_release", "sem_release"},
    };
    fprintf(w->out, "{\"name\":\"%s\"", names[op->kind][op->relaxed != 0]);
    switch ((enum nuna_op_kind)op->kind) {
    case NUNA_OP_NOP:
        break;
    case NUNA_OP_PUT:
    case NUNA_OP_COPY:
    case NUNA_OP_REDUCE:
        write_ranges(w, gpu, "src_buff", op->src_at, op->src_count);
        write_ranges(w, gpu, "dst_buff", op->dst_at, op->dst_count);
        if (op->kind == NUNA_OP_PUT)
            fprintf(w->out, ",\"channel_type\":\"memory\"");
        if (op->kind == NUNA_OP_REDUCE)
            fprintf(w->out, ",\"reduce_op\":\"sum\"");
        break;
    case NUNA_OP_SIGNAL:
    case NUNA_OP_WAIT:
        write_channel_ids(w, op);
        break;
    case NUNA_OP_BARRIER:
        fprintf(w->out, ",\"barrier_id\":%" PRIu32 ",\"num_threadblocks\":%" PRIu32, op->barrier_id,
                op->barrier_blocks);
        break;
    case NUNA_OP_SEM_ACQUIRE:
    case NUNA_OP_SEM_RELEASE:
        putc(',', w->out);
        write_numbers(w->out, "semaphore_ids", &w->plan->ids[op->id_at], op->id_count);
        break;
    default:
        break; /* refused before */
    }
    putc('}', w->out);
}

static void write_threadblock(struct writer *w, uint32_t gpu, uint32_t index)
{
    const struct nuna_threadblock *tb = &w->plan->threadblocks[w->plan->gpus[gpu].tb_at + index];
    fprintf(w->out, "%s\n   {\"id\":%" PRIu32 ",\"ops\":[", index == 0 ? "" : ",", index);
    for (uint32_t i = 0; i < tb->op_count; i++) {
        if (i > 0)
            putc(',', w->out);
        write_op(w, gpu, &w->plan->ops[tb->op_at + i]);
    }
    fprintf(w->out, "],\"channels\":[");
    if (w->tb_channel_count > 0) {
        fprintf(w->out, "{\"channel_type\":\"memory\",");
        write_numbers(w->out, "channel_ids", w->tb_channels, w->tb_channel_count);
        putc('}', w->out);
    }
    fprintf(w->out, "],\"remote_buffer_refs\":[");
    if (w->tb_remote_count > 0) {
        fprintf(w->out, "{\"access_channel_type\":\"memory\",");
        write_numbers(w->out, "remote_buffer_ids", w->tb_remotes, w->tb_remote_count);
        putc('}', w->out);
    }
    fprintf(w->out, "]}");

    while (w->tb_channel_count > 0)
        w->channel_local[w->tb_channels[--w->tb_channel_count]] = NUNA_NONE;
    while (w->tb_remote_count > 0)
        w->remote_local[w->tb_remotes[--w->tb_remote_count]] = NUNA_NONE;
}

static void write_gpu(struct writer *w, uint32_t gpu)
{
    const struct nuna_plan *plan = w->plan;
    const struct nuna_plan_gpu *g = &plan->gpus[gpu];
    FILE *out = w->out;
    fprintf(out,
            "%s\n {\"id\":%" PRIu32 ",\"input_chunks\":%" PRIu32 ",\"output_chunks\":%" PRIu32
            ",\"scratch_chunks\":%" PRIu32 ",\n  \"threadblocks\":[",
            gpu == 0 ? "" : ",", gpu, g->chunks[NUNA_BUF_INPUT], g->chunks[NUNA_BUF_OUTPUT],
            g->chunks[NUNA_BUF_SCRATCH]);
    for (uint32_t i = 0; i < g->tb_count; i++)
        write_threadblock(w, gpu, i);

    fprintf(out, "],\n  \"channels\":[");
    for (uint32_t i = 0; i < g->channel_count; i++)
        fprintf(out, "%s%" PRIu32, i == 0 ? "{\"channel_type\":\"memory\",\"connected_to\":[" : ",",
                plan->channels[g->channel_at + i].peer);
    fprintf(out, "%s],\n  \"remote_buffers\":[", g->channel_count > 0 ? "]}" : "");
    for (uint32_t i = 0; i < w->remote_count; i++)
        fprintf(out,
                "%s\n   {\"rank\":%" PRIu32
                ",\"type\":\"%c\",\"access_channel_types\":[\"memory\"]}",
                i == 0 ? "" : ",", w->remotes[i] / NUNA_BUFFER_COUNT,
                buffer_letter[w->remotes[i] % NUNA_BUFFER_COUNT]);
    fprintf(out, "],\n  \"semaphores\":[");
    for (uint32_t i = 0; i < g->sem_count; i++)
        fprintf(out, "%s{\"init_value\":%" PRIu32 "}", i == 0 ? "" : ",",
                plan->sem_init[g->sem_at + i]);
    fprintf(out, "]}");

    while (w->remote_count > 0)
        w->remote_of[w->remotes[--w->remote_count]] = NUNA_NONE;
}

static void write_plan(struct writer *w)
{
    const struct nuna_plan *plan = w->plan;
    fprintf(w->out, "{\n\"name\":");
    write_string(w->out, plan->name);
    fprintf(w->out, ",\n\"collective\":");
    write_string(w->out, plan->collective_name);
    fprintf(w->out,
            ",\n\"protocol\":\"Simple\",\n\"inplace\":%s,\n\"reuse_resources\":false,\n\"gpus\":[",
            plan->inplace ? "true" : "false");
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++)
        write_gpu(w, gpu);
    fprintf(w->out,
            "],\n\"num_threads_per_block\":1024,\n\"use_double_scratch_buffer\":false,\n"
            "\"buffer_alignment\":%" PRIu64 ",\n\"min_message_size\":%" PRIu64
            ",\n\"max_message_size\":%" PRIu64 "\n}\n",
            plan->grain, plan->min_size, plan->max_size);
}

static bool op_expressible(const struct nuna_plan *plan, uint32_t gpu, const struct nuna_op *op)
{
    if (op->kind > NUNA_OP_SEM_RELEASE || op->flags != 0 || op->parts > 1 ||
        (op->kind == NUNA_OP_REDUCE && op->dst_count != 1))
        return false;
    for (uint32_t i = 0; i < op->src_count; i++) {
        const struct nuna_range *range = &plan->ranges[op->src_at + i];
        if (range->form != NUNA_FORM_DATA || range->is_group || range->gpu != gpu)
            return false;
    }
    for (uint32_t i = 0; i < op->dst_count; i++) {
        const struct nuna_range *range = &plan->ranges[op->dst_at + i];
        bool here = range->gpu == gpu;
        if (range->form != NUNA_FORM_DATA || range->is_group || here != (op->kind != NUNA_OP_PUT))
            return false;
    }
    return true;
}

/* What plans are made of that nunasim generates; others are read only. */
static bool ops_expressible(const struct nuna_plan *plan)
{
    for (uint32_t g = 0; g < plan->gpu_count; g++)
        for (uint32_t t = 0; t < plan->gpus[g].tb_count; t++) {
            const struct nuna_threadblock *tb = &plan->threadblocks[plan->gpus[g].tb_at + t];
            for (uint32_t o = tb->op_at; o < tb->op_at + tb->op_count; o++)
                if (!op_expressible(plan, g, &plan->ops[o]))
                    return false;
        }
    for (size_t i = 0; i < plan->channel_count; i++)
        if (plan->channels[i].kind != NUNA_CHANNEL_MEMORY)
            return false;
    return true;
}

bool nuna_plan_write_json(const struct nuna_plan *plan, FILE *out)
{
    if (!ops_expressible(plan) || !channels_expressible(plan)) {
        errno = EINVAL;
        return false;
    }
    size_t channels = 0;
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++)
        channels =
            plan->gpus[gpu].channel_count > channels ? plan->gpus[gpu].channel_count : channels;
    size_t remotes = (size_t)plan->gpu_count * NUNA_BUFFER_COUNT;
    struct writer w = {
        .plan = plan,
        .out = out,
        .channel_local = filled(channels, NUNA_NONE),
        .remote_of = filled(remotes, NUNA_NONE),
        .remote_local = filled(remotes, NUNA_NONE),
        .remotes = filled(remotes, NUNA_NONE),
        .tb_channels = filled(channels, NUNA_NONE),
        .tb_remotes = filled(remotes, NUNA_NONE),
    };
    bool good = w.channel_local != NULL && w.remote_of != NULL && w.remote_local != NULL &&
                w.remotes != NULL && w.tb_channels != NULL && w.tb_remotes != NULL;
    if (good)
        write_plan(&w);
    free(w.channel_local);
    free(w.remote_of);
    free(w.remote_local);
    free(w.remotes);
    free(w.tb_channels);
    free(w.tb_remotes);
    return good && fflush(out) == 0 && ferror(out) == 0;
}
