#include "server/configuration/config_paths.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PATH as it is seen from FOLDER. Owned by the caller. */
static char *config_paths_absolute(const char *folder, const char *path)
{
    if (*path == '/')
        return memory_copy_string(path);
    while (strncmp(path, "./", 2) == 0)
        path += 1 + strspn(path + 1, "/");
    if (*path == '\0' || strcmp(path, ".") == 0)
        return memory_copy_string(folder);
    return memory_format("%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", path);
}

char *config_paths_folder(const char *file)
{
    AUTO_FREE char *folder = memory_copy_string(file);
    char *slash = strrchr(folder, '/');
    char here[PATH_MAX];

    if (slash)
        slash[slash == folder] = '\0'; /* of "/file" the first stays */
    if (*folder == '/')
        return STEAL_PTR(folder);
    if (!getcwd(here, sizeof here))
        return NULL;
    return slash ? config_paths_absolute(here, folder) : memory_copy_string(here);
}

char *config_paths_explain_home(const char *path)
{
    static const char *const words[] = {"~", "$HOME", "${HOME}"};
    const char *home = getenv("HOME");

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        const char *rest = path + strlen(words[i]);

        if (text_starts_with(path, words[i]) && (!*rest || *rest == '/'))
            return memory_format("%s is not read, write it out%s%s%s", words[i], home ? ": " : "",
                                 text_or_none(home), home ? rest : "");
    }
    return NULL;
}

json_t *config_paths_read(const char *folder, const char *format, const json_t *value)
{
    const char *text = json_string_value(value);
    bool is_program = strcmp(format, "program-path") == 0;
    AUTO_FREE char *path = NULL;

    if (!is_program && strcmp(format, "path") != 0)
        return NULL;
    /* "~" is for shells, and a program without "/" is one on PATH, not a file of this folder. */
    if (*text == '\0' || *text == '~' || (is_program && !strchr(text, '/')))
        return NULL;
    path = config_paths_absolute(folder, text);
    return json_string(path);
}

/* VOLUMES with other keys, new. */
static json_t *config_paths_settle(const char *folder, const json_t *volumes, const char *pointer,
                                   schema_problem_fn report, void *data)
{
    json_t *settled = json_object();
    const char *path;
    json_t *value;

    json_object_foreach ((json_t *)volumes, path, value) {
        AUTO_FREE char *place = config_paths_absolute(folder, path);
        AUTO_FREE char *member = json_pointer_append(pointer, path);

        if (json_object_get(settled, place))
            report(data, SCHEMA_AT_KEY, member, "is the same path as another one");
        else
            json_object_set_nocheck(settled, place, value);
    }
    return settled;
}

static void config_paths_check_keys(const json_t *volumes, const char *pointer,
                                    schema_problem_fn report, void *data)
{
    const char *path;
    json_t *value;

    json_object_foreach ((json_t *)volumes, path, value) {
        AUTO_FREE char *member = json_pointer_append(pointer, path);
        AUTO_FREE char *message = config_paths_explain_home(path);

        if (message)
            report(data, SCHEMA_AT_KEY, member, message);
    }
}

void config_paths_check_volumes(json_t *root, schema_problem_fn report, void *data)
{
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        AUTO_FREE char *environment = json_pointer_append("/environments", name);
        AUTO_FREE char *pointer = json_pointer_append(environment, "volumes");

        config_paths_check_keys(json_object_get(definition, "volumes"), pointer, report, data);
    }
}

void config_paths_settle_volumes(const char *folder, json_t *root, schema_problem_fn report,
                                 void *data)
{
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        const json_t *volumes = json_object_get(definition, "volumes");
        AUTO_FREE char *environment = json_pointer_append("/environments", name);
        AUTO_FREE char *pointer = json_pointer_append(environment, "volumes");

        if (volumes)
            json_object_set_new(definition, "volumes",
                                config_paths_settle(folder, volumes, pointer, report, data));
    }
}
