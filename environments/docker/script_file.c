#include "environments/docker/script_file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/untrusted.h"
#include "environments/workplace/access_list.h"

#include <fcntl.h>
#include <unistd.h>

int docker_script_file_new(const char *path, const char *code, size_t length, const uid_t *reader,
                           struct error *err)
{
    AUTO_CLOSE int fd =
        untrusted_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, err);

    if (fd < 0) {
        error_prefix(err, "cannot write the script");
        return -1;
    }
    if (fd_write_all(fd, code, length, err) < 0)
        error_prefix(err, "cannot write the script");
    else if (!reader || access_list_open_file(path, *reader, err) == 0)
        return STEAL_FD(fd);
    (void)unlink(path);
    return -1;
}
