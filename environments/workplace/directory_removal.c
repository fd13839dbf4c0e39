#include "environments/workplace/directory_removal.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/untrusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The contents */

enum { NAME_TRIES = 100 };

void directory_removal_init(struct directory_removal *removal, int directory)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now); /* so that names left by an earlier attempt are not met */
    *removal = (struct directory_removal){
        .directory = directory,
        .next_name = (unsigned long long)now.tv_sec * 1000000000 + (unsigned long)now.tv_nsec,
        .found = true,
        .progressed = true,
    };
}

static void directory_removal_close_stream(DIR **stream)
{
    if (*stream)
        closedir(*stream);
    *stream = NULL;
}

void directory_removal_deinit(struct directory_removal *removal)
{
    directory_removal_close_stream(&removal->inner);
    directory_removal_close_stream(&removal->entries);
}

/* chmod of the directory NAME itself: fchmodat(2) would follow a link that took its place. */
static int allow_access(int parent, const char *name)
{
    AUTO_CLOSE int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char path[64];

    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return chmod(path, S_IRWXU);
}

bool directory_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

bool directory_allows_owner(const struct stat *status)
{
    return (status->st_mode & S_IRWXU) == S_IRWXU;
}

void directory_allow_owner(int fd, const struct stat *status)
{
    if (!directory_allows_owner(status))
        (void)fchmod(fd, (status->st_mode & ALLPERMS) | S_IRWXU);
}

int directory_open_forced(int parent, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    struct stat status;

    if (fd < 0 && errno == EACCES && allow_access(parent, name) == 0)
        fd = openat(parent, name, flags);
    if (fd >= 0 && fstat(fd, &status) == 0)
        directory_allow_owner(fd, &status);
    return fd;
}

int directory_open_child(int parent, const char *name)
{
    struct error err = ERROR_INIT;
    int fd = untrusted_open_directory(parent, name, &err);

    return fd < 0 && err.number == EACCES ? directory_open_forced(parent, name) : fd;
}

int directory_open_again(int directory)
{
    struct error err = ERROR_INIT;
    int fd = untrusted_open_directory(directory, ".", &err);
    struct stat status;

    if (fd >= 0 || err.number != EACCES || fstat(directory, &status) < 0)
        return fd;
    directory_allow_owner(directory, &status);
    return untrusted_open_directory(directory, ".", &err);
}

DIR *directory_open_stream(int parent, const char *name)
{
    AUTO_CLOSE int fd = directory_open_forced(parent, name);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    if (stream)
        STEAL_FD(fd);
    return stream;
}

/* Moves the directory NAME out of PARENT to the top, under a name of ours. */
static int directory_removal_lift(struct directory_removal *removal, int parent, const char *name)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        char target[32];

        snprintf(target, sizeof target, "lifted-%llu", removal->next_name++);
        if (renameat(parent, name, removal->directory, target) == 0)
            return 0;
        if (errno == EACCES && allow_access(parent, name) == 0)
            continue;
        if (errno != EEXIST && errno != ENOTEMPTY)
            return -1;
    }
    return -1;
}

/* Removes NAME, whatever it is, unless it is a directory that is not empty. */
static int remove_entry(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    return unlinkat(parent, name, AT_REMOVEDIR);
}

static void step_inner(struct directory_removal *removal)
{
    const struct dirent *entry = readdir(removal->inner);
    int parent = dirfd(removal->inner);

    if (!entry) {
        directory_removal_close_stream(&removal->inner);
        if (unlinkat(removal->directory, removal->inner_name, AT_REMOVEDIR) == 0)
            removal->progressed = true;
        return;
    }
    if (text_is_dots(entry->d_name))
        return;
    if (remove_entry(parent, entry->d_name) == 0 ||
        directory_removal_lift(removal, parent, entry->d_name) == 0)
        removal->progressed = true;
}

static void step_entries(struct directory_removal *removal)
{
    const struct dirent *entry = readdir(removal->entries);

    if (!entry) {
        directory_removal_close_stream(&removal->entries);
        return;
    }
    if (text_is_dots(entry->d_name))
        return;
    removal->found = true;
    if (remove_entry(removal->directory, entry->d_name) == 0) {
        removal->progressed = true;
        return;
    }
    snprintf(removal->inner_name, sizeof removal->inner_name, "%s", entry->d_name);
    removal->inner = directory_open_stream(removal->directory, entry->d_name);
}

/* A pass may put new entries at the top, so passes go on until a pass finds no entry, or can remove
 * none. */
static bool begin_pass(struct directory_removal *removal)
{
    if (!removal->found || !removal->progressed)
        return false;
    removal->found = false;
    removal->progressed = false;
    removal->entries = directory_open_stream(removal->directory, ".");
    return removal->entries != NULL;
}

bool directory_removal_step(struct directory_removal *removal, unsigned operations)
{
    while (operations-- > 0) {
        if (removal->inner)
            step_inner(removal);
        else if (removal->entries)
            step_entries(removal);
        else if (!begin_pass(removal))
            return false;
    }
    return true;
}

/* A whole tree */

enum { STEP_OPERATIONS = 256 };

bool tree_removal_open(struct tree_removal *removal, const char *path)
{
    int fd = directory_open_forced(AT_FDCWD, path);

    if (fd < 0)
        return false;
    *removal = (struct tree_removal){.path = memory_copy_string(path), .fd = fd};
    directory_removal_init(&removal->removal, fd);
    return true;
}

bool tree_removal_step(struct tree_removal *removal)
{
    if (directory_removal_step(&removal->removal, STEP_OPERATIONS))
        return true;
    (void)rmdir(removal->path); /* unless something is left */
    return false;
}

void tree_removal_close(struct tree_removal *removal)
{
    if (!removal->path)
        return;
    directory_removal_deinit(&removal->removal);
    close(removal->fd);
    free(removal->path);
    removal->path = NULL;
}
