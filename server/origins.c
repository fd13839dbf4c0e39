#include "server/origins.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/script_places.h"
#include "environments/interpreter/search_path.h"
#include "environments/real_path.h"
#include "server/companions.h"
#include "server/configuration/config.h"
#include "server/configuration/config_paths.h"
#include "server/configuration/yaml_tree.h"
#include "server/program_words.h"
#include "toolbox/secrets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char RUNS[] = "run programs of theirs outside of the sandbox";
static const char ANSWERS[] = "get what the server sends there, and answer it";

/* One look through a configuration. */
struct origin_search {
    struct origins *found;
    const struct script_places *places; /* borrowed */
    const char *folder;                 /* borrowed: where relative paths begin */
    char *pointer;                      /* owned: to the server or node; no trailing slash */
};

/* PATH and POINTER are taken. */
static void origins_add(struct origins *origins, char *pointer, char *path, const char *harm)
{
    origins->all = memory_resize(origins->all, (origins->count + 1) * sizeof *origins->all);
    origins->all[origins->count++] = (struct origin){pointer, path, harm};
}

/* PATH as it is seen from FOLDER. Owned by the caller. */
static char *origins_absolute(const char *folder, const char *path)
{
    if (text_starts_with(path, "./"))
        path += 2;
    return *path == '/' ? memory_copy_string(path) : memory_format("%s/%s", folder, path);
}

/* Programs */

/* The file NAME in the first folder of PATH, a list, that has it; or NULL. Owned by the caller. */
static char *origins_find_in(const char *path, const char *name)
{
    while (*path) {
        const size_t length = strcspn(path, ":");
        AUTO_FREE char *file = memory_format("%.*s/%s", (int)length, path, name);

        if (*path == '/' && access(file, X_OK) == 0)
            return STEAL_PTR(file);
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* The program NAME, as a server of tools is started: not out of the places. If only those have it,
 * it is told where. Owned by the caller, or NULL. */
static char *origins_find_program(const struct origin_search *search, const char *name)
{
    AUTO_FREE char *safe = search_path_without(NULL, search->places);
    char *program =
        strchr(name, '/') ? origins_absolute(search->folder, name) : origins_find_in(safe, name);

    return program ? program : origins_find_in(search_path(), name);
}

/* A path from the folder on means something else where the program begins in another one. */
static bool origins_is_relative(const struct origin_search *search, const char *word)
{
    AUTO_FREE char *path = origins_absolute(search->folder, word);
    struct stat status;

    if (*word == '/' || *word == '-' || !*word)
        return false;
    return *word == '.' || lstat(path, &status) == 0;
}

static void origins_add_word(const struct origin_search *search, char *const *words, size_t i)
{
    AUTO_FREE char *pointer = memory_format("%s/command/%zu", search->pointer, i);
    AUTO_FREE char *code = program_words_find_code((const char *const *)words, i, search->folder);

    if (code)
        origins_add(search->found, memory_copy_string(pointer), STEAL_PTR(code), RUNS);
    else if (i > 0 && origins_is_relative(search, words[i]))
        origins_add(search->found, memory_copy_string(pointer), memory_copy_string(search->folder),
                    RUNS);
}

/* The words of COMMAND as they will be, for memory_free_strings; NULL if a variable is missing,
 * which is told elsewhere. */
static char **origins_expand(const json_t *command)
{
    AUTO(secrets_deinit) struct secrets ignored = {0};
    char **words = memory_new(json_array_size(command) + 1, sizeof *words);
    struct error err = ERROR_INIT;
    const json_t *word;
    size_t i;

    json_array_foreach (command, i, word) {
        words[i] = secrets_expand(&ignored, json_string_value(word), &err);
        if (!words[i]) {
            memory_free_strings(words);
            return NULL;
        }
    }
    return words;
}

static void origins_add_command(const struct origin_search *search, const json_t *command)
{
    char **words = json_array_size(command) > 0 ? origins_expand(command) : NULL;
    char *program = words ? origins_find_program(search, words[0]) : NULL;

    if (program)
        origins_add(search->found, memory_format("%s/command/0", search->pointer), program, RUNS);
    for (size_t i = 1; words && words[i]; i++)
        origins_add_word(search, words, i);
    memory_free_strings(words);
}

/* The folders in LIST, a variable such as PATH. */
static void origins_add_folders(const struct origin_search *search, const char *name,
                                const char *list)
{
    while (*list) {
        const size_t length = strcspn(list, ":");
        AUTO_FREE char *folder = memory_format("%.*s", (int)length, list);

        origins_add(search->found, memory_format("%s/environment/%s", search->pointer, name),
                    origins_absolute(search->folder, folder), RUNS);
        list += length + (list[length] == ':');
    }
}

static void origins_add_variables(const struct origin_search *search, const json_t *variables)
{
    AUTO(secrets_deinit) struct secrets ignored = {0};
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)variables, name, value) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *text = program_words_is_code_variable(name)
                                   ? secrets_expand(&ignored, json_string_value(value), &err)
                                   : NULL;

        if (text)
            origins_add_folders(search, name, text);
    }
}

