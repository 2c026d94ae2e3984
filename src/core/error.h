/* One error, as a finished sentence for a person. Library code fills it and returns false (or
 * NULL); only src/cli prints it and turns the code into the process's exit code. */
#ifndef NUNA_CORE_ERROR_H
#define NUNA_CORE_ERROR_H

#include "core/types.h"

enum nuna_exit {
    NUNA_EXIT_OK = 0,
    NUNA_EXIT_INTERNAL = 1,   /* out of memory, a failed write half-way: the machine's fault */
    NUNA_EXIT_BAD_INPUT = 2,  /* the user's input or command line */
    NUNA_EXIT_INCOMPLETE = 3, /* the run did not finish: deadlock or interrupt */
};

struct nuna_error {
    enum nuna_exit code;
    char message[1536];
};

/* Fills `err` and returns false, so that callers can write `return nuna_fail(...)`. The message is
 * cut, never overflowed. `err` must not be NULL. */
bool nuna_fail(struct nuna_error *err, enum nuna_exit code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Out of memory, with what was being allocated. */
bool nuna_fail_memory(struct nuna_error *err, const char *what);

/* The candidate nearest to `word` by edit distance, or NULL when none is near enough to be a
 * plausible typing error. For "did you mean" hints. */
const char *nuna_nearest(const char *word, const char *const *candidates, size_t count);

#endif
