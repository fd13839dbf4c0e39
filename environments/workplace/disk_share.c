#include "environments/workplace/disk_share.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/quantity.h"

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

struct disk_share disk_share_of(uint64_t taken, uint64_t free)
{
    return (struct disk_share){.taken = taken, .free = free, .is_used_up = taken > free};
}

uint64_t disk_share_left(const struct disk_share *share)
{
    return share->is_used_up ? 0 : (share->free - share->taken) / 2;
}

char *disk_share_text(const struct disk_share *share)
{
    AUTO_FREE char *taken = quantity_bytes(share->taken);
    AUTO_FREE char *left = quantity_bytes(share->free);

    return memory_format("your working directories take %s, more than the %s that are free on "
                         "their disk",
                         taken, left);
}

int disk_share_check(const struct disk_share *share, struct error *err)
{
    AUTO_FREE char *text = NULL;

    if (!share->is_used_up)
        return 0;
    text = disk_share_text(share);
    return error_set(err, ERROR_LIMIT,
                     "there is no new working directory for you: %s. Go on in an earlier one "
                     "(argument working_directory) and remove files there, or wait until old ones "
                     "are removed",
                     text);
}
