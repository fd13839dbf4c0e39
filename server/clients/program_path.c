#include "server/clients/program_path.h"

#include "base/cleanup.h"
#include "base/executable.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNNING_PROGRAM "/proc/self/exe"

/* The absolute form of a relative path; its last link stays one. NULL if it leads nowhere. */
static char *make_absolute(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    AUTO_FREE char *folder = memory_format("%.*s", (int)(name - path), path);
    AUTO_FREE char *real = realpath(folder, NULL);

    return real ? memory_format("%s/%s", strcmp(real, "/") == 0 ? "" : real, name) : NULL;
}

static char *called_path(const char *called)
{
    if (*called != '/' && strchr(called, '/'))
        return make_absolute(called);
    return executable_find(text_or_none(getenv("PATH")), called);
}

/* True when PATH leads to the program that runs: argv[0] may be anything. */
static bool is_this_program(const char *path)
{
    struct stat there;
    struct stat here;

    return stat(path, &there) == 0 && stat(RUNNING_PROGRAM, &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* True for uv's cache: its folders archive-v0, environments-v2 and so on. */
static bool is_in_cache_of_uv(const char *path)
{
    return strstr(path, "/uv/archive-v") || strstr(path, "/uv/environments-v");
}

json_t *program_path_command(const char *called, struct error *err)
{
    AUTO_FREE char *path = called_path(called);
    AUTO_FREE char *real = realpath(RUNNING_PROGRAM, NULL);
    json_t *command;

    if (!real) {
        error_set_errno(err, errno, "cannot find the path of this program");
        return NULL;
    }
    if (!path || !is_this_program(path)) {
        free(path);
        path = memory_copy_string(real);
    }
    if (is_in_cache_of_uv(path)) {
        error_set(err, ERROR_UNAVAILABLE,
                  "this program is in the cache of uv, which is emptied now and then: install it "
                  "first, by `uv tool install` with what you gave to uvx");
        return NULL;
    }
    command = json_pack("[s]", path);
    if (!command)
        error_set(err, ERROR_UNAVAILABLE, "the path of this program is no UTF-8: %s", path);
    return command;
}
