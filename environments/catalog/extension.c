#include "environments/catalog/extension.h"

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "environments/callers/caller_rules.h"
#include "environments/environment.h"

#include <string.h>

#define PACKAGES_KEY "pip_packages"

/* A venv at a path of the operator's gets no packages of calls, and a container has its own. */
static int extension_check_base(const struct environment *base, struct error *err)
{
    const char *type = base->ops->kind->name;

    if (strcmp(type, "system") == 0)
        return 0;
    if (strcmp(type, "venv") == 0 && !json_object_get(base->definition, "venv_path"))
        return 0;
    return error_set(err, ERROR_INVALID_ARGUMENTS,
                     "environment_definition." EXTENSION_KEY
                     ": \"%s\" cannot be extended: it is neither of type system nor of type venv "
                     "without venv_path",
                     base->name);
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

static bool extension_has(const json_t *packages, const json_t *package)
{
    const json_t *other;
    size_t i;

    json_array_foreach (packages, i, other)
        if (json_equal(other, package))
            return true;
    return false;
}

/* Joins FIRST and SECOND without doubles. */
static json_t *extension_packages(const json_t *first, const json_t *second)
{
    json_t *packages = json_array();
    const json_t *const lists[] = {first, second};
    json_t *package;
    size_t i;

    for (size_t list = 0; list < ARRAY_SIZE(lists); list++)
        json_array_foreach (lists[list], i, package)
            if (!extension_has(packages, package))
                json_array_append(packages, package);
    return packages;
}

/* DEFINITION has the packages of the call, and the defaults of the keys that BASE has not. It keeps
 * what the call has WRITTEN, since the packages of BASE may be others when it is settled again. */
static void extension_complete(json_t *definition, const struct environment *base,
                               const json_t *written)
{
    AUTO_JSON json_t *packages = extension_packages(json_object_get(base->definition, PACKAGES_KEY),
                                                    json_object_get(definition, PACKAGES_KEY));
    json_t *executable = json_object_get(base->definition, "executable");

    json_object_update(definition, (json_t *)base->definition);
    if (strcmp(base->ops->kind->name, "system") == 0)
        json_object_set_new(definition, "system_site_packages", json_true());
    if (executable)
        json_object_set(definition, "python_path", executable);
    json_object_del(definition, "executable");
    json_object_set_new(definition, "type", json_string("venv"));
    json_object_set(definition, EXTENSION_KEY, (json_t *)written);
    json_object_set(definition, PACKAGES_KEY, packages);
}

json_t *extension_settle(const struct environment *base, const json_t *written,
                         const struct caller_rules *rules, struct error *err)
{
    AUTO_JSON json_t *rest = json_copy((json_t *)written);
    struct caller_definition settled;
    json_t *definition;

    if (extension_check_base(base, err) < 0 || extension_check_keys(written, err) < 0)
        return NULL;
    json_object_del(rest, EXTENSION_KEY);
    if (caller_rules_settle(rules, rest, &settled, err) < 0)
        return NULL;
    definition = json_incref(settled.definition);
    caller_definition_deinit(&settled);
    extension_complete(definition, base, written);
    return definition;
}

const json_t *extension_written(const struct environment *environment)
{
    return json_object_get(environment->definition, EXTENSION_KEY);
}

/* A stricter policy is a larger number. */
enum approval_policy extension_approval(const struct environment *base,
                                        const struct caller_rules *rules)
{
    const enum approval_policy least = caller_rules_settings(rules)->approval;

    return base->settings.approval < least ? least : base->settings.approval;
}

struct environment_settings extension_settings(const struct environment *base,
                                               const struct caller_rules *rules)
{
    struct environment_settings settings = base->settings;

    settings.approval = extension_approval(base, rules);
    settings.start = START_COLD; /* a caller could define many, each with its own */
    settings.prepare = PREPARE_LAZY;
    settings.variables = memory_copy_strings((const char *const *)base->settings.variables);
    settings.functions =
        base->settings.functions ? memory_copy_string(base->settings.functions) : NULL;
    settings.paths = NULL;
    settings.sandbox = sandbox_settings_copy(&base->settings.sandbox);
    return settings;
}
