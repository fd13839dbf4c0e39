#include "server/origins.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/script_places.h"
#include "environments/interpreter/search_path.h"
#include "environments/real_path.h"
#include "environments/workplace/directory_file.h"
#include "server/command_files.h"
#include "server/companions.h"
#include "server/configuration/config.h"
#include "server/configuration/config_paths.h"
#include "server/configuration/yaml_tree.h"
#include "toolbox/secrets.h"
#include "toolbox/server_command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char RUNS[] = "run programs of theirs outside of the sandbox";
static const char DECIDES[] = "decide what the server executes next";
static const char LATER[] = "decide what a later command executes (remove it if it is not yours)";
static const char ANSWERS[] = "get what the server sends there, and answer it";

/* One look through a configuration. */
struct origin_search {
    struct origins *found;
    const struct script_places *places; /* borrowed */
    const char *folder;                 /* borrowed: where relative paths begin */
    char *pointer;                      /* owned: to the server or node; no trailing slash */
};

/* POINTER and PATH are taken; both may be NULL. */
static void origins_add(struct origins *origins, enum origin_kind kind, char *pointer, char *path,
                        const char *harm)
{
    if (!path) {
        free(pointer);
        return;
    }
    origins->all = memory_resize(origins->all, (origins->count + 1) * sizeof *origins->all);
    origins->all[origins->count++] = (struct origin){
        .kind = kind,
        .pointer = pointer,
        .path = path,
        .way = python_needs_way(path),
        .harm = harm,
    };
}

/* PATH as it is seen from FOLDER. Owned by the caller. */
static char *origins_absolute(const char *folder, const char *path)
{
    if (text_starts_with(path, "./"))
        path += 2;
    return *path == '/' ? memory_copy_string(path) : memory_format("%s/%s", folder, path);
}

/* Servers of tools */

static void origins_add_command(const struct origin_search *search, const json_t *command)
{
    AUTO(secrets_deinit) struct secrets ignored = {0};
    AUTO(command_files_deinit) struct command_files files = {0};
    struct error err = ERROR_INIT;
    char **words = json_array_size(command) > 0
                       ? server_command_read(command, search->folder, &ignored, &err)
                       : NULL; /* a variable that is missing is told elsewhere */

    if (words)
        command_files_find(&files, words, search->places);
    for (size_t i = 0; i < files.count; i++) {
        const struct command_file *file = &files.all[i];

        origins_add(search->found, file->kind,
                    memory_format("%s/command/%zu", search->pointer, file->word),
                    memory_copy_string(file->path), RUNS);
    }
    memory_free_strings(words);
}

/* The folders in LIST, a variable such as PATH. */
static void origins_add_folders(const struct origin_search *search, const char *name,
                                const char *list)
{
    while (*list) {
        const size_t length = strcspn(list, ":");
        AUTO_FREE char *folder = memory_format("%.*s", (int)length, list);

        if (*folder == '/')
            origins_add(search->found, ORIGIN_FOLDER,
                        memory_format("%s/environment/%s", search->pointer, name),
                        memory_copy_string(folder), RUNS);
        list += length + (list[length] == ':');
    }
}

