#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "environments/environment.h"
#include "environments/environment_level.h"
#include "server/tools/code/python_source.h"
#include "server/tools/code/script_block.h"
#include "server/tools/hints/hint_table.h"
#include "server/tools/hints/module_names.h"
#include "server/tools/hints/package_advice.h"

#include <string.h>

/* The module that was not found, owned by the caller. NULL: none, or a part of an existing
 * module. */
static char *hint_find_module(const struct hint_facts *facts)
{
    AUTO_FREE char *name = NULL;

    if (!hint_is_about(facts, "ModuleNotFoundError") ||
        !text_starts_with(facts->failure.message, "No module named '"))
        return NULL;
    name = hint_quoted(facts->failure.message);
    return name && !strchr(name, '.') ? STEAL_PTR(name) : NULL;
}

/* It may be a file that the caller has forgotten. A package of the same name may be another
 * project's, so none is named, unless the operator has it in an environment. */
static char *hint_unknown_module(const struct hint_facts *facts, const char *name)
{
    AUTO_JSON json_t *packages = json_pack("[s]", name);
    AUTO_FREE char *advice =
        package_advice(facts, package_advice_find(facts, packages) ? packages : NULL);

    return memory_format("Python found no module \"%s\", neither in this environment nor as a file "
                         "of yours. %s",
                         name, advice);
}

/* New reference. */
static json_t *hint_choose_package(const struct hint_facts *facts, const struct module_name *known)
{
    AUTO_JSON json_t *also = json_pack("[s*]", known->also);

    if (package_advice_find(facts, also))
        return STEAL_PTR(also);
    return json_pack("[s]", known->package);
}

/* The reason why the module by which other scripts call tools is not there, though the environment
 * has tools. NULL: it is not known. */
static const char *hint_find_tools_lack(const struct environment *environment)
{
    char *const *tools = environment->settings.tools;
    const char *reason = environment_lacks_tools(environment);

    if (reason || !tools || !*tools || environment_isolation(environment) != ISOLATION_NONE)
        return reason;
    return "they run without isolation, and so reach only servers that have no secret or "
           "`any_isolation`";
}

/* Owned by the caller; NULL: the module NAME is another's. */
static char *hint_lacking_tools(const struct hint_facts *facts, const char *name)
{
    const char *reason = hint_find_tools_lack(facts->environment);

    if (!reason || (strcmp(name, "tools") != 0 && strcmp(name, "pyexecd_tools") != 0))
        return NULL;
    return memory_format("Scripts in this environment cannot call tools: %s.", reason);
}

char *hint_module(const struct hint_facts *facts)
{
    AUTO_FREE char *name = hint_find_module(facts);
    const struct module_name known = name ? module_name_find(name) : (struct module_name){0};
    AUTO_JSON json_t *packages = NULL;
    AUTO_FREE char *advice = NULL;

    if (!name)
        return NULL;
    advice = hint_lacking_tools(facts, name);
    if (advice)
        return STEAL_PTR(advice);
    if (known.instead)
        return memory_copy_string(known.instead);
    if (!known.package)
        return hint_unknown_module(facts, name);
    packages = hint_choose_package(facts, &known);
    advice = package_advice(facts, packages);
    return memory_format(
        "Module \"%s\" is in the package %s, which this environment does not have. "
        "%s",
        name, json_string_value(json_array_get(packages, 0)), advice);
}

/* The message in which a library asks for a package that only some of its users need; NULL: there
 * is none. */
static const char *hint_find_message(const struct hint_facts *facts)
{
    static const struct {
        const char *words;
        const char *package;
    } table[] = {
        {"Unable to find a usable engine; tried using: 'pyarrow'", "pyarrow"},
        {"matplotlib is required for plotting", "matplotlib"},
        {"Couldn't find a tree builder with the features you requested: lxml", "lxml"},
        {"Couldn't find a tree builder with the features you requested: html5lib", "html5lib"},
        {"requires the kaleido package", "kaleido"},
        {"requires the Kaleido package", "kaleido"},
        {"but the 'h2' package is not installed", "h2"},
        {"Missing dependencies for SOCKS support", "pysocks"},
        {"Using a URI string requires 'sqlalchemy' version", "sqlalchemy"},
        {"Using URI string without sqlalchemy installed", "sqlalchemy"},
    };

    for (size_t i = 0; facts->failure.type && i < ARRAY_SIZE(table); i++)
        if (strstr(facts->errors, table[i].words))
            return table[i].package;
    return NULL;
}

/* The module that pandas names as optional. Owned by the caller; NULL: none. */
static char *hint_find_optional(const struct hint_facts *facts)
{
    static const char words[] = "`Import ";
    const char *message = facts->failure.message;
    const char *name;

    if (!hint_is_about(facts, "ImportError"))
        return NULL;
    if (text_starts_with(message, "Missing optional dependency '"))
        return hint_quoted(message);
    name = text_starts_with(message, words) ? message + strlen(words) : "";
    return strstr(name, "` failed.")
               ? memory_format("%.*s", (int)python_name_length(name, name + strlen(name)), name)
               : NULL;
}

char *hint_optional_module(const struct hint_facts *facts)
{
    AUTO_FREE char *name = hint_find_optional(facts);
    const char *package = name ? module_name_find(name).package : hint_find_message(facts);
    AUTO_JSON json_t *packages = NULL;
    AUTO_FREE char *advice = NULL;

    if (!package)
        return NULL;
    packages = json_pack("[s]", package);
    advice = package_advice(facts, packages);
    return memory_format("That needs the package %s, which this environment does not have. %s",
                         package, advice);
}

/* Words of Python and pip when a script has called pip: by PEP 668, because there is no pip, or
 * because the Python is not the script's to change. */
static bool hint_says_no_pip(const char *output)
{
    static const char failed[] = "ERROR: Could not install packages due to an OSError: ";
    const char *found = strstr(output, failed);

    return (found && (text_starts_with(found + strlen(failed), "[Errno 30] ") ||
                      text_starts_with(found + strlen(failed), "[Errno 13] "))) ||
           strstr(output, "error: externally-managed-environment") ||
           strstr(output, ": No module named pip\n");
}

char *hint_managed_python(const struct hint_facts *facts)
{
    AUTO_FREE char *advice = NULL;

    if (!hint_says_no_pip(facts->errors) && !hint_says_no_pip(facts->output))
        return NULL;
    advice = package_advice(facts, NULL);
    return memory_format("A script cannot install packages into this Python. %s", advice);
}

/* The failure may come from a block that was passed over. */
char *hint_unused_block(const struct hint_facts *facts)
{
    const bool has_own = json_object_get(facts->arguments, "environment") ||
                         json_object_get(facts->arguments, "environment_definition");
    AUTO_JSON json_t *definition = NULL;
    struct error ignored = ERROR_INIT;

    if (facts->run->is_success || (facts->rules && !has_own) ||
        script_block_read(facts->code->text, facts->code->length, &definition, &ignored) < 0 ||
        !definition)
        return NULL;
    if (!facts->rules)
        return memory_copy_string("The script's block (# /// script) was passed over: calls cannot "
                                  "ask for packages here.");
    return memory_format("The script's block (# /// script) was passed over, because %s an "
                         "environment. Leave that out to have what it asks for.",
                         facts->is_at_terminal ? "--env names" : "the call names");
}
