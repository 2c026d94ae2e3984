#include "collectives/read/text/json_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* cJSON reads numbers through a buffer of 64. */
#define NUMBER_LENGTH_MAX 60

struct scan {
    const char *path, *text;
    size_t length, at;
    unsigned depth;
    struct nuna_json_exacts *exacts;
    struct nuna_error *err;
};

static bool scan_value(struct scan *scan);

/* Lines and columns from 1; columns count characters, not bytes. */
static void place(const struct scan *scan, size_t offset, size_t *ret_line, size_t *ret_column)
{
    *ret_line = 1;
    *ret_column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (scan->text[i] == '\n') {
            ++*ret_line;
            *ret_column = 1;
        } else if (((unsigned char)scan->text[i] & 0xc0) != 0x80) {
            ++*ret_column;
        }
    }
}

__attribute__((format(printf, 3, 4))) static bool bad(struct scan *scan, size_t offset,
                                                      const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    size_t line, column;
    place(scan, offset, &line, &column);
    return nuna_fail(scan->err, NUNA_EXIT_BAD_INPUT, "%s:%zu:%zu: %s", scan->path, line, column,
                     what);
}

/* Something else stands where `expected` should. */
static bool bad_token(struct scan *scan, const char *expected)
{
    if (scan->at >= scan->length)
        return bad(scan, scan->at, "the file ends here, is it truncated? Expected %s", expected);
    unsigned char c = (unsigned char)scan->text[scan->at];
    if (c > 0x20 && c < 0x7f)
        return bad(scan, scan->at, "expected %s, found '%c'", expected, c);
    return bad(scan, scan->at, "expected %s, found the byte 0x%02x", expected, (unsigned)c);
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->length &&
           (scan->text[scan->at] == ' ' || scan->text[scan->at] == '\n' ||
            scan->text[scan->at] == '\r' || scan->text[scan->at] == '\t'))
        scan->at++;
}

/* The text ends in a zero byte, so that looking one character ahead is always safe. */
static bool take(struct scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->text[scan->at] != c)
        return false;
    scan->at++;
    return true;
}

/* Length of the UTF-8 character at `s`, 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

static int hex4(const char *text)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool scan_escape(struct scan *scan)
{
    size_t start = scan->at;
    char c = scan->text[scan->at + 1];
    if (c != '\0' && strchr("\"\\/bfnrt", c) != NULL) {
        scan->at += 2;
        return true;
    }
    if (c != 'u')
        return bad(scan, start, "unknown escape in a string");
    int code = hex4(&scan->text[start + 2]);
    if (code < 0)
        return bad(scan, start, "expected four hexadecimal digits after \\u");
    if (code == 0)
        return bad(scan, start, "a string cannot hold the character \\u0000");
    scan->at += 6;
    if (code >= 0xdc00 && code <= 0xdfff)
        return bad(scan, start, "the second half of a surrogate pair without the first");
    if (code >= 0xd800 && code <= 0xdbff) {
        int low = scan->text[scan->at] == '\\' && scan->text[scan->at + 1] == 'u'
                      ? hex4(&scan->text[scan->at + 2])
                      : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return bad(scan, start, "the first half of a surrogate pair without the second");
        scan->at += 6;
    }
    return true;
}

static bool scan_string(struct scan *scan)
{
    size_t start = scan->at++;
    for (;;) {
        unsigned char c = (unsigned char)scan->text[scan->at];
        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c == '\\') {
            if (!scan_escape(scan))
                return false;
        } else if (c == '\0' && scan->at >= scan->length) {
            return bad(scan, start, "the file ends inside this string, is it truncated?");
        } else if (c < 0x20) {
            return bad(scan, scan->at, "a string cannot hold a raw %s",
                       c == '\n' ? "line break, is its closing quote missing?"
                                 : "control character");
        } else if (c < 0x80) {
            scan->at++;
        } else {
            size_t length = utf8_length((const unsigned char *)&scan->text[scan->at]);
            if (length == 0)
                return bad(scan, scan->at, "the byte 0x%02x is not UTF-8", (unsigned)c);
            scan->at += length;
        }
    }
}

static bool digits(struct scan *scan)
{
    size_t start = scan->at;
    while (scan->text[scan->at] >= '0' && scan->text[scan->at] <= '9')
        scan->at++;
    return scan->at > start;
}

static bool scan_number(struct scan *scan)
{
    size_t start = scan->at;
    if (scan->text[scan->at] == '-')
        scan->at++;
    bool zero = scan->text[scan->at] == '0';
    size_t first = scan->at;
    if (!digits(scan))
        return bad_token(scan, "a digit");
    if (zero && scan->at > first + 1)
        return bad(scan, start, "a number cannot start with 0");
    if (scan->text[scan->at] == '.') {
        scan->at++;
        if (!digits(scan))
            return bad_token(scan, "a digit");
    }
    if (scan->text[scan->at] == 'e' || scan->text[scan->at] == 'E') {
        scan->at++;
        if (scan->text[scan->at] == '+' || scan->text[scan->at] == '-')
            scan->at++;
        if (!digits(scan))
            return bad_token(scan, "a digit");
    }
    if (scan->at - start > NUMBER_LENGTH_MAX)
        return bad(scan, start, "a number of more than %d characters", NUMBER_LENGTH_MAX);
    return true;
}

/* Keeps a top-level whole number that a double may have rounded. */
static void keep_exact(struct scan *scan, size_t key, size_t key_length, size_t value)
{
    size_t length = scan->at - value;
    struct nuna_json_exacts *exacts = scan->exacts;
    if (scan->depth != 1 || length < 16 || key_length >= sizeof exacts->items[0].key ||
        exacts->count == sizeof exacts->items / sizeof exacts->items[0])
        return;
    struct nuna_json_exact exact = {0};
    for (size_t i = 0; i < length; i++) {
        char c = scan->text[value + i];
        if (c < '0' || c > '9')
            return;
        exact.overflow |= __builtin_mul_overflow(exact.value, UINT64_C(10), &exact.value);
        exact.overflow |= __builtin_add_overflow(exact.value, (uint64_t)(c - '0'), &exact.value);
    }
    memcpy(exact.key, &scan->text[key], key_length);
    exacts->items[exacts->count++] = exact;
}

