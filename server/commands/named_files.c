#include "server/commands/named_files.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/catalog/catalog.h"
#include "environments/docker/definition.h"
#include "environments/docker/volume.h"
#include "environments/environment.h"
#include "environments/interpreter/base_search.h"
#include "environments/notebook/kernel_search.h"
#include "environments/venv/definition.h"
#include "environments/venv/venv.h"
#include "server/commands/command.h"
#include "server/configuration/config.h"
#include "server/service.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIX_PREFIX "unix://"

/* The fault of PATH as a file or a directory (KIND: S_IFREG or S_IFDIR); owned by the caller, or
 * NULL. Links of the operator are followed. */
static char *named_files_examine(const char *path, mode_t kind)
{
    AUTO_FREE char *real = realpath(path, NULL);
    struct stat status;

    if (!real || lstat(real, &status) < 0)
        return memory_format("%s: %s", path, strerror(errno));
    if ((status.st_mode & S_IFMT) != kind)
        return memory_format("%s is not a %s", path,
                             kind == S_IFDIR ? "directory" : "regular file");
    if (access(real, R_OK) < 0)
        return memory_format("%s: %s", path, strerror(errno));
    return NULL;
}

/* Directories of calls */

/* The server makes this directory, but not its parent: a missing parent is a mistake. */
static int check_working_directory(struct config *config)
{
    const char *path = json_object_get_string(config_tree(config), "working_directory");
    AUTO_FREE char *parent = memory_copy_string(path);
    char *slash = strrchr(parent, '/');
    AUTO_FREE char *message = NULL;

    if (*path != '/' || slash == parent)
        return 0;
    *slash = '\0';
    if (access(parent, F_OK) == 0)
        return 0;
    message = memory_format("there is no %s; mkdir -p %s makes it", parent, path);
    config_complain(config, message, "/working_directory");
    return -1;
}

static void check_allowed_paths(struct config *config)
{
    const json_t *callers = json_object_get(config_tree(config), "callers");
    const json_t *path;
    size_t i;

    json_array_foreach (json_object_get(callers, "allowed_paths"), i, path) {
        AUTO_FREE char *message = named_files_examine(json_string_value(path), S_IFDIR);

        if (message)
            config_complain(config, message, "/callers/allowed_paths/%zu", i);
    }
}

int named_files_check_directories(struct config *config)
{
    check_allowed_paths(config);
    return check_working_directory(config);
}

/* Files and volumes of environments */

struct named_file {
    const char *key;
    const char *path; /* NULL: the definition names none */
    mode_t kind;
};

static void named_files_check_key(struct config *config, const struct environment *environment,
                                  const struct named_file *file)
{
    AUTO_FREE char *message = file->path ? named_files_examine(file->path, file->kind) : NULL;

    /* Names are of letters that a JSON Pointer need not escape. */
    if (message)
        config_complain(config, message, "/environments/%s/%s", environment->name, file->key);
}

/* Of any type: keys of other types are not in a definition. */
static void named_files_check_keys(struct config *config, const struct environment *environment)
{
    const struct docker_definition definition = docker_definition_read(environment->definition);
    const struct named_file files[] = {
        {"requirements_file", definition.packages.requirements_file, S_IFREG},
        {"dockerfile", definition.dockerfile, S_IFREG},
        {"pip_find_links", definition.packages.pip_find_links, S_IFDIR},
    };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        named_files_check_key(config, environment, &files[i]);
}

static void named_files_check_volumes(struct config *config, const struct environment *environment,
                                      const char *state)
{
    const struct docker_definition definition = docker_definition_read(environment->definition);
    const char *host = definition.host;
    const struct docker_guarded guarded = {
        .socket = host && text_starts_with(host, UNIX_PREFIX) ? host + strlen(UNIX_PREFIX) : NULL,
        .state = state,
    };
    AUTO_FREE char *around = memory_format("/environments/%s/volumes", environment->name);
    const char *path;
    json_t *target;

    json_object_foreach ((json_t *)definition.volumes, path, target) {
        AUTO_FREE char *pointer = json_pointer_append(around, path);
        struct error err = ERROR_INIT;
        AUTO_FREE char *real = docker_volume_resolve(path, &guarded, &err);

        if (!real)
            config_complain(config, err.message, "%s", pointer);
    }
}

/* The Python of a venv */

struct base_check {
    struct base_search search;
    enum outcome outcome; /* PENDING until the search is over */
    struct error err;
};

static void named_files_on_found(struct base_search *search, const struct error *err)
{
    struct base_check *check = CONTAINER_OF(search, struct base_check, search);

    check->outcome = command_keep(err, &check->err);
    ev_break(search->loop, EVBREAK_ONE);
}

static void check_base(struct service *service, struct config *config,
                       struct environment *environment)
{
    const struct venv_definition definition = venv_definition_read(environment->definition);
    const char *path = definition.python_path;
    const char *version = definition.python_version;
    struct base_check check = {
        .search = {.loop = service->loop,
                   .host = service->host,
                   .state = catalog_settings(service->catalog)->state,
                   .path = path,
                   .version = version,
                   .holding =
                       environment_holding(environment, catalog_settings(service->catalog)->state),
                   .done = named_files_on_found},
    };
    const char *key = path ? "/python_path" : version ? "/python_version" : "";

    check.outcome = base_search_start(&check.search, &check.err);
    while (check.outcome == OUTCOME_PENDING)
        ev_run(service->loop, 0);
    if (check.outcome == OUTCOME_FAILED)
        config_complain(config, check.err.message, "/environments/%s%s", environment->name, key);
    base_search_cancel(&check.search);
}

static bool is_empty(const char *path)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    bool found = false;

    while (stream && !found && (entry = readdir(stream)))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (stream)
        closedir(stream);
    return stream && !found;
}

static bool has_file(const char *directory, const char *name)
{
    AUTO_FREE char *path = memory_format("%s/%s", directory, name);

    return access(path, F_OK) == 0;
}

/* A venv is made if its path is missing or an empty directory; anything else there must be one. */
static void check_place(struct config *config, const struct environment *environment,
                        const char *path)
{
    AUTO_FREE char *problem = named_files_examine(path, S_IFDIR);
    AUTO_FREE char *message = NULL;

    if (access(path, F_OK) < 0 || has_file(path, "pyvenv.cfg") || is_empty(path))
        return;
    message = problem ? STEAL_PTR(problem)
                      : memory_format("%s is neither empty nor a virtual environment; name a new "
                                      "directory, or one that `python3 -m venv` has made",
                                      path);
    config_complain(config, message, "/environments/%s/venv_path", environment->name);
}

static void check_venv(struct service *service, struct config *config,
                       struct environment *environment)
{
    const char *path = venv_definition_read(environment->definition).venv_path;

    if (path)
        check_place(config, environment, path);
    if (!path || !has_file(path, "bin/python"))
        check_base(service, config, environment);
}

static void named_files_check_kernel(struct config *config, const struct environment *environment)
{
    struct error err = ERROR_INIT;

    if (kernel_search_check(environment, &err) < 0)
        config_complain(config, err.message, "/environments/%s/kernel", environment->name);
}

void named_files_check_environments(struct service *service, struct config *config)
{
    for (size_t i = 0; i < catalog_count(service->catalog); i++) {
        struct environment *environment = catalog_at(service->catalog, i);

        named_files_check_keys(config, environment);
        named_files_check_volumes(config, environment, catalog_settings(service->catalog)->state);
        if (environment->ops->kind == &venv_kind)
            check_venv(service, config, environment);
        named_files_check_kernel(config, environment);
    }
}
