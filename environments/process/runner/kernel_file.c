#include "environments/process/runner/runner.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int kernel_file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t written;

    if (fd < 0)
        return -1;
    written = write(fd, text, strlen(text));
    close(fd);
    return written < 0 ? -1 : 0;
}
