#include "environments/catalog/extension.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/callers/caller_rules.h"
#include "environments/environment.h"
#include "environments/kinds/kinds.h"
#include "environments/packages/packages_definition.h"

#include <stdlib.h>
#include <string.h>

#define PACKAGES_KEY "pip_packages"

static int extension_refuse(const struct environment *base, const char *reason, struct error *err)
{
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "calls can add no packages to environment \"%s\": %s", base->name, reason);
}

/* Calls have nothing built, and pip wants hashes of all packages or of none. */
static int extension_check_packages(const struct environment *base, struct error *err)
{
    const struct packages_definition own = packages_definition_read(base->definition);
    struct requirements requirements = {0};
    int result = packages_definition_collect(&own, &requirements, err);

    if (result == 0 && own.allow_source_builds)
        result =
            extension_refuse(base, "its own may be built from source (allow_source_builds)", err);
    else if (result == 0 && requirements_have_hashes(&requirements))
        result = extension_refuse(base, "its own are named with hashes", err);
    requirements_deinit(&requirements);
    return result;
}

int extension_check(const struct environment *base, struct error *err)
{
    if (!base->ops->needs)
        return extension_refuse(base, "its Python does not belong to this machine", err);
    return extension_check_packages(base, err);
}

/* The packages of BASE and MORE, without doubles. New reference. */
static json_t *extension_packages(const struct environment *base, const json_t *more)
{
    json_t *packages = json_array();

    packages_definition_add(packages, json_object_get(base->definition, PACKAGES_KEY));
    packages_definition_add(packages, more);
    return packages;
}

/* Turns the definition of BASE into the definition of a venv with MORE packages. New reference. */
static json_t *extension_definition(const struct environment *base, const json_t *more)
{
    json_t *definition = json_copy(base->definition);
    json_t *executable = json_object_get(definition, "executable");

    if (executable)
        json_object_set(definition, "python_path", executable);
    json_object_del(definition, "executable");
    json_object_del(definition, EXTENSION_KEY);
    if (strcmp(base->ops->kind->name, "system") == 0)
        json_object_set_new(definition, "system_site_packages", json_true());
    json_object_set_new(definition, "type", json_string("venv"));
    json_object_set_new(definition, PACKAGES_KEY, extension_packages(base, more));
    return definition;
}

static int extension_check_keys(const json_t *written, struct error *err)
{
    const size_t known = 2 + (json_object_get(written, PACKAGES_KEY) != NULL); /* and type */
    const char *type = json_object_get_string(written, "type");

    if (json_object_size(written) == known && type && strcmp(type, "venv") == 0)
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "environment_definition: beside " EXTENSION_KEY
                     " there are type, which is venv, and " PACKAGES_KEY "; nothing else");
}

static int extension_check_written(const struct environment *base, const json_t *written,
                                   const struct caller_rules *rules, struct error *err)
{
    AUTO_JSON json_t *rest = json_copy((json_t *)written);
    struct caller_definition settled;

    if (extension_check_keys(written, err) < 0)
        return -1;
    json_object_del(rest, EXTENSION_KEY);
    if (caller_rules_settle(rules, rest, &settled, err) < 0)
        return -1;
    caller_definition_deinit(&settled);
    if (json_object_get(base->definition, "venv_path"))
        return extension_refuse(base, "its venv is the one at venv_path", err);
    return extension_check(base, err);
}

/* The result keeps what the call has written: the packages of BASE may be others when it is settled
 * again. */
json_t *extension_settle(const struct environment *base, const json_t *written,
                         const struct caller_rules *rules, struct error *err)
{
    json_t *definition;

    if (extension_check_written(base, written, rules, err) < 0)
        return NULL;
    definition = extension_definition(base, json_object_get(written, PACKAGES_KEY));
    json_object_set(definition, EXTENSION_KEY, (json_t *)written);
    return definition;
}

const json_t *extension_written(const struct environment *environment)
{
    return json_object_get(environment->definition, EXTENSION_KEY);
}

/* The Python that the venv of BASE was made from, or its only one. Packages could have changed the
 * Python of a venv, but not its origin. Owned by the caller, or NULL. */
static char *extension_find_python(const struct environment *base)
{
    const char *python = base->ops->describe_interpreter(base);
    const char *named = json_object_get(base->definition, "venv_path")
                            ? NULL
                            : json_object_get_string(base->definition, "python_path");

    if (named || strcmp(base->ops->kind->name, "system") == 0)
        return python ? memory_copy_string(named ? named : python) : NULL;
    return python ? realpath(python, NULL) : NULL;
}

json_t *extension_settle_annex(const struct environment *base, const json_t *packages,
                               const char *venv, struct error *err)
{
    AUTO_FREE char *python = extension_find_python(base);
    json_t *definition;

    if (extension_check(base, err) < 0)
        return NULL;
    if (!python) {
        (void)extension_refuse(base, "its Python is gone", err);
        return NULL;
    }
    definition = extension_definition(base, packages);
    json_object_set_new(definition, "python_path", json_string(python));
    json_object_set_new(definition, "venv_path", json_string(venv));
    return definition;
}

/* A stricter policy is a larger number. */
enum approval_policy extension_approval(const struct environment *base,
                                        const struct caller_rules *rules)
{
    const enum approval_policy least = caller_rules_settings(rules)->approval;

    return base->settings.approval < least ? least : base->settings.approval;
}

/* No Python waits for calls: packages of callers may execute code in it (`.pth` files), and a
 * caller could define many. */
struct environment_settings extension_settings(const struct environment *base,
                                               const struct caller_rules *rules)
{
    struct environment_settings settings = environment_settings_copy(&base->settings);

    settings.approval = extension_approval(base, rules);
    settings.start = START_COLD;
    settings.prepare = PREPARE_LAZY;
    memory_free_strings(STEAL_PTR(settings.paths));
    return settings;
}

struct environment *extension_new(const struct environment *base, struct environment_recipe *recipe,
                                  struct error *err)
{
    struct error cause = ERROR_INIT;
    const char *key;
    struct environment *environment =
        environment_kinds_find(recipe->definition)->create(recipe, &key, &cause);

    if (!environment)
        (void)extension_refuse(base, cause.message, err);
    else if (base->unheld)
        environment->unheld = memory_copy_string(base->unheld);
    return environment;
}
