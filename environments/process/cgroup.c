#include "environments/process/cgroup.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HIERARCHIES_MOST = 3,
    FILE_BYTES = 64 * 1024,
};

/* What a hierarchy is good for. */
enum {
    OFFERS_KILL = 1 << 0,
    OFFERS_MEMORY = 1 << 1,
    OFFERS_PROCESSES = 1 << 2,
};

struct hierarchy {
    char *directory; /* owned: our own cgroup in it; leaves are made below */
    bool unified;    /* v2 */
    unsigned offers;
};

struct cgroup_tree {
    struct hierarchy hierarchies[HIERARCHIES_MOST];
    size_t count;
    char *prefix; /* owned: of the names of our leaves */
    unsigned next;
    struct list busy; /* of struct busy: directories that could not be removed yet */
};

/* A leaf is busy for a moment after its last process has been reaped. */
struct busy {
    struct list link;
    char *directory; /* owned */
};

struct cgroup_leaf {
    struct cgroup_tree *tree; /* borrowed */
    char **directories;       /* owned: one per hierarchy, in its order; NULL-terminated */
};

/* The content of DIRECTORY/NAME, or NULL; owned by the caller. */
static char *cgroup_read_entry(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);
    struct error ignored = ERROR_INIT;
    size_t length;

    return fd_read_file(path, FILE_BYTES, &length, &ignored);
}

static int write_entry(const char *directory, const char *name, const char *text)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

static bool has_entry(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);

    return access(path, F_OK) == 0;
}

static bool cgroup_has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; at && (at = strstr(at, word)); at += length)
        if ((at == text || strchr(" ,\n", at[-1])) && strchr(" ,\n", at[length]))
            return true;
    return false;
}

/* Our cgroup in the hierarchy with CONTROLLER ("" for v2) from /proc/self/cgroup, whose lines are
 * ID:CONTROLLERS:PATH (cgroups(7)). Owned by the caller, or NULL. */
static char *own_path(const char *controller)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = fd_read_file("/proc/self/cgroup", FILE_BYTES, &length, &ignored);
    char *rest = text;

    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!path)
            continue;
        *controllers++ = '\0';
        *path++ = '\0';
        if (*controller ? cgroup_has_word(controllers, controller) : strcmp(line, "0") == 0)
            return memory_copy_string(path);
    }
    return NULL;
}

/* Where the hierarchy is mounted: a line of /proc/self/mountinfo (proc(5)) is
 * ID PARENT DEVICE ROOT MOUNTPOINT OPTIONS ... - TYPE SOURCE SUPEROPTIONS.
 * The directory of our own cgroup below it; owned by the caller, or NULL. */
static char *own_directory(const char *type, const char *controller)
{
    struct error ignored = ERROR_INIT;
    size_t length;
    AUTO_FREE char *text = fd_read_file("/proc/self/mountinfo", 1024 * 1024, &length, &ignored);
    AUTO_FREE char *path = own_path(controller);
    char *rest = text;

    for (char *line; path && rest && (line = strsep(&rest, "\n"));) {
        char mounted_root[512];
        char point[512];
        char actual[32];
        char options[512];
        char *tail = strstr(line, " - ");
        const char *below = path;

        if (!tail || sscanf(line, "%*s %*s %*s %511s %511s", mounted_root, point) != 2 ||
            sscanf(tail, " - %31s %*s %511s", actual, options) != 2 || strcmp(actual, type) != 0)
            continue;
        if (*controller && !cgroup_has_word(options, controller))
            continue;
        if (strcmp(mounted_root, "/") != 0 &&
            strncmp(path, mounted_root, strlen(mounted_root)) == 0)
            below += strlen(mounted_root);
        return memory_format("%s%s", point, strcmp(below, "/") == 0 ? "" : below);
    }
    return NULL;
}

