#include "environments/packages/packages_definition.h"

#include "base/json.h"

struct packages_definition packages_definition_read(const json_t *definition)
{
    return (struct packages_definition){
        .pip_packages = json_object_get(definition, "pip_packages"),
        .requirements_file = json_object_get_string(definition, "requirements_file"),
        .pip_index_url = json_object_get_string(definition, "pip_index_url"),
        .pip_find_links = json_object_get_string(definition, "pip_find_links"),
        .allow_source_builds = json_is_true(json_object_get(definition, "allow_source_builds")),
    };
}

static bool packages_definition_has(const json_t *packages, const json_t *package)
{
    const json_t *other;
    size_t i;

    json_array_foreach (packages, i, other)
        if (json_equal(other, package))
            return true;
    return false;
}

void packages_definition_add(json_t *packages, const json_t *more)
{
    json_t *package;
    size_t i;

    json_array_foreach (more, i, package)
        if (!packages_definition_has(packages, package))
            json_array_append(packages, package);
}

bool packages_definition_names_any(const struct packages_definition *definition)
{
    return json_array_size(definition->pip_packages) > 0 || definition->requirements_file;
}

int packages_definition_collect(const struct packages_definition *definition,
                                struct requirements *ret, struct error *err)
{
    const char *file = definition->requirements_file;

    if (requirements_add_packages(ret, definition->pip_packages, err) < 0)
        return -1;
    if (file && requirements_add_file(ret, file, err) < 0)
        return error_prefix(err, "requirements_file");
    return requirements_check_hashes(ret, err);
}
