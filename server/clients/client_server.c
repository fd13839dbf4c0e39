#include "server/clients/client_server.h"

#include "server/clients/client.h"

enum { MILLISECONDS = 1000 };

static json_t *arguments_of(const struct client_server *server)
{
    json_t *arguments = json_array();

    for (size_t i = 1; i < json_array_size(server->command); i++)
        json_array_append(arguments, json_array_get(server->command, i));
    return arguments;
}

json_t *client_server_plain(const struct client_server *server)
{
    if (server->url)
        return json_pack("{s:s}", "url", server->url);
    return json_pack("{s:O, s:o}", "command", json_array_get(server->command, 0), "args",
                     arguments_of(server));
}

json_t *client_server_bridged(const struct client_server *server)
{
    if (server->url)
        return json_pack("{s:s, s:[s, s, s]}", "command", "npx", "args", "-y", "mcp-remote",
                         server->url);
    return client_server_plain(server);
}

json_t *client_server_typed(const struct client_server *server)
{
    json_t *value = json_pack("{s:s}", "type", server->url ? "http" : "stdio");
    json_t *way = client_server_plain(server);

    json_object_update(value, way);
    json_decref(way);
    return value;
}

json_t *client_server_windsurf(const struct client_server *server)
{
    if (server->url)
        return json_pack("{s:s}", "serverUrl", server->url);
    return client_server_plain(server);
}

json_t *client_server_zed(const struct client_server *server)
{
    json_t *value = client_server_plain(server);

    json_object_set_new(value, "timeout", json_integer((json_int_t)server->seconds));
    return value;
}

json_t *client_server_codex(const struct client_server *server)
{
    json_t *value = client_server_plain(server);

    json_object_set_new(value, "tool_timeout_sec", json_integer((json_int_t)server->seconds));
    return value;
}

json_t *client_server_gemini(const struct client_server *server)
{
    json_t *value = client_server_plain(server);

    if (server->url)
        json_object_set_new(value, "type", json_string("http"));
    json_object_set_new(value, "timeout", json_integer((json_int_t)server->seconds * MILLISECONDS));
    return value;
}

json_t *client_server_opencode(const struct client_server *server)
{
    const json_int_t milliseconds = (json_int_t)server->seconds * MILLISECONDS;

    if (server->url)
        return json_pack("{s:s, s:s, s:b, s:I}", "type", "remote", "url", server->url, "enabled", 1,
                         "timeout", milliseconds);
    return json_pack("{s:s, s:O, s:b, s:I}", "type", "local", "command", server->command, "enabled",
                     1, "timeout", milliseconds);
}

json_t *client_server_goose(const struct client_server *server)
{
    const int seconds = (int)server->seconds;

    if (server->url)
        return json_pack("{s:b, s:s, s:s, s:s, s:{}, s:{}, s:i}", "enabled", 1, "type",
                         "streamable_http", "name", CLIENT_ENTRY_NAME, "uri", server->url, "envs",
                         "headers", "timeout", seconds);
    return json_pack("{s:b, s:s, s:s, s:O, s:o, s:{}, s:i}", "enabled", 1, "type", "stdio", "name",
                     CLIENT_ENTRY_NAME, "cmd", json_array_get(server->command, 0), "args",
                     arguments_of(server), "envs", "timeout", seconds);
}
