#include "environments/process/code_file.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x8U
#endif

int code_file_new(const char *code, size_t length, struct error *err)
{
    AUTO_CLOSE int fd = memfd_create("script.py", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL) /* an older kernel */
        fd = memfd_create("script.py", MFD_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot keep the script in memory");
    return fd_write_all(fd, code, length, err) < 0 ? -1 : STEAL_FD(fd);
}
