#include "environments/process/cgroup_tree.h"

#include "base/cleanup.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/process/cgroup_place.h"
#include "environments/process/cgroup_private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* A leaf is busy for a moment after its last process has been reaped. */
struct busy {
    struct list link;
    char *directory; /* owned */
};

/* A directory can be used when we can make a leaf in it; access rights alone do not say. Something
 * else may lie over the hierarchy. */
static bool can_make_leaf(const struct cgroup_tree *tree, const char *directory)
{
    AUTO_FREE char *path = memory_format("%s/%sprobe", directory, tree->prefix);
    bool is_leaf;

    if (mkdir(path, 0700) < 0)
        return false;
    is_leaf = cgroup_has_entry(path, "cgroup.procs");
    return rmdir(path) == 0 && is_leaf;
}

static void add_hierarchy(struct cgroup_tree *tree, const char *controller, unsigned offers)
{
    AUTO_FREE char *directory = cgroup_own_directory("cgroup", controller);

    if (!directory || !can_make_leaf(tree, directory))
        return;
    tree->hierarchies[tree->count++] =
        (struct hierarchy){.directory = STEAL_PTR(directory), .offers = offers};
}

/* A v2 cgroup gives controllers to its children only while no process is in it, so the server
 * moves into a child of its own. It moves back where that does not help, because another process
 * is there too. */
static unsigned delegate_controllers(const char *directory)
{
    static const struct {
        const char *name;
        unsigned offers;
    } controllers[] = {{"memory", OFFERS_MEMORY}, {"pids", OFFERS_PROCESSES}};
    AUTO_FREE char *available = cgroup_read_entry(directory, "cgroup.controllers");
    AUTO_FREE char *aside = memory_format("%s/pyexecd-server", directory);
    bool nested = cgroup_has_entry(directory, "cgroup.type"); /* the root cgroup has none */
    unsigned offers = 0;

    if (!available ||
        (!cgroup_has_word(available, "memory") && !cgroup_has_word(available, "pids")))
        return 0;
    if (nested) {
        (void)mkdir(aside, 0755); /* may be there from before */
        if (cgroup_write_entry(aside, "cgroup.procs", "0") < 0)
            return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
        char enable[16];

        snprintf(enable, sizeof enable, "+%s", controllers[i].name);
        if (cgroup_has_word(available, controllers[i].name) &&
            cgroup_write_entry(directory, "cgroup.subtree_control", enable) == 0)
            offers |= controllers[i].offers;
    }
    if (nested && !offers && cgroup_write_entry(directory, "cgroup.procs", "0") == 0)
        (void)rmdir(aside);
    return offers;
}

static void add_unified(struct cgroup_tree *tree)
{
    AUTO_FREE char *directory = cgroup_own_directory("cgroup2", "");
    unsigned offers;

    if (!directory || !can_make_leaf(tree, directory))
        return;
    offers = delegate_controllers(directory);
    if (cgroup_has_entry(directory, "cgroup.kill") || !cgroup_has_entry(directory, "cgroup.type"))
        offers |= OFFERS_KILL; /* the root has no such file itself, its children do */
    tree->hierarchies[tree->count++] =
        (struct hierarchy){.directory = STEAL_PTR(directory), .unified = true, .offers = offers};
}

static unsigned offers_of(const struct cgroup_tree *tree)
{
    unsigned offers = 0;

    for (size_t i = 0; i < tree->count; i++)
        offers |= tree->hierarchies[i].offers;
    return offers;
}

/* Start time of PID in clock ticks since boot (proc(5), field 22), or 0. */
static unsigned long long start_time(const char *pid)
{
    AUTO_FREE char *directory = memory_format("/proc/%s", pid);
    AUTO_FREE char *text = cgroup_read_entry(directory, "stat");
    char *after_name = text ? strrchr(text, ')') : NULL;
    unsigned long long ticks = 0;

    if (after_name)
        (void)!sscanf(after_name,
                      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                      "%*d %llu",
                      &ticks);
    return ticks;
}

