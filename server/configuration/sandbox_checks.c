#include "server/configuration/sandbox_checks.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/docker/volume.h"
#include "environments/interpreter/python_places.h"
#include "environments/kinds/kinds.h"
#include "environments/python_origins.h"
#include "environments/real_path.h"
#include "environments/sandbox_settings.h"
#include "server/configuration/config.h"
#include "server/configuration/yaml_tree.h"

#include <string.h>

/* A container has keys of its own, some with these names. */
static bool sandbox_checks_is_here(const json_t *definition)
{
    const struct environment_kind *kind = environment_kinds_find(definition);

    return kind && kind->isolation == ISOLATION_NONE;
}

static void sandbox_checks_environment(struct config *config, const char *name,
                                       const json_t *definition)
{
    static const char *const keys[] = {"require", "network", "read", "write", "devices"};
    AUTO_FREE char *pointer = yaml_pointer("/environments", name);

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (json_object_get(definition, keys[i]))
            config_complain(config, "is for a sandbox, and there is none with isolation: none",
                            "%s/%s", pointer, keys[i]);
}

void sandbox_checks_keys(struct config *config, const json_t *root)
{
    const char *name;
    json_t *definition;

    json_object_foreach (json_object_get(root, "environments"), name, definition)
        if (sandbox_checks_is_here(definition) && !sandbox_settings_are_wanted(definition))
            sandbox_checks_environment(config, name, definition);
}

/* Sources of the environment NAME, and what scripts of WRITER can change. Borrowed. */
struct sandbox_checks_pair {
    const char *name;
    const struct python_origins *sources;
    const char *writer;
};

/* Scripts may write beside the packages of their own Python, and what it is installed from. */
static char *sandbox_checks_meet(const struct sandbox_checks_pair *pair,
                                 const struct python_origin *source, const char *place)
{
    if (strcmp(pair->name, pair->writer) != 0)
        return python_origin_meet(source, place);
    return source->is_python ? python_origin_lie(source, place) : NULL;
}

/* Scripts of the writer can change PLACE, a real path; NULL: there is none. */
static void sandbox_checks_place(struct config *config, const struct sandbox_checks_pair *pair,
                                 const char *place)
{
    for (size_t i = 0; place && i < pair->sources->count; i++) {
        const struct python_origin *source = &pair->sources->all[i];
        AUTO_FREE char *how = sandbox_checks_meet(pair, source, place);
        AUTO_FREE char *why =
            memory_format("%s, where scripts of %s can write: they would change %s of others; keep "
                          "the one outside of the other",
                          text_or_none(how), pair->writer, source->harm);

        if (how)
            config_complain(config, why, source->key ? "/environments/%s/%s" : "/environments/%s",
                            pair->name, source->key);
    }
}

/* Looks at all that scripts of DEFINITION, the writer's, can change on this machine. What no
 * sandbox may write is complained about by itself. */
static void sandbox_checks_pair(struct config *config, const struct sandbox_checks_pair *pair,
                                const json_t *definition)
{
    const char *source;
    const json_t *place;
    struct error ignored = ERROR_INIT;
    json_t *volume;
    size_t i;

    json_array_foreach (json_object_get(definition, "write"), i, place) {
        const char *path = text_or_none(json_string_value(place));
        AUTO_FREE char *real = sandbox_settings_resolve(path, "write", NULL, &ignored);

        sandbox_checks_place(config, pair, real);
    }
    json_object_foreach (json_object_get(definition, "volumes"), source, volume) {
        AUTO_FREE char *real = real_path_find(source, &ignored);

        if (docker_volume_read(source, volume).is_writable)
            sandbox_checks_place(config, pair, real);
    }
}

/* Sources that are found by their names count, too. */
static void sandbox_checks_find_sources(struct python_origins *ret, const json_t *definition)
{
    struct python_places places;

    *ret = (struct python_origins){0};
    if (python_origins_add_named(ret, definition) || !sandbox_checks_is_here(definition))
        return;
    python_places_find_unnamed(&places, json_object_get_string(definition, "python_version"));
    python_origins_add_found(ret, &places);
    python_places_deinit(&places);
}

/* What a Python turns out to need besides is refused when a script is to run (sandbox_policy.h). */
void sandbox_checks_pythons(struct config *config, const json_t *root)
{
    json_t *environments = json_object_get(root, "environments");
    const char *name;
    json_t *definition;

    json_object_foreach (environments, name, definition) {
        struct python_origins sources;
        struct sandbox_checks_pair pair = {.name = name, .sources = &sources};
        json_t *writer;

        sandbox_checks_find_sources(&sources, definition);
        json_object_foreach (environments, pair.writer, writer)
            sandbox_checks_pair(config, &pair, writer);
        python_origins_deinit(&sources);
    }
}

void sandbox_checks_wrong_places(struct config *config, const json_t *root)
{
    static const char *const keys[] = {"isolation", "require", "network",
                                       "read",      "write",   "devices"};
    static const char instead[] = "is not a key; isolation: sandbox in an environment makes one";
    const char *name;
    json_t *definition;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (json_object_get(root, keys[i]))
            config_complain(config,
                            "is a key of an environment: write it below environments, in each one "
                            "that it is for",
                            "/%s", keys[i]);
    if (json_object_get(root, "sandbox"))
        config_complain(config, instead, "/sandbox");
    json_object_foreach (json_object_get(root, "environments"), name, definition) {
        AUTO_FREE char *pointer = yaml_pointer("/environments", name);

        if (json_object_get(definition, "sandbox"))
            config_complain(config, instead, "%s/sandbox", pointer);
    }
}

static bool sandbox_checks_list(struct config *config, const char *name, const char *key,
                                const json_t *definition, const char *state)
{
    const json_t *list = json_object_get(definition, key);
    bool is_right = true;
    const json_t *path;
    size_t i;

    json_array_foreach (list, i, path) {
        struct error err = ERROR_INIT;
        AUTO_FREE char *real = sandbox_settings_resolve(json_string_value(path), key, state, &err);

        if (real)
            continue;
        /* Names are of letters that a JSON Pointer need not escape. */
        config_complain(config, err.message, "/environments/%s/%s/%zu", name, key, i);
        is_right = false;
    }
    return is_right;
}

static bool sandbox_checks_hosts(struct config *config, const char *name, const json_t *list)
{
    bool is_right = true;
    const json_t *host;
    size_t i;

    json_array_foreach (list, i, host) {
        struct error err = ERROR_INIT;

        if (sandbox_settings_check_host(json_string_value(host), &err) == 0)
            continue;
        config_complain(config, err.message, "/environments/%s/network/%zu", name, i);
        is_right = false;
    }
    return is_right;
}

bool sandbox_checks_places(struct config *config, const char *name, const json_t *definition,
                           const char *state)
{
    const bool can_read = sandbox_checks_list(config, name, "read", definition, state);
    const bool can_write = sandbox_checks_list(config, name, "write", definition, state);

    /* Of a container it is the name of a network, and no list. */
    const bool can_reach =
        sandbox_checks_hosts(config, name, json_object_get(definition, "network"));

    return can_read && can_write && can_reach;
}
