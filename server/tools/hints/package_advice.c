#include "server/tools/hints/package_advice.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/catalog/extension.h"
#include "environments/environment.h"
#include "environments/packages/packages_definition.h"
#include "environments/packages/python_facts.h"
#include "environments/packages/requirement.h"
#include "server/tools/code/import_names.h"
#include "server/tools/code/script_block.h"
#include "server/tools/hints/module_names.h"

#include <stdlib.h>
#include <string.h>

/* Lists it in its definition, or was found to have it. */
static bool package_advice_lists(const struct environment *environment, const char *requirement)
{
    const json_t *listed = packages_definition_read(environment->definition).pip_packages;
    AUTO_FREE char *wanted = requirement_name(requirement);
    const json_t *item;
    size_t i;

    if (environment->facts && python_facts_have(environment->facts, wanted))
        return true;
    json_array_foreach (listed, i, item) {
        AUTO_FREE char *name = requirement_name(json_string_value(item));

        if (strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

static bool package_advice_lists_all(const struct environment *environment, const json_t *packages)
{
    const json_t *package;
    size_t i;

    json_array_foreach (packages, i, package)
        if (!package_advice_lists(environment, json_string_value(package)))
            return false;
    return json_array_size(packages) > 0;
}

const struct environment *package_advice_find(const struct hint_facts *facts,
                                              const json_t *packages)
{
    for (size_t i = 0; facts->offered[i]; i++)
        if (facts->offered[i] != facts->environment &&
            package_advice_lists_all(facts->offered[i], packages))
            return facts->offered[i];
    return NULL;
}

/* True when the environment was made of a block in the code. */
static bool package_advice_has_block(const struct hint_facts *facts)
{
    AUTO_JSON json_t *definition = NULL;
    struct error ignored = ERROR_INIT;

    return !json_object_get(facts->arguments, "environment") &&
           !json_object_get(facts->arguments, "environment_definition") &&
           script_block_read(facts->code->text, facts->code->length, &definition, &ignored) == 0 &&
           definition;
}

/* The known packages of the modules that the code imports. New reference. */
static json_t *package_advice_imported(const struct hint_facts *facts)
{
    AUTO_JSON json_t *names = import_names_read(facts->code->text, facts->code->length);
    json_t *packages = json_array();
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const char *whole = json_string_value(name);
        AUTO_FREE char *module = memory_format("%.*s", (int)strcspn(whole, "."), whole);
        const char *package = module_name_find(module).package;
        AUTO_JSON json_t *added = package ? json_pack("[s]", package) : NULL;

        if (package && package_advice_lists(facts->environment, package))
            packages_definition_add(packages, added);
    }
    return packages;
}

/* What the environment has, for a definition that is to have more: the packages that it lists, or
 * those that the code imports from a Python with packages of its own. New reference. */
static json_t *package_advice_own(const struct hint_facts *facts)
{
    const json_t *listed = packages_definition_read(facts->environment->definition).pip_packages;

    return json_array_size(listed) > 0 ? json_copy((json_t *)listed)
                                       : package_advice_imported(facts);
}

/* The definition of the call with PACKAGES added, or a new one that has what the environment has.
 * New reference. */
static json_t *package_advice_definition(const struct hint_facts *facts, const json_t *packages)
{
    const json_t *written = json_object_get(facts->arguments, "environment_definition");
    const char *type = json_object_get_string(written, "type");
    AUTO_JSON json_t *all = NULL;
    json_t *definition;

    if (!type || strcmp(type, "system") == 0) {
        all = package_advice_own(facts);
        packages_definition_add(all, packages);
        return json_pack("{s:s, s:O}", "type", "venv", "pip_packages", all);
    }
    definition = json_deep_copy(written);
    all = json_array();
    packages_definition_add(all, json_object_get(written, "pip_packages"));
    packages_definition_add(all, packages);
    json_object_set(definition, "pip_packages", all);
    return definition;
}

static char *package_advice_define(const struct hint_facts *facts, const json_t *packages)
{
    AUTO_JSON json_t *some = json_pack("[s]", "PACKAGE");
    AUTO_JSON json_t *definition = NULL;
    AUTO_FREE char *list = packages ? json_dumps(packages, 0) : NULL;
    AUTO_FREE char *text = NULL;

    if (packages && package_advice_has_block(facts))
        return memory_format("Add %.*s to the dependencies in the script's block.",
                             (int)strlen(list) - 2, list + 1);
    definition = package_advice_definition(facts, packages ? packages : some);
    text = json_dumps(definition, 0);
    return memory_format("To have %s, call with environment_definition: %s%s",
                         packages ? "that" : "packages", text, hint_new_session(facts));
}

/* For a model that writes a program and no argument beside it. Code blocks run in the environment
 * of their call, whatever a block of PEP 723 in them says. */
static char *package_advice_begin(const struct hint_facts *facts, const json_t *packages)
{
    AUTO_JSON json_t *some = json_pack("[s]", "PACKAGE");
    AUTO_JSON json_t *all = package_advice_own(facts);
    AUTO_FREE char *list = NULL;

    if (packages && package_advice_has_block(facts))
        return package_advice_define(facts, packages);
    packages_definition_add(all, packages ? packages : some);
    list = json_dumps(all, 0);
    return memory_format("To have %s, begin the program with the lines `# /// script`, "
                         "`# dependencies = %s` and `# ///`.",
                         packages ? "that" : "packages", list);
}

/* For a person who has typed `pyexecd run`. */
static char *package_advice_type(const struct hint_facts *facts, const json_t *packages)
{
    AUTO_FREE char *list = packages ? json_list(packages) : NULL;

    if (packages && package_advice_has_block(facts))
        return package_advice_define(facts, packages);
    if (json_object_get(facts->arguments, "environment"))
        return memory_copy_string("The configuration says which packages the environment has.");
    if (!packages)
        return memory_copy_string("To have packages, add --with PACKAGE.");
    return memory_format("To have it, add --with %s.", list);
}

/* A cell of a session of this caller may install packages (python/python_session.h). */
static bool package_advice_is_for_session(const struct hint_facts *facts)
{
    struct error ignored = ERROR_INIT;

    return facts->run->setting->session && facts->rules &&
           !environment_kernel(facts->environment) &&
           extension_check(facts->environment, &ignored) == 0;
}

/* The variables of the session stay. */
static char *package_advice_install(const json_t *packages)
{
    AUTO_FREE char *list = packages ? json_list(packages) : NULL;
    AUTO_FREE char *words = memory_copy_string(list ? list : "PACKAGE");

    for (char *at = words; (at = strstr(at, ", "));)
        memmove(at, at + 1, strlen(at));
    return memory_format("To have %s, begin a cell with %%pip install %s.",
                         packages ? "that" : "packages", words);
}

char *package_advice(const struct hint_facts *facts, const json_t *packages)
{
    const struct environment *environment = package_advice_find(facts, packages);
    AUTO_FREE char *list = packages ? json_list(packages) : NULL;

    if (facts->is_at_terminal)
        return package_advice_type(facts, packages);
    if (package_advice_is_for_session(facts))
        return package_advice_install(packages);
    if (environment)
        return memory_format("Environment \"%s\" has %s: call with environment: \"%s\"%s.",
                             environment->name, list, environment->name, hint_new_session(facts));
    if (facts->rules && !facts->has_code_alone)
        return package_advice_define(facts, packages);
    if (facts->rules && hint_is_program(facts))
        return package_advice_begin(facts, packages);
    return memory_copy_string("Calls cannot ask for packages here: use what the environments have "
                              "and Python's own modules.");
}
