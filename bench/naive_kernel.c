/* What a first simulator looks like: every event an object of its own from malloc, ordered by one
 * binary heap of pointers, run through a function pointer. It moves packets along the rows and
 * columns of 64 meshes of 24x6 routers with a first-come-first-served server on every link, with
 * as many in flight as an all-gather on 64 GPUs has: the yardstick of `dev bench`, since absolute
 * speeds do not travel. Prints million events a second. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COLUMNS = 24, ROWS = 6, GPUS = 64, IN_FLIGHT = 16384 * GPUS, EVENTS = 6000000 };

struct simulator;

struct event {
    uint64_t time, order;
    void (*run)(struct simulator *simulator, struct event *event);
    int gpu, x, y, to_x, to_y;
};

struct simulator {
    struct event **heap;
    size_t count;
    uint64_t orders, now;
    uint64_t *free_at; /* [gpu][y][x][direction] */
    uint64_t random;
};

static int before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(struct simulator *s, struct event *event)
{
    size_t at = s->count++;
    event->order = s->orders++;
    s->heap[at] = event;
    while (at > 0 && before(s->heap[at], s->heap[(at - 1) / 2])) {
        struct event *parent = s->heap[(at - 1) / 2];
        s->heap[(at - 1) / 2] = s->heap[at];
        s->heap[at] = parent;
        at = (at - 1) / 2;
    }
}

static struct event *pop(struct simulator *s)
{
    struct event *first = s->heap[0];
    s->heap[0] = s->heap[--s->count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->count; child++)
            if (before(s->heap[child], s->heap[least]))
                least = child;
        if (least == at)
            return first;
        struct event *lower = s->heap[least];
        s->heap[least] = s->heap[at];
        s->heap[at] = lower;
        at = least;
    }
}

static uint64_t draw(struct simulator *s, uint64_t below)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random % below;
}

static void hop(struct simulator *s, struct event *event);

static void send(struct simulator *s, uint64_t time)
{
    struct event *event = malloc(sizeof *event);
    if (!event)
        abort();
    *event = (struct event){.time = time,
                            .run = hop,
                            .gpu = (int)draw(s, GPUS),
                            .x = (int)draw(s, COLUMNS),
                            .y = (int)draw(s, ROWS),
                            .to_x = (int)draw(s, COLUMNS),
                            .to_y = (int)draw(s, ROWS)};
    push(s, event);
}

/* One link further; an arrived packet makes room for a new one. */
static void hop(struct simulator *s, struct event *event)
{
    int dx = (event->to_x > event->x) - (event->to_x < event->x);
    int dy = dx ? 0 : (event->to_y > event->y) - (event->to_y < event->y);
    if (dx == 0 && dy == 0) {
        send(s, event->time + 100000 + draw(s, 10000));
        free(event);
        return;
    }
    int direction = dx > 0 ? 0 : dx < 0 ? 1 : dy > 0 ? 2 : 3;
    uint64_t *free_at =
        &s->free_at[((event->gpu * ROWS + event->y) * COLUMNS + event->x) * 4 + direction];
    uint64_t start = *free_at > s->now ? *free_at : s->now;
    *free_at = start + 500;
    struct event *next = malloc(sizeof *next);
    if (!next)
        abort();
    *next = *event;
    next->time = start + 10400;
    next->x += dx;
    next->y += dy;
    push(s, next);
    free(event);
}

int main(void)
{
    struct simulator s = {.random = 88172645463325252ull};
    s.heap = malloc((IN_FLIGHT + 2) * sizeof *s.heap);
    s.free_at = calloc((size_t)GPUS * ROWS * COLUMNS * 4, sizeof *s.free_at);
    if (!s.heap || !s.free_at)
        return 1;
    for (int i = 0; i < IN_FLIGHT; i++)
        send(&s, draw(&s, 100000));
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < EVENTS; i++) {
        struct event *event = pop(&s);
        s.now = event->time;
        event->run(&s, event);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    printf("%.3f\n", EVENTS / seconds / 1e6);
    while (s.count > 0)
        free(pop(&s));
    free(s.heap);
    free(s.free_at);
    return 0;
}
