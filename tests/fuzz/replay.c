/* Runs a fuzz target over the files of folders, and over cut and bent versions of each: what a
 * fuzzer does, but the same every time. Without a finding it exits with 0. */
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_MAX 200000

static unsigned long inputs;

static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1); /* of exactly that length, for the sanitizers */
    if (copy == NULL)
        exit(1);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    inputs++;
}

/* Digits become other digits, letters their neighbours, quotes vanish: at places that depend on the
 * text alone. */
static void bend(uint8_t *data, size_t size, unsigned variants)
{
    uint64_t state = 0x9e3779b97f4a7c15u + size;
    for (unsigned v = 0; v < variants; v++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(state >> 33) % size;
        uint8_t kept = data[at];
        unsigned digit = kept - (unsigned)'0';
        unsigned bent = digit < 10 ? '0' + (digit + 1 + v % 9) % 10 : v % 3 == 0 ? ' ' : kept + 1u;
        data[at] = (uint8_t)bent;
        run(data, size);
        data[at] = kept;
        run(data, at);
    }
}

static int replay(const char *path)
{
    static uint8_t data[FILE_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 1;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    run(data, size);
    if (size > 0)
        bend(data, size, 300);
    return 0;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            fprintf(stderr, "%s: cannot be opened\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
            char path[1024];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            wrong += replay(path);
        }
        closedir(folder);
    }
    printf("%lu inputs\n", inputs);
    return wrong > 0 || inputs == 0;
}
