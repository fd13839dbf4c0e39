#include "base/holdings.h"

#include "base/address_spaces.h"
#include "base/link_set.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    HELD_BLOCK_BYTES = 512, /* of st_blocks */
    HOLDINGS_PATH_BYTES = 600,
};

/* One look. */
struct holdings_look {
    struct link_set seen;
    struct address_spaces spaces;
    dev_t memory_device; /* of files without a file system: memfd_create(2), shared maps */
    uint64_t deleted;
    uint64_t memory_files;
    uint64_t anonymous; /* memory of processes */
    uint64_t shared;    /* maps of memory files */
    bool is_hindered;
};

static dev_t find_memory_device(void)
{
    int fd = memfd_create("", MFD_CLOEXEC);
    struct stat status = {0};

    if (fd < 0)
        return 0;
    (void)fstat(fd, &status);
    close(fd);
    return status.st_dev;
}

static void count_held_file(struct holdings_look *look, const struct stat *status)
{
    uint64_t bytes = (uint64_t)status->st_blocks * HELD_BLOCK_BYTES;

    if (!S_ISREG(status->st_mode) || status->st_nlink > 0 || !link_set_add(&look->seen, status))
        return;
    if (status->st_dev == look->memory_device)
        look->memory_files += bytes;
    else
        look->deleted += bytes;
}

/* A thread that is ending has given up its memory, and on some kernels its descriptors are closed
 * to us from then on. */
static bool is_ending(const char *pid, const char *thread)
{
    char path[HOLDINGS_PATH_BYTES];
    char program;

    snprintf(path, sizeof path, "/proc/%s/task/%s/exe", pid, thread);
    return readlink(path, &program, sizeof program) < 0 && (errno == ENOENT || errno == ESRCH);
}

/* A thread can have descriptors of its own: unshare(2) with CLONE_FILES. So the others need a look,
 * too. */
static bool look_at_files_of_thread(struct holdings_look *look, const char *pid, const char *thread)
{
    char path[HOLDINGS_PATH_BYTES];
    const struct dirent *entry;
    DIR *files;

    snprintf(path, sizeof path, "/proc/%s/task/%s/fd", pid, thread);
    files = opendir(path);
    if (!files && !is_ending(pid, thread))
        look->is_hindered = true;
    while (files && (entry = readdir(files))) {
        struct stat status;

        if (isdigit((unsigned char)entry->d_name[0]) &&
            fstatat(dirfd(files), entry->d_name, &status, 0) == 0)
            count_held_file(look, &status);
    }
    if (files)
        closedir(files);
    return false;
}

/* The kernel divides what several address spaces share among them. */
static void count_memory(struct holdings_look *look, const char *pid, const char *thread)
{
    char line[HOLDINGS_PATH_BYTES];
    FILE *file;

    snprintf(line, sizeof line, "/proc/%s/task/%s/smaps_rollup", pid, thread);
    file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long kilobytes;

        if (sscanf(line, "Pss_Anon: %lu", &kilobytes) == 1)
            look->anonymous += (uint64_t)kilobytes * 1024;
        else if (sscanf(line, "Pss_Shmem: %lu", &kilobytes) == 1)
            look->shared += (uint64_t)kilobytes * 1024;
    }
    if (file)
        fclose(file);
}

/* The threads of a process have one memory, but the first can end before the others. Two that have
 * given up theirs are equal for the kernel, so we ask for the end last. */
static bool look_at_memory_of_thread(struct holdings_look *look, const char *pid,
                                     const char *thread)
{
    const bool is_new = address_spaces_add(&look->spaces, (pid_t)strtol(thread, NULL, 10));

    if (is_ending(pid, thread))
        return false;
    if (is_new)
        count_memory(look, pid, thread);
    return true;
}

/* Looks at a thread. True if no other thread of its process needs a look. */
typedef bool holdings_at(struct holdings_look *look, const char *pid, const char *thread);

static void look_at_threads(struct holdings_look *look, const char *pid, holdings_at *at)
{
    char path[HOLDINGS_PATH_BYTES];
    const struct dirent *entry;
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%s/task", pid);
    threads = opendir(path);
    if (!threads && errno != ENOENT && errno != ESRCH)
        look->is_hindered = true;
    while (threads && (entry = readdir(threads)))
        if (isdigit((unsigned char)entry->d_name[0]) && at(look, pid, entry->d_name))
            break;
    if (threads)
        closedir(threads);
}

static void look_at_all(struct holdings_look *look, holdings_at *at)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;

    if (!processes)
        look->is_hindered = true;
    while (processes && (entry = readdir(processes)))
        if (isdigit((unsigned char)entry->d_name[0]) && strcmp(entry->d_name, "1") != 0)
            look_at_threads(look, entry->d_name, at);
    if (processes)
        closedir(processes);
}

bool holdings_can_look(void)
{
    char self[8] = "";

    return getpid() == 1 && readlink("/proc/self", self, sizeof self - 1) == 1 && *self == '1';
}

static void holdings_finish(struct holdings_look *look, struct holdings *ret)
{
    /* A file in memory is mapped as a rule, and counts once then. */
    uint64_t shared = look->shared > look->memory_files ? look->shared : look->memory_files;

    link_set_deinit(&look->seen);
    *ret = (struct holdings){.deleted = look->deleted,
                             .memory = look->anonymous + shared,
                             .is_hindered = look->is_hindered};
}

void holdings_look_at_files(struct holdings *ret)
{
    struct holdings_look look = {.memory_device = find_memory_device()};

    look_at_all(&look, look_at_files_of_thread);
    holdings_finish(&look, ret);
}

void holdings_look_at_all(struct holdings *ret)
{
    struct holdings_look look = {.memory_device = find_memory_device()};

    look_at_all(&look, look_at_files_of_thread);
    look_at_all(&look, look_at_memory_of_thread);
    holdings_finish(&look, ret);
}