/* ADDRESS may be of another kind, or NULL. KEY: where it stands. */
static void origins_add_socket(const struct origin_search *search, const char *key,
                               const char *address)
{
    static const char scheme[] = "unix://";

    if (address && text_starts_with(address, scheme))
        origins_add(search->found, memory_format("%s%s", search->pointer, key),
                    memory_format("%.*s", (int)strcspn(address + strlen(scheme), "#"),
                                  address + strlen(scheme)),
                    ANSWERS);
}

static void origins_add_servers(struct origin_search *search, const json_t *servers)
{
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)servers, name, definition) {
        AUTO(secrets_deinit) struct secrets ignored = {0};
        const char *url = json_object_get_string(definition, "url");
        struct error err = ERROR_INIT;
        AUTO_FREE char *address = url ? secrets_expand(&ignored, url, &err) : NULL;

        search->pointer = yaml_pointer("/tools", name);
        origins_add_command(search, json_object_get(definition, "command"));
        origins_add_variables(search, json_object_get(definition, "environment"));
        origins_add_socket(search, "/url", address);
        free(search->pointer);
    }
}

/* Each place where execvp(3) looks for NAME, up to the first that has it. */
static void origins_add_launcher(const struct origin_search *search, const char *name)
{
    const char *path = search_path();
    bool is_found = strchr(name, '/');

    if (is_found)
        origins_add(search->found, memory_format("%s/0", search->pointer),
                    origins_absolute(search->folder, name), RUNS);
    while (!is_found) {
        const size_t length = strcspn(path, ":");
        AUTO_FREE char *folder = memory_format("%.*s", (int)length, path);
        AUTO_FREE char *start = origins_absolute(search->folder, folder);
        char *file = memory_format("%s/%s", start, name);

        is_found = access(file, X_OK) == 0 || !path[length];
        origins_add(search->found, memory_format("%s/0", search->pointer), file, RUNS);
        path += length + 1;
    }
}

/* A launcher begins where the server did. Its arguments are no data: files of settings, keys, and
 * programs of machines that may have the same files. */
static void origins_add_nodes(struct origin_search *search, const json_t *nodes)
{
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)nodes, name, definition) {
        AUTO_FREE char *pointer = yaml_pointer("/nodes", name);
        const json_t *word;
        size_t i;

        search->pointer = memory_format("%s/launcher", pointer);
        json_array_foreach (json_object_get(definition, "launcher"), i, word) {
            const char *text = json_string_value(word);

            if (i == 0)
                origins_add_launcher(search, text);
            else if (strchr(text, '/') && *text != '-')
                origins_add(search->found, memory_format("%s/%zu", search->pointer, i),
                            origins_absolute(search->folder, text), RUNS);
        }
        free(search->pointer);
    }
}

/* Files */

static void origins_add_file(struct origins *origins, const json_t *section, const char *around,
                             const char *key, const char *harm)
{
    const char *path = json_object_get_string(section, key);

    if (path && *path == '/')
        origins_add(origins, memory_format("%s/%s", around, key), memory_copy_string(path), harm);
}

static void origins_add_files(struct origins *origins, const json_t *tree)
{
    const json_t *tls = json_object_get(tree, "tls");

    origins_add_file(origins, tree, "", "token_file", "let anybody in");
    origins_add_file(origins, tls, "/tls", "certificate", "choose what clients are shown");
    origins_add_file(origins, tls, "/tls", "key", "know the key of the server");
    origins_add_file(origins, json_object_get(tree, "replicas"), "/replicas", "key_file",
                     "send requests as anybody");
}

/* The engine of DEFINITION has root's rights. */
static void origins_add_engine(const struct origin_search *search, const json_t *definition)
{
    const char *host = json_object_get_string(definition, "host");
    const json_t *tls = json_object_get(definition, "tls");
    AUTO_FREE char *pointer = memory_format("%s/tls", search->pointer);
    static const char *const keys[] = {"ca_file", "cert_file", "key_file"};

    origins_add_socket(search, host ? "/host" : "", host ? host : getenv("DOCKER_HOST"));
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        origins_add_file(search->found, tls, pointer, keys[i], "speak for the engine");
}

