#include "server/transport/socket/descent.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DESCENT_TRIES = 4,
    DESCENT_DEPTH = 256,        /* generations */
    DESCENT_DESCRIPTORS = 8192, /* that are looked at for one socket */
    DESCENT_PATH_BYTES = 300,
};

/* Ancestors */

struct descent_process {
    pid_t parent;
    unsigned long long started; /* in clock ticks since boot */
};

/* The fields behind the name, which may contain anything. */
static int descent_parse(const char *stat, struct descent_process *ret)
{
    const char *rest = strrchr(stat, ')');
    int parent;

    if (!rest || sscanf(rest + 1,
                        " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                        "%*d %llu",
                        &parent, &ret->started) != 2)
        return -1;
    ret->parent = parent;
    return 0;
}

static int descent_read(pid_t pid, struct descent_process *ret)
{
    char text[1024];
    size_t length;
    FILE *file;

    snprintf(text, sizeof text, "/proc/%d/stat", (int)pid);
    file = fopen(text, "re");
    if (!file)
        return -1;
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return descent_parse(text, ret);
}

/* A parent that is younger than its child is another process, which has got the number of the dead
 * parent. */
static enum descent descent_climb(pid_t pid)
{
    struct descent_process process;

    if (descent_read(pid, &process) < 0)
        return DESCENT_UNKNOWN;
    for (int i = 0; i < DESCENT_DEPTH; i++) {
        unsigned long long started = process.started;

        if (process.parent == getpid())
            return DESCENT_OURS;
        if (process.parent == 0)
            return DESCENT_NONE;
        if (descent_read(process.parent, &process) < 0 || process.started > started)
            return DESCENT_UNKNOWN;
    }
    return DESCENT_UNKNOWN;
}

enum descent descent_of(pid_t pid)
{
    enum descent found = pid == getpid() ? DESCENT_NONE : DESCENT_UNKNOWN;

    for (int i = 0; i < DESCENT_TRIES && found == DESCENT_UNKNOWN; i++)
        found = descent_climb(pid);
    return found;
}

/* Descriptors */

struct descent_search {
    char wanted[64]; /* the text of a link to the socket */
    unsigned looked; /* at so many descriptors */
    enum descent found;
};

static void descent_look_at(struct descent_search *search, DIR *descriptors, const char *name)
{
    char target[sizeof search->wanted];
    ssize_t length = readlinkat(dirfd(descriptors), name, target, sizeof target - 1);

    search->looked++;
    if (length < 0 && errno == EACCES)
        search->found = DESCENT_UNKNOWN;
    target[length > 0 ? length : 0] = '\0';
    if (strcmp(target, search->wanted) == 0)
        search->found = DESCENT_OURS;
    else if (search->looked >= DESCENT_DESCRIPTORS)
        search->found = DESCENT_UNKNOWN;
}

static void descent_search_process(struct descent_search *search, pid_t pid)
{
    char path[DESCENT_PATH_BYTES];
    struct dirent *entry;
    DIR *descriptors;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    descriptors = opendir(path);
    if (!descriptors) {
        if (errno == EACCES)
            search->found = DESCENT_UNKNOWN;
        return;
    }
    while (search->found == DESCENT_NONE && (entry = readdir(descriptors))) {
        if (entry->d_name[0] != '.')
            descent_look_at(search, descriptors, entry->d_name);
    }
    closedir(descriptors);
}

static void descent_search_below(struct descent_search *search, pid_t parent, int depth);

/* Our own children are runners and supervisors: ours, and closed to everybody. */
static void descent_search_children(struct descent_search *search, const char *children, int depth)
{
    FILE *file = fopen(children, "re");
    int pid;

    while (file && search->found == DESCENT_NONE && fscanf(file, "%d", &pid) == 1) {
        if (depth > 0)
            descent_search_process(search, pid);
        if (search->found == DESCENT_NONE)
            descent_search_below(search, pid, depth + 1);
    }
    if (file)
        fclose(file);
}

static void descent_search_below(struct descent_search *search, pid_t parent, int depth)
{
    char path[DESCENT_PATH_BYTES];
    struct dirent *entry;
    DIR *threads;

    if (depth >= DESCENT_DEPTH) {
        search->found = DESCENT_UNKNOWN;
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    threads = opendir(path);
    while (threads && search->found == DESCENT_NONE && (entry = readdir(threads))) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, entry->d_name);
        if (entry->d_name[0] != '.')
            descent_search_children(search, path, depth);
    }
    if (threads)
        closedir(threads);
}

/* Whether PID, which is not a descendant of ours as far as is known, holds the socket. */
static bool descent_is_holder(const struct descent_search *search, pid_t pid)
{
    struct descent_search outside = {.found = DESCENT_NONE};

    memcpy(outside.wanted, search->wanted, sizeof outside.wanted);
    if (descent_of(pid) != DESCENT_NONE)
        return false;
    descent_search_process(&outside, pid);
    return outside.found == DESCENT_OURS;
}

/* Some descendant hides its descriptors. Then the socket is not theirs if another process shows
 * that it has it. */
static enum descent descent_search_outside(const struct descent_search *search)
{
    enum descent found = DESCENT_UNKNOWN;
    DIR *processes = opendir("/proc");
    struct dirent *entry;

    while (processes && found == DESCENT_UNKNOWN && (entry = readdir(processes))) {
        long pid = strtol(entry->d_name, NULL, 10);

        if (pid > 0 && descent_is_holder(search, (pid_t)pid))
            found = DESCENT_NONE;
    }
    if (processes)
        closedir(processes);
    return found;
}

/* Processes that fork meanwhile may be missed, so a search without a result is repeated. */
enum descent descent_of_socket(uint64_t inode)
{
    struct descent_search search = {.found = DESCENT_NONE};

    snprintf(search.wanted, sizeof search.wanted, "socket:[%" PRIu64 "]", inode);
    for (int i = 0; i < DESCENT_TRIES && search.found == DESCENT_NONE; i++) {
        search.looked = 0;
        descent_search_below(&search, getpid(), 0);
        if (search.looked == 0) /* no script runs */
            break;
    }
    return search.found == DESCENT_UNKNOWN ? descent_search_outside(&search) : search.found;
}
