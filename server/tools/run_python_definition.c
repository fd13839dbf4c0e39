#include "server/tools/run_python_definition.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "schemas/schemas.h"

#include <assert.h>
#include <string.h>

/* What is the same everywhere; the limits follow. OpenAI takes at most 1024 characters in all. */
static const char introduction[] =
    "Runs a Python program in a fresh process, as `python script.py`, and returns what it printed, "
    "its exit code and the files it made.\n"
    "- Only what is printed comes back: print() what you want to see.\n"
    "- Each call starts anew: variables and imports are gone. Files stay: the current directory is "
    "the one of the call before.\n"
    "- stdin is empty.\n"
    "- When the program ends, all that it started is ended too. At its timeout it is killed; what "
    "it printed until then is returned.\n"
    "- After a failure, read the traceback, repair the program and call again.\n";

/* The limits that a program may meet, in words. Owned by the caller. */
static char *describe_limits(const struct environment_settings *settings)
{
    AUTO_FREE char *memory = quantity_bytes(settings->limits.memory);
    AUTO_FREE char *output = quantity_bytes(settings->output);
    AUTO_FREE char *disk = quantity_bytes(settings->disk);

    return memory_format("%g seconds unless `timeout` is given, at most %g; %s of memory, %u "
                         "processes and threads, %s of new files, %s kept of each output stream",
                         settings->timeout, settings->max_timeout, memory,
                         settings->limits.processes, disk, output);
}

char *run_python_description(const struct catalog *catalog, const char *default_environment)
{
    const struct environment *environment = catalog_find(catalog, default_environment);
    AUTO_FREE char *limits = describe_limits(&environment->settings);

    return memory_format("%s- Limits: %s.", introduction, limits);
}

/* What a caller has to reckon with. */
static const char *describe_approval(enum approval_policy policy)
{
    static const char *const words[] = {
        [APPROVAL_NEVER] = "",
        [APPROVAL_FIRST] = "; a person is asked before the first call",
        [APPROVAL_ALWAYS] = "; a person is asked before each call",
    };

    return words[policy];
}

char *run_python_describe_environment(const struct environment *environment)
{
    AUTO_FREE char *limits = describe_limits(&environment->settings);

    return memory_format("%s (%s): %s%s", environment->name, environment->ops->kind, limits,
                         describe_approval(environment->settings.approval));
}

/* Each environment with its limits, for the argument that chooses one. New reference. */
static json_t *describe_environments(const struct catalog *catalog, const json_t *names,
                                     const char *default_environment)
{
    AUTO_FREE char *text = memory_format("Where to run it. Default: %s.", default_environment);
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const struct environment *environment = catalog_find(catalog, json_string_value(name));
        AUTO_FREE char *line = run_python_describe_environment(environment);
        AUTO_FREE char *longer = memory_format("%s\n- %s.", text, line);

        free(text);
        text = STEAL_PTR(longer);
    }
    return json_string_format("%s", text);
}

/* A schema that is built in, so it can be read. */
static json_t *built_in(const char *name)
{
    json_t *schema = json_loads(schemas_find(name), 0, NULL);

    assert(schema);
    return schema;
}

static json_t *run_python_definition_property(json_t *schema, const char *name)
{
    return json_object_get(json_object_get(schema, "properties"), name);
}

static double longest_timeout(const struct catalog *catalog, const json_t *names,
                              const struct caller_rules *rules)
{
    double longest = rules ? caller_rules_settings(rules)->max_timeout : 0;
    const json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        const struct environment *environment = catalog_find(catalog, json_string_value(name));

        if (environment->settings.max_timeout > longest)
            longest = environment->settings.max_timeout;
    }
    return longest;
}

/* A whole number without a fraction, as people write it. */
static json_t *run_python_definition_number(double value)
{
    if (value == (double)(json_int_t)value)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *run_python_input_schema(const struct catalog *catalog, const char *default_environment,
                                const struct caller_rules *rules)
{
    json_t *schema = built_in("run_python.input");
    AUTO_JSON json_t *names = catalog_names(catalog);
    const struct environment *fallback = catalog_find(catalog, default_environment);

    json_object_set_new(run_python_definition_property(schema, "environment"), "description",
                        describe_environments(catalog, names, default_environment));
    json_object_set_new(run_python_definition_property(schema, "timeout"), "maximum",
                        run_python_definition_number(longest_timeout(catalog, names, rules)));
    json_object_set_new(run_python_definition_property(schema, "timeout"), "description",
                        json_string_format("Seconds after which the program is killed. Default: "
                                           "%g.",
                                           fallback->settings.timeout));
    json_object_set_new(run_python_definition_property(schema, "environment"), "enum",
                        STEAL_PTR(names));
    if (rules)
        json_object_set_new(json_object_get(schema, "properties"), "environment_definition",
                            caller_rules_schema(rules));
    return schema;
}

json_t *run_python_output_schema(void)
{
    return built_in("run_python.output");
}

json_t *run_python_annotations(void)
{
    return json_pack("{s:s, s:b, s:b, s:b, s:b}", "title", RUN_PYTHON_TITLE, "readOnlyHint", 0,
                     "destructiveHint", 1, "idempotentHint", 0, "openWorldHint", 1);
}
