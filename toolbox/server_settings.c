#include "toolbox/server_settings.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "toolbox/server_command.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *const TOOL_APPROVALS[] = {
    [TOOL_APPROVAL_NEVER] = "never",
    [TOOL_APPROVAL_WRITES] = "writes",
    [TOOL_APPROVAL_ALWAYS] = "always",
};

/* Reading */

static char **server_settings_copy_list(const json_t *list)
{
    const size_t count = json_array_size(list);
    char **copy = memory_new(count + 1, sizeof *copy);

    for (size_t i = 0; i < count; i++)
        copy[i] = memory_copy_string(json_string_value(json_array_get(list, i)));
    return copy;
}

/* Others see the arguments of a program, so values in them are not hidden from results. Scripts
 * without isolation are kept away from them all the same. */
static int server_settings_read_command(struct server_settings *settings, const json_t *list,
                                        const char *folder, struct error *err)
{
    AUTO(secrets_deinit) struct secrets named = {0};

    settings->command = server_command_read(list, folder, &named, err);
    settings->secrets.were_named = named.were_named;
    return settings->command ? 0 : -1;
}

/* "KEY SEPARATOR VALUE" for each member of OBJECT; the values are secrets where they are `${NAME}`.
 */
static char **server_settings_join(struct server_settings *settings, const json_t *object,
                                   const char *separator, struct error *err)
{
    char **lines = memory_new(json_object_size(object) + 1, sizeof *lines);
    size_t count = 0;
    const char *key;
    json_t *text;

    json_object_foreach ((json_t *)object, key, text) {
        AUTO_FREE char *value = secrets_expand(&settings->secrets, json_string_value(text), err);

        if (!value || strpbrk(value, "\r\n")) {
            memory_free_strings(lines);
            if (value)
                error_set(err, ERROR_CONFIG, "the value of %s has a line break", key);
            return NULL;
        }
        lines[count++] = memory_format("%s%s%s", key, separator, value);
    }
    return lines;
}

/* `unix:///PATH#/mcp`, as in `listen`. */
static void server_settings_split_url(struct server_settings *settings, const char *url)
{
    static const char scheme[] = "unix://";
    const char *path = url + strlen(scheme);
    const char *fragment = text_starts_with(url, scheme) ? strchr(path, '#') : NULL;

    if (!text_starts_with(url, scheme)) {
        settings->url = memory_copy_string(url);
        return;
    }
    settings->socket = memory_format("%.*s", fragment ? (int)(fragment - path) : -1, path);
    settings->url = memory_format("http://localhost%s", fragment ? fragment + 1 : "/mcp");
}

static int server_settings_read_url(struct server_settings *settings, const char *text,
                                    struct error *err)
{
    AUTO_FREE char *url = secrets_expand(&settings->secrets, text, err);

    if (!url)
        return -1;
    server_settings_split_url(settings, url);
    return 0;
}

static int server_settings_read_place(struct server_settings *settings, const char *folder,
                                      const char **ret_key, struct error *err)
{
    const json_t *definition = settings->definition;
    const json_t *command = json_object_get(definition, "command");
    const char *url = json_object_get_string(definition, "url");

    *ret_key = "command";
    if (command && server_settings_read_command(settings, command, folder, err) < 0)
        return -1;
    *ret_key = "environment";
    settings->variables =
        server_settings_join(settings, json_object_get(definition, "environment"), "=", err);
    if (!settings->variables)
        return -1;
    *ret_key = "url";
    if (url && server_settings_read_url(settings, url, err) < 0)
        return -1;
    *ret_key = "headers";
    settings->headers =
        server_settings_join(settings, json_object_get(definition, "headers"), ": ", err);
    return settings->headers ? 0 : -1;
}

