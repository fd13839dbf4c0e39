#include "toolbox/tool_list.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/protocol/header_value.h"
#include "base/protocol/tool_headers.h"
#include "base/visible.h"
#include "toolbox/server_settings.h"

#include <string.h>

enum { TOOL_LIST_NAME_BYTES = 128 };

void tool_list_init(struct tool_list *list, bool has_fields)
{
    *list = (struct tool_list){
        .tools = json_object(),
        .fields = json_object(),
        .has_fields = has_fields,
    };
}

void tool_list_deinit(struct tool_list *list)
{
    json_decref(list->tools);
    json_decref(list->fields);
    *list = (struct tool_list){0};
}

static bool tool_list_is_name(const json_t *name)
{
    const char *text = json_string_value(name);

    return text && *text && strlen(text) == json_string_length(name) &&
           strlen(text) <= TOOL_LIST_NAME_BYTES &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") ==
               strlen(text);
}

/* The members of TOOL that scripts see. New reference. */
static json_t *tool_list_copy(const struct server_settings *settings, const json_t *tool)
{
    static const char *const members[] = {"name",        "title",        "description",
                                          "inputSchema", "outputSchema", "annotations"};
    json_t *copy = json_object();

    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        json_t *member = json_object_get(tool, members[i]);

        if (member && (i < 3 ? json_is_string(member) : json_is_object(member)))
            json_object_set_new(copy, members[i], json_deep_copy(member));
    }
    if (!json_object_get(copy, "inputSchema"))
        json_object_set_new(copy, "inputSchema", json_pack("{s:s}", "type", "object"));
    secrets_hide(&settings->secrets, copy);
    return copy;
}

/* False when TOOL is left out. */
static bool tool_list_add_fields(struct tool_list *list, const char *name, const json_t *tool)
{
    AUTO_JSON json_t *found = NULL;
    struct error err = ERROR_INIT;

    if (!list->has_fields)
        return true;
    if (tool_headers_read(json_object_get(tool, "inputSchema"), &found, &err) < 0)
        return false;
    if (found)
        json_object_set(list->fields, name, found);
    return true;
}

static int tool_list_add_tool(struct tool_list *list, const struct server_settings *settings,
                              const json_t *tool, struct error *err)
{
    const json_t *name = json_object_get(tool, "name");
    AUTO_JSON json_t *copy = NULL;

    if (!tool_list_is_name(name) || json_object_get(list->tools, json_string_value(name)) ||
        !server_settings_allow(settings, json_string_value(name)) ||
        !tool_list_add_fields(list, json_string_value(name), tool))
        return 0;
    copy = tool_list_copy(settings, tool);
    list->bytes += json_dumpb(copy, NULL, 0, JSON_COMPACT);
    if (list->bytes > TOOL_LIST_BYTES || json_object_size(list->tools) >= TOOL_LIST_TOOLS)
        return error_set(err, ERROR_LIMIT, "it has more than %d tools, or %d bytes of them",
                         TOOL_LIST_TOOLS, TOOL_LIST_BYTES);
    json_object_set(list->tools, json_string_value(name), copy);
    return 0;
}

int tool_list_add(struct tool_list *list, const struct server_settings *settings,
                  const json_t *result, json_t **ret_cursor, struct error *err)
{
    json_t *cursor = json_object_get(result, "nextCursor");
    const json_t *tool;
    size_t i;

    *ret_cursor = NULL;
    json_array_foreach (json_object_get(result, "tools"), i, tool)
        if (tool_list_add_tool(list, settings, tool, err) < 0)
            return -1;
    if (!json_is_string(cursor))
        return 0;
    if (++list->pages >= TOOL_LIST_PAGES)
        return error_set(err, ERROR_LIMIT, "its list of tools has more than %d pages",
                         TOOL_LIST_PAGES);
    *ret_cursor = json_incref(cursor);
    return 0;
}

/* Owned by the caller; NULL: the field is left out. */
static char *tool_list_write_value(const json_t *value)
{
    if (json_is_string(value))
        return header_value_encode(json_string_value(value), json_string_length(value));
    if (json_is_boolean(value) || json_is_number(value))
        return json_text(value);
    return NULL;
}

json_t *tool_list_make_fields(const struct tool_list *list, const char *tool,
                              const json_t *arguments)
{
    const json_t *found = json_object_get(list->fields, tool);
    json_t *fields = found ? json_array() : NULL;
    const json_t *way;
    size_t i;

    json_array_foreach (found, i, way) {
        const json_t *value = arguments;
        AUTO_FREE char *text = NULL;

        for (size_t step = 1; step < json_array_size(way); step++)
            value = json_object_get(value, json_string_value(json_array_get(way, step)));
        text = tool_list_write_value(value);
        if (text)
            json_array_append_new(
                fields, json_sprintf("Mcp-Param-%s%s%s", json_string_value(json_array_get(way, 0)),
                                     *text ? ": " : ";", text)); /* ";": libcurl sends it empty */
    }
    return fields;
}

/* "e.g." does not end a sentence that goes on in lower case. */
static size_t tool_list_end_sentence(const char *text)
{
    size_t length = 0;

    for (; text[length]; length++) {
        if (text[length] == '\n' && text[length + 1] == '\n')
            return length;
        if (strchr(".!?", text[length]) && strchr(" \n", text[length + 1]) && text[length + 1] &&
            !(text[length + 2] >= 'a' && text[length + 2] <= 'z'))
            return length + 1;
    }
    return length;
}

char *tool_list_shorten(const char *description)
{
    const char *text = description + strspn(description, " \n\t");
    AUTO_FREE char *sentence = memory_format("%.*s", (int)tool_list_end_sentence(text), text);

    for (char *blank = sentence; (blank = strpbrk(blank, "\n\r\t"));)
        *blank = ' ';
    return visible_line(sentence, strlen(sentence), TOOL_LIST_SENTENCE);
}
