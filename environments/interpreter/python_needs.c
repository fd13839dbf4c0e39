#include "environments/interpreter/python_needs.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/interpreter/needed_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define ACCOUNTS "/etc/passwd"

enum {
    PATHS_MOST = 512,
    HOMES_MOST = 4096,
    LINKS_MOST = 40,        /* on the way of one path, as for the kernel */
    SETTINGS_BYTES = 65536, /* of a pyvenv.cfg */
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

/* True when PATH leads into DIRECTORY. */
static bool leads_into(const char *path, const char *directory)
{
    AUTO_FREE char *real = realpath(path, NULL);
    AUTO_FREE char *around = realpath(directory, NULL);
    const size_t length = around ? strlen(around) : 0;

    return real && around && strncmp(real, around, length) == 0 && real[length] == '/';
}

/* The virtual environment of EXECUTABLE, if it is in one: an interpreter without site does not know
 * of it. Adds its parts, too: its directory is not shown if it is a home, or /venv. Code of
 * packages, which may run while they are built, can have made a part a link to anywhere. */
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

        if (leads_into(part, venv))
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

/* The paths of NEEDS as they are, for memory_free_strings. */
static char **python_needs_copy(const struct python_needs *needs)
{
    char **paths = memory_new(needs->count + 1, sizeof *paths);

    for (size_t i = 0; i < needs->count; i++)
        paths[i] = memory_copy_string(needs->paths[i].path);
    return paths;
}

char **python_needs_follow(const char *path)
{
    AUTO(python_needs_deinit) struct python_needs needs = {0};

    if (is_plain_path(path)) {
        add_file(&needs, path);
        add_directory(&needs, path);
    }
    return python_needs_copy(&needs);
}

/* Parts */

/* Adds the links on the way of PATH and where it leads, which may be missing. */
static void add_way(struct python_needs *needs, const char *path)
{
    AUTO(link_walk_deinit)
    struct link_walk walk = {memory_copy_string(""), memory_copy_string(path), 0};
    AUTO_FREE char *end = NULL;

    while (*walk.rest && link_walk_step(&walk, needs))
        ;
    end =
        memory_format("%s%s%s", walk.real, *walk.rest == '/' || !*walk.rest ? "" : "/", walk.rest);
    python_needs_add(needs, *end ? end : "/", true);
}

static bool has_library(const char *prefix)
{
    AUTO_FREE char *pattern = memory_format("%s/lib*/python3*/os.py", prefix);
    glob_t found;
    const bool is_there = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return is_there;
}

/* Adds the places where a Python in DIRECTORY looks for its library: there, and in each directory
 * above until it finds one. */
static void add_libraries(struct python_needs *needs, const char *directory)
{
    AUTO_FREE char *prefix = memory_copy_string(directory);

    for (bool is_last = false; !is_last;) {
        AUTO_FREE char *inner = prefix;
        AUTO_FREE char *lib = memory_format("%s/lib", inner);
        AUTO_FREE char *lib64 = memory_format("%s/lib64", inner);

        add_way(needs, lib);
        add_way(needs, lib64);
        is_last = *inner == '\0' || has_library(inner);
        prefix = directory_around(inner);
    }
}

/* Adds the Python that LINE of a pyvenv.cfg names: "home = /usr/bin". */
static void add_home_line(struct python_needs *needs, char *line)
{
    char *home = strchr(line, '=');
    size_t length;

    line += strspn(line, " \t");
    if (!home || strncasecmp(line, "home", 4) != 0 || line + 4 + strspn(line + 4, " \t") != home)
        return;
    home += 1 + strspn(home + 1, " \t");
    length = strlen(home);
    while (length > 0 && strchr(" \t\r/", home[length - 1]))
        home[--length] = '\0';
    if (*home != '/')
        return;
    add_way(needs, home);
    add_libraries(needs, home);
}

/* Owned by the caller; NULL: there is none. */
static char *read_pyvenv_cfg(const char *path)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *real = realpath(path, NULL);
    size_t length;

    return real ? untrusted_read(AT_FDCWD, real, SETTINGS_BYTES, &length, &ignored) : NULL;
}

/* Adds the pyvenv.cfg in DIRECTORY, which may be missing, and, if it is there, the venv that it
 * makes of DIRECTORY. */
static void add_settings(struct python_needs *needs, const char *directory)
{
    static const char *const parts[] = {"bin", "include", "lib", "lib64"};
    AUTO_FREE char *path = memory_format("%s/pyvenv.cfg", directory);
    AUTO_FREE char *text = read_pyvenv_cfg(path);
    char *rest = text;

    add_way(needs, path);
    if (access(path, F_OK) < 0)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        AUTO_FREE char *part = memory_format("%s/%s", directory, parts[i]);

        add_way(needs, part);
    }
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        add_home_line(needs, line);
}

char **python_needs_way(const char *path)
{
    AUTO(python_needs_deinit) struct python_needs needs = {0};

    if (is_plain_path(path))
        add_way(&needs, path);
    return python_needs_copy(&needs);
}

char **python_needs_guess(const char *program)
{
    AUTO(python_needs_deinit) struct python_needs needs = {0};
    AUTO_FREE char *bin = directory_around(program);
    AUTO_FREE char *around = directory_around(bin);
    AUTO_FREE char *real = realpath(program, NULL);
    AUTO_FREE char *real_bin = real ? directory_around(real) : NULL;

    if (is_plain_path(program)) {
        add_way(&needs, program);
        add_settings(&needs, bin);
        add_settings(&needs, around);
    }
    if (real_bin)
        add_libraries(&needs, real_bin);
    return python_needs_copy(&needs);
}

char **python_needs_find(const char *executable, const char *const *directories, const char *state)
{
    return python_needs_find_with_parent(executable, NULL, directories, state);
}

char **python_needs_find_with_parent(const char *executable, const char *parent,
                                     const char *const *directories, const char *state)
{
    AUTO(python_needs_deinit) struct python_needs needs = {0};

    add_file(&needs, executable);
    add_virtual_environment(&needs, executable);
    if (parent) {
        add_file(&needs, parent);
        add_virtual_environment(&needs, parent);
    }
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
