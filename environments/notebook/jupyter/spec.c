#include "environments/notebook/jupyter/spec.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

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
struct spec_places {
    char *paths[SPEC_PLACES + 1]; /* owned; NULL-terminated */
    size_t count;
};

static void spec_places_add(struct spec_places *places, char *path /* taken */)
{
    if (places->count < SPEC_PLACES)
        places->paths[places->count++] = path;
    else
        free(path);
}

static void spec_places_split(struct spec_places *places, const char *list)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");

        if (length > 0)
            spec_places_add(places, memory_format("%.*s", (int)length, list));
        list += length + (list[length] == ':');
    }
}

/* That of /venv/bin/python is /venv. */
static char *spec_prefix(const char *interpreter)
{
    char *prefix = memory_copy_string(interpreter);

    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');

        if (slash)
            *slash = '\0';
    }
    return prefix;
}

static void spec_places_init(struct spec_places *places, const struct jupyter_search *search)
{
    AUTO_FREE char *prefix = spec_prefix(search->interpreter);

    *places = (struct spec_places){0};
    spec_places_split(places, search->path);
    spec_places_add(places, memory_format("%s/share/jupyter", prefix));
    if (*text_or_none(search->data))
        spec_places_add(places, memory_copy_string(search->data));
    else if (*text_or_none(search->home))
        spec_places_add(places, memory_format("%s/.local/share/jupyter", search->home));
    spec_places_add(places, memory_copy_string("/usr/local/share/jupyter"));
    spec_places_add(places, memory_copy_string("/usr/share/jupyter"));
}

static void spec_places_deinit(struct spec_places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free(places->paths[i]);
}

/* The text of the file, owned by the caller; NULL with errno. */
static char *spec_read(const char *directory)
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

static bool spec_is_strings(const json_t *array)
{
    const json_t *item;
    size_t i;

    json_array_foreach (array, i, item)
        if (!json_is_string(item))
            return false;
    return json_array_size(array) > 0;
}

static int spec_parse(struct jupyter_spec *spec, const char *text, const char *directory,
                      struct error *err)
{
    AUTO_JSON json_t *tree = json_loads(text, 0, NULL);
    const json_t *arguments = json_object_get(tree, "argv");
    const char *mode = json_object_get_string(tree, "interrupt_mode");
    const json_t *item;
    size_t i;

    if (!spec_is_strings(arguments))
        return error_set(err, ERROR_CONFIG, "%s/kernel.json has no list of strings \"argv\"",
                         directory);
    spec->arguments = memory_new(json_array_size(arguments) + 1, sizeof *spec->arguments);
    json_array_foreach (arguments, i, item)
        spec->arguments[i] = memory_copy_string(json_string_value(item));
    spec->variables = json_incref(json_object_get(tree, "env"));
    spec->directory = memory_copy_string(directory);
    spec->takes_messages = mode && strcmp(mode, "message") == 0;
    return 0;
}

/* Adds the names of the kernels in PLACE to LIST, an array of strings. */
static void spec_list(const char *place, json_t *list)
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

static int spec_explain(const struct spec_places *places, const char *name, struct error *err)
{
    AUTO_JSON json_t *names = json_array();
    AUTO_FREE char *list = NULL;

    for (size_t i = 0; i < places->count; i++)
        spec_list(places->paths[i], names);
    list = json_list(names);
    return error_set(err, ERROR_CONFIG,
                     "there is no Jupyter kernel \"%s\" (`jupyter kernelspec list`); there is %s",
                     name, *list ? list : "none");
}

static int spec_places_search(struct jupyter_spec *spec, const struct spec_places *places,
                              const char *name, struct error *err)
{
    for (size_t i = 0; i < places->count; i++) {
        AUTO_FREE char *directory = memory_format("%s/kernels/%s", places->paths[i], name);
        AUTO_FREE char *text = spec_read(directory);

        if (text)
            return spec_parse(spec, text, directory, err);
    }
    return spec_explain(places, name, err);
}

int jupyter_spec_find(struct jupyter_spec *spec, const struct jupyter_search *search,
                      const char *name, struct error *err)
{
    struct spec_places places;
    int ret;

    *spec = (struct jupyter_spec){0};
    spec_places_init(&places, search);
    ret = spec_places_search(spec, &places, name, err);
    spec_places_deinit(&places);
    return ret;
}

void jupyter_spec_deinit(struct jupyter_spec *spec)
{
    memory_free_strings(spec->arguments);
    json_decref(spec->variables);
    free(spec->directory);
    *spec = (struct jupyter_spec){0};
}

/* TEXT with the first occurrence of each placeholder replaced by its value. Owned by the caller. */
static char *spec_fill(const char *text, const char *const places[][2])
{
    char *filled = memory_copy_string(text);

    for (size_t i = 0; places[i][0]; i++) {
        char *found = strstr(filled, places[i][0]);
        char *longer;

        if (!found)
            continue;
        longer = memory_format("%.*s%s%s", (int)(found - filled), filled, places[i][1],
                               found + strlen(places[i][0]));
        free(filled);
        filled = longer;
    }
    return filled;
}

/* A kernelspec that pip has installed says "python", and means the Python of its environment. */
static bool spec_means_python(const char *program)
{
    return text_starts_with(program, "python") &&
           strspn(program + strlen("python"), "0123456789.") == strlen(program + strlen("python"));
}

char **jupyter_spec_command(const struct jupyter_spec *spec, const char *interpreter,
                            const char *connection)
{
    AUTO_FREE char *prefix = spec_prefix(interpreter);
    const char *const places[][2] = {
        {"{connection_file}", connection},
        {"{resource_dir}", spec->directory},
        {"{prefix}", prefix},
        {NULL, NULL},
    };
    size_t count = 0;
    char **command;

    while (spec->arguments[count])
        count++;
    command = memory_new(count + 1, sizeof *command);
    for (size_t i = 0; i < count; i++)
        command[i] = spec_fill(spec->arguments[i], places);
    if (spec_means_python(command[0])) {
        free(command[0]);
        command[0] = memory_copy_string(interpreter);
    }
    return command;
}
