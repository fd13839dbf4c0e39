#undef NDEBUG

#include "tests/conformance/catalogue.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "server/tools/invocation.h"
#include "server/tools/tool.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

json_t *catalogue_json(const char *text)
{
    AUTO_FREE char *copy = memory_copy_string(text);
    json_t *value;

    for (char *quote = strchr(copy, '\''); quote; quote = strchr(quote, '\''))
        *quote = '"';
    value = json_loads(copy, JSON_DECODE_ANY, NULL);
    assert(value);
    return value;
}

json_t *catalogue_object(const char *properties)
{
    json_t *described = catalogue_json(properties);
    json_t *required = json_array();
    const char *name;
    json_t *property;

    json_object_foreach (described, name, property) {
        if (!json_object_get(property, "default"))
            json_array_append_new(required, json_string(name));
    }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", described, "required",
                     required);
}

void catalogue_add_tool(struct registry *registry, const struct tool *tool, const char *properties)
{
    struct tool added = *tool;
    struct error err = ERROR_INIT;
    int failed;

    added.data = registry;
    if (!added.input_schema) {
        added.input_schema = catalogue_object(properties ? properties : "{}");
        json_object_set_new(added.input_schema, "additionalProperties", json_false());
    }
    failed = tool_register_function(registry, &added, &err);
    assert(failed == 0);
}

void catalogue_answer(struct invocation *invocation, const char *format, ...)
{
    AUTO_FREE char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = memory_format_list(format, arguments);
    va_end(arguments);
    invocation_add_text(invocation, text, strlen(text));
}

json_t *catalogue_image(void)
{
    return catalogue_json("{'type': 'image', 'mimeType': 'image/png', 'data': "
                          "'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAF"
                          "BQIAX8jx0gAAAABJRU5ErkJggg=='}");
}
