#include "environments/engine/directory_walk.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 128 }; /* each level holds a descriptor */

struct directory_walk_level {
    int fd;      /* owned */
    char *path;  /* owned; empty: where the walk began */
    char **left; /* owned names, the next one last */
    size_t count;
};

struct directory_walk {
    char *root;                  /* owned: for messages */
    struct dockerignore *ignore; /* owned; or NULL */
    struct directory_walk_level levels[DEEPEST];
    size_t depth;
    char *path; /* owned: of the entry that was returned last */
    char *name; /* owned: likewise */
    bool enter; /* it is a directory to go into */
};

static int compare_backwards(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static void read_names(struct directory_walk_level *level, DIR *directory)
{
    struct dirent *entry;

    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        level->left = memory_resize(level->left, (level->count + 1) * sizeof *level->left);
        level->left[level->count++] = memory_copy_string(entry->d_name);
    }
    if (level->count > 0)
        qsort(level->left, level->count, sizeof *level->left, compare_backwards);
}

/* Goes into the directory FD, which is taken and called PATH, which is copied. */
static int directory_walk_push(struct directory_walk *walk, int fd, const char *path,
                               struct error *err)
{
    AUTO_CLOSE int owned = fd;
    AUTO_CLOSE int listed = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *directory;
    struct directory_walk_level *level = &walk->levels[walk->depth];

    if (walk->depth == DEEPEST)
        return error_set(err, ERROR_LIMIT, "%s/%s: more than %d directories in one another",
                         walk->root, path, DEEPEST);
    directory = listed < 0 ? NULL : fdopendir(listed);
    if (!directory)
        return error_set_errno(err, errno, "cannot read %s/%s", walk->root, path);
    (void)STEAL_FD(listed);
    *level = (struct directory_walk_level){.fd = STEAL_FD(owned), .path = memory_copy_string(path)};
    walk->depth++;
    read_names(level, directory);
    closedir(directory);
    return 0;
}

static void directory_walk_pop(struct directory_walk *walk)
{
    struct directory_walk_level *level = &walk->levels[--walk->depth];

    while (level->count > 0)
        free(level->left[--level->count]);
    free(level->left);
    free(level->path);
    close(level->fd);
}

struct directory_walk *directory_walk_new(const char *path, struct dockerignore *ignore,
                                          struct error *err)
{
    struct directory_walk *walk = NEW(struct directory_walk);
    int fd = untrusted_open_directory(AT_FDCWD, path, err);

    walk->root = memory_copy_string(path);
    walk->ignore = ignore;
    if (fd < 0 || directory_walk_push(walk, fd, "", err) < 0) {
        directory_walk_free(walk);
        return NULL;
    }
    return walk;
}

void directory_walk_free(struct directory_walk *walk)
{
    if (!walk)
        return;
    while (walk->depth > 0)
        directory_walk_pop(walk);
    dockerignore_free(walk->ignore);
    free(walk->root);
    free(walk->path);
    free(walk->name);
    free(walk);
}

static int enter_last(struct directory_walk *walk, struct error *err)
{
    struct directory_walk_level *level = &walk->levels[walk->depth - 1];
    int fd = untrusted_open_directory(level->fd, walk->name, err);

    walk->enter = false;
    if (fd < 0)
        return error_prefix(err, "cannot read %s/%s", walk->root, walk->path);
    return directory_walk_push(walk, fd, walk->path, err);
}

/* The next name of the innermost directory that has one. False: there is none. */
static bool directory_walk_take_name(struct directory_walk *walk)
{
    struct directory_walk_level *level;

    while (walk->depth > 0 && walk->levels[walk->depth - 1].count == 0)
        directory_walk_pop(walk);
    if (walk->depth == 0)
        return false;
    level = &walk->levels[walk->depth - 1];
    free(walk->name);
    free(walk->path);
    walk->name = level->left[--level->count];
    walk->path = memory_format("%s%s%s", level->path, level->path[0] ? "/" : "", walk->name);
    return true;
}

/* 1: to be told, 0: not. */
static int directory_walk_look_at(struct directory_walk *walk, struct directory_entry *ret,
                                  struct error *err)
{
    bool ignored = walk->ignore && dockerignore_matches(walk->ignore, walk->path);

    ret->path = walk->path;
    ret->name = walk->name;
    ret->parent = walk->levels[walk->depth - 1].fd;
    if (fstatat(ret->parent, ret->name, &ret->about, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT /* removed since its directory was read */
                   ? 0
                   : error_set_errno(err, errno, "cannot look at %s/%s", walk->root, walk->path);
    walk->enter = S_ISDIR(ret->about.st_mode) &&
                  (!ignored || dockerignore_may_take_back(walk->ignore, walk->path));
    return !ignored;
}

int directory_walk_next(struct directory_walk *walk, struct directory_entry *ret, struct error *err)
{
    int found = 0;

    while (found == 0) {
        if (walk->enter && enter_last(walk, err) < 0)
            return -1;
        if (!directory_walk_take_name(walk))
            return 0;
        found = directory_walk_look_at(walk, ret, err);
    }
    return found;
}
