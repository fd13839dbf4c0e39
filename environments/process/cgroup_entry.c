#include "environments/process/cgroup_entry.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
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
