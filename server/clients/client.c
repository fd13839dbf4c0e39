#include "server/clients/client.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "base/text.h"
#include "server/clients/client_server.h"
#include "server/clients/jsonc_edit.h"
#include "server/clients/toml_section.h"
#include "server/clients/yaml_section.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XDG_FOLDER ".config/"

enum { CLIENT_LEAST_LETTERS = 4 }; /* of a part of a name */

static const struct settings_format json_settings = {jsonc_put, jsonc_take};
static const struct settings_format toml_settings = {toml_section_put, toml_section_take};
static const struct settings_format yaml_settings = {yaml_section_put, yaml_section_take};

static const struct client clients[] = {
    {
        .name = "claude-code",
        .title = "Claude Code",
        .sign = ".claude",
        .place = {"CLAUDE_CONFIG_DIR", "", ".claude.json"},
        .format = &json_settings,
        .path = {"mcpServers"},
        .describe = client_server_typed,
        .permissions = {"CLAUDE_CONFIG_DIR", ".claude", "settings.json"},
        .advice = "Start Claude Code again; `claude mcp list` shows pyexecd.",
        .memory = "CLAUDE.md",
    },
    {
        .name = "claude-desktop",
        .title = "Claude Desktop",
        .sign = ".config/Claude",
        .place = {NULL, ".config/Claude", "claude_desktop_config.json"},
        .format = &json_settings,
        .path = {"mcpServers"},
        .describe = client_server_bridged,
        .advice = "Claude Desktop reads its settings when it starts.",
    },
    {
        .name = "cursor",
        .title = "Cursor",
        .sign = ".cursor",
        .place = {NULL, ".cursor", "mcp.json"},
        .format = &json_settings,
        .path = {"mcpServers"},
        .describe = client_server_plain,
        .advice = "Start Cursor again; its settings list pyexecd under MCP.",
        .memory = "AGENTS.md",
    },
    {
        .name = "vscode",
        .title = "VS Code",
        .sign = ".config/Code",
        .place = {NULL, ".config/Code/User", "mcp.json"},
        .format = &json_settings,
        .path = {"servers"},
        .describe = client_server_typed,
        .advice = "Start VS Code again; the command `MCP: List Servers` shows pyexecd.",
        .memory = "AGENTS.md",
    },
    {
        .name = "windsurf",
        .title = "Windsurf",
        .sign = ".codeium/windsurf",
        .place = {NULL, ".codeium/windsurf", "mcp_config.json"},
        .format = &json_settings,
        .path = {"mcpServers"},
        .describe = client_server_windsurf,
        .advice = "Start Windsurf again.",
        .memory = "AGENTS.md",
    },
    {
        .name = "codex",
        .title = "Codex",
        .sign = ".codex",
        .place = {"CODEX_HOME", ".codex", "config.toml"},
        .format = &toml_settings,
        .path = {"mcp_servers"},
        .describe = client_server_codex,
        .advice = "Start Codex again; `codex mcp list` shows pyexecd.",
        .memory = "AGENTS.md",
    },
    {
        .name = "gemini",
        .title = "Gemini CLI",
        .sign = ".gemini",
        .place = {NULL, ".gemini", "settings.json"},
        .format = &json_settings,
        .path = {"mcpServers"},
        .describe = client_server_gemini,
        .advice = "Gemini CLI starts servers in trusted folders only: type /permissions in it to "
                  "trust a folder. `gemini mcp list` shows pyexecd.",
        .memory = "GEMINI.md",
    },
    {
        .name = "zed",
        .title = "Zed",
        .sign = ".config/zed",
        .place = {NULL, ".config/zed", "settings.json"},
        .format = &json_settings,
        .path = {"context_servers"},
        .describe = client_server_zed,
        .advice = "Start Zed again.",
        .memory = "AGENTS.md",
    },
    {
        .name = "opencode",
        .title = "opencode",
        .sign = ".config/opencode",
        .place = {NULL, ".config/opencode", "opencode.json", "opencode.jsonc"},
        .format = &json_settings,
        .path = {"mcp"},
        .describe = client_server_opencode,
        .advice = "Start opencode again; `opencode mcp list` shows pyexecd.",
        .memory = "AGENTS.md",
    },
    {
        .name = "goose",
        .title = "Goose",
        .sign = ".config/goose",
        .place = {NULL, ".config/goose", "config.yaml"},
        .format = &yaml_settings,
        .path = {"extensions"},
        .describe = client_server_goose,
        .advice = "Start Goose again.",
    },
};

