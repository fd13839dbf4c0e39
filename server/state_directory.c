#include "server/state_directory.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* systemd.exec(5): several directories are separated by colons. */
static char *from_systemd(void)
{
    const char *directories = getenv("STATE_DIRECTORY");

    if (!directories || *directories != '/')
        return NULL;
    return strndup(directories, strcspn(directories, ":"));
}

static char *from_home(void)
{
    const char *directory = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    /* A relative path there is to be ignored (XDG Base Directory Specification). */
    if (directory && *directory == '/')
        return memory_format("%s/pyexecd", directory);
    if (home && *home == '/')
        return memory_format("%s/.local/state/pyexecd", home);
    return NULL;
}

static char *from_tmp(void)
{
    return memory_format("/tmp/pyexecd-%u", geteuid());
}

/* -1 with ERR if STATUS says that PATH cannot be the state directory. */
static int state_directory_check(const char *path, const struct stat *status, struct error *err)
{
    if (!S_ISDIR(status->st_mode))
        return error_set(err, ERROR_CONFIG, "the state directory %s is not a directory", path);
    if (status->st_uid != geteuid())
        return error_set(err, ERROR_CONFIG, "the state directory %s belongs to uid %u", path,
                         status->st_uid);
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return error_set(err, ERROR_CONFIG,
                         "others may write in the state directory %s (mode %04o); chmod go-w %s",
                         path, status->st_mode & 07777U, path);
    if (access(path, R_OK | W_OK | X_OK) < 0)
        return error_set_errno(err, errno, "cannot write in %s", path);
    return 0;
}

/* The real path of PATH, so that a link that a script later puts into its place is not followed. */
static char *state_directory_resolve(const char *path, struct error *err)
{
    char *real = realpath(path, NULL);

    if (!real)
        error_set_errno(err, errno, "cannot resolve %s", path);
    return real;
}

typedef int (*look_fn)(const char *path, struct stat *status);

static int state_directory_open_checked(const char *path, look_fn look, struct error *err)
{
    struct stat status;

    if (fd_make_directories(path, S_IRWXU, err) < 0)
        return -1;
    if (look(path, &status) < 0)
        return error_set_errno(err, errno, "cannot examine %s", path);
    return state_directory_check(path, &status, err);
}

char *state_directory_find(struct error *err)
{
    /* Anybody may put a link into /tmp; elsewhere links are the operator's (systemd makes one for
     * a dynamic user). */
    static const struct {
        char *(*find)(void);
        look_fn look;
    } candidates[] = {
        {from_systemd, stat},
        {from_home, stat},
        {from_tmp, lstat},
    };

    for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
        AUTO_FREE char *path = candidates[i].find();

        error_clear(err);
        if (path && state_directory_open_checked(path, candidates[i].look, err) == 0)
            return STEAL_PTR(path);
    }
    return NULL;
}

char *state_directory_open(struct error *err)
{
    AUTO_FREE char *path = state_directory_find(err);

    return path ? state_directory_resolve(path, err) : NULL;
}

char *state_directory_open_in_memory(struct error *err)
{
    AUTO_FREE char *path = memory_format("/dev/shm/pyexecd-%u", geteuid());

    return state_directory_open_checked(path, lstat, err) < 0 ? NULL
                                                              : state_directory_resolve(path, err);
}
