#include "collectives/read/mscclpp/pair.h"

#include <stdlib.h>

/* One end of a channel, sorted so that the two ends of one channel are neighbours. */
struct end {
    uint32_t low, high; /* the two ranks */
    uint32_t kind;      /* via and tag */
    uint32_t ordinal;   /* among the channels of its kind and rank towards the other */
    uint32_t owner;
    uint32_t channel; /* of the owner */
};

#define COMPARE(field)                                                                             \
    if (a->field != b->field)                                                                      \
    return a->field < b->field ? -1 : 1

static int by_pair(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    COMPARE(low);
    COMPARE(high);
    COMPARE(kind);
    COMPARE(ordinal);
    COMPARE(owner);
    return a->channel < b->channel ? -1 : a->channel > b->channel;
}

static uint32_t kind_of(const struct nuna_read_channel *channel)
{
    return channel->tag * NUNA_VIA_KINDS + channel->via;
}

/* The ends of one GPU towards one peer and of one kind are numbered in the order of the file. */
static void number_ends(struct end *ends, size_t count)
{
    qsort(ends, count, sizeof *ends, by_pair);
    for (size_t i = 1; i < count; i++) {
        bool same = ends[i].low == ends[i - 1].low && ends[i].high == ends[i - 1].high &&
                    ends[i].kind == ends[i - 1].kind;
        ends[i].ordinal = same ? ends[i - 1].ordinal + 1 : 0;
    }
}

static void list_ends(const struct nuna_plan_reader *reader, struct end *ends)
{
    for (uint32_t gpu = 0; gpu < reader->builder.plan->gpu_count; gpu++) {
        uint32_t first = reader->channels_at.items[gpu], last = reader->channels_at.items[gpu + 1];
        for (uint32_t i = first; i < last; i++) {
            uint32_t peer = reader->channels[i].peer;
            ends[i] = (struct end){
                .low = gpu < peer ? gpu : peer,
                .high = gpu < peer ? peer : gpu,
                .kind = kind_of(&reader->channels[i]),
                .owner = gpu,
                .channel = i - first,
            };
        }
        number_ends(&ends[first], last - first);
    }
}

static bool same_channel(const struct end *a, const struct end *b)
{
    return a->low == b->low && a->high == b->high && a->kind == b->kind && a->ordinal == b->ordinal;
}

/* Lays out the GPUs' channels: what the file lists, then the ends it leaves out. */
static void lay_out(struct nuna_plan_reader *reader, const struct end *ends, size_t count,
                    uint32_t *missing)
{
    struct nuna_plan *plan = reader->builder.plan;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && same_channel(&ends[i], &ends[i + 1]))
            i++;
        else
            missing[ends[i].owner == ends[i].low ? ends[i].high : ends[i].low]++;
    }
    for (uint32_t gpu = 0; gpu < plan->gpu_count; gpu++) {
        uint32_t first = reader->channels_at.items[gpu];
        uint32_t listed = reader->channels_at.items[gpu + 1] - first;
        plan->gpus[gpu].channel_at = (uint32_t)plan->channel_count;
        for (uint32_t i = 0; i < listed + missing[gpu]; i++)
            nuna_builder_channel(&reader->builder, gpu, (struct nuna_channel){0});
        missing[gpu] = listed; /* from now on: the next free channel */
    }
}

static void connect_ends(struct nuna_plan *plan, const struct end *ends, size_t count,
                         uint32_t *next_free)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t owner = ends[i].owner, mine = ends[i].channel;
        uint32_t peer = owner == ends[i].low ? ends[i].high : ends[i].low;
        uint32_t kind = ends[i].kind % NUNA_VIA_KINDS == NUNA_VIA_PORT ? NUNA_CHANNEL_PORT
                                                                       : NUNA_CHANNEL_MEMORY;
        uint32_t other;
        if (i + 1 < count && same_channel(&ends[i], &ends[i + 1]))
            other = ends[++i].channel;
        else
            other = next_free[peer]++;
        plan->channels[plan->gpus[owner].channel_at + mine] =
            (struct nuna_channel){peer, other, kind, mine};
        plan->channels[plan->gpus[peer].channel_at + other] =
            (struct nuna_channel){owner, mine, kind, other};
    }
}

bool nuna_read_pair_channels(struct nuna_plan_reader *reader)
{
    size_t count = reader->channel_count;
    uint32_t gpu_count = reader->builder.plan->gpu_count;
    struct end *ends = malloc((count + 1) * sizeof *ends);
    uint32_t *scratch = calloc(gpu_count, sizeof *scratch);
    bool good = ends != NULL && scratch != NULL;
    if (good) {
        list_ends(reader, ends);
        qsort(ends, count, sizeof *ends, by_pair);
        lay_out(reader, ends, count, scratch);
        if (!nuna_builder_failed(&reader->builder))
            connect_ends(reader->builder.plan, ends, count, scratch);
    } else {
        nuna_fail_memory(reader->err, "the channels of a plan");
    }
    free(ends);
    free(scratch);
    return good;
}