/* Variables with folders and files in which programs look for code. */
static bool origins_is_code_variable(const char *name)
{
    static const char *const names[] = {"BASH_ENV",      "CLASSPATH", "ENV",        "NODE_PATH",
                                        "PATH",          "PERL5LIB",  "PYTHONHOME", "PYTHONPATH",
                                        "PYTHONSTARTUP", "RUBYLIB"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Relative paths begin in the folder of the program, which is empty. ENV is also the name of other
 * things. */
static bool origins_has_relative(const char *name, const char *list)
{
    if (strcmp(name, "ENV") == 0)
        return false;
    while (*list) {
        const size_t length = strcspn(list, ":");

        if (length > 0 && *list != '/')
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

const char *origins_find_relative(const json_t *definition)
{
    const json_t *variables = json_object_get(definition, "environment");
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)variables, name, value) {
        AUTO(secrets_deinit) struct secrets ignored = {0};
        struct error err = ERROR_INIT;
        AUTO_FREE char *text = origins_is_code_variable(name)
                                   ? secrets_expand(&ignored, json_string_value(value), &err)
                                   : NULL;

        if (text && origins_has_relative(name, text))
            return name;
    }
    return NULL;
}

static void origins_add_variables(const struct origin_search *search, const json_t *variables)
{
    AUTO(secrets_deinit) struct secrets ignored = {0};
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *)variables, name, value) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *text = origins_is_code_variable(name)
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
    static const char http[] = "unix://";
    static const char plain[] = "unix:";
    const char *path = NULL;

    if (address && text_starts_with(address, http))
        path = address + strlen(http);
    else if (address && text_starts_with(address, plain))
        path = address + strlen(plain);
    if (path)
        origins_add(search->found, ORIGIN_FILE, memory_format("%s%s", search->pointer, key),
                    memory_format("%.*s", (int)strcspn(path, "#"), path), ANSWERS);
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
        origins_add(search->found, ORIGIN_PROGRAM, memory_format("%s/0", search->pointer),
                    origins_absolute(search->folder, name), RUNS);
    while (!is_found) {
        const size_t length = strcspn(path, ":");
        AUTO_FREE char *folder = memory_format("%.*s", (int)length, path);
        AUTO_FREE char *start = origins_absolute(search->folder, folder);
        char *file = memory_format("%s/%s", start, name);

        is_found = access(file, X_OK) == 0 || !path[length];
        origins_add(search->found, ORIGIN_PROGRAM, memory_format("%s/0", search->pointer), file,
                    RUNS);
        path += length + 1;
    }
}

/* Files that a launcher is given are its settings and keys, and programs of machines that may have
 * the same files. */
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
            else if (*text == '/' && access(text, F_OK) == 0)
                origins_add(search->found, ORIGIN_FILE, memory_format("%s/%zu", search->pointer, i),
                            memory_copy_string(text), RUNS);
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
        origins_add(origins, ORIGIN_FILE, memory_format("%s/%s", around, key),
                    memory_copy_string(path), harm);
}

/* A script could take the place of a socket, and clients would give it their tokens. */
static void origins_add_listeners(struct origin_search *search, const json_t *tree)
{
    const json_t *address;
    size_t i;

    search->pointer = memory_copy_string("");
    json_array_foreach (json_object_get(tree, "listen"), i, address) {
        AUTO_FREE char *key = memory_format("/listen/%zu", i);

        origins_add_socket(search, key, json_string_value(address));
    }
    origins_add_socket(search, "/admin", json_object_get_string(tree, "admin"));
    free(search->pointer);
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
        origins_add_file(search->found, definition, search->pointer, "dockerfile",
                         "choose what is built");
        free(search->pointer);
    }
}

/* The server's own */

static bool origins_is_descriptor(const char *path)
{
    return text_starts_with(path, "/dev/") || text_starts_with(path, "/proc/");
}

/* Adds the file; without one, the file that would be read if it were there. A configuration that
 * has no name, as from a pipe, is not read again. */
static void origins_add_configuration(struct origins *origins, const struct config *config)
{
    AUTO_FREE char *folder = origins_folder(config);
    const char *path = config_path(config);
    const char *slash = path ? strrchr(path, '/') : NULL;
    char *file = path ? memory_format("%s/%s", folder, slash ? slash + 1 : path) : NULL;

    if (!path)
        file = config_home_path();
    if (file && origins_is_descriptor(file)) {
        AUTO_FREE char *descriptor = file;

        file = realpath(descriptor, NULL);
    }
    if (file && !origins_is_descriptor(file))
        origins_add(origins, ORIGIN_FILE, NULL, file, DECIDES);
    else
        free(file);
}

/* This run has another configuration, or none; the next one may name this file. */
static void origins_add_unused(struct origins *origins, const char *directory)
{
    AUTO_FREE char *path = directory ? memory_format("%s/pyexecd.yaml", directory) : NULL;
    struct stat status;

    if (path && lstat(path, &status) == 0)
        origins_add(origins, ORIGIN_FILE, NULL, STEAL_PTR(path), LATER);
}

static void origins_add_own(struct origins *origins, const struct config *config)
{
    static const char *const programs[] = {COMPANION_RUNNER, COMPANION_CORE,
                                           COMPANION_CONTAINER_INIT, COMPANION_PROXY,
                                           COMPANION_PICTURE};

    origins_add_configuration(origins, config);
    origins_add(origins, ORIGIN_FILE, NULL, realpath("/proc/self/exe", NULL), RUNS);
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        origins_add(origins, ORIGIN_FILE, NULL, companions_find(programs[i]), RUNS);
}