/* Only an own leaf counts: what cannot be made cannot be used. */
static bool can_make_leaf(const struct cgroup_tree *tree, const char *directory)
{
    AUTO_FREE char *path = memory_format("%s/%sprobe", directory, tree->prefix);

    return mkdir(path, 0700) == 0 && rmdir(path) == 0;
}

static void add_hierarchy(struct cgroup_tree *tree, const char *controller, unsigned offers)
{
    AUTO_FREE char *directory = own_directory("cgroup", controller);

    if (!directory || !can_make_leaf(tree, directory))
        return;
    tree->hierarchies[tree->count++] =
        (struct hierarchy){.directory = STEAL_PTR(directory), .offers = offers};
}

/* A v2 cgroup hands controllers down only when no process is in it: the server steps aside into a
 * child of its own, and back where that does not help (another process is there too). */
static unsigned delegate_controllers(const char *directory)
{
    static const struct {
        const char *name;
        unsigned offers;
    } controllers[] = {{"memory", OFFERS_MEMORY}, {"pids", OFFERS_PROCESSES}};
    AUTO_FREE char *available = cgroup_read_entry(directory, "cgroup.controllers");
    AUTO_FREE char *aside = memory_format("%s/pyexecd-server", directory);
    bool nested = has_entry(directory, "cgroup.type"); /* the root cgroup has none */
    unsigned offers = 0;

    if (!available ||
        (!cgroup_has_word(available, "memory") && !cgroup_has_word(available, "pids")))
        return 0;
    if (nested) {
        (void)mkdir(aside, 0755); /* may be there from before */
        if (write_entry(aside, "cgroup.procs", "0") < 0)
            return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
        char enable[16];

        snprintf(enable, sizeof enable, "+%s", controllers[i].name);
        if (cgroup_has_word(available, controllers[i].name) &&
            write_entry(directory, "cgroup.subtree_control", enable) == 0)
            offers |= controllers[i].offers;
    }
    if (nested && !offers && write_entry(directory, "cgroup.procs", "0") == 0)
        (void)rmdir(aside);
    return offers;
}

static void add_unified(struct cgroup_tree *tree)
{
    AUTO_FREE char *directory = own_directory("cgroup2", "");
    unsigned offers;

    if (!directory || !can_make_leaf(tree, directory))
        return;
    offers = delegate_controllers(directory);
    if (has_entry(directory, "cgroup.kill") || !has_entry(directory, "cgroup.type"))
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
        (void)write_entry(path, "cgroup.kill", "1"); /* their lifeline has ended them already */
        (void)rmdir(path);                           /* busy: left to the next sweep */
    }
    if (directory)
        closedir(directory);
}

static void remove_busy(struct cgroup_tree *tree)
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

struct cgroup_tree *cgroup_tree_new(void)
{
    struct cgroup_tree *tree = NEW(struct cgroup_tree);

    list_init(&tree->busy);
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
    remove_busy(tree);
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

struct cgroup_leaf *cgroup_leaf_new(struct cgroup_tree *tree, struct error *err)
{
    struct cgroup_leaf *leaf = NEW(struct cgroup_leaf);
    unsigned number = tree->next++;