static unsigned long long pid_namespace(void)
{
    struct stat status;

    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

static bool is_leaf_of_the_dead(const char *name)
{
    unsigned long long namespace_inode;
    unsigned long long start;
    unsigned long pid;
    char number[32];

    if (sscanf(name, "pyexecd-%llu-%lu-%llu-", &namespace_inode, &pid, &start) != 3 ||
        namespace_inode != pid_namespace())
        return false;
    snprintf(number, sizeof number, "%lu", pid);
    return start_time(number) != start;
}

static void cgroup_sweep(const struct hierarchy *hierarchy)
{
    DIR *directory = opendir(hierarchy->directory);
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        AUTO_FREE char *path = NULL;

        if (!is_leaf_of_the_dead(entry->d_name))
            continue;
        path = memory_format("%s/%s", hierarchy->directory, entry->d_name);
        /* The end of the lifeline has killed its processes already; a leaf that is still busy is
         * left to the next sweep. */
        (void)cgroup_write_entry(path, "cgroup.kill", "1");
        (void)rmdir(path);
    }
    if (directory)
        closedir(directory);
}

void cgroup_tree_remove_busy(struct cgroup_tree *tree)
{
    LIST_FOR_EACH_SAFE (&tree->busy, link) {
        struct busy *busy = CONTAINER_OF(link, struct busy, link);

        if (rmdir(busy->directory) < 0 && errno == EBUSY)
            continue;
        list_remove(link);
        free(busy->directory);
        free(busy);
    }
}

void cgroup_tree_remove(struct cgroup_tree *tree, char *directory)
{
    struct busy *busy;

    if (rmdir(directory) == 0 || errno != EBUSY) {
        free(directory);
        return;
    }
    busy = NEW(struct busy);
    busy->directory = directory;
    list_append(&tree->busy, &busy->link);
}

struct cgroup_tree *cgroup_tree_new(void)
{
    struct cgroup_tree *tree = NEW(struct cgroup_tree);

    list_init(&tree->busy);
    list_init(&tree->idle);
    tree->prefix = memory_format("pyexecd-%llu-%ld-%llu-", pid_namespace(), (long)getpid(),
                                 start_time("self"));
    add_unified(tree);
    if (!(offers_of(tree) & OFFERS_MEMORY))
        add_hierarchy(tree, "memory", OFFERS_MEMORY);
    if (!(offers_of(tree) & OFFERS_PROCESSES))
        add_hierarchy(tree, "pids", OFFERS_PROCESSES);
    for (size_t i = 0; i < tree->count; i++)
        cgroup_sweep(&tree->hierarchies[i]);
    return tree;
}

bool cgroup_tree_finish(struct cgroup_tree *tree)
{
    cgroup_tree_remove_busy(tree);
    return list_is_empty(&tree->busy);
}

void cgroup_tree_free(struct cgroup_tree *tree)
{
    if (!tree)
        return;
    LIST_FOR_EACH_SAFE (&tree->busy, link) {
        struct busy *busy = CONTAINER_OF(link, struct busy, link);

        (void)rmdir(busy->directory);
        free(busy->directory);
        free(busy);
    }
    for (size_t i = 0; i < tree->count; i++)
        free(tree->hierarchies[i].directory);
    free(tree->prefix);
    free(tree);
}

bool cgroup_tree_is_empty(const struct cgroup_tree *tree)
{
    return tree->count == 0;
}

bool cgroup_tree_can_kill(const struct cgroup_tree *tree)
{
    return offers_of(tree) & OFFERS_KILL;
}

bool cgroup_tree_limits_memory(const struct cgroup_tree *tree)
{
    return offers_of(tree) & OFFERS_MEMORY;
}

bool cgroup_tree_limits_processes(const struct cgroup_tree *tree)
{
    return offers_of(tree) & OFFERS_PROCESSES;
}

enum process_limiter cgroup_tree_limiter(const struct cgroup_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->hierarchies[i].offers & (OFFERS_MEMORY | OFFERS_PROCESSES))
            return tree->hierarchies[i].unified ? LIMITER_CGROUP_V2 : LIMITER_CGROUP_V1;
    return LIMITER_RLIMITS;
}
