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

/* Sources of the environment NAME, and what scripts of OTHER can change. Borrowed. */
struct sandbox_checks_pair {
    const char *name;
    const struct python_origins *sources;
    const char *other;
};

/* Scripts of the other environment can change PLACE. */
static void sandbox_checks_place(struct config *config, const struct sandbox_checks_pair *pair,
                                 const char *place)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *real = real_path_find(text_or_none(place), &ignored);

    for (size_t i = 0; real && i < pair->sources->count; i++) {
        const struct python_origin *source = &pair->sources->all[i];
        AUTO_FREE char *how = python_origin_meet(source, real);
        AUTO_FREE char *why =
            memory_format("%s, where scripts of %s can write: they would change %s of others; keep "
                          "the one outside of the other",
                          text_or_none(how), pair->other, source->harm);

        if (how)
            config_complain(config, why, source->key ? "/environments/%s/%s" : "/environments/%s",
                            pair->name, source->key);
    }
}

/* Looks at all that scripts of DEFINITION, the other one, can change on this machine. */
static void sandbox_checks_pair(struct config *config, const struct sandbox_checks_pair *pair,
                                const json_t *definition)
{
    const char *source;
    const json_t *place;
    json_t *volume;
    size_t i;

    json_array_foreach (json_object_get(definition, "write"), i, place)
        sandbox_checks_place(config, pair, json_string_value(place));
    json_object_foreach (json_object_get(definition, "volumes"), source, volume)
        if (docker_volume_read(source, volume).is_writable)
            sandbox_checks_place(config, pair, source);
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

/* In its own sandbox a Python is refused when a script is to run (sandbox_policy.h). */
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
        json_object_foreach (environments, pair.other, writer)
            if (strcmp(name, pair.other) != 0)
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
    /* The places of a node are on its machines. */
    const bool is_elsewhere = json_object_get(definition, "node");
    const bool can_read =
        is_elsewhere || sandbox_checks_list(config, name, "read", definition, state);
    const bool can_write =
        is_elsewhere || sandbox_checks_list(config, name, "write", definition, state);

    /* Of a container it is the name of a network, and no list. */
    const bool can_reach =
        sandbox_checks_hosts(config, name, json_object_get(definition, "network"));

    return can_read && can_write && can_reach;
}
