/* Each provider accepts a subset of JSON Schema. Limits that it does not accept are moved into the
 * description, where the model reads them; the server checks the arguments in any case. */
#include "server/commands/provider.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

enum limit {
    LIMIT_MIN_LENGTH = 1 << 0,
    LIMIT_MAX_LENGTH = 1 << 1,
    LIMIT_MINIMUM = 1 << 2,
    LIMIT_MAXIMUM = 1 << 3,
    LIMIT_EXCLUSIVE_MINIMUM = 1 << 4,
    LIMIT_EXCLUSIVE_MAXIMUM = 1 << 5,
    LIMIT_MAX_ITEMS = 1 << 6,
};

static const struct limit_keyword {
    enum limit limit;
    const char *keyword;
    const char *words; /* around the value */
    const char *unit;
} limit_keywords[] = {
    {LIMIT_MIN_LENGTH, "minLength", "At least", " characters"},
    {LIMIT_MAX_LENGTH, "maxLength", "At most", " characters"},
    {LIMIT_MINIMUM, "minimum", "At least", ""},
    {LIMIT_MAXIMUM, "maximum", "At most", ""},
    {LIMIT_EXCLUSIVE_MINIMUM, "exclusiveMinimum", "More than", ""},
    {LIMIT_EXCLUSIVE_MAXIMUM, "exclusiveMaximum", "Less than", ""},
    {LIMIT_MAX_ITEMS, "maxItems", "At most", " items"},
};

struct provider {
    const char *name;
    unsigned limits;    /* the keywords of limits that its schemas take */
    bool requires_all;  /* every property is required; an optional one takes null */
    bool takes_objects; /* objects with optional members, or members of any name */
    json_t *(*wrap)(const struct provider_function *function, json_t *schema /* taken */);
};

static json_t *wrap_mcp(const struct provider_function *function, json_t *schema)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:O*, s:O}",       //
                     "name", function->name,                  //
                     "title", function->title,                //
                     "description", function->description,    //
                     "inputSchema", schema,                   //
                     "outputSchema", function->output_schema, //
                     "annotations", function->annotations);
}

static json_t *wrap_openai(const struct provider_function *function, json_t *schema)
{
    return json_pack("{s:s, s:{s:s, s:s, s:b, s:o}}",      //
                     "type", "function", "function",       //
                     "name", function->name,               //
                     "description", function->description, //
                     "strict", 1,                          //
                     "parameters", schema);
}

static json_t *wrap_openai_responses(const struct provider_function *function, json_t *schema)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:o}",          //
                     "type", "function",                   //
                     "name", function->name,               //
                     "description", function->description, //
                     "strict", 1,                          //
                     "parameters", schema);
}

static json_t *wrap_anthropic(const struct provider_function *function, json_t *schema)
{
    return json_pack("{s:s, s:s, s:b, s:o}",               //
                     "name", function->name,               //
                     "description", function->description, //
                     "strict", 1,                          //
                     "input_schema", schema);
}

static json_t *wrap_gemini(const struct provider_function *function, json_t *schema)
{
    return json_pack("{s:[{s:s, s:s, s:o}]}", "functionDeclarations", //
                     "name", function->name,                          //
                     "description", function->description,            //
                     "parametersJsonSchema", schema);
}

static const struct provider providers[] = {
    {"mcp", ~0u, false, true, wrap_mcp},
    {"openai", LIMIT_MINIMUM | LIMIT_MAXIMUM | LIMIT_EXCLUSIVE_MINIMUM | LIMIT_EXCLUSIVE_MAXIMUM,
     true, false, wrap_openai},
    {"openai-responses",
     LIMIT_MINIMUM | LIMIT_MAXIMUM | LIMIT_EXCLUSIVE_MINIMUM | LIMIT_EXCLUSIVE_MAXIMUM, true, false,
     wrap_openai_responses},
    {"anthropic", 0, false, false, wrap_anthropic},
    {"gemini", LIMIT_MINIMUM | LIMIT_MAXIMUM, false, true, wrap_gemini},
};

enum { PROVIDERS = ARRAY_SIZE(providers) };

const struct provider *provider_find(const char *name, struct error *err)
{
    for (size_t i = 0; i < PROVIDERS; i++)
        if (strcmp(providers[i].name, name) == 0)
            return &providers[i];
    error_set(err, ERROR_USAGE,
              "unknown provider %s: must be mcp, openai, openai-responses, anthropic or gemini",
              name);
    return NULL;
}

/* Moves one keyword of PROPERTY, if it is there, to the end of the description. */
static void move_limit(json_t *property, const struct limit_keyword *keyword)
{
    json_t *value = json_object_get(property, keyword->keyword);
    const char *description = json_object_get_string(property, "description");
    json_t *longer;

    if (!value)
        return;
    longer = json_string_format("%s%s%s %.15g%s.", description ? description : "",
                                description ? " " : "", keyword->words, json_number_value(value),
                                keyword->unit);
    json_object_set_new(property, "description", longer);
    json_object_del(property, keyword->keyword);
}

static void move_limits(json_t *property, unsigned kept)
{
    for (size_t i = 0; i < ARRAY_SIZE(limit_keywords); i++)
        if (!(limit_keywords[i].limit & kept))
            move_limit(property, &limit_keywords[i]);
}

/* Allows null for PROPERTY; this server treats null as absent. */
static void make_nullable(json_t *property)
{
    json_t *type = json_object_get(property, "type");
    json_t *choices = json_object_get(property, "enum");

    json_object_set_new(property, "type", json_pack("[O, s]", type, "null"));
    if (choices)
        json_array_append_new(choices, json_null());
}

static bool provider_is_required(const json_t *schema, const char *name)
{
    const json_t *entry;
    size_t i;

    json_array_foreach (json_object_get(schema, "required"), i, entry)
        if (strcmp(json_string_value(entry), name) == 0)
            return true;
    return false;
}

static void require_all(json_t *schema)
{
    json_t *names = json_array();
    json_t *property;
    const char *name;

    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        if (!provider_is_required(schema, name))
            make_nullable(property);
        json_array_append_new(names, json_string(name));
    }
    json_object_set_new(schema, "required", names);
}

/* Removes optional objects. */
static void drop_objects(json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties");
    const char *name;
    json_t *property;
    void *next;

    json_object_foreach_safe (properties, next, name, property) {
        const char *type = json_object_get_string(property, "type");

        if (type && strcmp(type, "object") == 0 && !provider_is_required(schema, name))
            json_object_del(properties, name);
    }
}

/* Adapts an object's SCHEMA, and the schemas of the items of its arrays, to PROVIDER. */
static void provider_fit(const struct provider *provider, json_t *schema)
{
    json_t *property;
    const char *name;

    if (!provider->takes_objects)
        drop_objects(schema);
    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        move_limits(property, provider->limits);
        provider_fit(provider, json_object_get(property, "items"));
    }
    if (provider->requires_all && json_object_get(schema, "properties"))
        require_all(schema);
}

json_t *provider_declare(const struct provider *provider, const struct provider_function *function)
{
    json_t *schema = json_deep_copy(function->input_schema);

    if (provider->wrap != wrap_mcp)
        json_object_del(schema, "$schema");
    provider_fit(provider, schema);
    return provider->wrap(function, schema);
}
