#include "server/tools/python/python_arguments.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "environments/callers/caller_rules.h"
#include "environments/catalog/catalog.h"
#include "environments/notebook/notebooks.h"
#include "server/tools/python/guide.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/run_python.h"
#include "server/tools/python/tool_guide.h"

#include <stdlib.h>

/* The description of `environment`. New reference. */
static json_t *python_arguments_describe_environments(const struct python_offer *offer)
{
    struct buffer text;
    json_t *ret;

    buffer_init(&text, GUIDE_BYTES);
    buffer_print(&text, "Where to run it. Default: %s.\n", offer->default_environment);
    guide_append_environments(&text, offer);
    ret = json_stringn(buffer_bytes(&text), buffer_length(&text) - 1);
    buffer_deinit(&text);
    return ret;
}

/* New reference. */
static json_t *python_arguments_names(const struct python_offer *offer)
{
    const struct environment *environment;
    json_t *names = json_array();
    size_t position = 0;

    while ((environment = python_offer_next(offer, &position)))
        json_array_append_new(names, json_string(environment->name));
    return names;
}

static double python_arguments_longest_timeout(const struct python_offer *offer)
{
    double longest = offer->rules ? caller_rules_settings(offer->rules)->max_timeout : 0;
    const struct environment *environment;
    size_t position = 0;

    while ((environment = python_offer_next(offer, &position))) {
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
                                                  const struct python_offer *offer)
{
    json_object_set_new(property, "description", python_arguments_describe_environments(offer));
    json_object_set_new(property, "enum", python_arguments_names(offer));
}

static void python_arguments_describe_timeout(json_t *property, const struct python_offer *offer,
                                              const char *seconds)
{
    const struct environment *fallback = catalog_find(offer->catalog, offer->default_environment);
    double longest = python_arguments_longest_timeout(offer);

    json_object_set_new(property, "maximum", python_arguments_number(longest));
    json_object_set_new(
        property, "description",
        json_string_format("%s. Default: %g.", seconds, fallback->settings.timeout));
}

static void python_arguments_describe_session(json_t *properties, const struct python_offer *offer)
{
    AUTO_FREE char *idle = NULL;

    if (!offer->sessions) {
        json_object_del(properties, "session");
        json_object_del(properties, "fork");
        return;
    }
    idle = quantity_seconds(notebooks_idle_seconds(offer->sessions));
    json_object_set_new(
        json_object_get(properties, "session"), "description",
        json_string_format(
            "\"new\" keeps the Python of this call. The result names the session; pass that name "
            "to go on with its variables, imports and directory. The value of a last expression is "
            "printed, and `await` works. A timeout interrupts the code and keeps the variables. "
            "%sSessions end with the server, and %s after their last use.",
            offer->rules ? "A line `%pip install NAME` installs a package for it. " : "", idle));
}

static void python_arguments_describe_code(json_t *property, const struct python_offer *offer)
{
    AUTO(buffer_deinit) struct buffer text;

    buffer_init(&text, GUIDE_BYTES);
    buffer_print(&text, "%s", json_object_get_string(property, "description"));
    tool_guide_append(&text, offer);
    json_object_set_new(property, "description",
                        json_stringn(buffer_bytes(&text), buffer_length(&text)));
}

void python_arguments_describe(json_t *schema, const struct python_offer *offer)
{
    json_t *properties = json_object_get(schema, "properties");

    python_arguments_describe_code(json_object_get(properties, "code"), offer);
    python_arguments_describe_environment(json_object_get(properties, "environment"), offer);
    python_arguments_describe_timeout(json_object_get(properties, "timeout"), offer,
                                      "Seconds after which the program is stopped");
    python_arguments_describe_session(properties, offer);
    if (offer->rules)
        json_object_set_new(
            properties, "environment_definition",
            caller_rules_schema(offer->rules, catalog_settings(offer->catalog)->host));
}

void python_arguments_refer(json_t *schema, const struct python_offer *offer, const char *seconds)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *environment = json_object_get(properties, "environment");

    json_object_set_new(environment, "enum", python_arguments_names(offer));
    json_object_set_new(environment, "description",
                        json_string_format("As in `" RUN_PYTHON_NAME
                                           "`, which describes them. Default: %s.",
                                           offer->default_environment));
    python_arguments_describe_timeout(json_object_get(properties, "timeout"), offer, seconds);
    if (offer->rules)
        json_object_set_new(properties, "environment_definition",
                            json_pack("{s:s, s:s}", "type", "object", "description",
                                      "An environment of your own, as in `" RUN_PYTHON_NAME "`."));
}

struct python_request python_arguments_read(const json_t *arguments)
{
    return (struct python_request){
        .environment = json_object_get_string(arguments, "environment"),
        .definition = json_object_get(arguments, "environment_definition"),
        .files = json_object_get(arguments, "files"),
        .timeout = json_number_value(json_object_get(arguments, "timeout")),
        .working_directory = json_object_get_string(arguments, "working_directory"),
        .session = json_object_get_string(arguments, "session"),
        .fork = json_object_get_string(arguments, "fork"),
    };
}
