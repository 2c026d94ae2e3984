#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t nuna_text_decode(const char *text, size_t size, uint32_t *ret_code)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t code = bytes[0];
    size_t length = 0;
    uint32_t least = 0; /* smaller codes are overlong at this length */

    if (code < 0x80) {
        *ret_code = code;
        return 1;
    }
    if (code >= 0xC2 && code < 0xE0) {
        length = 2, least = 0x80, code &= 0x1F;
    } else if (code >= 0xE0 && code < 0xF0) {
        length = 3, least = 0x800, code &= 0x0F;
    } else if (code >= 0xF0 && code < 0xF5) {
        length = 4, least = 0x10000, code &= 0x07;
    } else {
        return 0;
    }
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    if (code < least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return 0;
    *ret_code = code;
    return length;
}

bool nuna_text_printable(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7F && code < 0xA0))
        return false;
    return code != 0x2028 && code != 0x2029 && code != 0xFEFF && code != 0xFFFE && code != 0xFFFF;
}

char *nuna_text_excerpt(const char *text, char *buffer, size_t size)
{
    size_t left = strlen(text);
    size_t used = 0;
    size_t cut = 0; /* the last place where "..." still fits */

    while (left > 0) {
        uint32_t code = 0;
        size_t length = nuna_text_decode(text, left, &code);
        bool keep = length > 0 && nuna_text_printable(code);
        size_t step = length > 0 ? length : 1;
        size_t wide = keep ? length : 1;
        if (used + wide + 1 > size) {
            memcpy(buffer + cut, "...", 4);
            return buffer;
        }
        if (keep)
            memcpy(buffer + used, text, length);
        else
            buffer[used] = '?';
        used += wide;
        if (used + 4 <= size)
            cut = used;
        text += step;
        left -= step;
    }
    buffer[used] = '\0';
    return buffer;
}

char *nuna_text_format(const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return length < 0 ? NULL : text;
}
