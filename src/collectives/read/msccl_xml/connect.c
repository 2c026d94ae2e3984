/* MSCCL XML: connections, and whether their messages match. */
#include "collectives/read/msccl_xml/connect.h"

#include <stdlib.h>

static int32_t rank_of(const struct nuna_xml_builder *b, const struct nuna_xml_tb *tb)
{
    return b->xml->gpus[tb->gpu].id;
}

static bool receives(uint8_t type)
{
    return type == NUNA_XML_R || type == NUNA_XML_RCS || type == NUNA_XML_RRC ||
           type == NUNA_XML_RRS || type == NUNA_XML_RRCS;
}

static bool sends(uint8_t type)
{
    return type == NUNA_XML_S || type == NUNA_XML_RCS || type == NUNA_XML_RRS ||
           type == NUNA_XML_RRCS;
}

static bool check_peer(struct nuna_xml_builder *b, const struct nuna_xml_tb *tb, int32_t peer,
                       const char *verb)
{
    int32_t rank = rank_of(b, tb);
    if (peer == -1)
        return true;
    if (peer == rank)
        return nuna_xml_fail(b, tb->line, tb->column, "gpu %d threadblock %d %s itself", rank,
                             tb->id, verb);
    if ((uint32_t)peer >= b->builder.plan->gpu_count)
        return nuna_xml_fail(b, tb->line, tb->column,
                             "gpu %d threadblock %d %s gpu %d, but ngpus is %u", rank, tb->id, verb,
                             peer, b->builder.plan->gpu_count);
    if (tb->chan < 0 || tb->chan >= b->xml->nchannels)
        return nuna_xml_fail(b, tb->line, tb->column,
                             "gpu %d threadblock %d: channel %d, but nchannels is %d", rank, tb->id,
                             tb->chan, b->xml->nchannels);
    return true;
}

static int by_connection(const void *left, const void *right)
{
    const struct nuna_xml_end *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->destination != b->destination)
        return a->destination < b->destination ? -1 : 1;
    if (a->chan != b->chan)
        return a->chan < b->chan ? -1 : 1;
    if (a->receives != b->receives)
        return a->receives ? 1 : -1;
    return a->tb < b->tb ? -1 : a->tb > b->tb;
}

static size_t uses(const struct nuna_xml_builder *b, const struct nuna_xml_tb *tb, bool receiving)
{
    size_t count = 0;
    for (size_t s = tb->step_at; s < tb->step_at + tb->step_count; s++) {
        const struct nuna_xml_step *step = &b->xml->steps[s];
        count += step->cnt > 0 && (receiving ? receives(step->type) : sends(step->type));
    }
    return count;
}

/* The ends that carry messages, numbered per GPU in the order of threadblocks, the sending one
 * first. */
bool nuna_xml_list_ends(struct nuna_xml_builder *b)
{
    const struct nuna_xml *xml = b->xml;
    for (uint32_t rank = 0; rank < b->builder.plan->gpu_count; rank++) {
        const struct nuna_xml_gpu *gpu = &xml->gpus[b->gpu_of[rank]];
        uint32_t channel = 0;
        for (size_t t = 0; t < gpu->tb_count; t++) {
            uint32_t place = b->tb_of[gpu->tb_at + t];
            const struct nuna_xml_tb *tb = &xml->tbs[place];
            if (!check_peer(b, tb, tb->send, "sends to") ||
                !check_peer(b, tb, tb->recv, "receives from"))
                return false;
            for (int receiving = 0; receiving < 2; receiving++) {
                int32_t peer = receiving ? tb->recv : tb->send;
                if (uses(b, tb, receiving == 1) == 0)
                    continue;
                if (peer == -1)
                    return nuna_xml_fail(b, tb->line, tb->column,
                                         "gpu %u threadblock %d %s, but has %s=\"-1\"", rank,
                                         tb->id, receiving ? "receives" : "sends",
                                         receiving ? "recv" : "send");
                b->ends[b->end_count++] = (struct nuna_xml_end){
                    .source = receiving ? peer : (int32_t)rank,
                    .destination = receiving ? (int32_t)rank : peer,
                    .chan = tb->chan,
                    .receives = receiving == 1,
                    .tb = place,
                    .gpu = rank,
                    .channel = channel++,
                };
            }
        }
    }
    return true;
}

static bool same_connection(const struct nuna_xml_end *a, const struct nuna_xml_end *b)
{
    return a->source == b->source && a->destination == b->destination && a->chan == b->chan;
}

