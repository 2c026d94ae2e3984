#include "host/gpu_side.h"
#include <stdlib.h>
#include <string.h>

struct task_payload {
    uint32_t offset[2], bytes[2], manager, slot;
    uint16_t gpu, peer;
    uint8_t direction, stream;
};
_Static_assert(sizeof(struct task_payload) <= sizeof((struct nuna_message){0}.payload), "fits");

void nuna_host_task_pack(const struct nuna_host_task *task, struct nuna_message *message)
{
    struct task_payload payload = {
        .offset = {(uint32_t)task->offset, (uint32_t)(task->offset >> 32)},
        .bytes = {(uint32_t)task->bytes, (uint32_t)(task->bytes >> 32)},
        .manager = task->manager,
        .slot = task->slot,
        .gpu = task->gpu,
        .peer = task->peer,
        .direction = task->direction,
        .stream = task->stream,
    };
    memcpy(message->payload, &payload, sizeof payload);
}

void nuna_host_task_unpack(struct nuna_host_task *task, const struct nuna_message *message)
{
    struct task_payload payload;
    memcpy(&payload, message->payload, sizeof payload);
    *task = (struct nuna_host_task){
        .offset = (uint64_t)payload.offset[1] << 32 | payload.offset[0],
        .bytes = (uint64_t)payload.bytes[1] << 32 | payload.bytes[0],
        .manager = payload.manager,
        .slot = payload.slot,
        .gpu = payload.gpu,
        .peer = payload.peer,
        .direction = payload.direction,
        .stream = payload.stream,
        .next = NUNA_NO_TASK,
        .queued = NUNA_NO_TASK,
    };
}

/* ---- what a task consists of ---- */

static uint32_t stage_count(const struct nuna_host_gpu *gpu, const struct nuna_host_task *task)
{
    return task->direction != NUNA_HOST_P2P && task->gpu != gpu->gpu ? 2 : 1;
}

static enum nuna_copy_op stage_op(const struct nuna_host_gpu *gpu,
                                  const struct nuna_host_task *task)
{
    switch ((enum nuna_host_direction)task->direction) {
    case NUNA_HOST_H2D:
        return task->stage == 0 ? NUNA_COPY_READ : NUNA_COPY_PUSH;
    case NUNA_HOST_D2H:
        return task->stage + 1u == stage_count(gpu, task) ? NUNA_COPY_WRITE : NUNA_COPY_PULL;
    case NUNA_HOST_P2P:
    case NUNA_HOST_DIRECTIONS:
        break;
    }
    return NUNA_COPY_PUSH;
}

static uint32_t stage_engine(const struct nuna_host_gpu *gpu, const struct nuna_host_task *task)
{
    static const uint8_t kind[] = {
        [NUNA_COPY_READ] = NUNA_ENGINE_IN,
        [NUNA_COPY_WRITE] = NUNA_ENGINE_OUT,
        [NUNA_COPY_PUSH] = NUNA_ENGINE_PEER,
        [NUNA_COPY_PULL] = NUNA_ENGINE_OUT,
    };
    return task->manager * NUNA_ENGINE_KINDS + kind[stage_op(gpu, task)];
}

static bool over_pcie(enum nuna_copy_op op)
{
    return op == NUNA_COPY_READ || op == NUNA_COPY_WRITE;
}

/* ---- sending ---- */

/* The next message to `dest`, a GPU or, at number `gpus`, the host. */
static struct nuna_message *message_to(struct nuna_host_gpu *gpu, uint32_t dest, uint32_t kind,
                                       nuna_time time)
{
    uint32_t gpus = gpu->shape->gpus;
    struct nuna_message *message = nuna_lp_send(gpu->lp, (uint16_t)dest);
    message->time = time;
    message->source = (uint16_t)gpu->gpu;
    /* To a GPU: after the host's and a collective's, which count up to `gpus`. */
    message->rel = (uint16_t)(dest == gpus ? gpu->gpu : (gpu->gpu + gpus - dest) % gpus + gpus + 1);
    message->kind = (uint8_t)kind;
    message->tag = 0;
    return message;
}

/* Sends the piece to the host and lets its record go. */
static void send_to_host(struct nuna_host_gpu *gpu, uint32_t handle, nuna_time time)
{
    struct nuna_message *message =
        message_to(gpu, gpu->shape->gpus, NUNA_HOST_EV_PIECE, time + gpu->shape->pcie_latency);
    nuna_piece_pack(nuna_piece(&gpu->pieces, handle), message);
    nuna_piece_put(&gpu->pieces, handle);
}

static uint32_t wire_bytes(const struct nuna_host_gpu *gpu, const struct nuna_host_piece *piece)
{
    return piece->phase == NUNA_PIECE_DATA ? piece->bytes : gpu->shape->control_bytes;
}

