#include "environments/catalog/exposure.h"

#include "base/log.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/real_path.h"

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
