#include "environments/workplace/directory_copy.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "base/untrusted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPTH = 8, /* of directories in directories */
    PIECE_BYTES = 128 * 1024,
    RANGE_BYTES = 1 << 30,
    ENTRIES_MOST = 1000, /* the loop waits */
    FILE_MOST_BYTES = 64 << 20,
};

/* How far a copy has come. */
struct directory_copy_progress {
    unsigned depth;
    unsigned entries;
};

static int copy_bytes(int from, int to)
{
    char piece[PIECE_BYTES];
    ssize_t length;

    while ((length = read(from, piece, sizeof piece)) > 0) {
        errno = ENOSPC; /* when only a part could be written */
        if (write(to, piece, (size_t)length) != length)
            return -1;
    }
    return length < 0 ? -1 : 0;
}

static int copy_content(int from, int to)
{
    ssize_t length;

    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    do
        length = copy_file_range(from, NULL, to, NULL, RANGE_BYTES, 0);
    while (length > 0);
    if (length < 0 && errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
        return copy_bytes(from, to); /* across file systems, or not supported */
    return length < 0 ? -1 : 0;
}

static int copy_file(int from, const char *name, int to)
{
    struct error err = ERROR_INIT;
    AUTO_CLOSE int source = untrusted_open(from, name, O_RDONLY, &err);
    AUTO_CLOSE int target = -1;
    struct stat status;

    errno = err.number ? err.number : EINVAL;
    if (source < 0 || fstat(source, &status) < 0)
        return -1;
    errno = EFBIG;
    if (status.st_size > FILE_MOST_BYTES)
        return -1;
    target = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    status.st_mode & 0777);
    return target < 0 ? -1 : copy_content(source, target);
}

static int copy_link(int from, const char *name, int to)
{
    char text[PATH_MAX];
    ssize_t length = readlinkat(from, name, text, sizeof text - 1);

    if (length < 0)
        return -1;
    text[length] = '\0';
    return symlinkat(text, to, name);
}

static int copy_entries(int from, int to, struct directory_copy_progress *progress);

static int copy_directory(int from, const char *name, int to,
                          struct directory_copy_progress *progress)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    AUTO_CLOSE int source = openat(from, name, flags);
    AUTO_CLOSE int target = -1;

    if (source < 0 || (mkdirat(to, name, 0777) < 0 && errno != EEXIST))
        return -1;
    target = openat(to, name, flags);
    return target < 0 ? -1 : copy_entries(source, target, progress);
}

static int copy_entry(int from, const char *name, int to, struct directory_copy_progress *progress)
{
    struct stat status;

    errno = EFBIG;
    if (progress->entries++ == ENTRIES_MOST ||
        fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    if (S_ISDIR(status.st_mode))
        return copy_directory(from, name, to, progress);
    if (S_ISLNK(status.st_mode))
        return copy_link(from, name, to);
    if (S_ISREG(status.st_mode))
        return copy_file(from, name, to);
    errno = EINVAL;
    return -1;
}

static void directory_copy_close_stream(DIR **stream)
{
    if (*stream)
        closedir(*stream);
}

static DIR *directory_copy_open_stream(int fd)
{
    AUTO_CLOSE int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *stream = own >= 0 ? fdopendir(own) : NULL;

    if (stream)
        STEAL_FD(own);
    return stream;
}

static int copy_entries(int from, int to, struct directory_copy_progress *progress)
{
    AUTO(directory_copy_close_stream) DIR *stream = directory_copy_open_stream(from);
    const struct dirent *entry;

    if (!stream)
        return -1;
    if (progress->depth++ > DEPTH) {
        errno = ELOOP;
        return -1;
    }
    while ((entry = readdir(stream)))
        if (!text_is_dots(entry->d_name) && copy_entry(from, entry->d_name, to, progress) < 0)
            return -1;
    progress->depth--;
    return 0;
}

int directory_copy(const char *from, const char *to, struct error *err)
{
    struct directory_copy_progress progress = {0};
    AUTO_CLOSE int source = untrusted_open_directory(AT_FDCWD, from, err);
    AUTO_CLOSE int target = -1;

    if (source < 0)
        return -1;
    target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target < 0)
        return error_set_errno(err, errno, "cannot open %s", to);
    if (copy_entries(source, target, &progress) < 0)
        return error_set_errno(err, errno, "cannot copy %s to %s", from, to);
    return 0;
}
