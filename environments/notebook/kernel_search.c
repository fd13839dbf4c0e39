#include "environments/notebook/kernel_search.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SPEC_BYTES = 64 << 10, /* more is no kernelspec */
    SPEC_PLACES = 16,
};

/* Directories that have `kernels`, in the order of the search. */
struct search_places {
    char *paths[SPEC_PLACES + 1]; /* owned; NULL-terminated */
    size_t count;
};

static void search_places_add(struct search_places *places, char *path /* taken */)
{
    if (places->count < SPEC_PLACES)
        places->paths[places->count++] = path;
    else
        free(path);
}

static void search_places_split(struct search_places *places, const char *list)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");

        if (length > 0)
            search_places_add(places, memory_format("%.*s", (int)length, list));
        list += length + (list[length] == ':');
    }
}

/* That of /venv/bin/python is /venv. */
static char *search_prefix(const char *interpreter)
{
    char *prefix = memory_copy_string(interpreter);

    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');

        if (slash)
            *slash = '\0';
    }
    return prefix;
}

static void search_places_init(struct search_places *places, const struct kernel_search *search)
{
    AUTO_FREE char *prefix = search_prefix(search->interpreter);

    *places = (struct search_places){0};
    search_places_split(places, search->path);
    search_places_add(places, memory_format("%s/share/jupyter", prefix));
    if (*text_or_none(search->data))
        search_places_add(places, memory_copy_string(search->data));
    search_places_add(places, memory_copy_string("/usr/local/share/jupyter"));
    search_places_add(places, memory_copy_string("/usr/share/jupyter"));
}

static void search_places_deinit(struct search_places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free(places->paths[i]);
}

/* The text of the file, owned by the caller; NULL with errno. */
static char *search_read(const char *directory)
{
    AUTO_FREE char *path = memory_format("%s/kernel.json", directory);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    AUTO_FREE char *text = NULL;
    ssize_t length;

    if (fd < 0)
        return NULL;
    text = memory_new(SPEC_BYTES + 1, 1);
    length = read(fd, text, SPEC_BYTES);
    return length < 0 ? NULL : STEAL_PTR(text);
}

static bool search_is_strings(const json_t *array)
{
    const json_t *item;
    size_t i;

    json_array_foreach (array, i, item)
        if (!json_is_string(item))
            return false;
    return json_array_size(array) > 0;
}

static int search_check(const char *text, const char *directory, struct error *err)
{
    AUTO_JSON json_t *tree = json_loads(text, 0, NULL);

    if (search_is_strings(json_object_get(tree, "argv")))
        return 0;
    return error_set(err, ERROR_CONFIG, "%s/kernel.json has no list of strings \"argv\"",
                     directory);
}

/* Adds the names of the kernels in PLACE to LIST, an array of strings. */
static void search_list(const char *place, json_t *list)
{
    AUTO_FREE char *path = memory_format("%s/kernels", place);
    DIR *directory = opendir(path);
    const struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        AUTO_FREE char *file = memory_format("%s/%s/kernel.json", path, entry->d_name);

        if (!text_is_dots(entry->d_name) && access(file, R_OK) == 0)
            json_array_append_new(list, json_string_format("%s", entry->d_name));
    }
    if (directory)
        closedir(directory);
}

static int search_explain(const struct search_places *places, const char *name, struct error *err)
{
    AUTO_JSON json_t *names = json_array();
    AUTO_FREE char *list = NULL;

    for (size_t i = 0; i < places->count; i++)
        search_list(places->paths[i], names);
    list = json_list(names);
    return error_set(err, ERROR_CONFIG,
                     "there is no Jupyter kernel \"%s\" (`jupyter kernelspec list`); there is %s",
                     name, *list ? list : "none");
}

static int search_go(const struct search_places *places, const char *name, struct error *err)
{
    for (size_t i = 0; i < places->count; i++) {
        AUTO_FREE char *directory = memory_format("%s/kernels/%s", places->paths[i], name);
        AUTO_FREE char *text = search_read(directory);

        if (text)
            return search_check(text, directory, err);
    }
    return search_explain(places, name, err);
}

int kernel_search_find(const struct kernel_search *search, const char *name, struct error *err)
{
    struct search_places places;
    int ret;

    search_places_init(&places, search);
    ret = search_go(&places, name, err);
    search_places_deinit(&places);
    return ret;
}

/* The value of NAME, which ends with "=", in VARIABLES; or NULL. */
static const char *kernel_search_variable(char *const *variables, const char *name)
{
    for (; variables && *variables; variables++)
        if (text_starts_with(*variables, name))
            return *variables + strlen(name);
    return NULL;
}

/* Looks for no kernel in a home: the home of a session is its working directory. */
static int kernel_search_in(const struct environment *environment, const char *python,
                            struct error *err)
{
    char *const *variables = environment->settings.variables;
    const struct kernel_search search = {
        .interpreter = python,
        .path = kernel_search_variable(variables, "JUPYTER_PATH="),
        .data = kernel_search_variable(variables, "JUPYTER_DATA_DIR="),
    };

    return kernel_search_find(&search, environment_kernel(environment), err);
}

int kernel_search_check(const struct environment *environment, struct error *err)
{
    AUTO_FREE char *python = NULL;

    if (environment_kernel(environment) && environment->ops->find_python)
        python = environment->ops->find_python(environment);
    return python ? kernel_search_in(environment, python, err) : 0;
}
