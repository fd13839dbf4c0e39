#include "environments/process/cgroup_leaf.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "environments/process/cgroup_place.h"
#include "environments/process/cgroup_private.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CGROUP_COUNTERS_BYTES = 1024, /* more than a file with several counters has */
    CGROUP_IDLERS = 8,
    CGROUP_RESTED_BYTES =
        512 * 1024, /* the kernel frees some memory later; files stay for longer */
};

struct cgroup_leaf {
    struct cgroup_tree *tree;    /* borrowed */
    char **directories;          /* owned: one per hierarchy, in its order; NULL-terminated */
    int procs[HIERARCHIES_MOST]; /* owned: cgroup.procs in each directory; else -1 */
    int peak;           /* owned: most memory so far, or since it was counted anew; or -1 */
    int out_of_memory;  /* owned: the counter of processes killed by the limit; or -1 */
    uint64_t id;        /* see cgroup_leaf_id */
    uint64_t memory;    /* the limit; 0: none is set yet */
    unsigned tasks;     /* the same */
    struct list link;   /* among the idle ones */
    double rests_since; /* clock_seconds() */
};

/* Makes a directory of the leaf. A name that is taken, by another tree of this process, is left
 * alone. Owned by the caller; NULL with ERR. */
static char *cgroup_make_directory(struct cgroup_tree *tree, const struct hierarchy *hierarchy,
                                   struct error *err)
{
    for (;;) {
        AUTO_FREE char *path =
            memory_format("%s/%s%u", hierarchy->directory, tree->prefix, tree->next++);

        if (mkdir(path, 0700) == 0)
            return STEAL_PTR(path);
        if (errno == EEXIST)
            continue;
        error_set_errno(err, errno, "cannot make the cgroup %s", path);
        return NULL;
    }
}

/* The directory of LEAF in the hierarchy that offers WHAT, and whether that is of v2. NULL: there
 * is none. */
static const char *directory_with(const struct cgroup_leaf *leaf, unsigned what, bool *ret_unified)
{
    for (size_t i = 0; i < leaf->tree->count; i++) {
        *ret_unified = leaf->tree->hierarchies[i].unified;
        if (leaf->tree->hierarchies[i].offers & what)
            return leaf->directories[i];
    }
    return NULL;
}

/* Opens the counters early: opening takes longer than reading, and they are read while somebody
 * waits. */
static void cgroup_open_counters(struct cgroup_leaf *leaf)
{
    bool is_unified;
    const char *directory = directory_with(leaf, OFFERS_MEMORY, &is_unified);

    if (!directory)
        return;
    leaf->peak =
        cgroup_open_counter(directory, is_unified ? "memory.peak" : "memory.max_usage_in_bytes");
    leaf->out_of_memory =
        cgroup_open_counter(directory, is_unified ? "memory.events" : "memory.oom_control");
}

static int cgroup_make_directories(struct cgroup_leaf *leaf, struct error *err)
{
    struct cgroup_tree *tree = leaf->tree;

    for (size_t i = 0; i < tree->count; i++) {
        leaf->directories[i] = cgroup_make_directory(tree, &tree->hierarchies[i], err);
        if (!leaf->directories[i])
            return -1;
        leaf->procs[i] = cgroup_open_counter(leaf->directories[i], "cgroup.procs");
        if (leaf->procs[i] < 0)
            return error_set_errno(err, errno, "cannot open cgroup.procs of %s",
                                   leaf->directories[i]);
    }
    return 0;
}

static uint64_t cgroup_find_id(const struct cgroup_leaf *leaf)
{
    for (size_t i = 0; i < leaf->tree->count; i++) {
        struct stat status;

        if (leaf->tree->hierarchies[i].unified && stat(leaf->directories[i], &status) == 0)
            return status.st_ino;
    }
    return 0;
}

static struct cgroup_leaf *cgroup_leaf_make(struct cgroup_tree *tree, struct error *err)
{
    struct cgroup_leaf *leaf = NEW(struct cgroup_leaf);

