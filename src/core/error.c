#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Longest word that is compared; nobody mistypes longer ones. */
#define WORD_MAX 63

/* Drops a character that was cut in the middle by the end of the buffer. */
static void trim_cut_character(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xC0)
        text[start - 1] = '\0';
}

bool nuna_fail(struct nuna_error *err, enum nuna_exit code, const char *format, ...)
{
    va_list args;

    /* Formatted aside: callers may quote the old message in the new one. */
    char message[sizeof(err->message)];
    va_start(args, format);
    int length = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (length < 0)
        snprintf(message, sizeof(message), "error message could not be formatted");
    else if ((size_t)length >= sizeof(message))
        trim_cut_character(message, sizeof(message) - 1);

    /* Text from files reaches the terminal here: no escape sequences. Bytes above 0x7f are UTF-8.
     */
    for (char *c = message; *c != '\0'; c++)
        if (((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7F)
            *c = '?';
    memcpy(err->message, message, sizeof(message));
    err->code = code;
    return false;
}

bool nuna_fail_memory(struct nuna_error *err, const char *what)
{
    return nuna_fail(err, NUNA_EXIT_INTERNAL, "out of memory for %s", what);
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance, ignoring case; a swap of neighbours counts as one edit. Lengths are at most
 * WORD_MAX. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned char x = lower(a[i - 1]), y = lower(b[j - 1]);
            now[j] = least(last[j] + 1, now[j - 1] + 1);
            now[j] = least(now[j], last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                now[j] = least(now[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

const char *nuna_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX)
        return NULL;
    /* One edit in a short word, one in every three letters of a long one. */
    size_t limit = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > WORD_MAX)
            continue;
        size_t edits = distance(word, length, candidates[i], candidate_length);
        /* An edit of the only letter is no resemblance. */
        if (edits >= least(length, candidate_length) || edits > limit)
            continue;
        if (nearest == NULL || edits < limit) {
            nearest = candidates[i];
            limit = edits;
        }
    }
    return nearest;
}
