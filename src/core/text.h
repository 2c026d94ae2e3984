/* Text from users: decoding it, and making it fit to print. Private to src/core. */
#ifndef NUNA_CORE_TEXT_H
#define NUNA_CORE_TEXT_H

#include "core/types.h"

/* Room for an excerpt in an error message. */
#define NUNA_EXCERPT_SIZE 80

/* Decodes one UTF-8 code point from `text` (`size` > 0 bytes). Returns its length in bytes, or 0
 * when it is malformed. */
size_t nuna_text_decode(const char *text, size_t size, uint32_t *ret_code);

/* Whether a code point may stand in a one-line comment or message: no control, no line break. */
bool nuna_text_printable(uint32_t code);

/* Copies `text` for showing: unprintable bytes become '?', and what does not fit ends in "...".
 * `size` is at least 8. Returns `buffer`. */
char *nuna_text_excerpt(const char *text, char *buffer, size_t size);

/* As printf into fresh memory; NULL when out of memory. */
char *nuna_text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
