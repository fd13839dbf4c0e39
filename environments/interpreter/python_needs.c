#include "environments/interpreter/python_needs.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/needed_paths.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ACCOUNTS "/etc/passwd"

enum {
    PATHS_MOST = 512,
    HOMES_MOST = 4096,
    LINKS_MOST = 40, /* on the way of one path, as for the kernel */
};

/* The paths found so far. */
struct python_needs {
    struct needed_path *paths; /* owned, as are the strings */
    size_t count;
};

/* A path on its way. */
struct link_walk {
    char *real;     /* owned; as far as it was walked, without links; "" is the root */
    char *rest;     /* owned; the rest of the way */
    unsigned links; /* that were followed */
};

static void python_needs_add(struct python_needs *needs, const char *path, bool is_directory)
{
    if (needs->count == PATHS_MOST)
        return;
    needs->paths = memory_resize(needs->paths, (needs->count + 1) * sizeof *needs->paths);
    needs->paths[needs->count++] = (struct needed_path){memory_copy_string(path), is_directory};
}

/* The walk */

static void link_walk_deinit(struct link_walk *walk)
{
    free(walk->real);
    free(walk->rest);
}

/* Goes on at REAL with REST; both are taken. */
static void link_walk_go_on(struct link_walk *walk, char *real, char *rest)
{
    link_walk_deinit(walk);
    walk->real = real;
    walk->rest = rest;
}

/* The directory around PATH; "" for the root. Owned by the caller. */
static char *directory_around(const char *path)
{
    const char *slash = strrchr(path, '/');

    return memory_format("%.*s", slash ? (int)(slash - path) : 0, path);
}

/* The next part is at PATH, behind it comes AFTER. False when nothing is there. */
static bool link_walk_look(struct link_walk *walk, struct python_needs *needs, const char *path,
                           const char *after)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target);

    if (length < 0 && errno != EINVAL)
        return false;
    if (length < 0) {
        link_walk_go_on(walk, memory_copy_string(path), memory_copy_string(after));
        return true;
    }
    if ((size_t)length + strlen(after) >= sizeof target || walk->links++ == LINKS_MOST)
        return false;
    python_needs_add(needs, path, false);
    link_walk_go_on(walk, memory_copy_string(target[0] == '/' ? "" : walk->real),
                    memory_format("%.*s%s", (int)length, target, after));
    return true;
}

/* Walks the next part of the rest. */
static bool link_walk_step(struct link_walk *walk, struct python_needs *needs)
{
    const char *name = walk->rest + strspn(walk->rest, "/");
    const size_t length = strcspn(name, "/");
    AUTO_FREE char *after = memory_copy_string(name + length);
    AUTO_FREE char *path = memory_format("%s/%.*s", walk->real, (int)length, name);

    if (length == 0 || (length == 1 && name[0] == '.')) {
        link_walk_go_on(walk, memory_copy_string(walk->real), STEAL_PTR(after));
        return true;
    }
    if (length == 2 && strncmp(name, "..", 2) == 0) {
        link_walk_go_on(walk, directory_around(walk->real), STEAL_PTR(after));
        return true;
    }
    return strlen(path) < PATH_MAX && link_walk_look(walk, needs, path, after);
}

/* Adds the links on the way of PATH, and returns where it leads; NULL when that is nowhere. Owned
 * by the caller. */
static char *python_needs_walk(struct python_needs *needs, const char *path)
{
    AUTO(link_walk_deinit)
    struct link_walk walk = {memory_copy_string(""), memory_copy_string(path), 0};

    while (*walk.rest)
        if (!link_walk_step(&walk, needs))
            return NULL;
    return memory_copy_string(*walk.real ? walk.real : "/");
}

/* The paths of a Python */

static bool is_plain_path(const char *path)
{
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return path[0] == '/' && strlen(path) < PATH_MAX;
}

static void add_directory(struct python_needs *needs, const char *path)
{
    AUTO_FREE char *real = is_plain_path(path) ? python_needs_walk(needs, path) : NULL;
    struct stat status;

    if (real && lstat(real, &status) == 0 && S_ISDIR(status.st_mode))
        python_needs_add(needs, real, true);
}

static void add_file(struct python_needs *needs, const char *path)
{
    AUTO_FREE char *real = python_needs_walk(needs, path);
    struct stat status;

    if (real && lstat(real, &status) == 0 && S_ISREG(status.st_mode))
        python_needs_add(needs, real, false);
}

