#include "environments/interpreter/python_places.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/interpreter/search_path.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A directory in which a tool keeps its Pythons. A variable may set it. */
struct keeper {
    const char *variable; /* may be NULL */
    const char *inside;   /* ... and where it then is in it */
    const char *home; /* without: where it is in HOME; or, with a slash, in all of the machine */
};

static const struct keeper keepers[] = {
    {"PYENV_ROOT", "versions/*", ".pyenv/versions/*"},
    {"ASDF_DATA_DIR", "installs/python/*", ".asdf/installs/python/*"},
    {"MISE_DATA_DIR", "installs/python/*", ".local/share/mise/installs/python/*"},
    {"UV_PYTHON_INSTALL_DIR", "*", ".local/share/uv/python/*"},
    {"XDG_DATA_HOME", "uv/python/*", NULL},
    {"CONDA_PREFIX", ".", NULL},
    {NULL, NULL, "miniconda3"},
    {NULL, NULL, "anaconda3"},
    {NULL, NULL, "miniforge3"},
    {NULL, NULL, "mambaforge"},
    {NULL, NULL, "miniconda3/envs/*"},
    {NULL, NULL, "anaconda3/envs/*"},
    {NULL, NULL, "miniforge3/envs/*"},
    {NULL, NULL, "mambaforge/envs/*"},
    {NULL, NULL, "/opt/conda"},
    {NULL, NULL, "/opt/conda/envs/*"},
    {NULL, NULL, "/opt/miniconda3"},
    {NULL, NULL, "/opt/miniconda3/envs/*"},
};

static const char *const usual[] = {"/usr/bin",        "/usr/local/bin", "/opt/homebrew/bin",
                                    "/opt/python/bin", "/opt/*/bin",     "/usr/local/*/bin"};

/* "3.11" of "3.11.7": the version in a program's name. Owned by the caller. */
static char *short_version(const char *version)
{
    const char *dot = strchr(version, '.');
    size_t length = dot ? (size_t)(dot - version) + 1 + strcspn(dot + 1, ".") : strlen(version);

    return strndup(version, length);
}

static bool python_places_is_known(const struct python_places *places, const char *real)
{
    for (size_t i = 0; i < places->count; i++)
        if (strcmp(real, places->real[i]) == 0)
            return true;
    return false;
}

void python_places_add(struct python_places *places, const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);
    const size_t count = places->count;

    if (!real || count == PYTHON_PLACES_MOST || python_places_is_known(places, real) ||
        !search_path_is_program(path))
        return;
    places->paths = memory_resize(places->paths, (count + 1) * sizeof *places->paths);
    places->real = memory_resize(places->real, (count + 1) * sizeof *places->real);
    places->paths[count] = memory_copy_string(path);
    places->real[count] = STEAL_PTR(real);
    places->count++;
}

/* The program NAME wherever PATH has it. */
static void add_from_path(struct python_places *places, const char *name)
{
    for (size_t position = 0; places->count < PYTHON_PLACES_MOST; position++) {
        AUTO_FREE char *path = search_path_find(name, position);

        if (!path)
            return;
        python_places_add(places, path);
    }
}

/* Numbers in names are compared as numbers: 3.9 is older than 3.10. */
static int compare_versions(const void *left, const void *right)
{
    return strverscmp(*(char *const *)left, *(char *const *)right);
}

/* Adds the files that match PATTERN, newest first. */
static void add_matching(struct python_places *places, const char *pattern)
{
    glob_t found;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_versions);
        for (size_t i = found.gl_pathc; i > 0; i--)
            python_places_add(places, found.gl_pathv[i - 1]);
    }
    globfree(&found);
}

/* The directory of KEEPER, a pattern, or NULL. Owned by the caller. */
static char *place_of(const struct keeper *keeper)
{
    const char *root = keeper->variable ? getenv(keeper->variable) : NULL;
    const char *home = getenv("HOME");

    if (root && *root == '/')
        return memory_format("%s/%s", root, keeper->inside);
    if (!keeper->home)
        return NULL;
    if (*keeper->home == '/')
        return memory_copy_string(keeper->home);
    return home && *home == '/' ? memory_format("%s/%s", home, keeper->home) : NULL;
}

/* NAME may be a pattern, too. */
static void add_everywhere(struct python_places *places, const char *name)
{
    if (!strchr(name, '*'))
        add_from_path(places, name);
    for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
        AUTO_FREE char *pattern = memory_format("%s/%s", usual[i], name);

        add_matching(places, pattern);
    }
    for (size_t i = 0; i < ARRAY_SIZE(keepers); i++) {
        AUTO_FREE char *place = place_of(&keepers[i]);
        AUTO_FREE char *pattern = place ? memory_format("%s/bin/%s", place, name) : NULL;

        if (pattern)
            add_matching(places, pattern);
    }
}

void python_places_find(struct python_places *ret, const char *version)
{
    AUTO_FREE char *number = short_version(version);
    AUTO_FREE char *exact = memory_format("python%s", number);

    *ret = (struct python_places){0};
    add_everywhere(ret, exact);
    add_from_path(ret, "python3");
    add_from_path(ret, "python");
    add_everywhere(ret, "python3");
    add_everywhere(ret, "python3.[0-9]*[0-9]");
    add_everywhere(ret, "python3.[0-9]");
}

void python_places_find_unnamed(struct python_places *ret, const char *version)
{
    AUTO_FREE char *first = version ? NULL : search_path_find("python3", 0);

    *ret = (struct python_places){0};
    if (version)
        python_places_find(ret, version);
    else if (first)
        python_places_add(ret, first);
}

void python_places_deinit(struct python_places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free(places->paths[i]);
    for (size_t i = 0; i < places->count; i++)
        free(places->real[i]);
    free(places->paths);
    free(places->real);
    *places = (struct python_places){0};
}
