#include "server/configuration/sandbox_checks.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/docker/volume.h"
#include "environments/interpreter/python_places.h"
#include "environments/kinds/kinds.h"
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

/* True when PATH lies in WRITTEN. */
static bool sandbox_checks_is_in(const char *path, const char *written)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *place = real_path_find(text_or_none(written), &ignored);
    AUTO_FREE char *real = real_path_find(path, &ignored);

    return place && (real_path_holds(place, path) || (real && real_path_holds(place, real)));
}

/* The place of this machine that scripts of DEFINITION can change and PATH lies in; NULL: none. */
static const char *sandbox_checks_find_write(const json_t *definition, const char *path)
{
    const char *source;
    const json_t *place;
    json_t *volume;
    size_t i;

    json_array_foreach (json_object_get(definition, "write"), i, place)
        if (sandbox_checks_is_in(path, json_string_value(place)))
            return json_string_value(place);
    json_object_foreach (json_object_get(definition, "volumes"), source, volume)
        if (docker_volume_read(source, volume).is_writable && sandbox_checks_is_in(path, source))
            return source;
    return NULL;
}

/* An environment among all ENVIRONMENTS. Borrowed. */
struct sandbox_checks_owner {
    const json_t *environments;
    const char *name;
};

/* PATH is a Python of OWNER: its KEY, or found by name. In its own sandbox it is refused
 * when a script is to run (sandbox_policy.h). */
static void sandbox_checks_python(struct config *config, const struct sandbox_checks_owner *owner,
                                  const char *key, const char *path)
{
    const char *other;
    const json_t *definition;

    json_object_foreach ((json_t *)owner->environments, other, definition) {
        const char *place =
            strcmp(owner->name, other) == 0 ? NULL : sandbox_checks_find_write(definition, path);
        AUTO_FREE char *why =
            memory_format("%s%slies in %s, where scripts of %s can write: they would change the "
                          "Python of others; keep the one outside of the other",
                          key ? "" : path, key ? "" : ", its Python, ", text_or_none(place), other);

        if (place)
            config_complain(config, why, key ? "/environments/%s/%s" : "/environments/%s",
                            owner->name, key);
    }
}

/* The Pythons that are looked at for an environment that names none. */
static void sandbox_checks_found_python(struct config *config,
                                        const struct sandbox_checks_owner *owner,
                                        const char *version)
{
    struct python_places places;

    python_places_find_unnamed(&places, version);
    for (size_t i = 0; i < places.count; i++)
        sandbox_checks_python(config, owner, NULL, places.paths[i]);
    python_places_deinit(&places);
}

void sandbox_checks_pythons(struct config *config, const json_t *root)
{
    static const char *const keys[] = {"venv_path", "python_path", "executable"};
    struct sandbox_checks_owner owner = {.environments = json_object_get(root, "environments")};
    json_t *definition;

    json_object_foreach ((json_t *)owner.environments, owner.name, definition) {
        bool is_named = false;

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
            const char *path = json_object_get_string(definition, keys[i]);

            if (path)
                sandbox_checks_python(config, &owner, keys[i], path);
            is_named |= path != NULL;
        }
        if (!is_named && sandbox_checks_is_here(definition))
            sandbox_checks_found_python(config, &owner,
                                        json_object_get_string(definition, "python_version"));
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
