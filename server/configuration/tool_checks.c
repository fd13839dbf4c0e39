#include "server/configuration/tool_checks.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "base/text.h"
#include "server/configuration/config.h"
#include "server/configuration/yaml_tree.h"

static void tool_checks_server(struct config *config, const char *name, const json_t *definition)
{
    AUTO_FREE char *pointer = yaml_pointer("/tools", name);
    const json_t *command = json_object_get(definition, "command");
    const json_t *url = json_object_get(definition, "url");

    if (!json_is_object(definition))
        return;
    if (!command && !url)
        config_complain(config, "needs command (a program) or url (an address)", "%s", pointer);
    if (command && url)
        config_complain(config, "contradicts command; give one of the two", "%s/url", pointer);
    if (!url && json_object_get(definition, "headers"))
        config_complain(config, "is for a server with url; command has environment", "%s/headers",
                        pointer);
    if (!command && json_object_get(definition, "environment"))
        config_complain(config, "is for a server with command; url has headers", "%s/environment",
                        pointer);
}

/* "there is no server ...". Owned by the caller. */
static char *tool_checks_explain(const json_t *servers, const char *name)
{
    struct spelling spelling = SPELLING_INIT(name);
    const char *other;
    json_t *definition;

    json_object_foreach ((json_t *)servers, other, definition)
        spelling_try(&spelling, other);
    return memory_format("there is no server \"%.64s\" in tools%s%s%s", name,
                         spelling.nearest ? ", did you mean \"" : "",
                         spelling.nearest ? spelling.nearest : "", spelling.nearest ? "\"?" : "");
}

/* The reason why no script of DEFINITION could call a tool, or NULL. */
static const char *tool_checks_hindrance(const json_t *definition)
{
    const char *engine = json_object_get_string(definition, "host");

    if (engine && !text_starts_with(engine, "unix://"))
        return "scripts in containers of an engine that is reached by TCP cannot call tools";
    return json_object_get(definition, "node") ? "scripts on nodes cannot call tools" : NULL;
}

static void tool_checks_environment(struct config *config, const json_t *servers, const char *name,
                                    const json_t *definition)
{
    AUTO_FREE char *pointer = yaml_pointer("/environments", name);
    const char *hindrance = tool_checks_hindrance(definition);
    const json_t *item;
    size_t i;

    if (hindrance && json_array_size(json_object_get(definition, "tools")) > 0)
        config_complain(config, hindrance, "%s/tools", pointer);
    json_array_foreach (json_object_get(definition, "tools"), i, item) {
        AUTO_FREE char *message = NULL;

        if (!json_is_string(item) || json_object_get(servers, json_string_value(item)))
            continue;
        message = tool_checks_explain(servers, json_string_value(item));
        config_complain(config, message, "%s/tools/%zu", pointer, i);
    }
}

void tool_checks_keys(struct config *config, const json_t *root)
{
    const json_t *servers = json_object_get(root, "tools");
    const char *name;
    json_t *definition;

    json_object_foreach ((json_t *)servers, name, definition)
        tool_checks_server(config, name, definition);
    json_object_foreach (json_object_get(root, "environments"), name, definition)
        tool_checks_environment(config, servers, name, definition);
}
