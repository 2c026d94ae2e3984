#include "host/host.h"
#include "host/engine.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- who serves whom ---- */

static bool is_native(const struct nuna_params *params, const struct nuna_host_request *request)
{
    int64_t fallback =
        request->direction == NUNA_HOST_H2D ? params->host.fallback_h2d : params->host.fallback_d2h;
    return request->background || request->direction == NUNA_HOST_P2P ||
           params->host.engine == NUNA_HOST_NATIVE ||
           (params->host.engine == NUNA_HOST_MMA && request->bytes < (uint64_t)fallback);
}

/* The GPUs whose links may serve a request, in order of preference: its own, those on its socket,
 * the others; `path` has room for all. */
static uint32_t find_paths(const struct nuna_params *params, uint32_t gpus,
                           const struct nuna_host_paths *paths,
                           const struct nuna_host_request *request, uint16_t *path)
{
    uint32_t count = 0, per_socket = gpus / (uint32_t)params->host.sockets;
    bool native = is_native(params, request);
    if (native || params->host.direct == NUNA_HOST_ON)
        path[count++] = (uint16_t)request->gpu;
    if (native)
        return count;
    if (paths->relay_count > 0) {
        for (uint32_t i = 0; i < paths->relay_count; i++)
            path[count++] = paths->relay[i];
        return count;
    }
    uint32_t relays = 0;
    bool anywhere = params->host.relay_scope == NUNA_HOST_ANY_SOCKET;
    for (int far = 0; far <= anywhere; far++)
        for (uint32_t i = 1; i < gpus && relays < (uint64_t)params->host.relays; i++) {
            uint32_t gpu = (request->gpu + i) % gpus;
            if ((gpu / per_socket != request->gpu / per_socket) == (far == 1)) {
                path[count++] = (uint16_t)gpu;
                relays++;
            }
        }
    return count;
}

static bool check_request(const struct nuna_host_plan *plan, const struct nuna_params *params,
                          uint32_t gpus, const struct nuna_host_request *request, uint16_t *path,
                          struct nuna_error *err)
{
    if (is_native(params, request))
        return true;
    for (uint32_t i = 0; i < plan->paths.relay_count; i++)
        if (plan->paths.relay[i] == request->gpu)
            return nuna_fail(
                err, NUNA_EXIT_BAD_INPUT,
                "--relays: gpu%u is the %s of a transfer, expected other GPUs as relays",
                request->gpu, request->direction == NUNA_HOST_H2D ? "target" : "source");
    uint32_t per_socket = gpus / (uint32_t)params->host.sockets;
    for (uint32_t i = 0; i < plan->paths.relay_count; i++)
        if (params->host.relay_scope == NUNA_HOST_SAME_SOCKET &&
            plan->paths.relay[i] / per_socket != request->gpu / per_socket)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "--relays: gpu%u is on another socket than gpu%u, expected relays on "
                             "its own (host.relay_scope: same-socket)",
                             plan->paths.relay[i], request->gpu);
    uint32_t count = find_paths(params, gpus, &plan->paths, request, path);
    if (count == 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "host.direct: off leaves the transfer of gpu%u without a path, expected a "
                         "relay (--relays)",
                         request->gpu);
    if (params->host.engine != NUNA_HOST_STATIC || plan->paths.share_count == 0)
        return true;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->paths.share_count && i < count; i++)
        sum += plan->paths.share[i];
    if (plan->paths.share_count != count || sum == 0)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--ratios: %u shares, but the transfer of gpu%u has %u paths (%sits "
                         "relays), expected one share for each",
                         plan->paths.share_count, request->gpu, count,
                         params->host.direct == NUNA_HOST_ON ? "its own link, then " : "");
    return true;
}

bool nuna_host_relays_refuse_native(struct nuna_error *err)
{
    return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                     "--relays: the native engine relays nothing, expected --engine static or mma "
                     "with them");
}

bool nuna_host_plan_check(const struct nuna_host_plan *plan, const struct nuna_params *params,
                          uint32_t gpus, struct nuna_error *err)
{
    uint16_t *path = calloc((size_t)gpus + 1, sizeof *path);
    bool good = path != NULL || nuna_fail_memory(err, "paths");
    for (uint32_t i = 0; good && i < plan->request_count; i++)
        good = check_request(plan, params, gpus, &plan->requests[i], path, err);
    if (good && plan->paths.share_count > 0 && params->host.engine != NUNA_HOST_STATIC)
        good = nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                         "--ratios: only the static engine divides transfers, expected --engine "
                         "static with them");
    if (good && plan->paths.relay_count > 0 && params->host.engine == NUNA_HOST_NATIVE)
        good = nuna_host_relays_refuse_native(err);
    free(path);
    return good;
}