    assert(!cgroup_tree_is_empty(tree));
    list_init(&leaf->link);
    leaf->tree = tree;
    for (size_t i = 0; i < HIERARCHIES_MOST; i++)
        leaf->procs[i] = -1;
    leaf->peak = -1;
    leaf->out_of_memory = -1;
    leaf->directories = memory_new(tree->count + 1, sizeof *leaf->directories);
    if (cgroup_make_directories(leaf, err) < 0) {
        cgroup_leaf_free(leaf);
        return NULL;
    }
    cgroup_open_counters(leaf);
    leaf->id = cgroup_find_id(leaf);
    return leaf;
}

static struct cgroup_leaf *cgroup_leaf_wake(struct list *link)
{
    struct cgroup_leaf *leaf = CONTAINER_OF(link, struct cgroup_leaf, link);

    list_remove(link);
    leaf->tree->idlers--;
    return leaf;
}

/* Whether nothing can be told of the trees that LEAF had. */
static bool cgroup_leaf_is_as_new(struct cgroup_leaf *leaf)
{
    char pid;

    if (pread(leaf->procs[0], &pid, 1, 0) != 0)
        return false;
    if (leaf->peak < 0)
        return true;
    return cgroup_leaf_renew_peak(leaf) && !cgroup_leaf_was_out_of_memory(leaf) &&
           cgroup_leaf_peak(leaf) <= CGROUP_RESTED_BYTES;
}

struct cgroup_leaf *cgroup_leaf_new(struct cgroup_tree *tree, struct error *err)
{
    while (!list_is_empty(&tree->idle)) {
        struct cgroup_leaf *leaf = cgroup_leaf_wake(tree->idle.previous);

        if (cgroup_leaf_is_as_new(leaf))
            return leaf;
        cgroup_leaf_free(leaf);
    }
    return cgroup_leaf_make(tree, err);
}

void cgroup_leaf_rest(struct cgroup_leaf *leaf)
{
    struct cgroup_tree *tree = leaf->tree;

    if (tree->idlers >= CGROUP_IDLERS) {
        cgroup_leaf_free(leaf);
        return;
    }
    leaf->rests_since = clock_seconds();
    list_append(&tree->idle, &leaf->link);
    tree->idlers++;
}

void cgroup_leaf_retire(struct cgroup_tree *tree, double seconds)
{
    double until = clock_seconds() - seconds;

    LIST_FOR_EACH_SAFE (&tree->idle, link)
        if (CONTAINER_OF(link, struct cgroup_leaf, link)->rests_since <= until)
            cgroup_leaf_free(cgroup_leaf_wake(link));
}

static void cgroup_leaf_close(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

void cgroup_leaf_free(struct cgroup_leaf *leaf)
{
    if (!leaf)
        return;
    for (size_t i = 0; i < HIERARCHIES_MOST; i++)
        cgroup_leaf_close(leaf->procs[i]);
    cgroup_leaf_close(leaf->peak);
    cgroup_leaf_close(leaf->out_of_memory);
    cgroup_tree_remove_busy(leaf->tree);
    for (char **directory = leaf->directories; *directory; directory++)
        cgroup_tree_remove(leaf->tree, *directory);
    free(leaf->directories);
    free(leaf);
}

struct cgroup_tree *cgroup_leaf_tree(const struct cgroup_leaf *leaf)
{
    return leaf->tree;
}

char *const *cgroup_leaf_directories(const struct cgroup_leaf *leaf)
{
    return leaf->directories;
}

size_t cgroup_leaf_procs(const struct cgroup_leaf *leaf, int *ret, size_t count)
{
    size_t hierarchies = leaf->tree->count < count ? leaf->tree->count : count;

    for (size_t i = 0; i < hierarchies; i++)
        ret[i] = leaf->procs[i];
    return hierarchies;
}

uint64_t cgroup_leaf_id(const struct cgroup_leaf *leaf)
{
    return leaf->id;
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
    {OFFERS_MEMORY, false, false, "memory.limit_in_bytes", NULL},
    {OFFERS_MEMORY, false, true, "memory.memsw.limit_in_bytes", NULL},
    {OFFERS_PROCESSES, true, false, "pids.max", NULL},
    {OFFERS_PROCESSES, false, false, "pids.max", NULL},
};

/* Writes VALUE into FILE in each hierarchy that has it. */
static int cgroup_leaf_set(const struct cgroup_leaf *leaf, const struct limit_file *file,
                           unsigned long long value, struct error *err)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", value);
    for (size_t i = 0; i < leaf->tree->count; i++) {
        const struct hierarchy *hierarchy = &leaf->tree->hierarchies[i];

        if (!(hierarchy->offers & file->offers) || hierarchy->unified != file->unified)
            continue;
        if (cgroup_write_entry(leaf->directories[i], file->name, file->fixed ? file->fixed : text) <
                0 &&
            !file->optional)
            return error_set_errno(err, errno, "cannot set %s to %s", file->name, text);
    }
    return 0;
}

