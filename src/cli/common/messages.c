#include "cli/common/messages.h"

#include <stdio.h>
#include <string.h>

int nuna_cli_report(const struct nuna_error *err)
{
    fflush(stdout); /* so that what was printed before the error stands before it */
    fprintf(stderr, "nunasim: error: %s\n", err->message);
    return (int)err->code;
}

#define WARNINGS_SHOWN 8

void nuna_cli_warn(const char *source, const char *lines)
{
    size_t count = 0;
    for (const char *line = lines; line != NULL && *line != '\0'; count++) {
        size_t length = strcspn(line, "\n");
        if (count < WARNINGS_SHOWN)
            fprintf(stderr, "nunasim: warning: %s%s%.*s\n", source == NULL ? "" : source,
                    source == NULL ? "" : ": ", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (count > WARNINGS_SHOWN)
        fprintf(stderr, "nunasim: warning: and %zu more\n", count - WARNINGS_SHOWN);
}

const char *nuna_plural(int64_t number)
{
    return number == 1 ? "" : "s";
}

const char *nuna_duration_text(nuna_time ps, char *buffer)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ps / 1e3;
    unsigned unit = 0;
    for (; value >= 1000 && unit < 3; unit++)
        value /= 1000;
    snprintf(buffer, 48, "%.3f %s", value, units[unit]);
    return buffer;
}
