#include "environments/docker/volume.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const guarded_here[] = {
    "/proc", "/sys", "/dev", "/etc", "/run", "/var/run", "/var/lib/docker", "/var/lib/containers",
};

static const char *const guarded_there[] = {"/proc", "/sys", "/dev", "/run", "/workspace"};

static bool volume_holds(const char *place, const char *path)
{
    size_t length = strlen(place);

    if (strcmp(place, "/") == 0)
        return true;
    return strncmp(place, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* WHAT says what PLACE is to somebody who has never heard of it. */
static int keep_apart(const char *path, const char *place, const char *what, struct error *err)
{
    AUTO_FREE char *real = place ? realpath(place, NULL) : NULL;

    if (!real)
        return 0;
    if (strcmp(path, real) == 0)
        return error_set(err, ERROR_CONFIG, "%s is %s, which containers never get", path, what);
    if (volume_holds(path, real))
        return error_set(err, ERROR_CONFIG, "%s holds %s (%s), which containers never get", path,
                         what, place);
    if (volume_holds(real, path))
        return error_set(err, ERROR_CONFIG, "%s lies in %s (%s), which containers never get", path,
                         what, place);
    return 0;
}

static int check_kind(const char *path, struct error *err)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (S_ISSOCK(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s is a socket, which containers never get", path);
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s is neither a file nor a directory", path);
    return 0;
}

static int check_places(const char *path, const struct docker_guarded *guarded, struct error *err)
{
    if (keep_apart(path, guarded->socket, "the engine's socket", err) < 0 ||
        keep_apart(path, guarded->state, "the server's own state", err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(guarded_here); i++)
        if (keep_apart(path, guarded_here[i], "a place of the system", err) < 0)
            return -1;
    return 0;
}

char *docker_volume_resolve(const char *path, const struct docker_guarded *guarded,
                            struct error *err)
{
    AUTO_FREE char *real = realpath(path, NULL);

    if (!real) {
        error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (check_places(real, guarded, err) == 0 && check_kind(real, err) == 0)
        return STEAL_PTR(real);
    if (strcmp(path, real) != 0)
        error_prefix(err, "%s", path);
    return NULL;
}

int docker_volume_check_target(const char *target, struct error *err)
{
    if (target[strspn(target, "/.")] == '\0')
        return error_set(err, ERROR_CONFIG, "nothing can be mounted at / of a container");
    if (strstr(target, "//") || strstr(target, "/./") || strstr(target, "/..") ||
        strcmp(strrchr(target, '/'), "/.") == 0)
        return error_set(err, ERROR_CONFIG, "%s has to be written without //, . and ..", target);
    for (size_t i = 0; i < ARRAY_SIZE(guarded_there); i++)
        if (volume_holds(guarded_there[i], target))
            return error_set(err, ERROR_CONFIG,
                             "nothing of yours can be mounted in %s of a container",
                             guarded_there[i]);
    return 0;
}
