#include "environments/workplace/directory_measure.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/workplace/directory_removal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MEASURED_BLOCK_BYTES = 512, /* of st_blocks, whatever the file system has */
    LEAST_BYTES = 4096,         /* of an entry */
    NAMES_AT_ONCE = 15,         /* in a path, so that it fits into PATH_MAX */
};

/* A directory by its name in its parent, which its children keep. */
struct measured_directory {
    struct list link;                  /* in the pending ones */
    struct measured_directory *parent; /* a reference; NULL: this is the root */
    unsigned references;
    unsigned depth;
    char name[];
};

static struct measured_directory *measured_directory_new(struct measured_directory *parent,
                                                         const char *name)
{
    size_t length = strlen(name) + 1;
    struct measured_directory *directory = memory_new(1, sizeof *directory + length);

    list_init(&directory->link);
    directory->references = 1;
    directory->parent = parent;
    memcpy(directory->name, name, length);
    if (parent) {
        directory->depth = parent->depth + 1;
        parent->references++;
    }
    return directory;
}

static void measured_directory_unref(struct measured_directory *directory)
{
    while (directory && --directory->references == 0) {
        struct measured_directory *parent = directory->parent;

        list_remove(&directory->link);
        free(directory);
        directory = parent;
    }
}

/* Opening */

/* Replaces the descriptor *AT by a descriptor of the directory at PATH below it. */
static int descend(int *at, const char *path)
{
    struct error ignored = ERROR_INIT; /* errno says enough */
    int next = untrusted_open_directory(*at, path, &ignored);

    if (next < 0)
        return -1;
    close(*at);
    *at = next;
    return 0;
}

/* The chain of names from the root down; it may be longer than one path can be. */
static int open_chain(int root, const struct measured_directory *directory)
{
    const char *names[DIRECTORY_MEASURE_DEPTH + 1];
    AUTO_CLOSE int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
    size_t count = 0;

    for (; directory; directory = directory->parent)
        names[count++] = directory->name;
    while (at >= 0 && count > 0) {
        AUTO_FREE char *path = memory_copy_string(names[--count]);

        for (int i = 1; i < NAMES_AT_ONCE && count > 0; i++) {
            char *longer = memory_format("%s/%s", path, names[--count]);

            free(path);
            path = longer;
        }
        if (descend(&at, path) < 0)
            return -1;
    }
    return STEAL_FD(at);
}

static int open_measured(const struct directory_measure *measure,
                         const struct measured_directory *directory)
{
    AUTO_CLOSE int parent = -1;

    if (!directory->parent)
        return directory_open_again(measure->root);
    if (measure->stream && directory->parent == measure->current)
        return directory_open_child(dirfd(measure->stream), directory->name);
    parent = open_chain(measure->root, directory->parent);
    return parent < 0 ? -1 : directory_open_child(parent, directory->name);
}

static void close_current(struct directory_measure *measure)
{
    if (measure->stream)
        closedir(measure->stream);
    measure->stream = NULL;
    measured_directory_unref(measure->current);
    measure->current = NULL;
}

/* Goes on with the pending directory that was found last. False when there is none. */
static bool open_next(struct directory_measure *measure)
{
    struct measured_directory *next;
    AUTO_CLOSE int fd = -1;

    if (list_is_empty(&measure->pending)) {
        close_current(measure);
        return false;
    }
    next = CONTAINER_OF(measure->pending.previous, struct measured_directory, link);
    list_remove(&next->link);
    fd = open_measured(measure, next);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        measure->is_complete = false;
    close_current(measure);
    measure->current = next;
    measure->stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (measure->stream)
        STEAL_FD(fd);
    return true;
}

/* Counting */

uint64_t directory_measure_entry(const struct stat *status)
{
    uint64_t bytes = (uint64_t)status->st_blocks * MEASURED_BLOCK_BYTES;

    return bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}

static bool is_too_new(const struct directory_measure *measure, const struct stat *status)
{
    const struct timespec *until = &measure->until;

    if (until->tv_sec == 0)
        return false;
    return status->st_ctim.tv_sec > until->tv_sec ||
           (status->st_ctim.tv_sec == until->tv_sec && status->st_ctim.tv_nsec >= until->tv_nsec);
}

static void measure_directory(struct directory_measure *measure, const char *name)
{
    struct measured_directory *found;

    if (measure->current->depth == DIRECTORY_MEASURE_DEPTH) {
        measure->is_complete = false;
        return;
    }
    found = measured_directory_new(measure->current, name);
    list_append(&measure->pending, &found->link);
}

static void measure_entry(struct directory_measure *measure, const char *name)
{
    struct stat status;

    if (fstatat(dirfd(measure->stream), name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* gone in the meantime */
    if (S_ISDIR(status.st_mode))
        measure_directory(measure, name);
    else if (status.st_nlink > 1 && !link_set_add(&measure->links, &status))
        return;
    if (!is_too_new(measure, &status))
        measure->bytes += directory_measure_entry(&status);
}

/* False when everything has been looked at. */
static bool measure_next(struct directory_measure *measure)
{
    const struct dirent *entry = measure->stream ? readdir(measure->stream) : NULL;

    if (!entry)
        return open_next(measure);
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        measure_entry(measure, entry->d_name);
    return true;
}

void directory_measure_begin(struct directory_measure *measure, int root)
{
    struct measured_directory *top = measured_directory_new(NULL, ".");

    *measure = (struct directory_measure){.root = root, .is_complete = true};
    list_init(&measure->pending);
    list_append(&measure->pending, &top->link);
}

void directory_measure_know(struct directory_measure *measure, uint64_t bytes)
{
    *measure = (struct directory_measure){.root = -1, .bytes = bytes, .is_complete = true};
    list_init(&measure->pending);
}

bool directory_measure_step(struct directory_measure *measure, unsigned operations)
{
    for (; operations > 0; operations--)
        if (!measure_next(measure))
            return false;
    return true;
}

void directory_measure_end(struct directory_measure *measure)
{
    close_current(measure);
    LIST_FOR_EACH_SAFE (&measure->pending, link)
        measured_directory_unref(CONTAINER_OF(link, struct measured_directory, link));
    link_set_deinit(&measure->links);
}
