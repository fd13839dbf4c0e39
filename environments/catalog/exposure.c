#include "environments/catalog/exposure.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "environments/environment.h"
#include "environments/interpreter/python_places.h"
#include "environments/packages/packages_definition.h"
#include "environments/python_origins.h"
#include "environments/real_path.h"

/* Machines share places (`files: shared`), and nobody here knows which. So a path of a node is
 * compared with those of this machine, and the text says that it is a node's. With `files: copied`
 * the operator says that a node has none of this machine's files; nodes may be one machine. */
static bool exposure_may_meet(const struct environment *environment,
                              const struct environment *writer)
{
    const struct environment_machines *readers = environment_machines_of(environment);
    const struct environment_machines *writers = environment_machines_of(writer);

    if (readers && writers)
        return true;
    return !(readers && readers->are_apart) && !(writers && writers->are_apart);
}

static const char *exposure_machine(const struct environment *writer)
{
    return environment_machines_of(writer) ? " on its nodes" : "";
}

/* Finds a place in LIST, which may be NULL, that holds PATH or lies in it; or NULL. */
static const char *exposure_find(char *const *list, const char *path)
{
    for (; list && *list; list++)
        if (real_path_holds(*list, path) || real_path_holds(path, *list))
            return *list;
    return NULL;
}

/* Finds a place to READ that WRITTEN meets, or NULL. Both lists may be NULL. */
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

    if (environment == writer || environment->settings.start != START_WARM ||
        !exposure_may_meet(environment, writer))
        return;
    path = exposure_find_read(environment, writer);
    if (!path)
        return;
    log_info("%s reads %s, where scripts of %s can write%s: each of its Pythons starts by itself",
             environment->name, path, writer->name, exposure_machine(writer));
    environment->settings.start = START_FRESH;
}

void exposure_limit(struct environment *const *environments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            exposure_limit_by(environments[i], environments[j]);
}

/* Says how a source of SOURCES meets a place in WRITTEN, which may be NULL. Owned by the caller, or
 * NULL. */
static char *exposure_meet(const struct python_origins *sources, char *const *written)
{
    for (; written && *written; written++)
        for (size_t i = 0; i < sources->count; i++) {
            const struct python_origin *source = &sources->all[i];
            AUTO_FREE char *how = python_origin_meet(source, *written);

            if (how)
                return source->key ? memory_format("%s: %s", source->key, how) : STEAL_PTR(how);
        }
    return NULL;
}

static char *exposure_meet_writer(const struct python_origins *sources,
                                  const struct environment *writer)
{
    char *how = exposure_meet(sources, writer->settings.sandbox.write);
    char **written = !how && writer->ops->writes ? writer->ops->writes(writer) : NULL;

    if (written)
        how = exposure_meet(sources, written);
    memory_free_strings(written);
    return how;
}

static void exposure_find_origins(struct python_origins *ret, const struct environment *environment)
{
    struct python_places places = {0};

    *ret = (struct python_origins){0};
    if (python_origins_add_named(ret, environment->definition) ||
        !environment->ops->find_candidates)
        return;
    environment->ops->find_candidates(environment, &places);
    python_origins_add_found(ret, &places);
    python_places_deinit(&places);
}

/* Scripts of ENVIRONMENT must not change the Python of another one either. */
static int exposure_check_writes(const struct environment *environment,
                                 const struct exposure_writers *others, struct error *err)
{
    char **written = environment->ops->writes ? environment->ops->writes(environment) : NULL;
    int ret = 0;

    for (size_t i = 0; written && *written && i < others->count && ret == 0; i++) {
        struct python_origins sources;
        AUTO_FREE char *how = NULL;

        exposure_find_origins(&sources, others->environments[i]);
        how = exposure_meet(&sources, written);
        if (how)
            ret = error_set(err, ERROR_INVALID_ARGUMENTS,
                            "environment_definition.volumes: scripts could change the Python of "
                            "an environment in the configuration (%s); let them only read it",
                            how);
        python_origins_deinit(&sources);
    }
    memory_free_strings(written);
    return ret;
}

/* Finds a guarded path of WRITERS that scripts in PLACE could change, or NULL. */
static const char *exposure_find_guarded(const struct exposure_writers *writers, const char *place)
{
    for (char *const *path = writers->guarded; path && *path; path++)
        if (real_path_holds(place, *path))
            return *path;
    return exposure_find(writers->guarded_folders, place);
}

/* PLACE is that of KEY of a definition. */
static int exposure_check_guarded(const char *key, const char *place,
                                  const struct exposure_writers *writers, struct error *err)
{
    const char *path = exposure_find_guarded(writers, place);

    if (!path)
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "environment_definition.%s: scripts could change what the server itself "
                     "executes or reads (%s); name another place",
                     key, path);
}

/* Neither scripts of ENVIRONMENT nor what is installed for them changes the server. */
static int exposure_check_server(const struct environment *environment,
                                 const struct exposure_writers *writers, struct error *err)
{
    const struct packages_definition packages = packages_definition_read(environment->definition);
    const char *venv = packages_definition_names_any(&packages)
                           ? json_object_get_string(environment->definition, "venv_path")
                           : NULL;
    char **written = environment->ops->writes ? environment->ops->writes(environment) : NULL;
    int ret = venv ? exposure_check_guarded("venv_path", venv, writers, err) : 0;

    for (size_t i = 0; written && written[i] && ret == 0; i++)
        ret = exposure_check_guarded("volumes", written[i], writers, err);
    memory_free_strings(written);
    return ret;
}

int exposure_check(const struct environment *environment, const struct exposure_writers *writers,
                   struct error *err)
{
    struct python_origins sources;
    int ret = 0;

    exposure_find_origins(&sources, environment);
    for (size_t i = 0; i < writers->count && ret == 0; i++) {
        const struct environment *writer = writers->environments[i];
        AUTO_FREE char *how =
            exposure_may_meet(environment, writer) ? exposure_meet_writer(&sources, writer) : NULL;

        if (how)
            ret = error_set(err, ERROR_INVALID_ARGUMENTS,
                            "environment_definition%s%s, where scripts of %s can write%s: name "
                            "another place",
                            *how == '/' ? ": " : ".", how, writer->name, exposure_machine(writer));
    }
    python_origins_deinit(&sources);
    if (ret < 0 || exposure_check_writes(environment, writers, err) < 0)
        return -1;
    return exposure_check_server(environment, writers, err);
}