/* Sends the piece out of its port and lets its record go. */
static void send_to_peer(struct nuna_host_gpu *gpu, uint32_t handle, uint32_t dest)
{
    const struct nuna_host_piece *piece = nuna_piece(&gpu->pieces, handle);
    nuna_time now = gpu->lp->now, free_at = gpu->scaleup->egress[piece->port].free_at;
    nuna_time at_switch =
        nuna_scaleup_depart(gpu->scaleup, piece->port, now, wire_bytes(gpu, piece));
    nuna_timeline_add(&gpu->ports_out, free_at > now ? free_at : now,
                      gpu->scaleup->egress[piece->port].free_at);
    if (piece->phase == NUNA_PIECE_DATA)
        gpu->peer_out += piece->bytes;
    nuna_piece_pack(piece, message_to(gpu, dest, NUNA_HOST_EV_SWITCH, at_switch));
    nuna_piece_put(&gpu->pieces, handle);
}

/* Memory reads or writes the piece. */
static void to_memory(struct nuna_host_gpu *gpu, uint32_t handle)
{
    nuna_time end =
        nuna_link_take(&gpu->memory, gpu->lp->now, nuna_piece(&gpu->pieces, handle)->bytes);
    nuna_lp_schedule(gpu->lp, end + gpu->shape->memory_latency,
                     nuna_event_make(NUNA_HOST_EV_MEMORY_DONE, handle));
}

/* ---- engines ---- */

static void issue_piece(struct nuna_host_gpu *gpu, uint32_t index,
                        const struct nuna_host_task *task, enum nuna_copy_op op)
{
    const struct nuna_host_shape *shape = gpu->shape;
    struct nuna_copy_engine *engine = &gpu->engines[index];
    uint64_t rest = task->bytes - engine->issued;
    if (over_pcie(op))
        rest = nuna_host_within_home(shape, task->offset + engine->issued, rest);
    uint32_t handle = nuna_piece_get(&gpu->pieces);
    struct nuna_host_piece *piece = nuna_piece(&gpu->pieces, handle);
    *piece = (struct nuna_host_piece){
        .offset = task->offset + engine->issued,
        .bytes = (uint32_t)(rest < shape->piece_bytes ? rest : shape->piece_bytes),
        .engine = index,
        .gpu = (uint16_t)gpu->gpu,
        .op = (uint8_t)op,
        .phase = op == NUNA_COPY_READ || op == NUNA_COPY_PULL ? NUNA_PIECE_REQUEST : NUNA_PIECE_OUT,
    };
    engine->issued += piece->bytes;
    if (over_pcie(op))
        piece->home = (uint8_t)nuna_host_home(shape, task->gpu, gpu->gpu, piece->offset);
    else
        piece->port = (uint8_t)(gpu->next_port++ % shape->clos->ports);
    if (op == NUNA_COPY_READ)
        send_to_host(gpu, handle, gpu->lp->now);
    else if (op == NUNA_COPY_PULL)
        send_to_peer(gpu, handle, task->gpu);
    else
        to_memory(gpu, handle);
}

/* Issues what the window, and the pace of a relay, allow. */
static void issue(struct nuna_host_gpu *gpu, uint32_t index)
{
    struct nuna_copy_engine *engine = &gpu->engines[index];
    const struct nuna_host_task *task = &gpu->tasks[engine->tasks.first];
    enum nuna_copy_op op = stage_op(gpu, task);
    uint64_t window = over_pcie(op) ? gpu->shape->pcie_window : gpu->shape->peer_window;
    bool paced = over_pcie(op) && task->gpu != gpu->gpu;
    if (engine->issue_pending)
        return;
    while (engine->issued < task->bytes) {
        uint64_t in_flight = engine->issued - engine->landed;
        if (in_flight > 0 && in_flight + gpu->shape->piece_bytes > window)
            return;
        if (paced && engine->pace.free_at > gpu->lp->now) {
            engine->issue_pending = true;
            nuna_lp_schedule(gpu->lp, engine->pace.free_at,
                             nuna_event_make(NUNA_HOST_EV_ENGINE_ISSUE, index));
            return;
        }
        uint64_t before = engine->issued;
        issue_piece(gpu, index, task, op);
        if (paced)
            nuna_server_take(&engine->pace, &gpu->shape->relay, gpu->lp->now,
                             (uint32_t)(engine->issued - before));
    }
}

static void start_after_gap(struct nuna_host_gpu *gpu, uint32_t index)
{
    nuna_lp_schedule(gpu->lp, gpu->lp->now + gpu->shape->copy_gap,
                     nuna_event_make(NUNA_HOST_EV_ENGINE_START, index));
}

