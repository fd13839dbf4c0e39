/* The HTTP endpoint, as the configuration says. */
#pragma once

#include <jansson.h>

struct authority;
struct http_endpoint;
struct mcp_server;

/* TREE is the whole configuration. AUTHORITY admits clients; or NULL; borrowed, like SERVER. */
struct http_endpoint *http_config_open(struct mcp_server *server, struct authority *authority,
                                       const json_t *tree);
