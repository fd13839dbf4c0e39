#include "environments/callers/caller_check.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/text.h"
#include "environments/callers/definition_schema.h"
#include "environments/real_path.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void caller_check_refuse(struct caller_check *check, const char *key, const char *format, ...)
{
    AUTO_FREE char *message = NULL;
    AUTO_FREE char *misfit = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = memory_format_list(format, arguments);
    va_end(arguments);
    misfit = memory_format(CALLER_ARGUMENT ".%s: %s", key, message);
    misfits_add(&check->misfits, misfit);
}

/* Paths */

static bool is_allowed(const struct caller_rules *rules, const char *real)
{
    const json_t *directory;
    size_t i;

    json_array_foreach (rules->allowed_paths, i, directory)
        if (real_path_is_in(real, json_string_value(directory)))
            return true;
    return false;
}

/* A missing path is refused in the same words as a path outside of the allowed directories, so that
 * calls cannot find out which files exist there. */
static void refuse_path(struct caller_check *check, const char *key, const char *path)
{
    const json_t *allowed = check->rules->allowed_paths;
    AUTO_FREE char *list = json_list(allowed);

    if (*path != '/')
        caller_check_refuse(check, key, "\"%s\" must be an absolute path", path);
    else if (json_array_size(allowed) == 0)
        caller_check_refuse(
            check, key,
            "\"%s\" cannot be used: callers.allowed_paths is empty; the operator can "
            "list directories there: allowed_paths: [/DIRECTORY]",
            path);
    else
        caller_check_refuse(
            check, key, "\"%s\" does not lead into one of callers.allowed_paths (%s)", path, list);
}

/* The real path of PATH, which is added to the paths that were checked. NULL when it is refused.
 * Owned by the caller. */
static char *caller_check_resolve(struct caller_check *check, const char *key, const char *path)
{
    struct error err = ERROR_INIT;
    AUTO_FREE char *real = real_path_find(path, &err);

    if (!real || !is_allowed(check->rules, real)) {
        refuse_path(check, key, path);
        return NULL;
    }
    json_array_append_new(check->result->paths, json_string(real));
    return STEAL_PTR(real);
}

static char *resolve_existing(struct caller_check *check, const char *key, const char *path)
{
    AUTO_FREE char *real = caller_check_resolve(check, key, path);

    if (!real || access(real, F_OK) == 0)
        return STEAL_PTR(real);
    caller_check_refuse(check, key, "there is no \"%s\"", path);
    return NULL;
}

static void caller_check_set_path(struct caller_check *check, const char *key, const char *real)
{
    if (real)
        json_object_set_new(check->result->definition, key, json_string(real));
}

void caller_check_new_path(struct caller_check *check, const char *key, json_t *value)
{
    AUTO_FREE char *real = caller_check_resolve(check, key, json_string_value(value));

    caller_check_set_path(check, key, real);
}

void caller_check_path(struct caller_check *check, const char *key, json_t *value)
{
    AUTO_FREE char *real = resolve_existing(check, key, json_string_value(value));

    caller_check_set_path(check, key, real);
}

/* The directory that has PATH, if that is the Python of a virtual environment, by any of its names:
 * a real path. NULL: it is none. Owned by the caller. */
static char *caller_check_find_venv(const char *path)
{
    const char *name = strrchr(path, '/');
    AUTO_FREE char *directory = memory_format("%.*s", name ? (int)(name - path) : 0, path);
    AUTO_FREE char *real = realpath(directory, NULL);
    AUTO_FREE char *mark = memory_format("%s/../pyvenv.cfg", text_or_none(real));
    AUTO_FREE char *python = memory_format("%s/python", text_or_none(real));
    AUTO_FREE char *own = realpath(python, NULL);
    AUTO_FREE char *named = realpath(path, NULL);

    if (!real || *path != '/' || access(mark, F_OK) < 0 || !own || !named ||
        strcmp(own, named) != 0)
        return NULL;
    return STEAL_PTR(real);
}

/* A virtual environment has to be allowed as for venv_path. Its Python is a link, which stays: the
 * packages are found by the place of the link. */
void caller_check_executable(struct caller_check *check, const char *key, json_t *value)
{
    const char *path = json_string_value(value);
    AUTO_FREE char *venv = caller_check_find_venv(path);

    if (!venv) {
        caller_check_path(check, key, value);
    } else if (!is_allowed(check->rules, venv)) {
        refuse_path(check, key, path);
    } else {
        json_array_append_new(check->result->paths, json_string(venv));
        json_object_set_new(check->result->definition, key, json_string_format("%s/python", venv));
    }
}