/* The messages of the two ends, one by one. */
static bool check_messages(struct nuna_xml_builder *b, const struct nuna_xml_end *sender,
                           const struct nuna_xml_end *receiver)
{
    const struct nuna_xml *xml = b->xml;
    const struct nuna_xml_tb *from = &xml->tbs[sender->tb], *to = &xml->tbs[receiver->tb];
    size_t sent = uses(b, from, false), received = uses(b, to, true);
    if (sent != received)
        return nuna_xml_fail(b, to->line, to->column,
                             "connection %d->%d channel %d has %zu receive%s but %zu send%s (hang)",
                             sender->source, sender->destination, sender->chan, received,
                             received == 1 ? "" : "s", sent, sent == 1 ? "" : "s");
    size_t s = from->step_at, r = to->step_at;
    for (size_t n = 0; n < sent; n++, s++, r++) {
        while (!sends(xml->steps[s].type) || xml->steps[s].cnt == 0)
            s++;
        while (!receives(xml->steps[r].type) || xml->steps[r].cnt == 0)
            r++;
        if (xml->steps[s].cnt != xml->steps[r].cnt)
            return nuna_xml_fail(
                b, xml->steps[r].line, xml->steps[r].column,
                "connection %d->%d channel %d: message %zu is sent with %d chunks and "
                "received with %d",
                sender->source, sender->destination, sender->chan, n, xml->steps[s].cnt,
                xml->steps[r].cnt);
    }
    return true;
}

static bool check_single(struct nuna_xml_builder *b, const struct nuna_xml_end *end)
{
    const struct nuna_xml_tb *tb = &b->xml->tbs[end->tb];
    int32_t peer = end->receives ? end->source : end->destination;
    return nuna_xml_fail(
        b, tb->line, tb->column,
        "gpu %u threadblock %d %s gpu %d on channel %d, but gpu %d has no threadblock with "
        "%s=\"%u\" chan=\"%d\" that %s",
        end->gpu, tb->id, end->receives ? "receives from" : "sends to", peer, end->chan, peer,
        end->receives ? "send" : "recv", end->gpu, end->chan, end->receives ? "sends" : "receives");
}

bool nuna_xml_connect(struct nuna_xml_builder *b)
{
    struct nuna_plan *plan = b->builder.plan;
    qsort(b->ends, b->end_count, sizeof *b->ends, by_connection);
    for (size_t i = 0; i < b->end_count; i += 2) {
        const struct nuna_xml_end *a = &b->ends[i], *z = i + 1 < b->end_count ? a + 1 : NULL;
        const struct nuna_xml_tb *tb = &b->xml->tbs[z == NULL ? a->tb : z->tb];
        if (z != NULL && same_connection(a, z) && a->receives == z->receives)
            return nuna_xml_fail(
                b, tb->line, tb->column,
                "two threadblocks of gpu %u own the same connection (%s gpu %d, channel %d): "
                "the order of messages is undefined",
                a->gpu, a->receives ? "from" : "to", a->receives ? a->source : a->destination,
                a->chan);
        if (z == NULL || !same_connection(a, z))
            return check_single(b, a);
        if (i + 2 < b->end_count && same_connection(z, z + 1))
            return nuna_xml_fail(
                b, b->xml->tbs[z[1].tb].line, b->xml->tbs[z[1].tb].column,
                "two threadblocks of gpu %u own the same connection (from gpu %d, channel "
                "%d): the order of messages is undefined",
                z->gpu, z->source, z->chan);
        if (!check_messages(b, a, z))
            return false;
        plan->channels[plan->gpus[a->gpu].channel_at + a->channel] =
            (struct nuna_channel){z->gpu, z->channel, NUNA_CHANNEL_SENDS, (uint32_t)a->chan};
        plan->channels[plan->gpus[z->gpu].channel_at + z->channel] =
            (struct nuna_channel){a->gpu, a->channel, NUNA_CHANNEL_RECEIVES, (uint32_t)a->chan};
    }
    return true;
}

/* Channels of each GPU lie together: made before they are connected. */
void nuna_xml_make_channels(struct nuna_xml_builder *b)
{
    struct nuna_plan *plan = b->builder.plan;
    size_t at = 0;
    for (uint32_t rank = 0; rank < plan->gpu_count; rank++) {
        plan->gpus[rank].channel_at = (uint32_t)plan->channel_count;
        for (; at < b->end_count && b->ends[at].gpu == rank; at++)
            nuna_builder_channel(&b->builder, rank, (struct nuna_channel){0});
    }
}
