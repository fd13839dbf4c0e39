/* How a client is to reach this server, in the words of each client's settings. */
#pragma once

#include <jansson.h>

struct client_server {
    const json_t *command; /* borrowed: the program and its arguments; NULL with a URL */
    const char *url;       /* borrowed; or NULL */
    double seconds;        /* that a call may take */
};

/* The value of the entry, for each kind of client. New reference. */
json_t *client_server_plain(const struct client_server *server);
json_t *client_server_bridged(const struct client_server *server); /* knows no HTTP */
json_t *client_server_typed(const struct client_server *server);   /* says "stdio" or "http" */
json_t *client_server_windsurf(const struct client_server *server);
json_t *client_server_zed(const struct client_server *server);
json_t *client_server_codex(const struct client_server *server);
json_t *client_server_gemini(const struct client_server *server);
json_t *client_server_opencode(const struct client_server *server);
json_t *client_server_goose(const struct client_server *server);