char *origins_folder(const struct config *config)
{
    const char *path = config_path(config);
    char *folder = path ? config_paths_folder(path) : NULL;

    return folder ? folder : memory_copy_string("/");
}

void origins_find(struct origins *ret, const struct config *config,
                  const struct script_places *places, const char *directory)
{
    const json_t *tree = config_tree(config);
    AUTO_FREE char *folder = origins_folder(config);
    AUTO_FREE char *here = realpath(".", NULL);
    struct origin_search search = {.found = ret, .places = places, .folder = folder};

    *ret = (struct origins){0};
    origins_add_own(ret, config);
    origins_add_unused(ret, directory);
    origins_add_listeners(&search, tree);
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
        memory_free_strings(origins->all[i].way);
    }
    free(origins->all);
    *origins = (struct origins){0};
}

bool origin_lies_in(const struct origin *origin, const char *place)
{
    for (char *const *way = origin->way; *way; way++)
        if (real_path_holds(place, *way))
            return true;
    return false;
}

bool origin_is_reached(const struct origin *origin, const char *place)
{
    for (char *const *way = origin->way; *way && origin->kind == ORIGIN_FOLDER; way++)
        if (real_path_holds(*way, place))
            return true;
    return origin_lies_in(origin, place);
}

/* The length of the entry of PLACE in which PATH, which PLACE holds, lies; 0: it is PLACE. */
static size_t origin_entry_length(const char *place, const char *path)
{
    const size_t length = strlen(place) + (place[1] != '\0');

    return strlen(path) > length ? length + strcspn(path + length, "/") : 0;
}

/* The one entry of PLACE through which the way of ORIGIN leads. Owned by the caller; NULL with ERR:
 * it leads through more, or through PLACE itself. */
static char *origin_sole_entry(const struct origin *origin, const char *place, struct error *err)
{
    AUTO_FREE char *entry = NULL;

    for (char *const *way = origin->way; *way; way++) {
        const size_t length = real_path_holds(place, *way) ? origin_entry_length(place, *way) : 0;

        if (!real_path_holds(place, *way) && !real_path_holds(*way, place))
            continue;
        if (length == 0) {
            error_set(err, ERROR_USAGE, "no single entry of %s leads there", place);
            return NULL;
        }
        if (entry && (strlen(entry) != length || strncmp(entry, *way, length) != 0)) {
            error_set(err, ERROR_USAGE, "it is found there by a link, which they can replace");
            return NULL;
        }
        if (!entry)
            entry = memory_format("%.*s", (int)length, *way);
    }
    return STEAL_PTR(entry);
}

/* ERR: why scripts that only read ENTRY could still change ORIGIN. */
static int origin_check_entry(const struct origin *origin, const char *entry, struct error *err)
{
    struct stat status;

    if (lstat(entry, &status) < 0)
        return error_set(err, ERROR_USAGE, "there is no %s yet", entry);
    if (strcmp(strrchr(entry, '/') + 1, SCRIPT_NAME) == 0)
        return error_set(err, ERROR_USAGE, "the server puts the code of calls there");
    if (S_ISDIR(status.st_mode))
        return 0;
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_USAGE, "%s is a link or a socket, which they can replace",
                         entry);
    if (origin->kind != ORIGIN_FILE)
        return error_set(err, ERROR_USAGE,
                         "it may load what they put beside it; give it a folder of its own");
    if (status.st_nlink > 1)
        return error_set(err, ERROR_USAGE,
                         "%s has a second name (a hard link), by which they can write it", entry);
    return 0;
}

char *origin_find_entry(const struct origin *origin, const char *place, struct error *err)
{
    AUTO_FREE char *entry = NULL;

    if (origin->kind == ORIGIN_SOUGHT) {
        error_set(err, ERROR_USAGE,
                  "servers of tools have a PATH without that folder; name it by "
                  "its path");
        return NULL;
    }
    entry = origin_sole_entry(origin, place, err);
    return entry && origin_check_entry(origin, entry, err) == 0 ? STEAL_PTR(entry) : NULL;
}
