#include "environments/workplace/disk_space.h"

#include <sys/statvfs.h>

uint64_t disk_space_used(int fd)
{
    struct statvfs status;

    if (fstatvfs(fd, &status) < 0)
        return 0;
    return (uint64_t)(status.f_blocks - status.f_bfree) * status.f_frsize;
}

uint64_t disk_space_free(int fd)
{
    struct statvfs status;

    if (fstatvfs(fd, &status) < 0)
        return UINT64_MAX;
    return (uint64_t)status.f_bavail * status.f_frsize;
}
