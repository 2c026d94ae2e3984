#include "cli/common/output_dir.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_dir(const char *path)
{
    struct stat st;
    return mkdir(path, 0777) == 0 ||
           (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

bool nuna_output_prepare(const char *dir, struct nuna_error *err)
{
    char path[4096];
    if (strlen(dir) == 0 || strlen(dir) > sizeof path - 64)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "--out: the path is empty or too long");
    strcpy(path, dir);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        make_dir(path); /* the last one decides */
        *slash = '/';
    }
    if (!make_dir(path)) {
        const char *why =
            errno == EEXIST || errno == ENOTDIR ? "something else is in the way" : strerror(errno);
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: cannot make the output folder: %s", dir,
                         why);
    }
    struct nuna_output_file probe;
    if (!nuna_output_open(dir, "summary.csv", &probe, err))
        return false;
    fclose(probe.stream);
    unlink(probe.temporary);
    return true;
}

bool nuna_output_open(const char *dir, const char *name, struct nuna_output_file *ret_file,
                      struct nuna_error *err)
{
    snprintf(ret_file->path, sizeof ret_file->path, "%s/%s", dir, name);
    struct stat st;
    if (stat(ret_file->path, &st) == 0 && S_ISDIR(st.st_mode))
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: is a folder, expected a file or nothing",
                         ret_file->path);
    snprintf(ret_file->temporary, sizeof ret_file->temporary, "%s.%ld.tmp", ret_file->path,
             (long)getpid());
    ret_file->stream = fopen(ret_file->temporary, "w");
    if (!ret_file->stream)
        return nuna_fail(err, NUNA_EXIT_BAD_INPUT, "%s: cannot write in the output folder: %s", dir,
                         strerror(errno));
    return true;
}

bool nuna_output_close(struct nuna_output_file *file, bool written, struct nuna_error *err)
{
    int why = errno;
    if (fclose(file->stream) != 0) {
        why = errno;
        written = false;
    }
    if (written && rename(file->temporary, file->path) == 0)
        return true;
    if (written)
        why = errno;
    unlink(file->temporary);
    return nuna_fail(err, NUNA_EXIT_INTERNAL, "%s: cannot write: %s", file->path, strerror(why));
}

bool nuna_output_remove(const char *dir, const char *const *names, size_t count,
                        struct nuna_error *err)
{
    char path[4096];
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (unlink(path) != 0 && errno != ENOENT)
            return nuna_fail(err, NUNA_EXIT_BAD_INPUT,
                             "%s: cannot remove what an earlier run left: %s", path,
                             strerror(errno));
    }
    return true;
}