static void server_settings_read_rules(struct server_settings *settings)
{
    const json_t *definition = settings->definition;
    const char *instance = json_object_get_string(definition, "instance");

    settings->allow = server_settings_copy_list(json_object_get(definition, "allow"));
    settings->deny = server_settings_copy_list(json_object_get(definition, "deny"));
    settings->timeout = json_object_get_number(definition, "timeout", 0);
    settings->idle = json_object_get_number(definition, "idle", 0);
    settings->calls_per_minute =
        (unsigned)json_object_get_number(definition, "calls_per_minute", 0);
    settings->by_caller = instance && strcmp(instance, "caller") == 0;
    settings->any_isolation = json_is_true(json_object_get(definition, "any_isolation"));
}

struct server_settings *server_settings_new(const char *name, const json_t *definition,
                                            const struct server_surroundings *around,
                                            const char **ret_key, struct error *err)
{
    struct server_settings *settings = NEW(struct server_settings);

    settings->references = 1;
    settings->name = memory_copy_string(name);
    settings->definition = json_deep_copy(definition);
    settings->directory = memory_copy_string(around->start);
    settings->path = memory_copy_string(around->path);
    server_settings_read_rules(settings);
    if (server_settings_read_place(settings, around->folder, ret_key, err) == 0)
        return settings;
    server_settings_unref(settings);
    return NULL;
}

struct server_settings *server_settings_ref(struct server_settings *settings)
{
    settings->references++;
    return settings;
}

static void server_settings_wipe(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        explicit_bzero(strings[i], strlen(strings[i]));
    memory_free_strings(strings);
}

void server_settings_unref(struct server_settings *settings)
{
    if (!settings || --settings->references > 0)
        return;
    memory_free_strings(settings->command);
    server_settings_wipe(settings->variables);
    server_settings_wipe(settings->headers);
    memory_free_strings(settings->allow);
    memory_free_strings(settings->deny);
    secrets_deinit(&settings->secrets);
    json_decref(settings->definition);
    free(settings->directory);
    free(settings->path);
    free(settings->socket);
    free(settings->url);
    free(settings->name);
    free(settings);
}

/* The environment of this process, which `${NAME}` comes from, does not change. */
bool server_settings_are_equal(const struct server_settings *a, const struct server_settings *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->directory, b->directory) == 0 &&
           strcmp(a->path, b->path) == 0 && json_equal(a->definition, b->definition);
}

/* The rules */

bool server_settings_has_secret(const struct server_settings *settings)
{
    return settings->secrets.were_named || settings->headers[0];
}

static bool server_settings_fits(char *const *patterns, const char *tool)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, tool, 0) == 0)
            return true;
    return false;
}

bool server_settings_allow(const struct server_settings *settings, const char *tool)
{
    return server_settings_fits(settings->allow, tool) &&
           !server_settings_fits(settings->deny, tool);
}

static enum tool_approval tool_approval_find(const json_t *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(TOOL_APPROVALS); i++)
        if (json_is_string(name) && strcmp(TOOL_APPROVALS[i], json_string_value(name)) == 0)
            return (enum tool_approval)i;
    return TOOL_APPROVAL_ALWAYS;
}

enum tool_approval server_settings_approval(const struct server_settings *settings,
                                            const char *tool)
{
    const json_t *approval = json_object_get(settings->definition, "approval");
    const json_t *named = json_object_get(approval, tool);
    const char *pattern;
    json_t *value;

    if (!json_is_object(approval) || named)
        return tool_approval_find(named ? named : approval);
    json_object_foreach ((json_t *)approval, pattern, value)
        if (fnmatch(pattern, tool, 0) == 0)
            return tool_approval_find(value);
    return TOOL_APPROVAL_WRITES;
}

bool server_settings_asks(const struct server_settings *settings, const char *tool,
                          const json_t *annotations)
{
    const enum tool_approval approval = server_settings_approval(settings, tool);

    if (approval == TOOL_APPROVAL_WRITES)
        return !json_is_true(json_object_get(annotations, "readOnlyHint"));
    return approval == TOOL_APPROVAL_ALWAYS;
}

const char *tool_approval_name(enum tool_approval approval)
{
    assert(approval < ARRAY_SIZE(TOOL_APPROVALS));
    return TOOL_APPROVALS[approval];
}
