/* Runs a plan's threadblocks over a machine. One executor per GPU; it touches only that GPU's
 * state, so that each logical process can run its own. The machine (the pod, or a test's ideal one)
 * moves data and carries signals; the executor knows order and synchronisation only.
 *
 * A threadblock runs its operations one at a time. A PUT is complete when its last store is issued;
 * COPY and REDUCE when their result is in memory; a SIGNAL when its flags are issued, which a
 * non-relaxed one does once the threadblock's earlier stores are acknowledged. A FIFO operation
 * goes message by message: it waits for a full slot (Simple; with LL and LL128 the machine lets
 * lines through as they come) and a free one, moves the data, gives the slot back, and, with
 * Simple, signals the new message once its stores are acknowledged. (Semantics:
 * docs/plan-formats.md.)
 */
#ifndef NUNA_COLLECTIVES_EXEC_EXEC_H
#define NUNA_COLLECTIVES_EXEC_EXEC_H

#include "collectives/plan/shape.h"
#include "core/error.h"

/* One execution of an operation that moves data. */
struct nuna_move {
    struct nuna_piece piece;
    uint32_t recv_slot, send_slot; /* FIFO: of the threadblock's connections */
    bool whole;                    /* the piece is all of the ranges */
};

/* What the executor asks of the machine. Each returns true when the operation is complete at once;
 * else the machine calls nuna_exec_op_done later. `op` is an index into plan->ops. */
struct nuna_machine {
    bool (*transfer)(void *machine, uint32_t tb, uint32_t op, const struct nuna_move *move);
    /* +1 at the far end of channels of this GPU; `ordered`: once all earlier stores are
     * acknowledged. */
    bool (*signal)(void *machine, uint32_t tb, uint32_t op, const uint32_t *channels,
                   uint32_t count, bool ordered);
    /* All stores of the threadblock are acknowledged. */
    bool (*fence)(void *machine, uint32_t tb, uint32_t op);
    /* The proxy has finished all earlier requests. May be NULL where no plan has ports. */
    bool (*flush)(void *machine, uint32_t tb, uint32_t op);
    /* A WAIT that was blocked is over; `channel` is the one it was blocked on last. May be NULL. */
    void (*waited)(void *machine, uint32_t op, uint32_t channel);
};

enum nuna_tb_state {
    NUNA_TB_READY,
    NUNA_TB_BUSY, /* the machine works on its operation */
    NUNA_TB_BLOCKED,
    NUNA_TB_DONE,
};

/* Of a message of a FIFO operation: what comes next. */
enum nuna_fifo_stage {
    NUNA_FIFO_OPEN,
    NUNA_FIFO_RECEIVE, /* wait for it (Simple) */
    NUNA_FIFO_CREDIT,  /* wait for a free slot */
    NUNA_FIFO_MOVE,
    NUNA_FIFO_RETURN,   /* the slot it came in */
    NUNA_FIFO_ANNOUNCE, /* the one it went out in (Simple) */
};

struct nuna_exec_tb {
    uint32_t pc;             /* next operation, relative to the threadblock's first */
    uint32_t ids;            /* channels or semaphores of the current operation already consumed */
    uint32_t next;           /* in the list it waits in */
    uint8_t state;           /* enum nuna_tb_state */
    bool blocked;            /* the current operation had to wait, for: */
    uint32_t blocker;        /* channel, semaphore or threadblock it waited for last */
    uint8_t stage;           /* enum nuna_fifo_stage; BARRIER: 1 once its stores are acknowledged */
    uint32_t message;        /* FIFO: of the operation */
    uint32_t sent, received; /* messages so far */
    uint32_t loop;           /* place of the LOOP it is in, or NUNA_NONE */
    uint64_t turn, turns;    /* of that loop */
    uint64_t window;         /* of a plan with FIFOs */
    uint64_t posted;         /* newest POST: window << 32 | step + 1 */
    uint32_t post_op;        /* operation that did it */
    uint32_t dep_head, dep_tail; /* threadblocks that wait for a POST of this one */
};

/* A counting semaphore with its waiters in order of arrival. Channels' receiving ends are the same
 * thing. */
struct nuna_counter {
    uint32_t value;
    uint32_t head, tail;
    uint32_t cause; /* operation that raised it last */
};

struct nuna_exec_barrier {
    uint32_t arrived, head, tail;
};

/* When each operation ended and what it waited for, for the critical path. */
struct nuna_op_log {
    nuna_time end;
    uint32_t cause; /* operation whose end released this one, or NUNA_NONE */
    uint32_t unused;
};

struct nuna_exec {
    const struct nuna_shape *shape;
    const struct nuna_plan *plan;
    uint32_t gpu;
    const struct nuna_machine *machine;
    void *machine_context;
    struct nuna_exec_tb *tbs;
    struct nuna_counter *channels;
    struct nuna_counter *semaphores;
    struct nuna_exec_barrier *barriers;
    uint32_t ready_head, ready_tail; /* threadblocks to run, first in first out */
    bool running;
    uint32_t unfinished;
    nuna_time now, finished; /* end of the last threadblock */
    struct nuna_op_log *log; /* the plan's, indexed by operation; each GPU writes its own part */
};

/* False on lack of memory. `shape` must live as long as the executor. `log` has plan->op_count
 * entries and is shared by all GPUs' executors; of an operation that runs several times it keeps
 * the last.
 */
bool nuna_exec_init(struct nuna_exec *exec, const struct nuna_shape *shape, uint32_t gpu,
                    const struct nuna_machine *machine, void *machine_context,
                    struct nuna_op_log *log);
void nuna_exec_finish(struct nuna_exec *exec);

/* Starts every threadblock. */
void nuna_exec_start(struct nuna_exec *exec, nuna_time now);

/* The machine has completed the threadblock's current operation. */
void nuna_exec_op_done(struct nuna_exec *exec, uint32_t tb, nuna_time now);

/* A signal has landed on channel `channel` (of this GPU); `cause` is the SIGNAL operation that sent
 * it. */
void nuna_exec_signal_landed(struct nuna_exec *exec, uint32_t channel, uint32_t cause,
                             nuna_time now);

/* Describes, for a deadlock, what threadblock `tb` waits for: "GPU 3 threadblock 2 op 5 (wait): a
 * signal from GPU 1 on channel 4". Returns false when it does not wait. */
bool nuna_exec_describe_wait(const struct nuna_exec *exec, uint32_t tb, char *text, size_t size);

#endif
