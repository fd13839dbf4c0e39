#include "environments/python_origins.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/python_places.h"
#include "environments/interpreter/search_path.h"
#include "environments/real_path.h"

#include <stdlib.h>
#include <string.h>

#define THE_PYTHON "a part of its Python", "the Python"
#define NO_PYTHON  "a part of it"

/* A key that names one. */
struct source_key {
    const char *key;
    const char *part;
    const char *harm;
    const char *program; /* of a Python: where it is in what the key names; else NULL */
    bool has_context;    /* the directory around it is used, too */
};

static const struct source_key source_keys[] = {
    {"venv_path", THE_PYTHON, "/bin/python"},
    {"python_path", THE_PYTHON, ""},
    {"executable", THE_PYTHON, ""},
    {"pip_find_links", NO_PYTHON, "the packages", NULL},
    {"requirements_file", NO_PYTHON, "the packages", NULL},
    {"functions", NO_PYTHON, "the functions", NULL},
    {"dockerfile", "its build context", "the image", NULL, .has_context = true},
};

static size_t count_parts(char *const *strings)
{
    size_t count = 0;

    while (strings && strings[count])
        count++;
    return count;
}

/* Appends MORE, which is taken. */
static void python_origin_add_parts(struct python_origin *source, char **more)
{
    const size_t count = count_parts(source->parts);
    const size_t added = count_parts(more);

    source->parts = memory_resize(source->parts, (count + added + 1) * sizeof *source->parts);
    memcpy(source->parts + count, more, (added + 1) * sizeof *more);
    free(more);
}

/* The directory of a Dockerfile is sent to the engine. */
static void python_origin_add_context(struct python_origin *source)
{
    const char *slash = strrchr(source->path, '/');
    AUTO_FREE char *directory =
        slash ? memory_format("%.*s", (int)(slash - source->path), source->path) : NULL;

    if (directory)
        python_origin_add_parts(source, python_needs_way(*directory ? directory : "/"));
}

/* What KEY describes is at PATH. */
static void python_origins_add(struct python_origins *sources, const struct source_key *key,
                               const char *path)
{
    AUTO_FREE char *program = key->program ? memory_format("%s%s", path, key->program) : NULL;
    struct python_origin *source;

    sources->all = memory_resize(sources->all, (sources->count + 1) * sizeof *sources->all);
    source = &sources->all[sources->count++];
    *source = (struct python_origin){
        .key = key->key,
        .part = key->part,
        .harm = key->harm,
        .path = memory_copy_string(path),
    };
    python_origin_add_parts(source, python_needs_way(path));
    source->way = count_parts(source->parts);
    if (program)
        python_origin_add_parts(source, python_needs_guess(program));
    if (key->has_context)
        python_origin_add_context(source);
}

bool python_origins_add_named(struct python_origins *sources, const json_t *definition)
{
    bool has_python = false;

    for (size_t i = 0; i < ARRAY_SIZE(source_keys); i++) {
        const struct source_key *key = &source_keys[i];
        const char *path = json_object_get_string(definition, key->key);
        AUTO_FREE char *program =
            path && key->program ? memory_format("%s%s", path, key->program) : NULL;

        if (path)
            python_origins_add(sources, key, path);
        /* A venv that is not there yet is made from another Python. */
        has_python |= program && (!*key->program || search_path_is_program(program));
    }
    return has_python;
}

void python_origins_add_found(struct python_origins *sources, const struct python_places *places)
{
    static const struct source_key found = {NULL, THE_PYTHON, ""};

    for (size_t i = 0; i < places->count; i++)
        python_origins_add(sources, &found, places->paths[i]);
}

void python_origins_deinit(struct python_origins *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->all[i].path);
        memory_free_strings(sources->all[i].parts);
    }
    free(sources->all);
    *sources = (struct python_origins){0};
}

static char *python_origin_tell(const struct python_origin *source, size_t i, const char *place)
{
    const char *part = source->parts[i];
    const char *how = real_path_holds(place, part) ? "lies in" : "holds";

    if (i >= source->way)
        return memory_format("%s, %s, %s %s", part, source->part, how, place);
    if (!source->key)
        return memory_format("%s, its Python, %s %s", source->path, how, place);
    return memory_format("%s %s", how, place);
}

char *python_origin_meet(const struct python_origin *source, const char *place)
{
    for (size_t i = 0; source->parts[i]; i++)
        if (real_path_holds(place, source->parts[i]) || real_path_holds(source->parts[i], place))
            return python_origin_tell(source, i, place);
    return NULL;
}