    leaf->tree = tree;
    leaf->directories = memory_new(tree->count + 1, sizeof *leaf->directories);
    for (size_t i = 0; i < tree->count; i++) {
        char *path = memory_format("%s/%s%u", tree->hierarchies[i].directory, tree->prefix, number);

        leaf->directories[i] = path;
        if (mkdir(path, 0700) < 0) {
            error_set_errno(err, errno, "cannot make the cgroup %s", path);
            cgroup_leaf_free(leaf);
            return NULL;
        }
    }
    return leaf;
}

static void remove_or_remember(struct cgroup_tree *tree, char *directory /* taken */)
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

void cgroup_leaf_free(struct cgroup_leaf *leaf)
{
    if (!leaf)
        return;
    remove_busy(leaf->tree);
    for (char **directory = leaf->directories; *directory; directory++)
        remove_or_remember(leaf->tree, *directory);
    free(leaf->directories);
    free(leaf);
}

char *const *cgroup_leaf_directories(const struct cgroup_leaf *leaf)
{
    return leaf->directories;
}

struct limit_file {
    unsigned offers;
    bool unified;
    bool optional; /* depends on how the kernel was built */
    const char *name;
    const char *fixed; /* value, or NULL: the limit itself */
};

static const struct limit_file limit_files[] = {
    {OFFERS_MEMORY, true, false, "memory.max", NULL},
    {OFFERS_MEMORY, true, true, "memory.swap.max", "0"},
    {OFFERS_MEMORY, true, true, "memory.oom.group", "1"},
    {OFFERS_MEMORY, false, false, "memory.limit_in_bytes", NULL},
    {OFFERS_MEMORY, false, true, "memory.memsw.limit_in_bytes", NULL},
    {OFFERS_PROCESSES, true, false, "pids.max", NULL},
    {OFFERS_PROCESSES, false, false, "pids.max", NULL},
};

int cgroup_leaf_limit(struct cgroup_leaf *leaf, uint64_t memory, unsigned tasks, struct error *err)
{
    for (size_t i = 0; i < leaf->tree->count; i++) {
        const struct hierarchy *hierarchy = &leaf->tree->hierarchies[i];

        for (size_t j = 0; j < ARRAY_SIZE(limit_files); j++) {
            const struct limit_file *file = &limit_files[j];
            char value[32];

            if (!(hierarchy->offers & file->offers) || hierarchy->unified != file->unified)
                continue;
            snprintf(value, sizeof value, "%llu",
                     file->offers == OFFERS_MEMORY ? (unsigned long long)memory : tasks);
            if (write_entry(leaf->directories[i], file->name, file->fixed ? file->fixed : value) <
                    0 &&
                !file->optional)
                return error_set_errno(err, errno, "cannot set %s to %s", file->name, value);
        }
    }
    return 0;
}

/* The directory of LEAF in the hierarchy that offers WHAT, or NULL. */
static const char *directory_with(const struct cgroup_leaf *leaf, unsigned what)
{
    for (size_t i = 0; i < leaf->tree->count; i++)
        if (leaf->tree->hierarchies[i].offers & what)
            return leaf->directories[i];
    return NULL;
}

void cgroup_leaf_kill(struct cgroup_leaf *leaf)
{
    const char *directory = directory_with(leaf, OFFERS_KILL);

    if (directory)
        (void)write_entry(directory, "cgroup.kill", "1");
}

/* The number behind KEY in one of two files, of which a hierarchy has one. */
static uint64_t cgroup_counter(const struct cgroup_leaf *leaf, unsigned offers,
                               const char *const names[2], const char *key)
{
    const char *directory = directory_with(leaf, offers);
    uint64_t value = 0;

    for (int i = 0; directory && i < 2; i++) {
        AUTO_FREE char *text = cgroup_read_entry(directory, names[i]);
        const char *at = text ? strstr(text, key) : NULL;

        if (at && sscanf(at + strlen(key), "%lu", &value) == 1)
            break;
    }
    return value;
}

bool cgroup_leaf_is_empty(const struct cgroup_leaf *leaf)
{
    static const char *const files[2] = {"cgroup.events", "cgroup.events"};

    return cgroup_counter(leaf, OFFERS_KILL, files, "populated ") == 0;
}

bool cgroup_leaf_was_out_of_memory(const struct cgroup_leaf *leaf)
{
    static const char *const files[2] = {"memory.events", "memory.oom_control"};

    return cgroup_counter(leaf, OFFERS_MEMORY, files, "oom_kill ") > 0;
}

uint64_t cgroup_leaf_peak(const struct cgroup_leaf *leaf)
{
    static const char *const files[2] = {"memory.peak", "memory.max_usage_in_bytes"};

    return cgroup_counter(leaf, OFFERS_MEMORY, files, "");
}
