#include "server/tools/python_arguments.h"

#include "base/json.h"
#include "base/memory.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "server/tools/environment_text.h"
#include "server/tools/python_host.h"

#include <stdlib.h>

/* The description of `environment`: each environment with its limits. New reference. */
static json_t *python_arguments_describe_environments(const struct catalog *catalog,
                                                      const char *default_environment)
{
    AUTO_FREE char *text = memory_format("Where to run it. Default: %s.", default_environment);

    for (size_t i = 0; i < catalog_count(catalog); i++) {
        AUTO_FREE char *line = environment_text(catalog_at(catalog, i));
        AUTO_FREE char *longer = memory_format("%s\n- %s.", text, line);

        free(text);
        text = STEAL_PTR(longer);
    }
    return json_string_format("%s", text);
}

static double python_arguments_longest_timeout(const struct catalog *catalog,
                                               const struct caller_rules *rules)
{
    double longest = rules ? caller_rules_settings(rules)->max_timeout : 0;

    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct environment *environment = catalog_at(catalog, i);

        if (environment->settings.max_timeout > longest)
            longest = environment->settings.max_timeout;
    }
    return longest;
}

/* Integral values are written without a fraction. */
static json_t *python_arguments_number(double value)
{
    if (value == (double)(json_int_t)value)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static void python_arguments_describe_environment(json_t *property,
                                                  const struct python_settings *settings)
{
    json_object_set_new(
        property, "description",
        python_arguments_describe_environments(settings->catalog, settings->default_environment));
    json_object_set_new(property, "enum", catalog_names(settings->catalog));
}

static void python_arguments_describe_timeout(json_t *property,
                                              const struct python_settings *settings)
{
    const struct environment *fallback =
        catalog_find(settings->catalog, settings->default_environment);
    double longest = python_arguments_longest_timeout(settings->catalog, settings->rules);

    json_object_set_new(property, "maximum", python_arguments_number(longest));
    json_object_set_new(property, "description",
                        json_string_format("Seconds after which the program is killed. Default: "
                                           "%g.",
                                           fallback->settings.timeout));
}

void python_arguments_describe(json_t *schema, const struct python_settings *settings)
{
    json_t *properties = json_object_get(schema, "properties");

    python_arguments_describe_environment(json_object_get(properties, "environment"), settings);
    python_arguments_describe_timeout(json_object_get(properties, "timeout"), settings);
    if (settings->rules)
        json_object_set_new(properties, "environment_definition",
                            caller_rules_schema(settings->rules));
}

struct python_request python_arguments_read(const json_t *arguments)
{
    return (struct python_request){
        .environment = json_object_get_string(arguments, "environment"),
        .definition = json_object_get(arguments, "environment_definition"),
        .timeout = json_number_value(json_object_get(arguments, "timeout")),
        .working_directory = json_object_get_string(arguments, "working_directory"),
    };
}