/* The virtual environment of EXECUTABLE, if it is in one: an interpreter without site does not know
 * of it. Adds its parts, too: its directory is not shown if it is a home, or /venv. */
static void add_virtual_environment(struct python_needs *needs, const char *executable)
{
    static const char *const parts[] = {"bin", "include", "lib", "lib64"};
    AUTO_FREE char *bin = directory_around(executable);
    AUTO_FREE char *venv = directory_around(bin);
    AUTO_FREE char *configuration = memory_format("%s/pyvenv.cfg", venv);

    if (access(configuration, F_OK) < 0)
        return;
    add_file(needs, configuration);
    add_directory(needs, venv);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        AUTO_FREE char *part = memory_format("%s/%s", venv, parts[i]);

        add_directory(needs, part);
    }
}

/* Homes */

static void add_home(char ***homes, size_t *count, char *home)
{
    size_t length = strlen(home);

    while (length > 1 && home[length - 1] == '/')
        home[--length] = '\0';
    *homes = memory_resize(*homes, (*count + 2) * sizeof **homes);
    (*homes)[(*count)++] = home;
    (*homes)[*count] = NULL;
}

/* The homes in the file of accounts. A directory service may have more, but takes time to answer,
 * and the usual place of its homes is known (needed_paths.c). For memory_free_strings. */
static char **find_homes(void)
{
    const char *own = getenv("HOME");
    char *real = own ? realpath(own, NULL) : NULL;
    FILE *accounts = fopen(ACCOUNTS, "re");
    const struct passwd *account;
    char **homes = NULL;
    size_t count = 0;

    add_home(&homes, &count, memory_copy_string("/root"));
    if (own && *own == '/')
        add_home(&homes, &count, memory_copy_string(own));
    if (real)
        add_home(&homes, &count, real);
    while (accounts && count < HOMES_MOST && (account = fgetpwent(accounts)))
        if (account->pw_dir[0] == '/')
            add_home(&homes, &count, memory_copy_string(account->pw_dir));
    if (accounts)
        fclose(accounts);
    return homes;
}

static char **reduce(const struct python_needs *needs, const char *state)
{
    char **homes = find_homes();
    AUTO_FREE char *real = state ? realpath(state, NULL) : NULL;
    char **reduced = needed_paths_reduce(needs->paths, needs->count,
                                         &(struct needed_paths_setting){
                                             .homes = (const char *const *)homes,
                                             .state = real,
                                         });

    memory_free_strings(homes);
    return reduced;
}

static void python_needs_deinit(struct python_needs *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        free(needs->paths[i].path);
    free(needs->paths);
}

char **python_needs_follow(const char *path)
{
    AUTO(python_needs_deinit) struct python_needs needs = {0};
    char **paths;

    if (is_plain_path(path)) {
        add_file(&needs, path);
        add_directory(&needs, path);
    }
    paths = memory_new(needs.count + 1, sizeof *paths);
    for (size_t i = 0; i < needs.count; i++)
        paths[i] = memory_copy_string(needs.paths[i].path);
    return paths;
}

char **python_needs_find(const char *executable, const char *const *directories, const char *state)
{
    AUTO(python_needs_deinit) struct python_needs needs = {0};

    add_file(&needs, executable);
    add_virtual_environment(&needs, executable);
    for (size_t i = 0; directories && directories[i] && i < PYTHON_DIRECTORIES_MOST; i++)
        add_directory(&needs, directories[i]);
    return reduce(&needs, state);
}

json_t *python_directories_to_json(char *const *directories)
{
    json_t *json = directories ? json_array() : NULL;

    for (size_t i = 0; directories && directories[i]; i++)
        json_array_append_new(json, json_string_repaired(directories[i], strlen(directories[i])));
    return json;
}

char **python_directories_from_json(const json_t *json)
{
    const size_t count = json_array_size(json);
    char **directories;

    if (!json_is_array(json) || count > PYTHON_DIRECTORIES_MOST)
        return NULL;
    directories = memory_new(count + 1, sizeof *directories);
    for (size_t i = 0; i < count; i++) {
        const char *directory = json_string_value(json_array_get(json, i));

        if (!directory) {
            memory_free_strings(directories);
            return NULL;
        }
        directories[i] = memory_copy_string(directory);
    }
    return directories;
}
