#include "collectives/read/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)512 << 20)

#define LOAD_ERR(...) nuna_fail(err, NUNA_EXIT_BAD_INPUT, __VA_ARGS__)

static bool read_all(FILE *file, const char *path, size_t expected, struct nuna_plan_text *ret,
                     struct nuna_error *err)
{
    size_t cap = expected + 2;
    ret->text = malloc(cap);
    while (ret->text != NULL) {
        ret->length += fread(ret->text + ret->length, 1, cap - 1 - ret->length, file);
        if (ferror(file))
            return LOAD_ERR("%s: cannot be read: %s", path, strerror(errno));
        if (ret->length > FILE_BYTES_MAX)
            return LOAD_ERR("%s: is larger than 512 MiB, too large for a plan", path);
        if (feof(file))
            break;
        if (ret->length == cap - 1) {
            cap *= 2;
            char *grown = realloc(ret->text, cap);
            if (grown == NULL)
                return nuna_fail_memory(err, "a plan file");
            ret->text = grown;
        }
    }
    if (ret->text == NULL)
        return nuna_fail_memory(err, "a plan file");
    ret->text[ret->length] = '\0';
    return true;
}

static bool check_text(const char *path, struct nuna_plan_text *text, struct nuna_error *err)
{
    const char *bytes = text->text;
    if (text->length == 0)
        return LOAD_ERR("%s: is empty, expected a plan", path);
    if (text->length >= 2 &&
        (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return LOAD_ERR("%s: is UTF-16 text, expected UTF-8", path);
    if (text->length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        return LOAD_ERR("%s: is compressed with gzip, unpack it first", path);
    if (text->length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        text->length -= 3;
        memmove(text->text, text->text + 3, text->length + 1);
    }
    if (memchr(text->text, '\0', text->length) != NULL)
        return LOAD_ERR("%s: is a binary file, expected a plan as text", path);
    if (text->text[strspn(text->text, " \t\r\n")] == '\0')
        return LOAD_ERR("%s: has nothing but blanks, expected a plan", path);
    return true;
}

bool nuna_plan_text_load(const char *path, struct nuna_plan_text *ret, struct nuna_error *err)
{
    *ret = (struct nuna_plan_text){.path = path};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return LOAD_ERR("%s: cannot be opened: %s", path, strerror(errno));
    struct stat info;
    bool good = true;
    if (fstat(fileno(file), &info) != 0)
        good = LOAD_ERR("%s: cannot be read: %s", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        good = LOAD_ERR("%s: is a directory, expected a plan file", path);
    else if (info.st_size > (off_t)FILE_BYTES_MAX)
        good = LOAD_ERR("%s: is larger than 512 MiB, too large for a plan", path);
    else
        good =
            read_all(file, path, S_ISREG(info.st_mode) ? (size_t)info.st_size : 65536, ret, err) &&
            check_text(path, ret, err);
    fclose(file);
    if (!good) {
        free(ret->text);
        ret->text = NULL;
    }
    return good;
}
