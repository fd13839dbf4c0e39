#include "environments/process/cgroup_leaf.h"

#include "base/cleanup.h"
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

enum { CGROUP_COUNTERS_BYTES = 1024 }; /* more than a file with several counters has */

struct cgroup_leaf {
    struct cgroup_tree *tree; /* borrowed */
    char **directories;       /* owned: one per hierarchy, in its order; NULL-terminated */
    int peak;                 /* owned: most memory so far, or since it was counted anew; or -1 */
    int out_of_memory;        /* owned: the counter of processes killed by the limit; or -1 */
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

struct cgroup_leaf *cgroup_leaf_new(struct cgroup_tree *tree, struct error *err)
{
    struct cgroup_leaf *leaf = NEW(struct cgroup_leaf);

    assert(!cgroup_tree_is_empty(tree));
    leaf->tree = tree;
    leaf->peak = -1;
    leaf->out_of_memory = -1;
    leaf->directories = memory_new(tree->count + 1, sizeof *leaf->directories);
    for (size_t i = 0; i < tree->count; i++) {
        leaf->directories[i] = cgroup_make_directory(tree, &tree->hierarchies[i], err);
        if (!leaf->directories[i]) {
            cgroup_leaf_free(leaf);
            return NULL;
        }
    }
    cgroup_open_counters(leaf);
    return leaf;
}

void cgroup_leaf_free(struct cgroup_leaf *leaf)
{
    if (!leaf)
        return;
    if (leaf->peak >= 0)
        close(leaf->peak);
    if (leaf->out_of_memory >= 0)
        close(leaf->out_of_memory);
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

int cgroup_leaf_open(const struct cgroup_leaf *leaf, int *ret, size_t count, struct error *err)
{
    size_t opened = 0;

    for (; opened < count && leaf->directories[opened]; opened++) {
        ret[opened] = cgroup_open_entry(leaf->directories[opened], "cgroup.procs");
        if (ret[opened] < 0)
            break;
    }
    if (!leaf->directories[opened])
        return (int)opened;
    error_set_errno(err, errno, "cannot open cgroup.procs of %s", leaf->directories[opened]);
    while (opened > 0)
        close(ret[--opened]);
    return -1;
}

uint64_t cgroup_leaf_id(const struct cgroup_leaf *leaf)
{
    for (size_t i = 0; i < leaf->tree->count; i++) {
        struct stat status;

        if (leaf->tree->hierarchies[i].unified && stat(leaf->directories[i], &status) == 0)
            return status.st_ino;
    }
    return 0;
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
            if (cgroup_write_entry(leaf->directories[i], file->name,
                                   file->fixed ? file->fixed : value) < 0 &&
                !file->optional)
                return error_set_errno(err, errno, "cannot set %s to %s", file->name, value);
        }
    }
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
void cgroup_leaf_renew_peak(struct cgroup_leaf *leaf)
{
    if (leaf->peak >= 0)
        (void)!write(leaf->peak, "0", 1);
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