/* Everything around a Dockerfile is sent to the engine, which executes it. */
static void origins_add_build(const struct origin_search *search, const json_t *definition)
{
    const char *file = json_object_get_string(definition, "dockerfile");
    const char *slash = file ? strrchr(file, '/') : NULL;

    if (slash && slash > file)
        origins_add(search->found, memory_format("%s/dockerfile", search->pointer),
                    memory_format("%.*s", (int)(slash - file), file), "choose what is built");
}

static void origins_add_environments(struct origin_search *search, const json_t *environments)
{
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)environments, name, definition) {
        const char *type = json_object_get_string(definition, "type");

        if (!type || strcmp(type, "docker") != 0)
            continue;
        search->pointer = yaml_pointer("/environments", name);
        origins_add_engine(search, definition);
        origins_add_build(search, definition);
        free(search->pointer);
    }
}

/* The server's own */

/* Adds the file; without one, the file that would be read if it were there. A configuration on
 * standard input is not read again. */
static void origins_add_configuration(struct origins *origins, const struct config *config)
{
    AUTO_FREE char *folder = origins_folder(config);
    const char *path = config_path(config);
    const char *slash = path ? strrchr(path, '/') : NULL;
    char *file = path ? memory_format("%s/%s", folder, slash ? slash + 1 : path) : NULL;

    if (!path)
        file = config_home_path();
    if (file && !text_starts_with(file, "/dev/") && !text_starts_with(file, "/proc/"))
        origins_add(origins, NULL, file, "decide what the server executes next");
    else
        free(file);
}

static void origins_add_own(struct origins *origins, const struct config *config)
{
    static const char *const programs[] = {COMPANION_RUNNER, COMPANION_CORE,
                                           COMPANION_CONTAINER_INIT, COMPANION_PROXY,
                                           COMPANION_PICTURE};

    origins_add_configuration(origins, config);
    origins_add(origins, NULL, realpath("/proc/self/exe", NULL), RUNS);
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        origins_add(origins, NULL, companions_find(programs[i]), RUNS);
}

char *origins_folder(const struct config *config)
{
    const char *path = config_path(config);
    char *folder = path ? config_paths_folder(path) : NULL;

    return folder ? folder : memory_copy_string("/");
}

void origins_find(struct origins *ret, const struct config *config,
                  const struct script_places *places)
{
    const json_t *tree = config_tree(config);
    AUTO_FREE char *folder = origins_folder(config);
    AUTO_FREE char *here = realpath(".", NULL);
    struct origin_search search = {.found = ret, .places = places, .folder = folder};

    *ret = (struct origins){0};
    origins_add_own(ret, config);
    origins_add_servers(&search, json_object_get(tree, "tools"));
    origins_add_environments(&search, json_object_get(tree, "environments"));
    origins_add_files(ret, tree);
    search.folder = here ? here : "/";
    origins_add_nodes(&search, json_object_get(tree, "nodes"));
}

void origins_deinit(struct origins *origins)
{
    for (size_t i = 0; i < origins->count; i++) {
        free(origins->all[i].pointer);
        free(origins->all[i].path);
    }
    free(origins->all);
    *origins = (struct origins){0};
}

bool origin_is_reached(const struct origin *origin, const char *place)
{
    char *const one[] = {(char *)place, NULL};
    const struct script_places places = {(char **)one};

    return origin->path &&
           (real_path_holds(place, origin->path) || script_places_reach(&places, origin->path));
}

/* The name in PLACE by which PATH lies there, or leads there; 0 bytes: none. */
static size_t origin_entry_length(const char *place, const char *path)
{
    const size_t length = strlen(place) + (place[1] != '\0');

    if (!real_path_holds(place, path) || !path[length - 1])
        return 0;
    return length + strcspn(path + length, "/");
}

char *origin_find_entry(const struct origin *origin, const char *place)
{
    char **way = python_needs_way(origin->path);
    char *entry = NULL;
    bool is_one = !origin->pointer && !strstr(origin->path, "/../");
    struct stat status;

    for (size_t i = 0; is_one && way[i]; i++) {
        const size_t length = origin_entry_length(place, way[i]);

        if (!real_path_holds(place, way[i]))
            continue;
        if (!entry && length > 0)
            entry = memory_format("%.*s", (int)length, way[i]);
        else
            is_one = entry && strlen(entry) == length && strncmp(entry, way[i], length) == 0;
    }
    memory_free_strings(way);
    if (is_one && entry && lstat(entry, &status) == 0 &&
        (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        return entry;
    free(entry);
    return NULL;
}