static void engine_start(struct nuna_host_gpu *gpu, uint32_t index)
{
    struct nuna_copy_engine *engine = &gpu->engines[index];
    engine->issued = engine->landed = 0;
    issue(gpu, index);
}

/* A task's current copy joins its engine. */
static void submit(struct nuna_host_gpu *gpu, uint32_t slot)
{
    struct nuna_host_task *task = &gpu->tasks[slot];
    uint32_t index = stage_engine(gpu, task);
    struct nuna_host_queue *queue = &gpu->engines[index].tasks;
    task->queued = NUNA_NO_TASK;
    if (queue->first == NUNA_NO_TASK) {
        queue->first = queue->last = slot;
        start_after_gap(gpu, index);
    } else {
        gpu->tasks[queue->last].queued = slot;
        queue->last = slot;
    }
}

static struct nuna_host_queue *stream_of(struct nuna_host_gpu *gpu,
                                         const struct nuna_host_task *task)
{
    uint32_t index = task->manager * NUNA_HOST_DIRECTIONS + task->direction;
    return &gpu->streams[index * gpu->shape->pipelines + task->stream];
}

static void task_arrives(struct nuna_host_gpu *gpu, uint32_t slot)
{
    struct nuna_host_queue *stream = stream_of(gpu, &gpu->tasks[slot]);
    if (stream->first == NUNA_NO_TASK) {
        stream->first = stream->last = slot;
        submit(gpu, slot);
    } else {
        gpu->tasks[stream->last].next = slot;
        stream->last = slot;
    }
}

static void task_done(struct nuna_host_gpu *gpu, uint32_t slot)
{
    struct nuna_host_queue *stream = stream_of(gpu, &gpu->tasks[slot]);
    stream->first = gpu->tasks[slot].next;
    if (stream->first != NUNA_NO_TASK)
        submit(gpu, stream->first);
    struct nuna_message *message = message_to(gpu, gpu->shape->gpus, NUNA_HOST_EV_DONE,
                                              gpu->lp->now + gpu->shape->pcie_latency);
    message->payload[0] = slot;
}

static void copy_done(struct nuna_host_gpu *gpu, uint32_t index)
{
    struct nuna_copy_engine *engine = &gpu->engines[index];
    uint32_t slot = engine->tasks.first;
    struct nuna_host_task *task = &gpu->tasks[slot];
    engine->tasks.first = task->queued;
    if (engine->tasks.first != NUNA_NO_TASK)
        start_after_gap(gpu, index);
    if (++task->stage < stage_count(gpu, task))
        nuna_lp_schedule(gpu->lp, gpu->lp->now + gpu->shape->relay_dependency,
                         nuna_event_make(NUNA_HOST_EV_SUBMIT, slot));
    else
        task_done(gpu, slot);
}

/* A piece of one of this GPU's copies is where it should be. */
static void credit(struct nuna_host_gpu *gpu, uint32_t handle)
{
    struct nuna_host_piece *piece = nuna_piece(&gpu->pieces, handle);
    uint32_t index = piece->engine;
    struct nuna_copy_engine *engine = &gpu->engines[index];
    engine->landed += piece->bytes;
    engine->last_landed = gpu->lp->now;
    nuna_piece_put(&gpu->pieces, handle);
    if (engine->landed == gpu->tasks[engine->tasks.first].bytes)
        copy_done(gpu, index);
    else
        issue(gpu, index);
}

/* ---- pieces ---- */

static void enter_switch(struct nuna_host_gpu *gpu, uint32_t handle)
{
    const struct nuna_host_piece *piece = nuna_piece(&gpu->pieces, handle);
    struct nuna_server *output = &gpu->scaleup->output[piece->port];
    nuna_time now = gpu->lp->now, free_at = output->free_at;
    nuna_time in = nuna_scaleup_arrive(gpu->scaleup, piece->port, now, wire_bytes(gpu, piece));
    nuna_timeline_add(&gpu->ports_in, free_at > now ? free_at : now, output->free_at);
    if (piece->phase == NUNA_PIECE_DATA)
        gpu->peer_in += piece->bytes;
    nuna_lp_schedule(gpu->lp, in, nuna_event_make(NUNA_HOST_EV_PORT_IN, handle));
}

static void enter_port(struct nuna_host_gpu *gpu, uint32_t handle)
{
    if (nuna_piece(&gpu->pieces, handle)->phase == NUNA_PIECE_ACK)
        credit(gpu, handle);
    else
        to_memory(gpu, handle); /* pulled: to be read; pushed, or back from a pull: to be written */
}

