#include "environments/place_guard.h"

#include "base/cleanup.h"
#include "environments/real_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Places inside of PLACE may be shown, PLACE itself and the directories that hold it may not. */
static int place_guard_refuse_whole(const char *path, bool is_same,
                                    const struct guarded_place *place, struct error *err)
{
    if (is_same)
        return error_set(err, ERROR_CONFIG, "%s is %s: %s", path, place->what, place->advice);
    return error_set(err, ERROR_CONFIG, "%s holds %s (%s): %s", path, place->what, place->path,
                     place->advice);
}

/* PATH is a real one. */
static int place_guard_compare(const struct place_guard *guard, const char *path,
                               const struct guarded_place *place, struct error *err)
{
    AUTO_FREE char *real = place->path ? realpath(place->path, NULL) : NULL;
    const bool is_same = real && strcmp(path, real) == 0;

    if (!real || (!is_same && !real_path_holds(path, real) &&
                  (place->advice || !real_path_holds(real, path))))
        return 0;
    if (place->advice)
        return place_guard_refuse_whole(path, is_same, place, err);
    if (is_same)
        return error_set(err, ERROR_CONFIG, "%s is %s, which %s never get", path, place->what,
                         guard->whose);
    return error_set(err, ERROR_CONFIG, "%s %s %s (%s), which %s never get", path,
                     real_path_holds(path, real) ? "holds" : "lies in", place->what, place->path,
                     guard->whose);
}

static int place_guard_check_kind(const struct place_guard *guard, const char *path,
                                  struct error *err)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (S_ISSOCK(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s is a socket, which %s never get", path,
                         guard->whose);
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
        return error_set(err, ERROR_CONFIG, "%s is neither a file nor a directory", path);
    return 0;
}

static int place_guard_check(const struct place_guard *guard, const char *path, struct error *err)
{
    for (size_t i = 0; i < guard->count; i++)
        if (place_guard_compare(guard, path, &guard->places[i], err) < 0)
            return -1;
    return place_guard_check_kind(guard, path, err);
}

char *place_guard_resolve(const struct place_guard *guard, const char *path, struct error *err)
{
    AUTO_FREE char *real = realpath(path, NULL);

    if (!real) {
        error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (place_guard_check(guard, real, err) == 0)
        return STEAL_PTR(real);
    if (strcmp(path, real) != 0)
        error_prefix(err, "%s", path);
    return NULL;
}
