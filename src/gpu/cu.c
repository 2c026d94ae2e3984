#include "gpu/cu.h"
#include "gpu/events.h"
#include <stdlib.h>

void nuna_cu_init(struct nuna_cu *cu, uint16_t router, uint8_t event, uint32_t index)
{
    *cu = (struct nuna_cu){.tb_head = NUNA_NO_TB,
                           .tb_tail = NUNA_NO_TB,
                           .router = router,
                           .event = event,
                           .index = index};
}

bool nuna_cus_create(struct nuna_gpu *gpu, uint32_t tb_count)
{
    const struct nuna_topology *topology = &gpu->spec->topology;
    struct nuna_cus *cus = gpu->cus = calloc(1, sizeof *cus);
    if (!cus)
        return false;
    cus->items = calloc(topology->cu_count, sizeof *cus->items);
    cus->tbs = calloc((size_t)tb_count + 1, sizeof *cus->tbs);
    if (!cus->items || !cus->tbs)
        return false;
    for (uint32_t cu = 0; cu < topology->cu_count; cu++)
        nuna_cu_init(&cus->items[cu], topology->cu_router[cu], NUNA_EV_CU_ISSUE, cu);
    cus->tb_count = tb_count;
    for (uint32_t tb = 0; tb < tb_count; tb++)
        cus->tbs[tb].next = NUNA_NO_TB;
    cus->proxy_tb.next = NUNA_NO_TB;
    return true;
}

void nuna_cus_destroy(struct nuna_gpu *gpu)
{
    if (!gpu->cus)
        return;
    free(gpu->cus->items);
    free(gpu->cus->tbs);
    free(gpu->cus);
}

void nuna_cu_assign(struct nuna_gpu *gpu, uint32_t tb, uint32_t cu)
{
    gpu->cus->tbs[tb].cu = &gpu->cus->items[cu];
}

/* A line once begun is finished, even beyond the limit. */
static bool can_load(const struct nuna_cu *cu, uint32_t max_outstanding)
{
    return cu->tb_head != NUNA_NO_TB && (cu->outstanding < max_outstanding || cu->inside_line);
}

void nuna_cu_kick(struct nuna_gpu *gpu, struct nuna_cu *cu)
{
    if (cu->scheduled ||
        (cu->store_head == NUNA_NO_FLIGHT && !can_load(cu, gpu->spec->max_outstanding)))
        return;
    cu->scheduled = true;
    nuna_time now = gpu->lp->now;
    nuna_lp_schedule(gpu->lp, cu->free_at > now ? cu->free_at : now,
                     nuna_event_make(cu->event, cu->index));
}

void nuna_cu_requeue(struct nuna_gpu *gpu, uint32_t tb_index, bool inside_line)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    struct nuna_cu *cu = tb->cu;
    cu->inside_line = inside_line;
    tb->next = NUNA_NO_TB;
    if (cu->tb_head == NUNA_NO_TB) {
        cu->tb_head = cu->tb_tail = tb_index;
    } else if (inside_line) {
        tb->next = cu->tb_head;
        cu->tb_head = tb_index;
    } else {
        nuna_tb_of(gpu, cu->tb_tail)->next = tb_index;
        cu->tb_tail = tb_index;
    }
}

void nuna_cu_enqueue(struct nuna_gpu *gpu, uint32_t tb_index)
{
    struct nuna_tb *tb = nuna_tb_of(gpu, tb_index);
    struct nuna_cu *cu = tb->cu;
    tb->next = NUNA_NO_TB;
    if (cu->tb_head == NUNA_NO_TB)
        cu->tb_head = tb_index;
    else
        nuna_tb_of(gpu, cu->tb_tail)->next = tb_index;
    cu->tb_tail = tb_index;
    nuna_cu_kick(gpu, cu);
}

void nuna_cu_push_store(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t handle)
{
    nuna_out(nuna_flight(&gpu->flights, handle))->next = NUNA_NO_FLIGHT;
    if (cu->store_head == NUNA_NO_FLIGHT)
        cu->store_head = handle;
    else
        nuna_out(nuna_flight(&gpu->flights, cu->store_tail))->next = handle;
    cu->store_tail = handle;
}

void nuna_cu_occupy(struct nuna_gpu *gpu, struct nuna_cu *cu, nuna_time work)
{
    nuna_time now = gpu->lp->now;
    cu->free_at = (cu->free_at > now ? cu->free_at : now) + work;
}

enum nuna_cu_turn nuna_cu_take_turn(struct nuna_gpu *gpu, struct nuna_cu *cu, uint32_t *ret)
{
    cu->scheduled = false;
    nuna_time now = gpu->lp->now;
    if (now < cu->free_at) /* a reduction has taken the unit since this slot was booked */
        return NUNA_TURN_IDLE;
    cu->free_at = now + gpu->spec->issue_interval;
    if (cu->store_head != NUNA_NO_FLIGHT) {
        *ret = cu->store_head;
        cu->store_head = nuna_out(nuna_flight(&gpu->flights, *ret))->next;
        return NUNA_TURN_STORE;
    }
    if (!can_load(cu, gpu->spec->max_outstanding))
        return NUNA_TURN_IDLE;
    *ret = cu->tb_head;
    cu->tb_head = nuna_tb_of(gpu, *ret)->next;
    cu->inside_line = false; /* until it comes back so */
    return NUNA_TURN_LOAD;
}

bool nuna_cu_idle(const struct nuna_cu *cu)
{
    return cu->outstanding == 0 && cu->store_head == NUNA_NO_FLIGHT && cu->tb_head == NUNA_NO_TB &&
           !cu->scheduled && !cu->inside_line;
}

bool nuna_cus_idle(const struct nuna_gpu *gpu)
{
    bool idle = true;
    for (uint32_t i = 0; i < gpu->spec->topology.cu_count; i++)
        idle = idle && nuna_cu_idle(&gpu->cus->items[i]);
    for (uint32_t i = 0; i <= gpu->cus->tb_count; i++) {
        const struct nuna_tb *tb =
            nuna_tb_of(gpu, i < gpu->cus->tb_count ? i : (uint32_t)NUNA_TB_PROXY);
        idle = idle && tb->unacked == 0 && tb->pending == 0 && !tb->loading && !tb->held &&
               !tb->awaiting;
    }
    return idle;
}