void caller_check_volumes(struct caller_check *check, const char *key, json_t *value)
{
    json_t *volumes = json_object();
    const char *path;
    json_t *target;

    json_object_foreach (value, path, target) {
        AUTO_FREE char *real = resolve_existing(check, key, path);

        if (real && json_object_get(volumes, real))
            caller_check_refuse(check, key, "\"%s\" is the same as another one of them", path);
        else if (real)
            json_object_set(volumes, real, target);
    }
    json_object_set_new(check->result->definition, key, volumes);
}

/* Images */

static bool is_allowed_image(const struct caller_rules *rules,
                             const struct image_reference *reference)
{
    for (size_t i = 0; i < json_array_size(rules->allowed_images); i++)
        if (image_reference_matches(reference, &rules->patterns[i]))
            return true;
    return false;
}

void caller_check_image(struct caller_check *check, const char *key, json_t *value)
{
    const struct caller_rules *rules = check->rules;
    AUTO_FREE char *list = json_list(rules->allowed_images);
    AUTO_FREE char *full = NULL;
    struct image_reference reference;
    struct error err = ERROR_INIT;

    if (image_reference_parse(&reference, json_string_value(value), &err) < 0) {
        caller_check_refuse(check, key, "%s", err.message);
        return;
    }
    full = image_reference_text(&reference);
    if (json_array_size(rules->allowed_images) == 0)
        caller_check_refuse(check, key, "\"%s\" cannot be used: callers.allowed_images is empty",
                            json_string_value(value));
    else if (!is_allowed_image(rules, &reference))
        caller_check_refuse(check, key, "\"%s\" is not among callers.allowed_images (%s)",
                            json_string_value(value), list);
    else
        json_object_set_new(check->result->definition, key, json_string(full));
    image_reference_deinit(&reference);
}

/* Packages, variables, networks */

void caller_check_packages(struct caller_check *check, const char *key, json_t *value)
{
    const json_t *package;
    size_t i;

    json_array_foreach (value, i, package)
        if (strchr(json_string_value(package), ';'))
            caller_check_refuse(check, key,
                                "\"%s\": a call gives a name, extras and versions, and no marker",
                                json_string_value(package));
}

/* Only the operator sets variables that control Python or installers. */
void caller_check_variables(struct caller_check *check, const char *key, json_t *value)
{
    static const char *const prefixes[] = {"PYTHON", "PIP_", "UV_"};
    const char *name;
    json_t *text;

    json_object_foreach (value, name, text)
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
            if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
                caller_check_refuse(check, key,
                                    "%s: only the operator can set variables that begin with %s",
                                    name, prefixes[i]);
}

void caller_check_network(struct caller_check *check, const char *key, json_t *value)
{
    if (!json_is_string(value) || strcmp(json_string_value(value), "none") != 0)
        caller_check_refuse(check, key, "only the operator can give an environment a network");
}

/* Limits */

void caller_check_time(struct caller_check *check, const char *key, json_t *value)
{
    const double most = check->rules->settings.max_timeout;

    if (json_number_value(value) > most)
        caller_check_refuse(check, key,
                            "%g seconds is more than the server's max_timeout, which is %g",
                            json_number_value(value), most);
}

void caller_check_startup(struct caller_check *check, const char *key, json_t *value)
{
    const double most = json_number_value(definition_schema_default(check->schema, key));

    if (json_number_value(value) > most)
        caller_check_refuse(check, key, "%g seconds is more than a call can ask for, which is %g",
                            json_number_value(value), most);
}

static void caller_check_setting(struct caller_check *check,
                                 const struct environment_setting *setting, const json_t *limits)
{
    const double most = environment_setting_number(setting, &check->rules->settings);
    const json_t *value = json_object_get(limits, setting->key);
    AUTO_FREE char *text =
        setting->kind == SETTING_BYTES ? quantity_bytes((uint64_t)most) : memory_format("%g", most);

    /* A size that is still a text is beyond what a number holds. */
    if (json_is_string(value) || json_number_value(value) > most)
        caller_check_refuse(check, setting->section, "%s is more than the server's, which is %s",
                            setting->key, text);
}

void caller_check_limits(struct caller_check *check, const char *key, json_t *value)
{
    const struct environment_setting *setting;

    for (size_t i = 0; (setting = environment_setting_at(i)); i++)
        if (setting->section && strcmp(setting->section, key) == 0)
            caller_check_setting(check, setting, value);
}