/* ---- life ---- */

static bool init_transfer(struct nuna_host *host, const struct nuna_host_plan *plan, uint32_t index)
{
    const struct nuna_params *params = host->shape->params;
    struct nuna_host_transfer *transfer = &host->transfers[index];
    uint32_t gpus = host->shape->gpus;
    transfer->request = plan->requests[index];
    transfer->path = calloc((size_t)gpus + 1, sizeof *transfer->path);
    transfer->path_bytes = calloc(gpus, sizeof *transfer->path_bytes);
    transfer->share_left = calloc(gpus, sizeof *transfer->share_left);
    transfer->share_at = calloc(gpus, sizeof *transfer->share_at);
    if (!transfer->path || !transfer->path_bytes || !transfer->share_left || !transfer->share_at)
        return false;
    transfer->path_count =
        find_paths(params, gpus, &plan->paths, &transfer->request, transfer->path);
    transfer->engine = is_native(params, &transfer->request)     ? &nuna_host_engine_native
                       : params->host.engine == NUNA_HOST_STATIC ? &nuna_host_engine_static
                                                                 : &nuna_host_engine_mma;
    if (transfer->engine->divide)
        transfer->engine->divide(transfer, &plan->paths);
    host->unfinished += !transfer->request.background;
    bool shared = params->host.task_queue == NUNA_HOST_QUEUE_SHARED && transfer->engine->chunked;
    for (uint32_t i = index; transfer->request.stream > 0 && i-- > 0;)
        if (host->transfers[i].request.stream == transfer->request.stream &&
            host->transfers[i].request.gpu == transfer->request.gpu) {
            host->transfers[i].successor = index;
            transfer->waits = true;
            break;
        }
    uint32_t manager = 0;
    while (manager < host->manager_count && !(shared && host->engines[manager] == transfer->engine))
        manager++;
    transfer->manager = manager;
    host->engines[manager] = transfer->engine;
    host->manager_count += manager == host->manager_count;
    return true;
}

bool nuna_host_init(struct nuna_host *host, struct nuna_host_shape *shape,
                    const struct nuna_host_plan *plan, struct nuna_lp *lp, struct nuna_arena *arena)
{
    *host = (struct nuna_host){.shape = shape, .lp = lp, .transfer_count = plan->request_count};
    host->transfers = calloc((size_t)plan->request_count + 1, sizeof *host->transfers);
    host->engines = calloc((size_t)plan->request_count + 1, sizeof *host->engines);
    if (!host->transfers || !host->engines)
        return false;
    for (uint32_t i = 0; i < plan->request_count; i++)
        if (!init_transfer(host, plan, i))
            return false;
    shape->managers = host->manager_count;
    size_t workers = (size_t)host->manager_count * NUNA_HOST_DIRECTIONS * shape->gpus;
    host->workers = calloc(workers + 1, sizeof *host->workers);
    host->slots = calloc(workers * shape->depth + 1, sizeof *host->slots);
    return host->workers && host->slots && nuna_host_side_init(&host->side, shape, lp, arena);
}

void nuna_host_finish(struct nuna_host *host)
{
    for (uint32_t i = 0; host->transfers && i < host->transfer_count; i++) {
        free(host->transfers[i].path);
        free(host->transfers[i].path_bytes);
        free(host->transfers[i].share_left);
        free(host->transfers[i].share_at);
    }
    nuna_host_side_finish(&host->side);
    free(host->transfers);
    free(host->engines);
    free(host->workers);
    free(host->slots);
}

uint32_t nuna_host_slots_per_gpu(const struct nuna_host *host)
{
    return host->manager_count * NUNA_HOST_DIRECTIONS * host->shape->depth;
}

/* ---- the threads ---- */

/* Numbers of workers, and of slots among those of their GPU. */
static uint32_t worker_index(const struct nuna_host *host, uint32_t manager, uint32_t direction,
                             uint32_t gpu)
{
    return (manager * NUNA_HOST_DIRECTIONS + direction) * host->shape->gpus + gpu;
}

static uint32_t worker_gpu(const struct nuna_host *host, uint32_t worker)
{
    return worker % host->shape->gpus;
}

static bool is_relay(const struct nuna_host *host, uint32_t slot)
{
    uint32_t worker = slot / host->shape->depth;
    return host->transfers[host->slots[slot].transfer].request.gpu != worker_gpu(host, worker);
}

