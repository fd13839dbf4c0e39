#include "environments/docker/cache.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/untrusted.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of the file for TAG. A tag with a slash is not ours, and its file is never found. */
static char *path_of(const char *state, const char *tag)
{
    return memory_format("%s/docker/images/%s", state, strrchr(tag, ':') + 1);
}

void docker_cache_use(const char *state, const char *tag)
{
    AUTO_FREE char *folder = memory_format("%s/docker/images", state);
    AUTO_FREE char *path = path_of(state, tag);
    AUTO_CLOSE int fd = -1;
    struct error err = ERROR_INIT;

    if (fd_make_directories(folder, 0700, &err) < 0) {
        log_warning("%s", err.message);
        return;
    }
    fd = untrusted_open(AT_FDCWD, path, O_WRONLY | O_CREAT, &err);
    if (fd < 0)
        log_warning("%s", err.message); /* at worst the image is made anew some day */
    else
        (void)futimens(fd, NULL);
}

bool docker_cache_is_wanted(const char *state, const char *tag, time_t now)
{
    AUTO_FREE char *path = path_of(state, tag);
    struct stat status;

    if (lstat(path, &status) < 0) {
        docker_cache_use(state, tag);
        return true;
    }
    return difftime(now, status.st_mtime) < DOCKER_CACHE_SECONDS;
}

void docker_cache_forget(const char *state, const char *tag)
{
    AUTO_FREE char *path = path_of(state, tag);

    (void)unlink(path);
}