static bool scan_member(struct scan *scan)
{
    skip_blanks(scan);
    if (scan->text[scan->at] != '"')
        return bad_token(scan, "a key in double quotes");
    size_t key = scan->at + 1;
    if (!scan_string(scan))
        return false;
    size_t key_length = scan->at - 1 - key;
    if (!take(scan, ':'))
        return bad_token(scan, "':' after the key");
    skip_blanks(scan);
    size_t value = scan->at;
    if (!scan_value(scan))
        return false;
    keep_exact(scan, key, key_length, value);
    return true;
}

/* An object or an array; `close` is its end. */
static bool scan_list(struct scan *scan, char close)
{
    if (scan->depth == NUNA_JSON_DEPTH_MAX)
        return bad(scan, scan->at, "nested more than %d levels deep", NUNA_JSON_DEPTH_MAX);
    scan->depth++;
    scan->at++;
    bool first = true;
    while (!take(scan, close)) {
        if (!first && !take(scan, ','))
            return bad_token(scan, close == '}' ? "',' or '}'" : "',' or ']'");
        if (!first) {
            skip_blanks(scan);
            if (scan->text[scan->at] == close)
                return bad(scan, scan->at, "a comma before '%c'", close);
        }
        first = false;
        if (!(close == '}' ? scan_member(scan) : scan_value(scan)))
            return false;
    }
    scan->depth--;
    return true;
}

static bool scan_value(struct scan *scan)
{
    skip_blanks(scan);
    const char *rest = &scan->text[scan->at];
    if (*rest == '{')
        return scan_list(scan, '}');
    if (*rest == '[')
        return scan_list(scan, ']');
    if (*rest == '"')
        return scan_string(scan);
    if (*rest == '-' || (*rest >= '0' && *rest <= '9'))
        return scan_number(scan);
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(rest, words[i], strlen(words[i])) == 0) {
            scan->at += strlen(words[i]);
            return true;
        }
    }
    return bad_token(scan, "a value");
}

bool nuna_json_scan(const struct nuna_plan_text *text, struct nuna_json_exacts *ret,
                    struct nuna_error *err)
{
    struct scan scan = {
        .path = text->path,
        .text = text->text,
        .length = text->length,
        .exacts = ret,
        .err = err,
    };
    if (!scan_value(&scan))
        return false;
    skip_blanks(&scan);
    if (scan.at < scan.length)
        return bad(&scan, scan.at, "text after the end of the plan");
    return true;
}