const struct client *client_list(size_t *ret_count)
{
    *ret_count = ARRAY_SIZE(clients);
    return clients;
}

/* "claude" for claude-code, "VS Code" for vscode, "gemini-cli" for gemini. */
static bool client_resembles(const struct client *client, const char *name)
{
    const size_t shorter = size_min(strlen(name), strlen(client->name));

    return strcasecmp(client->title, name) == 0 ||
           (shorter >= CLIENT_LEAST_LETTERS && strncasecmp(client->name, name, shorter) == 0);
}

/* Owned by the caller. */
static char *client_list_names(void)
{
    AUTO_JSON json_t *names = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
        json_array_append_new(names, json_string(clients[i].name));
    return json_list(names);
}

static void client_refuse(const char *name, const char *nearest, struct error *err)
{
    AUTO_FREE char *names = client_list_names();

    if (nearest)
        error_set(err, ERROR_USAGE, "client %s is not known, did you mean %s?", name, nearest);
    else
        error_set(err, ERROR_USAGE, "client %s is not known; there are: %s", name, names);
}

const struct client *client_find(const char *name, struct error *err)
{
    struct spelling spelling = SPELLING_INIT(name);
    const char *like = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
        spelling_try(&spelling, clients[i].name);
        if (strcmp(clients[i].name, name) == 0)
            return &clients[i];
        if (!like && client_resembles(&clients[i], name))
            like = clients[i].name;
    }
    client_refuse(name, like ? like : spelling.nearest, err);
    return NULL;
}

/* An absolute path from the environment, or NULL. */
static const char *named_folder(const char *variable)
{
    const char *folder = variable ? getenv(variable) : NULL;

    return folder && *folder == '/' ? folder : NULL;
}

/* FOLDER of the home; NULL without a home. Owned by the caller. */
static char *folder_of_home(const char *folder)
{
    const char *settings = named_folder("XDG_CONFIG_HOME");
    const char *home = named_folder("HOME");

    if (settings && text_starts_with(folder, XDG_FOLDER))
        return memory_format("%s/%s", settings, folder + strlen(XDG_FOLDER));
    return home ? memory_format("%s%s%s", home, *folder ? "/" : "", folder) : NULL;
}

char *client_place_path(const struct client_place *place, struct error *err)
{
    const char *named = named_folder(place->variable);
    AUTO_FREE char *folder = named ? memory_copy_string(named) : folder_of_home(place->folder);
    AUTO_FREE char *path = folder ? memory_format("%s/%s", folder, place->file) : NULL;
    AUTO_FREE char *other =
        path && place->other ? memory_format("%s/%s", folder, place->other) : NULL;

    if (!path)
        error_set(err, ERROR_USAGE, "HOME must be set to an absolute path");
    if (other && access(path, F_OK) < 0 && access(other, F_OK) == 0)
        return STEAL_PTR(other);
    return STEAL_PTR(path);
}

bool client_is_there(const struct client *client)
{
    struct error ignored = ERROR_INIT;
    AUTO_FREE char *path = client_place_path(&client->place, &ignored);
    AUTO_FREE char *sign = folder_of_home(client->sign);

    return (path && access(path, F_OK) == 0) || (sign && access(sign, F_OK) == 0);
}

struct settings_edit client_edit(const struct client *client, const char *path,
                                 const struct client_server *server, json_t **ret_value)
{
    *ret_value = server ? client->describe(server) : NULL;
    return (struct settings_edit){
        .path = path,
        .format = client->format,
        .entry = {.path = client->path, .name = CLIENT_ENTRY_NAME, .value = *ret_value},
        .change = server ? SETTINGS_PUT : SETTINGS_TAKE,
    };
}

struct settings_edit client_edit_permission(const char *path, json_t **ret_value)
{
    static const char *const allowed[] = {"permissions", "allow", NULL};

    *ret_value = json_string("mcp__" CLIENT_ENTRY_NAME);
    return (struct settings_edit){
        .path = path,
        .format = &json_settings,
        .entry = {.path = allowed, .value = *ret_value},
        .change = SETTINGS_PUT,
    };
}
