#include "environments/process/cgroup_place.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cgroup_read_entry(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);
    struct error ignored = ERROR_INIT;
    size_t length;

    return fd_read_file(path, CGROUP_ENTRY_BYTES, &length, &ignored);
}

int cgroup_open_entry(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);

    return open(path, O_WRONLY | O_CLOEXEC);
}

int cgroup_open_counter(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);

    return fd < 0 ? open(path, O_RDONLY | O_CLOEXEC) : fd;
}

int cgroup_write_entry(const char *directory, const char *name, const char *text)
{
    AUTO_CLOSE int fd = cgroup_open_entry(directory, name);
    ssize_t written = -1;

    if (fd >= 0) /* the kernel gives up a limit of memory when a signal comes */
        written = TEMP_FAILURE_RETRY(write(fd, text, strlen(text)));
    return written < 0 ? -1 : 0;
}

bool cgroup_has_entry(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);

    return access(path, F_OK) == 0;
}

bool cgroup_has_word(const char *text, const char *word)
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
    AUTO_FREE char *text = fd_read_file("/proc/self/cgroup", CGROUP_ENTRY_BYTES, &length, &ignored);
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
char *cgroup_own_directory(const char *type, const char *controller)
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