/* In v1 a limit of memory is at most that of memory and swap, which is behind it in the table, so a
 * higher one is set from the end. */
int cgroup_leaf_limit(struct cgroup_leaf *leaf, uint64_t memory, unsigned tasks, struct error *err)
{
    const size_t count = ARRAY_SIZE(limit_files);
    const bool is_higher = memory > leaf->memory && leaf->memory > 0;

    for (size_t i = 0; i < count; i++) {
        const struct limit_file *file = &limit_files[is_higher ? count - 1 - i : i];
        const bool is_memory = file->offers == OFFERS_MEMORY;

        if (is_memory ? memory == leaf->memory : tasks == leaf->tasks)
            continue;
        if (cgroup_leaf_set(leaf, file, is_memory ? memory : tasks, err) < 0)
            return -1;
    }
    leaf->memory = memory;
    leaf->tasks = tasks;
    return 0;
}

void cgroup_leaf_kill(struct cgroup_leaf *leaf)
{
    bool is_unified; /* it always is */
    const char *directory = directory_with(leaf, OFFERS_KILL, &is_unified);

    if (directory)
        (void)cgroup_write_entry(directory, "cgroup.kill", "1");
}

bool cgroup_leaf_is_empty(const struct cgroup_leaf *leaf)
{
    bool is_unified; /* it always is */
    const char *directory = directory_with(leaf, OFFERS_KILL, &is_unified);
    AUTO_FREE char *text = directory ? cgroup_read_entry(directory, "cgroup.events") : NULL;

    return !text || !strstr(text, "populated 1");
}

/* The number behind KEY in the present text of COUNTER. */
static uint64_t cgroup_count(int counter, const char *key)
{
    char text[CGROUP_COUNTERS_BYTES] = "";
    ssize_t length = counter < 0 ? -1 : pread(counter, text, sizeof text - 1, 0);
    const char *at = length > 0 ? strstr(text, key) : NULL;

    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

bool cgroup_leaf_was_out_of_memory(const struct cgroup_leaf *leaf)
{
    return cgroup_count(leaf->out_of_memory, "oom_kill ") > 0;
}

uint64_t cgroup_leaf_peak(const struct cgroup_leaf *leaf)
{
    return cgroup_count(leaf->peak, "");
}

/* In v2 the new count holds for this descriptor only. */
bool cgroup_leaf_renew_peak(struct cgroup_leaf *leaf)
{
    return leaf->peak >= 0 && pwrite(leaf->peak, "0", 1, 0) == 1;
}

/* Every cgroup of v2 has cpu.stat, whatever it limits. */
double cgroup_leaf_cpu(const struct cgroup_leaf *leaf)
{
    for (size_t i = 0; i < leaf->tree->count; i++) {
        AUTO_FREE char *text = leaf->tree->hierarchies[i].unified
                                   ? cgroup_read_entry(leaf->directories[i], "cpu.stat")
                                   : NULL;
        unsigned long microseconds;

        if (text && sscanf(text, "usage_usec %lu", &microseconds) == 1)
            return (double)microseconds / 1e6;
    }
    return 0;
}
