#include "environments/catalog/exposure.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/interpreter/python_places.h"
#include "environments/real_path.h"

#include <stdlib.h>

/* One of the places in LIST (NULL: none) that holds PATH or lies in it; NULL: none does. */
static const char *exposure_find(char *const *list, const char *path)
{
    for (; list && *list; list++)
        if (real_path_holds(*list, path) || real_path_holds(path, *list))
            return *list;
    return NULL;
}

/* One of the places to READ (NULL: none) that WRITTEN meets; NULL: none does. */
static const char *exposure_find_any(char *const *read, char *const *written)
{
    for (; read && *read; read++)
        if (exposure_find(written, *read))
            return *read;
    return NULL;
}

static const char *exposure_find_read(const struct environment *environment,
                                      const struct environment *writer)
{
    char *const *read = environment->settings.sandbox.read;
    const char *found = exposure_find_any(read, writer->settings.sandbox.write);
    char **written = !found && writer->ops->writes ? writer->ops->writes(writer) : NULL;

    if (written)
        found = exposure_find_any(read, written);
    memory_free_strings(written);
    return found;
}

static void exposure_limit_by(struct environment *environment, const struct environment *writer)
{
    const char *path;

    if (environment == writer || environment->settings.start != START_WARM)
        return;
    path = exposure_find_read(environment, writer);
    if (!path)
        return;
    log_info("%s reads %s, where scripts of %s can write: each of its Pythons starts by itself",
             environment->name, path, writer->name);
    environment->settings.start = START_FRESH;
}

void exposure_limit(struct environment *const *environments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            exposure_limit_by(environments[i], environments[j]);
}

/* A place that scripts of one of WRITERS can change and PATH lies in; NULL: none. Owned by the
 * caller. */
static char *exposure_find_writer(const struct exposure_writers *writers, const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);
    const char *const paths[] = {path, real ? real : path};
    char *found = NULL;

    for (size_t i = 0; i < writers->count && !found; i++) {
        const struct environment *writer = writers->environments[i];
        char **written = writer->ops->writes ? writer->ops->writes(writer) : NULL;

        for (size_t j = 0; j < ARRAY_SIZE(paths) && !found; j++) {
            const char *place = exposure_find(writer->settings.sandbox.write, paths[j]);

            place = place ? place : exposure_find(written, paths[j]);
            if (place)
                found = memory_format("%s, where scripts of %s can write", place, writer->name);
        }
        memory_free_strings(written);
    }
    return found;
}

int exposure_check(const struct environment *environment, const struct exposure_writers *writers,
                   struct error *err)
{
    struct python_places pythons = {0};
    int ret = 0;

    if (environment->ops->find_candidates)
        environment->ops->find_candidates(environment, &pythons);
    for (size_t i = 0; i < pythons.count && ret == 0; i++) {
        AUTO_FREE char *where = exposure_find_writer(writers, pythons.paths[i]);

        if (where)
            ret = error_set(err, ERROR_INVALID_ARGUMENTS,
                            "environment_definition: %s, its Python, lies in %s", pythons.paths[i],
                            where);
    }
    python_places_deinit(&pythons);
    return ret;
}