static uint32_t free_slot(const struct nuna_host *host, uint32_t worker)
{
    uint32_t slot = worker * host->shape->depth;
    while (host->slots[slot].used)
        slot++;
    return slot;
}

static nuna_time launch_time(const struct nuna_host *host, uint32_t slot)
{
    const struct nuna_params *params = host->shape->params;
    if (!host->transfers[host->slots[slot].transfer].engine->chunked)
        return (nuna_time)params->host.copy_launch;
    return (nuna_time)(is_relay(host, slot) ? params->host.dispatch_relay
                                            : params->host.dispatch_direct);
}

/* The transfer thread looks for work, unless it is launching or its queue is full. */
static void pull(struct nuna_host *host, uint32_t index)
{
    const struct nuna_host_shape *shape = host->shape;
    struct nuna_host_worker *worker = &host->workers[index];
    uint32_t group = index / shape->gpus;
    if (worker->launching || worker->outstanding == shape->depth)
        return;
    const struct nuna_host_queue_view view = {
        .shape = shape,
        .transfers = host->transfers,
        .count = host->transfer_count,
        .manager = group / NUNA_HOST_DIRECTIONS,
        .direction = (enum nuna_host_direction)(group % NUNA_HOST_DIRECTIONS),
        .gpu = worker_gpu(host, index),
        .relays =
            !worker->contended || worker->outstanding < (uint64_t)shape->params->host.backoff_depth,
    };
    struct nuna_host_chunk chunk;
    if (!host->engines[view.manager]->pull(&view, &chunk))
        return;
    uint32_t slot = free_slot(host, index);
    host->slots[slot] = (struct nuna_host_slot){
        .transfer = chunk.transfer, .used = true, .offset = chunk.offset, .bytes = chunk.bytes};
    worker->outstanding++;
    worker->launching = true;
    nuna_time time = launch_time(host, slot);
    worker->launch_busy += time;
    nuna_lp_schedule(host->lp, host->lp->now + time, nuna_event_make(NUNA_HOST_EV_LAUNCHED, slot));
}

static void launched(struct nuna_host *host, uint32_t slot_index)
{
    const struct nuna_host_shape *shape = host->shape;
    uint32_t index = slot_index / shape->depth;
    struct nuna_host_worker *worker = &host->workers[index];
    struct nuna_host_slot *slot = &host->slots[slot_index];
    struct nuna_host_transfer *transfer = &host->transfers[slot->transfer];
    uint32_t group = index / shape->gpus;
    struct nuna_host_task task = {
        .offset = slot->offset,
        .bytes = slot->bytes,
        .manager = group / NUNA_HOST_DIRECTIONS,
        .slot = group * shape->depth + slot_index % shape->depth,
        .gpu = (uint16_t)transfer->request.gpu,
        .peer = (uint16_t)transfer->request.peer,
        .direction = (uint8_t)(group % NUNA_HOST_DIRECTIONS),
        .stream = (uint8_t)(worker->next_stream++ % shape->pipelines),
    };
    slot->launched = host->lp->now;
    if (worker->awaited++ == 0)
        worker->busy_since = host->lp->now;
    transfer->chunks++;
    worker->launching = false;
    nuna_host_task_pack(&task, nuna_host_message_to(host->lp, shape, worker_gpu(host, index),
                                                    NUNA_HOST_EV_TASK,
                                                    host->lp->now + shape->pcie_latency));
    pull(host, index);
}

/* The stream reaches the transfer at `time`, or later if it is asked to start later. */
static void take_turn(struct nuna_host *host, uint32_t index, nuna_time time)
{
    const struct nuna_params *params = host->shape->params;
    struct nuna_host_transfer *transfer = &host->transfers[index];
    transfer->begin = time > transfer->request.start ? time : transfer->request.start;
    time = transfer->begin;
    if (transfer->engine->chunked) {
        time += (nuna_time)params->host.setup_time;
        if (params->host.copies == NUNA_HOST_ASYNC)
            time += (nuna_time)params->host.callback_time;
    }
    nuna_lp_schedule(host->lp, time, nuna_event_make(NUNA_HOST_EV_START, index));
}

