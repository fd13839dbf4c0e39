#include "server/mcp/form.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>

/* Choices, each a value alone or with a title */

static const char *form_value(const json_t *choice)
{
    return json_is_object(choice) ? json_object_get_string(choice, "const")
                                  : json_string_value(choice);
}

static const char *form_title(const json_t *choice)
{
    const char *title = json_object_get_string(choice, "title");

    return title ? title : form_value(choice);
}

/* The titles of choices are a list of their own beside the values. */
static void form_split_choices(json_t *property)
{
    const json_t *choices = json_object_get(property, "oneOf");
    json_t *values;
    json_t *titles;
    const json_t *choice;
    size_t i;

    if (!choices)
        return;
    values = json_array();
    titles = json_array();
    json_array_foreach (choices, i, choice) {
        json_array_append(values, json_object_get(choice, "const"));
        json_array_append(titles, json_object_get(choice, "title"));
    }
    json_object_set_new(property, "enum", values);
    json_object_set_new(property, "enumNames", titles);
    json_object_del(property, "oneOf");
}

/* Several choices of one field */

/* NULL: PROPERTY takes one value. */
static const json_t *form_several(const json_t *property)
{
    const json_t *items = json_object_get(property, "items");
    const json_t *titled = json_object_get(items, "anyOf");

    return titled ? titled : json_object_get(items, "enum");
}

/* The name of the field of CHOICE. Owned by the caller. */
static char *form_switch_name(const char *name, const json_t *choice)
{
    return memory_format("%s.%s", name, form_value(choice));
}

static bool form_is_preset(const json_t *property, const json_t *choice)
{
    const json_t *preset;
    size_t i;

    json_array_foreach (json_object_get(property, "default"), i, preset)
        if (strcmp(json_string_value(preset), form_value(choice)) == 0)
            return true;
    return false;
}

/* Adds a field to FIELDS for each choice of PROPERTY, which is called NAME. */
static void form_add_switches(json_t *fields, const char *name, const json_t *property)
{
    const char *title = json_object_get_string(property, "title");
    const char *description = json_object_get_string(property, "description");
    const json_t *choice;
    size_t i;

    json_array_foreach (form_several(property), i, choice) {
        AUTO_FREE char *key = form_switch_name(name, choice);
        AUTO_FREE char *shown = memory_format("%s: %s", title ? title : name, form_title(choice));

        json_object_set_new(fields, key,
                            json_pack("{s:s, s:s, s:s*, s:b}", "type", "boolean", "title", shown,
                                      "description", description, "default",
                                      form_is_preset(property, choice)));
    }
}

/* Moves the choices for the field NAME in CONTENT from fields of their own to a list. */
static void form_gather(json_t *content, const char *name, const json_t *property)
{
    json_t *chosen = json_array();
    const json_t *choice;
    size_t i;

    json_array_foreach (form_several(property), i, choice) {
        AUTO_FREE char *key = form_switch_name(name, choice);

        if (json_is_true(json_object_get(content, key)))
            json_array_append_new(chosen, json_string(form_value(choice)));
        json_object_del(content, key);
    }
    json_object_set_new(content, name, chosen);
}

/* The whole form */

/* The required fields that are still there. New reference, or NULL. */
static json_t *form_required(const json_t *schema, const json_t *fields)
{
    const json_t *names = json_object_get(schema, "required");
    json_t *required = names ? json_array() : NULL;
    json_t *name;
    size_t i;

    json_array_foreach (names, i, name)
        if (json_object_get(fields, json_string_value(name)))
            json_array_append(required, name);
    return required;
}

/* Only booleans have defaults. */
static void form_add_field(json_t *fields, const char *name, json_t *property)
{
    if (form_several(property)) {
        form_add_switches(fields, name, property);
        return;
    }
    if (!json_is_boolean(json_object_get(property, "default")))
        json_object_del(property, "default");
    form_split_choices(property);
    json_object_set(fields, name, property);
}

json_t *form_translate(const json_t *schema)
{
    AUTO_JSON json_t *copy = json_deep_copy(schema);
    json_t *translated = json_copy((json_t *)schema);
    json_t *fields = json_object();
    const char *name;
    json_t *property;

    json_object_foreach (json_object_get(copy, "properties"), name, property)
        form_add_field(fields, name, property);
    if (json_object_get(schema, "required"))
        json_object_set_new(translated, "required", form_required(schema, fields));
    json_object_set_new(translated, "properties", fields);
    return translated;
}

json_t *form_restore(const json_t *schema, const json_t *answer)
{
    json_t *restored = json_deep_copy(answer);
    json_t *content = json_object_get(restored, "content");
    const char *name;
    json_t *property;

    if (!json_is_object(content))
        return restored;
    json_object_foreach (json_object_get(schema, "properties"), name, property)
        if (form_several(property))
            form_gather(content, name, property);
    return restored;
}