static void memory_done(struct nuna_host_gpu *gpu, uint32_t handle)
{
    struct nuna_host_piece *piece = nuna_piece(&gpu->pieces, handle);
    bool own = piece->gpu == gpu->gpu;
    if (own && piece->phase == NUNA_PIECE_DATA) {
        credit(gpu, handle); /* read or pulled */
    } else if (piece->op == NUNA_COPY_WRITE) {
        nuna_time end = nuna_link_take(&gpu->pcie_up, gpu->lp->now, piece->bytes);
        piece->phase = NUNA_PIECE_DATA;
        send_to_host(gpu, handle, end);
    } else if (own) { /* pushed, just read */
        piece->phase = NUNA_PIECE_DATA;
        uint32_t engine = piece->engine;
        send_to_peer(gpu, handle, gpu->tasks[gpu->engines[engine].tasks.first].peer);
    } else if (piece->phase == NUNA_PIECE_DATA) { /* pushed by a peer, written */
        piece->phase = NUNA_PIECE_ACK;
        send_to_peer(gpu, handle, piece->gpu);
    } else { /* pulled by a peer, read */
        piece->phase = NUNA_PIECE_DATA;
        send_to_peer(gpu, handle, piece->gpu);
    }
}

void nuna_host_gpu_handle(struct nuna_host_gpu *gpu, struct nuna_event event)
{
    uint32_t handle = nuna_event_handle(event);
    switch (nuna_event_kind(event)) {
    case NUNA_HOST_EV_TASK:
        task_arrives(gpu, handle);
        break;
    case NUNA_HOST_EV_FROM_HOST:
        if (nuna_piece(&gpu->pieces, handle)->phase == NUNA_PIECE_ACK)
            credit(gpu, handle);
        else
            to_memory(gpu, handle);
        break;
    case NUNA_HOST_EV_SWITCH:
        enter_switch(gpu, handle);
        break;
    case NUNA_HOST_EV_PORT_IN:
        enter_port(gpu, handle);
        break;
    case NUNA_HOST_EV_MEMORY_DONE:
        memory_done(gpu, handle);
        break;
    case NUNA_HOST_EV_ENGINE_START:
        engine_start(gpu, handle);
        break;
    case NUNA_HOST_EV_ENGINE_ISSUE:
        gpu->engines[handle].issue_pending = false;
        issue(gpu, handle);
        break;
    case NUNA_HOST_EV_SUBMIT:
        submit(gpu, handle);
        break;
    default:
        __builtin_unreachable();
    }
    if (gpu->pieces.out_of_memory)
        gpu->lp->out_of_memory = true;
}

uint32_t nuna_host_gpu_deliver(struct nuna_host_gpu *gpu, const struct nuna_message *message)
{
    if (message->kind == NUNA_HOST_EV_TASK) {
        struct nuna_host_task task;
        nuna_host_task_unpack(&task, message);
        gpu->tasks[task.slot] = task;
        return task.slot;
    }
    uint32_t handle = nuna_piece_get(&gpu->pieces);
    nuna_piece_unpack(nuna_piece(&gpu->pieces, handle), message);
    return handle;
}

/* ---- life ---- */

bool nuna_host_gpu_init(struct nuna_host_gpu *gpu, const struct nuna_host_shape *shape,
                        uint32_t index, uint32_t slots, struct nuna_lp *lp,
                        struct nuna_scaleup *scaleup, struct nuna_arena *arena)
{
    size_t engines = (size_t)shape->managers * NUNA_ENGINE_KINDS;
    size_t streams = (size_t)shape->managers * NUNA_HOST_DIRECTIONS * shape->pipelines;
    *gpu = (struct nuna_host_gpu){.shape = shape, .gpu = index, .lp = lp, .scaleup = scaleup};
    gpu->engines = calloc(engines + 1, sizeof *gpu->engines);
    gpu->streams = calloc(streams + 1, sizeof *gpu->streams);
    gpu->tasks = calloc((size_t)slots + 1, sizeof *gpu->tasks);
    if (!gpu->engines || !gpu->streams || !gpu->tasks)
        return false;
    const struct nuna_host_queue empty = {NUNA_NO_TASK, NUNA_NO_TASK};
    for (size_t i = 0; i < engines; i++)
        gpu->engines[i].tasks = empty;
    for (size_t i = 0; i < streams; i++)
        gpu->streams[i] = empty;
    nuna_link_init(&gpu->pcie_up, &shape->pcie, shape->interval);
    nuna_link_init(&gpu->memory, &shape->memory, shape->interval);
    nuna_timeline_init(&gpu->ports_out, shape->interval);
    nuna_timeline_init(&gpu->ports_in, shape->interval);
    return nuna_piece_pool_init(&gpu->pieces, arena);
}

void nuna_host_gpu_finish(struct nuna_host_gpu *gpu)
{
    nuna_slab_pool_finish(&gpu->pieces);
    free(gpu->engines);
    free(gpu->streams);
    free(gpu->tasks);
}
