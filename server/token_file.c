#include "server/token_file.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Examines what is open, not what is at the path: that could be exchanged in between. */
static int check_file(int fd, const char *path, struct error *err)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        return error_set_errno(err, errno, "cannot examine %s", path);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s is no regular file", path);
    if (status.st_mode & S_IRWXO)
        return error_set(err, ERROR_CONFIG,
                         "others may read %s (mode %04o), which holds a secret; chmod o-rwx %s",
                         path, status.st_mode & 07777U, path);
    return 0;
}

static int check_token(const char *token, size_t length, const char *path, struct error *err)
{
    if (length < TOKEN_FILE_LEAST_BYTES)
        return error_set(err, ERROR_CONFIG, "the token in %s has %zu bytes, it needs at least %d",
                         path, length, TOKEN_FILE_LEAST_BYTES);
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] > '~')
            return error_set(err, ERROR_CONFIG,
                             "the token in %s is not one word of printable ASCII", path);
    return 0;
}

char *token_file_read(const char *path, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    AUTO_FREE char *token = NULL;
    size_t length;

    if (fd < 0) {
        error_set_errno(err, errno, "cannot open %s", path);
        return NULL;
    }
    if (check_file(fd, path, err) < 0)
        return NULL;
    token = fd_read_all(fd, TOKEN_FILE_MOST_BYTES, &length, err);
    if (!token)
        return NULL;
    if (length > 0 && token[length - 1] == '\n')
        token[--length] = '\0';
    if (length > 0 && token[length - 1] == '\r')
        token[--length] = '\0';
    return check_token(token, length, path, err) < 0 ? NULL : STEAL_PTR(token);
}
