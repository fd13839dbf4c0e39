#include "environments/workplace/scratch_directory.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { TRIES = 10 }; /* the last holder may remove it just when we open it */

static bool is_still_there(int fd, const char *path)
{
    struct stat ours;
    struct stat there;

    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

enum outcome scratch_directory_lock(struct scratch_directory *directory, const char *path,
                                    struct error *err)
{
    for (int i = 0; i < TRIES; i++) {
        AUTO_CLOSE int fd = -1;

        if (mkdir(path, S_IRWXU) < 0 && errno != EEXIST)
            return (enum outcome)error_set_errno(err, errno, "cannot make the directory %s", path);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0)
            return (enum outcome)error_set_errno(err, errno, "cannot open %s", path);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
            return OUTCOME_PENDING; /* any other error: a file system where nobody else is */
        if (!is_still_there(fd, path))
            continue;
        *directory = (struct scratch_directory){memory_copy_string(path), STEAL_FD(fd)};
        return OUTCOME_READY;
    }
    return OUTCOME_PENDING;
}

void scratch_directory_unlock(struct scratch_directory *directory)
{
    if (!directory->path)
        return;
    close(directory->fd);
    directory->fd = -1;
    free(directory->path);
    directory->path = NULL;
}