static void finish_transfer(struct nuna_host *host, struct nuna_host_transfer *transfer,
                            nuna_time at_gpu)
{
    const struct nuna_params *params = host->shape->params;
    bool chunked = transfer->engine->chunked;
    transfer->end = chunked ? host->lp->now : at_gpu;
    if (params->host.copies == NUNA_HOST_SYNC)
        transfer->end += (nuna_time)params->host.wake_time;
    else if (chunked)
        transfer->end += (nuna_time)params->host.poll_time;
    host->unfinished--;
    if (transfer->successor > 0)
        take_turn(host, transfer->successor,
                  transfer->end > host->lp->now ? transfer->end : host->lp->now);
}

/* How long the path took for the chunk, not counting what came before on it, against what it needs
 * alone. */
static bool is_contended(const struct nuna_host *host, const struct nuna_host_worker *worker,
                         uint32_t slot_index)
{
    const struct nuna_host_slot *slot = &host->slots[slot_index];
    uint32_t gpu = worker_gpu(host, slot_index / host->shape->depth);
    nuna_time from = slot->launched > worker->last_done ? slot->launched : worker->last_done;
    nuna_time alone = nuna_host_time_alone(host->shape, host->transfers[slot->transfer].request.gpu,
                                           gpu, slot->bytes);
    return (host->lp->now - from) * 100 >
           alone * (uint64_t)host->shape->params->host.backoff_percent;
}

/* The synchronisation thread has seen a chunk's end. */
static void retire(struct nuna_host *host, uint32_t slot_index, nuna_time at_gpu)
{
    uint32_t index = slot_index / host->shape->depth;
    struct nuna_host_worker *worker = &host->workers[index];
    struct nuna_host_slot *slot = &host->slots[slot_index];
    struct nuna_host_transfer *transfer = &host->transfers[slot->transfer];
    if (is_relay(host, slot_index))
        worker->contended = is_contended(host, worker, slot_index);
    worker->last_done = host->lp->now;
    slot->used = false;
    worker->outstanding--;
    if (--worker->awaited == 0 && transfer->engine->chunked)
        worker->sync_busy += host->lp->now - worker->busy_since;
    transfer->done += slot->bytes;
    transfer->path_bytes[worker_gpu(host, index)] += slot->bytes;
    if (transfer->done == transfer->request.bytes)
        finish_transfer(host, transfer, at_gpu);
    pull(host, index);
}

static void task_done(struct nuna_host *host, uint32_t slot)
{
    const struct nuna_host_shape *shape = host->shape;
    if (host->transfers[host->slots[slot].transfer].engine->chunked)
        nuna_lp_schedule(host->lp, host->lp->now + (nuna_time)shape->params->host.completion_time,
                         nuna_event_make(NUNA_HOST_EV_RETIRE, slot));
    else
        retire(host, slot, host->lp->now - shape->pcie_latency);
}

/* A transfer's chunks are there: all its paths look. */
static void start(struct nuna_host *host, uint32_t index)
{
    struct nuna_host_transfer *transfer = &host->transfers[index];
    transfer->active = true;
    for (uint32_t i = 0; i < transfer->path_count; i++)
        pull(host,
             worker_index(host, transfer->manager, transfer->request.direction, transfer->path[i]));
}

void nuna_host_begin(struct nuna_host *host)
{
    for (uint32_t i = 0; i < host->transfer_count; i++)
        if (!host->transfers[i].waits)
            take_turn(host, i, 0);
}

void nuna_host_handle(struct nuna_host *host, struct nuna_event event)
{
    uint32_t handle = nuna_event_handle(event);
    switch (nuna_event_kind(event)) {
    case NUNA_HOST_EV_PIECE:
    case NUNA_HOST_EV_STEP:
        nuna_host_side_advance(&host->side, handle);
        break;
    case NUNA_HOST_EV_DONE:
        task_done(host, handle);
        break;
    case NUNA_HOST_EV_RETIRE:
        retire(host, handle, 0);
        break;
    case NUNA_HOST_EV_LAUNCHED:
        launched(host, handle);
        break;
    case NUNA_HOST_EV_START:
        start(host, handle);
        break;
    default:
        __builtin_unreachable();
    }
    if (host->side.pieces.out_of_memory)
        host->lp->out_of_memory = true;
}

uint32_t nuna_host_deliver(struct nuna_host *host, const struct nuna_message *message)
{
    if (message->kind == NUNA_HOST_EV_DONE) {
        uint32_t depth = host->shape->depth, slot = message->payload[0];
        uint32_t worker = slot / depth * host->shape->gpus + message->source;
        return worker * depth + slot % depth;
    }
    uint32_t handle = nuna_piece_get(&host->side.pieces);
    nuna_piece_unpack(nuna_piece(&host->side.pieces, handle), message);
    return handle;
}

/* ---- results ---- */
