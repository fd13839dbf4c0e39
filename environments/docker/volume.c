#include "environments/docker/volume.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/docker/container_description.h"
#include "environments/place_guard.h"
#include "environments/real_path.h"

#include <stddef.h>
#include <string.h>

static const char *const guarded_there[] = {
    "/proc", "/sys", "/dev", "/run", DOCKER_WORKSPACE, DOCKER_INIT, DOCKER_STREAMS,
};

char *docker_volume_resolve(const char *path, const struct docker_guarded *guarded,
                            struct error *err)
{
    static const char system[] = "a place of the system";
    const struct guarded_place places[] = {
        {.path = guarded->socket, .what = "the engine's socket"},
        {.path = guarded->state, .what = "the server's own state"},
        {.path = "/proc", .what = system},
        {.path = "/sys", .what = system},
        {.path = "/dev", .what = system},
        {.path = "/etc", .what = system},
        {.path = "/run", .what = system},
        {.path = "/var/run", .what = system},
        {.path = "/var/lib/docker", .what = system},
        {.path = "/var/lib/containers", .what = system},
    };
    const struct place_guard guard = {"containers", places, ARRAY_SIZE(places)};

    return place_guard_resolve(&guard, path, err);
}

/* A volume is a target, or an object with a target and a mode. */
struct docker_volume docker_volume_read(const char *path, const json_t *value)
{
    const char *mode = json_object_get_string(value, "mode");

    return (struct docker_volume){
        .path = path,
        .target = json_is_string(value) ? json_string_value(value)
                                        : json_object_get_string(value, "path"),
        .is_writable = mode && strcmp(mode, "rw") == 0,
    };
}

int docker_volume_check_target(const char *target, struct error *err)
{
    if (target[strspn(target, "/.")] == '\0')
        return error_set(err, ERROR_CONFIG, "nothing can be mounted at / of a container");
    if (strstr(target, "//") || strstr(target, "/./") || strstr(target, "/..") ||
        strcmp(strrchr(target, '/'), "/.") == 0)
        return error_set(err, ERROR_CONFIG, "%s has to be written without //, . and ..", target);
    for (size_t i = 0; i < ARRAY_SIZE(guarded_there); i++)
        if (real_path_holds(guarded_there[i], target))
            return error_set(err, ERROR_CONFIG,
                             "nothing of yours can be mounted in %s of a container",
                             guarded_there[i]);
    return 0;
}
